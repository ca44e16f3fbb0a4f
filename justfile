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

# what CI has no time for: every firmware image, built twice and measured
full:
    cargo xtask firmware --twice
    cargo run --release --locked -- board --requests 100
    cargo run --release --locked -- board --matrix --runs 1 --requests 1

# time and instructions, side by side with peers
bench:
    cargo bench --workspace --locked

# fuzz one target for a while, from the seeds in the tree (nightly, cargo-fuzz)
fuzz TARGET SECONDS="600":
    mkdir -p fuzz/corpus/{{TARGET}}
    cargo +nightly fuzz run -s none {{TARGET}} fuzz/corpus/{{TARGET}} tests/fuzz/corpus/{{TARGET}} -- -max_total_time={{SECONDS}} -rss_limit_mb=2048 -timeout=10 -max_len=2048
