//! What `reprise diagnose --together` says of nodes of the session library, with one store and without.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::net::IpAddr;

use reprise_diagnosis::{FleetRun, fleet_diagnosis};
use reprise_model::document::{Fleet as FleetDocument, Severity};
use reprise_probe::crossing::{CrossingLimits, Place};
use reprise_probe::fleet::examine_fleet;
use reprise_probe::{CertificateTrust, Interrupt, NoObserver, Options};
use reprise_session_tests::fleet::{Fleet, Node};
use reprise_session_tests::require_store;
use reprise_session_tests::store::Store;

const NODE: &str = env!("CARGO_BIN_EXE_session-node");

fn examined(fleet: &Fleet, nodes: &[Node]) -> FleetDocument {
    let certificates = CertificateTrust::Roots(vec![fleet.authority.certificate().clone()]);
    let options = Options { certificates, resolve: Some(IpAddr::from([127, 0, 0, 1])), ..Options::default() };
    let names: Vec<String> = nodes.iter().map(|node| format!("localhost:{}", node.address.port())).collect();
    let places = names.iter().map(|name| Place { target: name.parse().unwrap(), options: options.clone() }).collect();
    let limits = CrossingLimits { rate: 500, ..CrossingLimits::default() };
    let examination = examine_fleet(places, limits, 1, &NoObserver, &Interrupt::default());
    fleet_diagnosis(FleetRun { names, is_one_name: true, are_addresses: false, software: None }, &examination)
}

fn blamed(fleet: &FleetDocument) -> Vec<&str> {
    fleet.findings.iter().filter(|it| it.severity != Severity::Note).map(|it| it.id.as_str()).collect()
}

#[test]
fn nodes_of_one_store_share_their_sessions() {
    require_store!();
    for means in ["tickets", "store"] {
        let store = Store::start(&[]);
        let fleet = Fleet::new(NODE, &[&format!("store={}", store.url()), &format!("means={means}"), "budget=2000"]);
        let nodes: Vec<Node> = (0..3).map(|_| fleet.node(&[])).collect();
        let found = examined(&fleet, &nodes);
        assert_eq!((blamed(&found), found.shared), (vec![], Some(1.0)), "{means}: {found:#?}");
    }
}

#[test]
fn nodes_of_a_store_each_do_not() {
    require_store!();
    let fleet = Fleet::new(NODE, &["means=tickets", "budget=2000"]);
    let stores: Vec<Store> = (0..2).map(|_| Store::start(&[])).collect();
    let nodes: Vec<Node> = stores.iter().map(|store| fleet.node(&[&format!("store={}", store.url())])).collect();
    let found = examined(&fleet, &nodes);
    assert_eq!((blamed(&found), found.shared), (vec!["ticket-key-per-node"], Some(0.5)), "{found:#?}");
}
