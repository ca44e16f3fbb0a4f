//! Flags, formats, and the end of a run.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::reprise;

/// Holds a document against its published schema.
#[track_caller]
pub(crate) fn validates(document: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/schema/reprise.layers.1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[track_caller]
fn refuses(arguments: &[&str], why: &str) {
    let output = reprise(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
}

#[test]
fn flags_that_name_nothing_are_refused() {
    refuses(&["--levels", "context"], "unknown level 'context'; known: load, run");
    refuses(&["--stacks", "opensssl"], "unknown stack 'opensssl'");
    refuses(&["--client-key", "dsa"], "unknown key 'dsa'");
    refuses(&["--count", "0"], "0 is not in 1..=1000000");
    refuses(&["localhost:1", "--client-key", "p-256"], "cannot be used with");
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let certificate = reprise_lab::Authority::new().unwrap().pem();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.pem");
    std::fs::write(&root, certificate).unwrap();
    let flags = ["127.0.0.1:1", "--levels", "ctx", "--stacks", "rustls-ring", "--ca", root.to_str().unwrap()];
    let output = reprise(&flags).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(page.contains("failed") && page.contains("refused"), "{page}");
}

#[test]
fn a_result_is_shown_again_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, csv, markdown) = (file("a.json"), file("a.csv"), file("a.md"));
    let flags = ["-n", "6", "--levels", "bio,msg", "--stacks", "rustls-ring"];
    let output =
        reprise(&[&flags[..], &["--json", &json, "--csv", &csv, "--markdown", &markdown]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let again = Command::new(env!("CARGO_BIN_EXE_reprise")).args(["report", &json]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&output.stdout));
    let lines = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(lines.lines().count(), 1 + 4 * 2, "each row by both clocks: {lines}");
    assert!(std::fs::read_to_string(&markdown).unwrap().contains("| bio | without | 6 full |"));
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let mut command = reprise(&["-n", "100000", "--levels", "bio,msg", "--stacks", "rustls-ring", "--json", "-"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["rows"].as_array().unwrap().len(), 4);
    validates(&document);
}
