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

use std::process::{Command, Output};

use serde_json::Value;

/// The program, with no plugins but those that are named.
fn reprise(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.args(arguments).env("REPRISE_STACKS", "/nonexistent");
    command
}

/// The JSON document that it writes to standard output.
fn document(command: &mut Command) -> (Value, Output) {
    let output = command.args(["--json", "-"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout);
    (document.unwrap_or_else(|error| panic!("{error}: {said}")), output)
}

/// Whether it keeps the schema that is published.
#[track_caller]
fn assert_valid(document: &Value) {
    let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.compare.1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn strings<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap()).collect()
}
