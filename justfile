# Short names for what CONTRIBUTING.md explains. `just` alone lists them.

[private]
default:
    @just --list --unsorted

# everything that CI runs
check:
    .ci/run

# the README's test command
test:
    cargo test --workspace --locked

# format and clippy, warnings denied
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# no crate imports its own or a higher floor
floors:
    cargo xtask floors

# run every command of the README and the guide, look for every link
docs:
    cargo xtask docs

# BoringSSL's TLS test runner against the engine; arguments are names of tests, * for anything
bogo *tests:
    cargo xtask bogo {{tests}}

# the lines of wire and engine that their tests reach (cargo-llvm-cov)
coverage:
    cargo coverage

# write docs/schema from the types
schema:
    cargo xtask schema

# write the guide's table of servers from what they do
servers:
    cargo xtask servers

# write the guide's table of causes from what is found on misconfigured servers
causes-seen:
    cargo xtask causes-seen

# plugins of the TLS libraries that are installed, for reprise compare
stacks:
    cargo xtask stacks --system

# time and instructions, side by side with peers
bench:
    cargo bench --workspace --locked

# how often a gate against a baseline cries wolf, and how often it finds a slower server: --runs N, --count N
gate-rates *arguments:
    cargo build --release --locked -p reprise-cli -p reprise-benches
    target/release/gate-rates {{arguments}}

# the session library with a real store, and its examples (valkey-server or redis-server)
session:
    cargo test --locked -p reprise-session -p reprise-session-valkey -p reprise-session-tests -p reprise-examples --features reprise-session-valkey/valkey,reprise-session-tests/valkey,reprise-examples/tokio

# what takes too long for every change: intervals of samples that depend on one another, twenty orders behind each balancer, the
# session library beside its peers, its instructions beside rustls alone, its soak; every image of the microcontrollers, built twice
full: && (soak "20")
    cargo test --release --locked -p reprise-stats --test dependence -- --ignored --nocapture
    REPRISE_SEEDS=20 cargo test --release --locked -p reprise-explain --test balancing -- --nocapture
    cargo bench --locked -p reprise-session-benches --features peers --bench tickets --bench stores -- --check
    cargo bench --locked -p reprise-session-benches --bench session_instructions
    cargo xtask firmware --twice
    cargo run --release --locked -- board --requests 100
    cargo run --release --locked -- board --matrix --runs 1 --requests 1

# five processes, rotation every 20 s, the store killed every minute
soak MINUTES="20":
    cargo build --release -p reprise-session-tests --features valkey
    target/release/session-soak {{MINUTES}}

# fuzz one target for a while, from the seeds in the tree (nightly, cargo-fuzz)
fuzz TARGET SECONDS="600":
    mkdir -p fuzz/corpus/{{TARGET}}
    cargo +nightly fuzz run -s none {{TARGET}} fuzz/corpus/{{TARGET}} tests/fuzz/corpus/{{TARGET}} -- -max_total_time={{SECONDS}} -rss_limit_mb=2048 -timeout=10 -max_len=2048
