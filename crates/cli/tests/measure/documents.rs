//! The JSON documents are what their published schemas say.

use std::fs;
use std::path::Path;

use reprise_lab::Resumption;
use reprise_servers::{Relay, RelayFault, RelayRule};
use serde_json::Value;

use reprise_harness::{Lab, Outcome, Reprise};

/// Holds a document against the schema that it names.
#[track_caller]
fn assert_valid(outcome: &Outcome, name: &str) {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let document = parse(outcome.json.as_deref().unwrap());
    assert_eq!(document["schema"].as_str(), Some(name.replace(".1", "/1").as_str()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    let schema = jsonschema::validator_for(&parse(&fs::read_to_string(path).unwrap())).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_result_of_one_target() {
    let lab = Lab::new();
    let server = lab.server(Resumption::RefusedTicket);
    for connections in ["close", "keepalive"] {
        let outcome = lab.measure(server.address()).count(3).args(["--connections", connections]).run().exits(0);
        assert_valid(&outcome, "reprise.measure.1");
        assert!(!outcome.document().findings.is_empty());
    }
    let outcome = lab.measure(server.address()).count(1).arg("--no-request").run().exits(0);
    assert_valid(&outcome, "reprise.measure.1");
    let outcome = lab.measure(server.address()).count(1).args(["--fail-if", "full.n < 1"]).run().exits(0);
    assert_valid(&outcome, "reprise.measure.1");
}

#[test]
fn a_result_with_failures() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let relay =
        Relay::start(server.address(), RelayRule { skip_connections: 6, record: 1, fault: RelayFault::Reset }).unwrap();
    let outcome = lab.measure(relay.address()).count(20).run().exits(3);
    assert_valid(&outcome, "reprise.measure.1");
    assert!(!outcome.document().failures.is_empty());
}

#[test]
fn a_result_of_the_lab() {
    let outcome = Reprise::measure_lab().count(2).args(["--fail-if", "full.n < 2"]).run().exits(0);
    assert_valid(&outcome, "reprise.lab.1");
    assert!(outcome.page.contains("not met"), "{}", outcome.page);
}

#[test]
fn a_schema_refuses_what_it_does_not_describe() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.measure.1.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(!schema.is_valid(&serde_json::json!({ "schema": "reprise.measure/1" })));
}
