//! `reprise load`, and what it measured.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The result of one run.
pub(crate) fn load(reprise: &str, target: SocketAddr, flags: &[&str]) -> Value {
    let result = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(reprise);
    command.args(["load", &target.to_string()]).args(flags).arg("--json").arg(result.path());
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success(), "load failed");
    let document: Value = serde_json::from_slice(&std::fs::read(result.path()).unwrap()).unwrap();
    assert_eq!(document["errors"], Value::Object(Default::default()), "no handshake fails");
    document
}

/// How many connections there were.
pub(crate) fn connections(document: &Value) -> f64 {
    sum(&document["completed"]) + figure(document, "late")
}

pub(crate) fn figure(record: &Value, name: &str) -> f64 {
    record[name].as_f64().unwrap_or_else(|| panic!("no {name} in {record}"))
}

/// Of all figures of a record.
pub(crate) fn sum(record: &Value) -> f64 {
    record.as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
