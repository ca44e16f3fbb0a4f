//! `reprise compare` and `reprise stacks` as a user runs them, with plugins of the libraries that are installed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod built_in;
mod every_pair;
mod exercise;
mod gate;
mod hostile;
mod loopback;
mod plugins;
mod resumed_run;
mod usage;

use std::process::Command;

use serde_json::Value;

/// The program, with no plugins but those that are named.
fn reprise(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.args(arguments).env("REPRISE_STACKS", "/nonexistent");
    command
}

fn strings<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap()).collect()
}
