//! A run that Ctrl-C ended goes on where it was.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{assert_valid, reprise};

const FLAGS: [&str; 12] = [
    "compare",
    "resumption",
    "--keys",
    "p-256",
    "--groups",
    "x25519",
    "--stacks",
    "rustls-ring",
    "--tls",
    "1.3",
    "--samples",
    "2000",
];

fn read(json: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap()
}

/// Ctrl-C once samples are being taken. The 2,000 of four rows take longer than that on any machine.
fn interrupted(json: &Path) -> Value {
    let mut child = reprise(&FLAGS).arg("--json").arg(json).stdout(Stdio::null()).spawn().unwrap();
    let wait = Duration::from_secs(if cfg!(debug_assertions) { 6 } else { 3 });
    std::thread::sleep(wait);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let begin = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
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
    let planned = planned.to_string();
    let mut again = reprise(&FLAGS[..11]);
    again.args([&planned, "--resume", "--json"]).arg(&json);
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let whole = read(&json);
    assert_valid(&whole);
    assert_eq!((&whole["interrupted"], &whole["resumed"]), (&Value::Bool(false), &Value::from(1)));
    let after = samples(&whole);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after.len().to_string(), planned, "the missing samples were added");
        assert_eq!(&after[..before.len()], &before[..], "and those that were there are kept");
    }
    assert!(!whole["matrix"].as_array().unwrap().is_empty() && !whole["ratios"].as_array().unwrap().is_empty());
    // Of a whole run nothing is missing: it is shown as it is.
    let shown = again.output().unwrap();
    assert!(shown.status.success());
    assert_eq!(read(&json)["provenance"]["time"], whole["provenance"]["time"]);
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let mut document = {
        let short = [&FLAGS[..11], &["1"]].concat();
        assert!(reprise(&short).arg("--json").arg(&json).output().unwrap().status.success());
        read(&json)
    };
    document["stacks"][0]["version"] = "0.0.1".into();
    document["interrupted"] = true.into();
    std::fs::write(&json, document.to_string()).unwrap();
    let text = std::fs::read(&json).unwrap();
    let output = reprise(&FLAGS).args(["--seed", "7", "--resume", "--json"]).arg(&json).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for words in ["--seed was 1, is 7", "--samples was 1, is 2000", "the stack rustls-ring was rustls, ring 0.0.1"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(std::fs::read(&json).unwrap(), text, "the earlier result is kept");
}
