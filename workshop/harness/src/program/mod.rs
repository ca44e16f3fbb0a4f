//! Calls of the program: a lab of certificates, servers and peers for it, and what came of them.

mod drawn;
mod gate;
mod lab;
mod outcome;
mod redis;
mod remedy_text;
mod reprise;
mod schema;
mod snapshot;
mod version;
mod witness;

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

pub use drawn::drawn;
pub use gate::{Gate, hears, says};
pub use lab::{Lab, nginx_behind_proxy, nginx_listening};
pub use outcome::{Outcome, call_of};
pub use redis::start_redis;
pub use remedy_text::without_note;
pub use reprise::{Reprise, Running, program};
pub use schema::assert_valid;
pub use snapshot::assert_page;
pub use version::{locked_version, version};
pub use witness::{assert_account_for, assert_agree};

/// Longer than anything here takes, on however busy a machine: only what hangs meets it.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds; what never comes true fails the test.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Says that a test cannot run here: it needs something that no package provides.
pub fn not_run(needs: &str) {
    let _ = writeln!(io::stderr(), "NOT RUN: needs {needs}");
}
