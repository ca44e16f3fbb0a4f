//! A server that gives tickets after a full handshake alone: why connections that were to be resumed are full.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::sync::Arc;

use reprise_harness::Lab;
use reprise_harness::load::{document, load, options};
use reprise_lab::EmbeddedResumption;
use reprise_load::{LoadEnd, LoadOptions, TlsOptions};
use reprise_model::{Kind, LoadNotice, Version};

fn notices(resumption: EmbeddedResumption, reuse_tickets: bool) -> (Vec<LoadNotice>, u64, u64) {
    let server = Lab::new().server(resumption);
    let options = LoadOptions {
        tls: Arc::new(TlsOptions { reuse_tickets, ..TlsOptions::new(Version::Tls13) }),
        mix: vec![(Kind::Ticket, 1)],
        end: LoadEnd::Count(60),
        ..options(server.address(), Version::Tls13)
    };
    let outcome = load(&options);
    (
        outcome.notices(&document(&outcome, &options), &options),
        outcome.completed(Kind::Full),
        outcome.completed(Kind::Ticket),
    )
}

#[test]
fn the_want_of_tickets_is_told() {
    let (notices, full, resumed) = notices(EmbeddedResumption::TicketOfFull, false);
    assert_eq!((full, resumed), (20, 40), "two tickets for each full handshake");
    assert!(notices.contains(&LoadNotice::NoTicketOnResumption), "{notices:?}");
}

#[test]
fn where_tickets_last_nothing_is_told() {
    for (resumption, reuse_tickets) in [(EmbeddedResumption::Ticket, false), (EmbeddedResumption::TicketOfFull, true)] {
        let (notices, _, resumed) = notices(resumption, reuse_tickets);
        assert!(resumed > 0 && !notices.contains(&LoadNotice::NoTicketOnResumption), "{resumed} {notices:?}");
    }
}
