//! Ctrl-C: exit 130, and what was measured until then is printed and kept.

use std::time::Duration;

use reprise_lab::EmbeddedResumption;
use reprise_model::document::LabDocument;
use reprise_model::{Kind, Version};
use reprise_servers::{MisbehavingServer, ScriptStep};

use reprise_harness::{Lab, Reprise, wait_until};

/// More connections than any test waits for.
const ENDLESS: u32 = 1_000_000;

#[test]
fn what_was_measured_is_printed_and_kept() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let running = lab.measure(server.address()).count(ENDLESS).start();
    wait_until("some connections", || server.completed() > 40);
    running.interrupt();
    // As timeout(1) signals the process and then its group: two signals at once are one Ctrl-C.
    std::thread::sleep(Duration::from_millis(2));
    running.interrupt();
    let outcome = running.finish().exits(130).silently();
    let document = outcome.document();
    assert!(document.interrupted && document.failures.is_empty());
    assert!(document.run(Version::Tls13, Kind::Ticket).unwrap().n > 2);
    // The connection that Ctrl-C cut short is no failure, nor is it counted; the server may have taken it for whole.
    let all = document.all_connections;
    let counted = all.full + all.id + all.ticket;
    assert!((counted..=counted + 1).contains(&server.completed()), "{counted} of {}", server.completed());
    assert_eq!(all.failed, 0);
    outcome.shows(&["Incomplete", "TLS 1.3"]);
}

#[test]
fn the_lab_prints_what_it_has() {
    let directory = Lab::new();
    let keys = directory.path("keys.log");
    let running = Reprise::measure_lab().count(ENDLESS).env("SSLKEYLOGFILE", &keys).start();
    wait_until("a connection", || keys.metadata().is_ok_and(|it| it.len() > 0));
    running.interrupt();
    let outcome = running.finish().exits(130);
    let document: LabDocument = serde_json::from_str(outcome.json.as_deref().unwrap()).unwrap();
    assert!(document.results.iter().all(|result| result.interrupted), "none is measured to its end");
}

#[test]
fn a_wait_for_a_silent_server_is_cut_short() {
    let lab = Lab::new();
    let server = MisbehavingServer::start(vec![ScriptStep::ReadRecord, ScriptStep::Stall]).unwrap();
    let running = lab.measure(server.address()).timeout("10m").start();
    wait_until("a ClientHello", || !server.received().is_empty());
    running.interrupt();
    running.finish().exits(130).silently();
}
