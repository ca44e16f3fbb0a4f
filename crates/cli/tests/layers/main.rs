//! `reprise layers` as a user runs it, with OpenSSL's plugin, against the lab and against real servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod apache;
mod contexts;
mod lab;
mod plugins;
mod servers;
mod usage;

use std::process::{Command, Output};

use serde_json::Value;

/// The program, with no plugins but those that are named.
fn reprise(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.arg("layers").args(arguments).env("REPRISE_STACKS", "/nonexistent");
    command
}

/// The JSON document that it writes to standard output.
fn document(command: &mut Command) -> (Value, Output) {
    let output = command.args(["--json", "-"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout);
    (document.unwrap_or_else(|error| panic!("{error}: {said}")), output)
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
