//! A run that Ctrl-C ended goes on where it was.

use std::path::Path;
use std::time::{Duration, Instant};

use reprise_harness::Reprise;
use serde_json::Value;

fn compare(samples: u64) -> Reprise {
    let line = "compare resumption --keys p-256 --groups x25519 --stacks rustls-ring --tls 1.3 --samples";
    Reprise::without_plugins(line).arg(samples.to_string())
}

fn read(json: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap()
}

/// Ctrl-C once samples are being taken. The 2,000 of four rows take longer than that on any machine.
fn interrupted(json: &Path) -> Value {
    let running = compare(2000).arg("--json").arg(json).start();
    let wait = Duration::from_secs(if cfg!(debug_assertions) { 6 } else { 3 });
    std::thread::sleep(wait);
    running.interrupt();
    let begin = Instant::now();
    running.finish().exits(130);
    assert!(begin.elapsed() < Duration::from_secs(60));
    let document = read(json);
    assert_eq!(document["interrupted"], true);
    document
}

fn samples(document: &Value) -> Vec<Vec<u64>> {
    let of_row =
        |row: &Value| row["samples"]["server_ns"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
    document["rows"].as_array().unwrap().iter().map(of_row).collect()
}

#[test]
fn an_interrupted_run_goes_on_and_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let mut first = interrupted(&json);
    let before = samples(&first);
    assert!(
        before.len() == 4 && before.iter().all(|row| row.len() < 2000),
        "{:?}",
        before.iter().map(Vec::len).collect::<Vec<_>>()
    );
    // As if the plan had been shorter, so that the test is.
    let planned = before.iter().map(Vec::len).max().unwrap() as u64 + 10;
    first["plan"]["samples"] = planned.into();
    std::fs::write(&json, first.to_string()).unwrap();
    let again = || compare(planned).args(["--resume", "--json"]).arg(&json).run().exits(0);
    again();
    let whole = read(&json);
    assert_eq!((&whole["interrupted"], &whole["resumed"]), (&Value::Bool(false), &Value::from(1)));
    let after = samples(&whole);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after.len() as u64, planned, "the missing samples were added");
        assert_eq!(&after[..before.len()], &before[..], "and those that were there are kept");
    }
    assert!(!whole["matrix"].as_array().unwrap().is_empty() && !whole["ratios"].as_array().unwrap().is_empty());
    // Of a whole run nothing is missing: it is shown as it is.
    again();
    assert_eq!(read(&json)["provenance"]["time"], whole["provenance"]["time"]);
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    compare(1).arg("--json").arg(&json).run().exits(0);
    let mut document = read(&json);
    document["stacks"][0]["version"] = "0.0.1".into();
    document["interrupted"] = true.into();
    std::fs::write(&json, document.to_string()).unwrap();
    let text = std::fs::read(&json).unwrap();
    let refused = compare(2000).args(["--seed", "7", "--resume", "--json"]).arg(&json).run().exits(2);
    refused.says(&["--seed was 1, is 7", "--samples was 1, is 2000", "the stack rustls-ring was rustls, ring 0.0.1"]);
    assert_eq!(std::fs::read(&json).unwrap(), text, "the earlier result is kept");
}
