//! The JSON documents are what their published schemas say.

use reprise_lab::Resumption;
use reprise_servers::{Relay, RelayFault, RelayRule};

use reprise_harness::{Lab, Reprise, schema};

#[test]
fn a_result_of_one_target() {
    let lab = Lab::new();
    let server = lab.server(Resumption::RefusedTicket);
    for connections in ["close", "keepalive"] {
        let outcome = lab.measure(server.address()).count(3).args(["--connections", connections]).run().exits(0);
        outcome.valid_json("reprise.measure.1");
        assert!(!outcome.document().findings.is_empty());
    }
    let outcome = lab.measure(server.address()).count(1).arg("--no-request").run().exits(0);
    outcome.valid_json("reprise.measure.1");
    let outcome = lab.measure(server.address()).count(1).args(["--fail-if", "full.n < 1"]).run().exits(0);
    outcome.valid_json("reprise.measure.1");
}

#[test]
fn a_result_with_failures() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let relay =
        Relay::start(server.address(), RelayRule { skip_connections: 6, record: 1, fault: RelayFault::Reset }).unwrap();
    let outcome = lab.measure(relay.address()).count(20).run().exits(3);
    outcome.valid_json("reprise.measure.1");
    assert!(!outcome.document().failures.is_empty());
}

#[test]
fn a_result_of_the_lab() {
    let outcome = Reprise::measure_lab().count(2).args(["--fail-if", "full.n < 2"]).run().exits(0);
    outcome.valid_json("reprise.lab.1");
    assert!(outcome.page.contains("not met"), "{}", outcome.page);
}

#[test]
fn a_schema_refuses_what_it_does_not_describe() {
    assert!(!schema("reprise.measure.1").is_valid(&serde_json::json!({ "schema": "reprise.measure/1" })));
}
