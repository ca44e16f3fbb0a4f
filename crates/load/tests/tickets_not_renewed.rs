//! A server that gives tickets after a full handshake alone: why connections that were to be resumed are full.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::sync::Arc;

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec};
use reprise_load::{Arrival, LoadEnd, Options, Silent, TlsOptions, run};
use reprise_trace::document::{Provenance, Target};
use reprise_trace::{Kind, LoadNotice, Version};

fn notices(resumption: Resumption, reuse_tickets: bool) -> (Vec<LoadNotice>, u64, u64) {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) }).unwrap();
    let options = Options {
        tls: Arc::new(TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) }),
        arrival: Arrival::Closed { connections: 1 },
        mix: vec![(Kind::Ticket, 1)],
        end: LoadEnd::Count(60),
        ..Options::new(server.address(), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
    };
    let outcome = run(&options, &|| false, &Silent).unwrap();
    let document = outcome.document(&options, Target::default(), false, Provenance::default());
    (outcome.notices(&document, &options), outcome.completed(Kind::Full), outcome.completed(Kind::Ticket))
}

#[test]
fn the_want_of_tickets_is_told() {
    let (notices, full, resumed) = notices(Resumption::TicketOfFull, false);
    assert_eq!((full, resumed), (20, 40), "two tickets for each full handshake");
    assert!(notices.contains(&LoadNotice::NoTicketOnResumption), "{notices:?}");
}

#[test]
fn where_tickets_last_nothing_is_told() {
    for (resumption, reuse_tickets) in [(Resumption::Ticket, false), (Resumption::TicketOfFull, true)] {
        let (notices, _, resumed) = notices(resumption, reuse_tickets);
        assert!(resumed > 0 && !notices.contains(&LoadNotice::NoTicketOnResumption), "{resumed} {notices:?}");
    }
}
