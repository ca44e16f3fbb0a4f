//! `reprise layers` as a user runs it, with OpenSSL's plugin, against the lab and against real servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod apache;
mod contexts;
mod lab;
mod plugins;
mod servers;
mod usage;

use reprise_harness::Reprise;
use serde_json::Value;

/// `reprise layers FLAGS`, with no plugins but those that are named.
fn layers(flags: &str) -> Reprise {
    Reprise::without_plugins("layers").flags(flags)
}

/// The row of this stack at this level.
#[track_caller]
fn row<'d>(document: &'d Value, stack: &str, level: &str, sessions: bool) -> &'d Value {
    let rows = document["rows"].as_array().unwrap();
    let is_it = |row: &&Value| row["stack"] == stack && row["level"] == level && row["sessions"] == sessions;
    rows.iter().find(is_it).unwrap_or_else(|| panic!("no row {stack} {level} {sessions}: {:#}", document["skipped"]))
}

/// Why a level was skipped.
#[track_caller]
fn skipped<'d>(document: &'d Value, stack: &str, level: &str) -> (&'d str, &'d str) {
    let skipped = document["skipped"].as_array().unwrap();
    let it = skipped.iter().find(|it| it["stack"] == stack && it["level"] == level);
    let it = it.unwrap_or_else(|| panic!("{stack} {level} is not skipped: {skipped:#?}"));
    (it["outcome"].as_str().unwrap(), it["reason"].as_str().unwrap())
}
