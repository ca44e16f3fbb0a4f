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

# write docs/schema from the types
schema:
    cargo xtask schema

# write the guide's table of servers from what they do
servers:
    cargo xtask servers

# time and instructions, side by side with peers
bench:
    cargo bench --workspace --locked
