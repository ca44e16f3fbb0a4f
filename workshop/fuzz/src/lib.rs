//! The functions that fuzzing calls: each takes any bytes, and panics where a promise is broken.
//!
//! They are here, and not in `fuzz/`, so that a stable compiler can replay the corpora too: `cargo test -p
//! reprise-fuzz-targets`. The fuzzing itself is `cargo +nightly fuzz run --fuzz-dir workshop/fuzz/nightly TARGET workshop/fuzz/nightly/corpus/TARGET workshop/fuzz/corpus/TARGET`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken promise is a panic")]

mod certificate;
mod client;
mod condition;
#[cfg(target_os = "linux")]
mod generator;
mod handshake;
mod prologue;
mod record;
pub mod script;
pub mod seeds;
mod session;
mod session_file;
mod session_library;
mod stream;
mod target;

/// A target: its name, what it does with bytes, and its seeds.
pub struct Target {
    /// As in `cargo fuzz run NAME`.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
    /// What to begin with: a name for each, and its bytes.
    pub seeds: fn() -> Vec<(String, Vec<u8>)>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "record", run: record::run, seeds: seeds::records },
    Target { name: "prologue", run: prologue::run, seeds: prologue::seeds },
    Target { name: "handshake", run: handshake::run, seeds: seeds::messages },
    Target { name: "certificate", run: certificate::run, seeds: seeds::certificates },
    Target { name: "client", run: client::run, seeds: seeds::scripts },
    #[cfg(target_os = "linux")]
    Target { name: "generator", run: generator::run, seeds: seeds::scripts },
    Target { name: "stream", run: stream::run, seeds: seeds::streams },
    Target { name: "target", run: target::run, seeds: seeds::targets },
    Target { name: "session", run: session::run, seeds: seeds::sessions },
    Target { name: "session_file", run: session_file::run, seeds: seeds::session_files },
    Target { name: "session_library", run: session_library::run, seeds: session_library::seeds },
    Target { name: "condition", run: condition::run, seeds: seeds::conditions },
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
