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

# processor time of each test program, the most expensive first; arguments are parts of names, as reprise-cli::cli
test-times *programs:
    cargo xtask test-times {{programs}}

# format and clippy, warnings denied
lint:
    git ls-files '*.rs' | xargs rustfmt --edition 2024 --check
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

# lines of Rust code by crate: production and tests
size:
    python3 workshop/xtask/size.py

# the files and lines that one run of measure, diagnose or load executes (cargo-llvm-cov)
road COMMAND:
    cargo xtask road {{COMMAND}}

# every package as published: packed, unpacked, built and tested without this checkout; what a registry would say of them
package:
    cargo xtask package
    cargo publish --workspace --dry-run --no-verify --locked

# licences, duplicates and sources of dependencies, by deny.toml (cargo-deny)
deny:
    cargo deny --locked check --hide-inclusion-graph licenses bans sources

# what is known to be wrong with a dependency: asks github.com (cargo-deny)
advisories:
    cargo deny --locked check advisories

# what breaks those who use a library, since a commit or a tag (cargo-semver-checks 0.46: cargo install --locked)
semver SINCE="HEAD~1":
    cargo semver-checks --workspace --baseline-rev {{SINCE}}

# write docs/schema from the types
schema:
    cargo xtask schema

# write the guide's table of servers from what they do
servers:
    cargo xtask servers

# write the guide's table of causes from what is found on misconfigured servers
causes-seen:
    cargo xtask causes-seen

# plugins of TLS libraries, for reprise compare and layers: of those that are installed; with names, of sources
stacks *names:
    cargo xtask stacks {{ if names == "" { "--system" } else { "--source " + names } }}

# the page of every command, checked, and with Chromium as pictures at two widths, light and dark, and as printed: into target/pages
pages:
    npm ci --ignore-scripts --no-fund --no-audit --prefix workshop/pages
    mkdir -p target/pages
    REPRISE_PAGES={{justfile_directory()}}/target/pages PICTURES={{justfile_directory()}}/target/pages cargo test --locked -p reprise-cli --test cli measure::pages::

# time and instructions, side by side with peers
bench:
    cargo bench --workspace --locked

# how often a gate against a baseline cries wolf, and how often it finds a slower server: --runs N, --count N
gate-rates *arguments:
    cargo build --release --locked -p reprise-cli -p reprise-benches
    target/release/gate-rates {{arguments}}

# the session library with a real store, and its examples (valkey-server or redis-server, OpenSSL's headers)
session:
    cargo test --locked -p reprise-session -p reprise-session-valkey -p reprise-session-openssl -p reprise-session-tests -p reprise-examples --features reprise-session-valkey/valkey,reprise-session-openssl/openssl,reprise-session-tests/openssl,reprise-examples/frameworks

# which resumption a fleet should choose: five nodes behind HAProxy, measured, restarted, and beside rustls alone;
# writes docs/guide/18-session-library.md
cluster SECONDS="5" ROUNDS="5":
    cargo build --release --locked -p reprise-cli
    cargo build --release --locked -p reprise-session-tests --features valkey
    target/release/session-cluster target/release/reprise {{SECONDS}} {{ROUNDS}} docs/guide/18-session-library.md docs/cluster.svg

# what is distributed, each run after it is built: the Debian package, the static program and the image
dist: deb static image

# the Debian package, with manual pages and completions: into target/deb (cargo-deb: cargo install --locked cargo-deb)
deb profile="dist":
    cargo build --profile {{profile}} --locked -p reprise-cli
    rm -rf target/deb && mkdir -p target/deb/man target/deb/completions
    target/{{profile}}/reprise man target/deb/man
    target/{{profile}}/reprise completions bash >target/deb/completions/reprise
    target/{{profile}}/reprise completions zsh >target/deb/completions/_reprise
    target/{{profile}}/reprise completions fish >target/deb/completions/reprise.fish
    cargo deb -p reprise-cli --profile {{profile}} --no-build --output target/deb/reprise.deb
    dpkg-deb -x target/deb/reprise.deb target/deb/root
    target/deb/root/usr/bin/reprise measure --count 5

# the program without libraries, run where there is no other file: into target/static (musl-tools, user namespaces)
static profile="dist":
    rustup target add x86_64-unknown-linux-musl
    cargo build --profile {{profile}} --locked -p reprise-cli --target x86_64-unknown-linux-musl
    rm -rf target/static && mkdir -p target/static && mkdir -m 1777 target/static/tmp
    cp target/x86_64-unknown-linux-musl/{{ if profile == "dev" { "debug" } else { profile } }}/reprise target/static/
    unshare --map-root-user --root=target/static /reprise measure --count 5

# the image of Containerfile: the static program, certificates of authorities, and nothing else (buildah)
image profile="dist": (static profile)
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt -t target/static/etc/ssl/certs
    buildah build --isolation chroot -t reprise -f Containerfile target/static
    container=$(buildah from reprise) && trap "buildah rm $container" EXIT && buildah run --isolation chroot "$container" -- /reprise measure --count 5

# what takes too long for every change: intervals of samples that depend on one another, twenty orders behind each balancer, the
# session library beside its peers, its instructions and tlsfuzzer's scripts (a checkout in REPRISE_TLSFUZZER) beside rustls alone, its soak; every image of the microcontrollers, built twice;
# a real nginx that loses its sessions under load, beside the plan; one more of each kind that a list registers; every TLS library with every other, from sources; 10,000 handshakes of each plugin, and valgrind
full: && (soak "20")
    cargo run --release --locked -p xtask -- judge --worlds 10013
    cargo test --release --locked -p reprise-stats --test dependence -- --ignored --nocapture
    REPRISE_SEEDS=20 cargo test --release --locked -p reprise-results --test results balancing:: -- --nocapture
    cargo bench --locked -p reprise-session-benches --features peers --bench tickets --bench stores -- --check
    cargo bench --locked -p reprise-session-benches --bench session_instructions
    cargo bench --locked -p reprise-session-benches --features tokio --bench first_answer -- --check
    REPRISE_HANDSHAKES=10000 cargo test --locked -p reprise-cli --test cli compare::exercise -- --include-ignored
    REPRISE_STARTS=1000 cargo test --locked -p reprise-session-tests --features openssl --test processes openssl::
    cargo test --locked -p reprise-examples --features tokio --test tlsfuzzer -- --ignored --nocapture
    cargo test --locked -p xtask --test workshop one_file_and_one_line:: -- --ignored
    cargo xtask package
    cargo xtask firmware --twice
    cargo xtask stacks --system
    cargo build --release --locked -p reprise-cli
    cargo bench --locked -p reprise-benches --bench plain --bench layers --bench memory --bench speed
    cargo bench --locked -p reprise-benches --bench link -- --check
    cargo xtask stacks --source
    cargo xtask stacks --source wolfssl-5.9 boringssl
    cargo test --locked -p reprise-cli --test cli compare:: -- --ignored
    cargo test --locked -p reprise-cli --test cli diagnose::balanced -- --ignored --nocapture
    cargo test --locked -p reprise-cli --test cli fleet:: -- --ignored --nocapture
    cargo test --release --locked -p reprise-cli --test cli load:: -- --ignored --nocapture
    cargo run --release --locked -- board --requests 100
    cargo run --release --locked -- board --matrix --runs 1 --requests 1

# five processes, rotation every 20 s, the store killed every minute
soak MINUTES="20":
    cargo build --release -p reprise-session-tests --features valkey
    target/release/session-soak {{MINUTES}}

# fuzz one target for a while, from the seeds in the tree (nightly, cargo-fuzz)
fuzz TARGET SECONDS="600":
    mkdir -p workshop/fuzz/nightly/corpus/{{TARGET}}
    cargo +nightly fuzz run --fuzz-dir workshop/fuzz/nightly -s none {{TARGET}} workshop/fuzz/nightly/corpus/{{TARGET}} workshop/fuzz/corpus/{{TARGET}} -- -max_total_time={{SECONDS}} -rss_limit_mb=2048 -timeout=10 -max_len=2048
