//! Connections as an HTTP archive.

use std::fs;

use reprise_model::document::{MeasureDocument, TraceDocument};
use reprise_report::{Document, har};
use serde_json::Value;

use crate::{read, tests, text};

#[test]
fn an_archive_has_what_was_observed_and_nothing_else() {
    let document: MeasureDocument = read("sampled");
    let archive: Value = serde_json::from_str(&text(&har::FORMAT, Document::Measure(&document))).unwrap();
    assert_valid(&archive);
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), document.samples.len());
    let ports: Vec<String> = document.samples.iter().map(|sample| sample.local_port.to_string()).collect();
    for (entry, sample) in entries.iter().zip(&document.samples) {
        assert!(ports.iter().any(|port| entry["connection"] == port.as_str()));
        let timings = &entry["timings"];
        let [connect, ssl] = ["connect", "ssl"].map(|name| timings[name].as_f64().unwrap());
        assert!(connect > ssl && ssl > 0.0, "{timings}");
        assert_eq!(timings["dns"].as_f64() == Some(-1.0), sample.phases.resolve.is_none());
        assert_eq!(entry["response"]["headersSize"], -1);
    }
}

#[test]
fn both_connections_of_a_trace_are_entries() {
    for name in ["mutual", "ticket-refused"] {
        let mut document: TraceDocument = read(name);
        for (place, trace) in document.traces.iter_mut().enumerate() {
            for (after, connection) in [&mut trace.full, &mut trace.resumed].into_iter().flatten().enumerate() {
                connection.start_ns = Some((2 * place + after) as u64 * 7_000_000);
            }
        }
        let archive: Value = serde_json::from_str(&text(&har::FORMAT, Document::Trace(&document))).unwrap();
        assert_valid(&archive);
        let entries = archive["log"]["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2 * document.traces.len());
        let starts: Vec<&str> = entries.iter().map(|entry| entry["startedDateTime"].as_str().unwrap()).collect();
        assert!(starts.windows(2).all(|pair| pair[0] != pair[1]), "each begins at its own time: {starts:?}");
        assert!(archive["log"]["entries"][0]["comment"].as_str().unwrap().contains("observed: full"));
    }
}

/// Against the published JSON Schema of HAR 1.2.
fn assert_valid(archive: &Value) {
    let schema = fs::read_to_string(tests().join("har-1.2/schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(archive).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}
