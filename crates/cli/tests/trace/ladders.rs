//! The ladder's structure: which messages, in which order, which of them skipped.

use reprise_lab::{Resumption, Versions};
use reprise_model::{Direction, Event, Kind, Nanos, Verification, Version};

use crate::traced::{full, messages, only, skipped, trace};
use reprise_harness::Lab;

#[test]
fn tls13_by_ticket_skips_the_servers_certificate() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &[""; 0]);
    let outcome = outcome.exits(0).silently();
    let traced = only(&document);
    assert_eq!((traced.asked.tls, traced.asked.kind), (Version::Tls13, Kind::Ticket));
    assert_eq!(
        messages(full(traced).handshake()),
        [
            ">ClientHello",
            "<ServerHello",
            "<ChangeCipherSpec",
            "<(EncryptedExtensions)",
            "<(Certificate)",
            "<(CertificateVerify)",
            "<(Finished)",
            ">ChangeCipherSpec",
            ">(Finished)"
        ]
    );
    assert_eq!(skipped(traced), ["<(Certificate)", "<(CertificateVerify)"]);
    let resumed = traced.resumed.as_ref().unwrap();
    assert_eq!((resumed.outcome.kind, resumed.outcome.verification), (Kind::Ticket, Verification::Inherited));
    assert_eq!((full(traced).outcome.kind, full(traced).outcome.verification), (Kind::Full, Verification::Verified));

    assert!(!outcome.page.contains('\u{1b}'), "no escape sequences off a terminal");
    outcome.shows(&["⇐ Certificate skipped ⇐ Certificate", "the server's Certificate, CertificateVerify."]);
}

#[test]
fn tls12_resumption_reverses_the_order_of_finished() {
    let lab = Lab::new();
    for (resumption, kind) in [(Resumption::Id, Kind::Id), (Resumption::Ticket, Kind::Ticket)] {
        let server = lab.server(resumption);
        let (outcome, document) = trace(&lab, server.address(), &["--tls", "1.2", "--kind", kind.name()]);
        let outcome = outcome.exits(0).silently();
        let traced = only(&document);
        let mut expected = vec!["<Certificate", "<ServerKeyExchange", "<ServerHelloDone", ">ClientKeyExchange"];
        let resumed = messages(traced.resumed.as_ref().unwrap().handshake());
        // Whether a ticket that was accepted is renewed is the server's choice.
        if kind == Kind::Ticket && !resumed.contains(&"<NewSessionTicket".to_owned()) {
            expected.push("<NewSessionTicket");
        }
        assert_eq!(skipped(traced), expected, "{kind}");
        assert_eq!(
            resumed.iter().filter(|message| !message.contains("Ticket")).collect::<Vec<_>>(),
            [">ClientHello", "<ServerHello", "<ChangeCipherSpec", "<(Finished)", ">ChangeCipherSpec", ">(Finished)"],
            "{kind}"
        );
        assert_eq!(traced.resumed.as_ref().unwrap().outcome.kind, kind);
        assert_eq!(messages(full(traced).handshake()).last().unwrap(), "<(Finished)");
        outcome.shows(&["skipped ← Certificate", "skipped → ClientKeyExchange"]);
    }
}

#[test]
fn times_count_from_the_client_hello_and_never_run_backwards() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (_, document) = trace(&lab, server.address(), &["--tls", "1.2,1.3"]);
    assert_eq!(document.traces.iter().map(|trace| trace.asked.tls).collect::<Vec<_>>(), [Version::Tls12, Version::Tls13]);
    for connection in document.traces.iter().flat_map(|trace| [full(trace), trace.resumed.as_ref().unwrap()]) {
        let times: Vec<Nanos> = connection.events.iter().map(|event| event.at).collect();
        assert_eq!(times.first(), Some(&Nanos(0)));
        assert!(times.is_sorted(), "{times:?}");
        let from_server = connection.handshake().iter().rfind(|event| event.direction == Direction::Received).unwrap();
        assert!(connection.phases.tls.unwrap() >= from_server.at, "no data before the server's Finished");
        let (sent, received): (Vec<_>, Vec<_>) =
            connection.events.iter().partition(|event| event.direction == Direction::Sent);
        let bytes = |events: Vec<&Event>| events.iter().map(|event| event.size.0).sum::<u64>();
        assert!(bytes(sent) < connection.sent.0 && bytes(received) < connection.received.0, "records add to messages");
    }
}

#[test]
fn the_newest_version_that_the_target_speaks_is_traced() {
    let lab = Lab::new();
    let server = lab.server_with(|config| {
        config.versions = Versions::Tls12;
        config.resumption = Resumption::Id;
    });
    let (outcome, document) = trace(&lab, server.address(), &[""; 0]);
    let traced = only(&document);
    assert_eq!((traced.asked.tls, traced.asked.kind), (Version::Tls12, Kind::Id), "as it is offered");
    assert!(traced.has_resumed());
    outcome.exits(0).shows(&["TLS 1.3 is not traced"]);
}

#[test]
fn a_kind_of_one_version_alone_chooses_the_version() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Id);
    let (outcome, document) = trace(&lab, server.address(), &["--kind", "id"]);
    outcome.exits(0);
    assert_eq!(only(&document).asked.tls, Version::Tls12);
}

#[test]
fn a_service_that_is_not_http_is_traced_without_a_request() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--no-request"]);
    outcome.exits(0);
    let traced = only(&document);
    assert!(traced.has_resumed() && full(traced).http_status.is_none());
    assert!(!messages(&full(traced).events).contains(&">(application data)".to_owned()));
}
