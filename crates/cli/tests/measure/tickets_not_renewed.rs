//! Servers that give tickets after a full handshake alone: clients run out of them.

use reprise_lab::Resumption;
use reprise_model::Kind;

use reprise_harness::Lab;

const COUNT: u32 = 12;

#[test]
fn full_handshakes_between_the_samples_are_explained() {
    let lab = Lab::new();
    let server = lab.server(Resumption::TicketOfFull);
    let outcome = lab.measure(server.address()).args(["--tls", "1.3"]).count(COUNT).run().exits(0);
    let document = outcome.document();
    assert_eq!(outcome.measured(reprise_model::Version::Tls13, Kind::Ticket).n, u64::from(COUNT));
    let finding = document.findings.iter().find(|finding| finding.id == "no-ticket-on-resumption").unwrap();
    let all = document.all_connections;
    // By the server's own account.
    let resumed = server.accounts().iter().filter(|account| account.resumed).count() as u64;
    assert_eq!((resumed, server.completed() - resumed), (all.ticket, all.full));
    assert!(
        finding.evidence[0].starts_with(&format!("No ticket on any of {resumed} connections that resumed")),
        "{finding:?}"
    );
    assert!(finding.evidence[1].ends_with("33 % of its connections are full"), "{finding:?}");
}

#[test]
fn a_server_that_renews_them_is_not_accused() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let findings = lab.measure(server.address()).args(["--tls", "1.3"]).count(COUNT).run().exits(0).document().findings;
    assert!(findings.iter().all(|finding| finding.id != "no-ticket-on-resumption"), "{findings:?}");
}
