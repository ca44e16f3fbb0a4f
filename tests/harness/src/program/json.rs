//! Calls whose result goes to standard output.

use std::process::{Command, Output};

use serde_json::Value;

/// The JSON document that this call of the program writes to standard output, and all else that came of it.
pub fn json_of(command: &mut Command) -> (Value, Output) {
    let output = command.args(["--json", "-"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout);
    (document.unwrap_or_else(|error| panic!("{error}: {said}")), output)
}

/// That this call is a wrong use of the program, and is told why.
#[track_caller]
pub fn assert_refused(command: &mut Command, why: &str) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
}
