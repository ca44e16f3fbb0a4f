//! Flags, formats, and the end of a run.

use std::time::Duration;

use reprise_harness::{Lab, Reprise, assert_valid};
use serde_json::Value;

use super::layers;

#[test]
fn a_server_that_is_not_there_is_said() {
    let lab = Lab::new();
    let call = layers("127.0.0.1:1 --levels ctx --stacks rustls-ring --ca").arg(lab.ca());
    call.run().exits(1).shows(&["failed", "refused"]);
}

#[test]
fn a_result_is_shown_again_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let [json, csv, markdown] = ["a.json", "a.csv", "a.md"].map(|name| folder.path().join(name));
    let call = layers("-n 6 --levels bio,msg --stacks rustls-ring --json").arg(&json);
    let first = call.arg("--csv").arg(&csv).arg("--markdown").arg(&markdown).run().exits(0);
    assert_eq!(Reprise::line("report").arg(&json).run().page, first.page);
    let lines = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(lines.lines().count(), 1 + 4 * 2, "each row by both clocks: {lines}");
    assert!(std::fs::read_to_string(&markdown).unwrap().contains("| bio | without | 6 full |"));
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let running = layers("-n 100000 --levels bio,msg --stacks rustls-ring --json -").start();
    std::thread::sleep(Duration::from_secs(4));
    running.interrupt();
    let document: Value = serde_json::from_str(&running.finish().exits(130).page).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["rows"].as_array().unwrap().len(), 4);
    assert_valid(&document);
}
