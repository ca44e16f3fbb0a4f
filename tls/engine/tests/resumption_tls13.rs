//! TLS 1.3 tickets: used, chained, refused, retried.

use std::sync::Arc;

use reprise_engine::{Error, Offer, Tls13Ticket};
use reprise_lab::KeyKind;
use reprise_model::{Kind, Nanos, PskMode, Verification, Version};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls::HandshakeKind;

use crate::client::{self, client};
use crate::full::SUITES;
use crate::pair::Pair;
use crate::script::HeardHello;
use crate::server::{ONLY_TLS13, Resumption, Server, authority};
use crate::tickets;

/// After a first connection.
fn pair(suite: CipherSuite, resumption: Resumption) -> Pair {
    let cipher_suites = vec![suite];
    let mut config = client(authority());
    config.versions = vec![Version::Tls13];
    let server = Server { cipher_suites, resumption, versions: &ONLY_TLS13, ..Server::with(KeyKind::P256) };
    Pair::completed(config, server.start())
}

/// After a connection that brought this ticket.
fn primed(suite: CipherSuite) -> (Pair, Tls13Ticket) {
    let mut pair = pair(suite, Resumption::Tickets);
    let ticket = tickets(pair.client.take_sessions()).pop().unwrap();
    (pair, ticket)
}

#[test]
fn tickets_resume_and_chain_under_every_suite() {
    for suite in SUITES {
        for resumption in [Resumption::Stored, Resumption::Tickets] {
            let mut pair = pair(suite, resumption);
            for _ in 0..3 {
                let mut newest = tickets(pair.client.take_sessions());
                assert_eq!(newest.len(), 2);
                pair.complete(Offer::Ticket(newest.pop().unwrap()));

                let outcome = pair.outcome();
                assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Ticket, Some(PskMode::PskDheKe)));
                assert_eq!(outcome.verification, Verification::Inherited);
                assert_eq!((outcome.peer_key, outcome.signature), (None, None));
                assert_eq!(outcome.group.as_deref(), Some("x25519"));
                assert!(outcome.session_offered);
                assert_eq!(outcome.tickets, 2);
                assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Resumed));
                assert_eq!(pair.round_trips(), 1);
                let story = "> ClientHello < ServerHello < ChangeCipherSpec < {EncryptedExtensions} < {Finished} \
                    > ChangeCipherSpec > {Finished} < {NewSessionTicket} < {NewSessionTicket}";
                assert_eq!(pair.told(), story);
            }
        }
    }
}

#[test]
fn every_ticket_of_a_connection_is_good_and_given_out_once() {
    let mut pair = pair(SUITES[0], Resumption::Tickets);
    let all = tickets(pair.client.take_sessions());
    assert!(pair.client.take_sessions().is_empty());
    assert_ne!(all[0].ticket, all[1].ticket);
    assert_ne!(all[0].psk.as_ref(), all[1].psk.as_ref());
    for ticket in all {
        pair.complete(Offer::Ticket(ticket));
        assert_eq!(pair.outcome().kind, Kind::Ticket);
    }
}

#[test]
fn a_ticket_of_another_server_is_refused_and_observed_as_full() {
    let (mut pair, ticket) = primed(SUITES[0]);

    let stranger = Server { versions: &ONLY_TLS13, ..Server::with(KeyKind::P256) }.start();
    pair.server_config = Arc::new(stranger);
    pair.complete(Offer::Ticket(ticket));
    let outcome = pair.outcome();
    assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Full, None));
    assert!(outcome.session_offered);
    assert_eq!(outcome.verification, Verification::Verified);
    assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Full));
}

#[test]
fn after_a_retry_the_binder_covers_both_hellos() {
    for suite in SUITES {
        let (mut pair, ticket) = primed(suite);

        let picky = Server {
            groups: vec![NamedGroup::SECP384R1],
            cipher_suites: vec![suite],
            versions: &ONLY_TLS13,
            ..Server::with(KeyKind::P256)
        };
        let mut picky = picky.start();
        picky.ticketer = pair.server_config.ticketer.clone();
        pair.server_config = Arc::new(picky);
        pair.complete(Offer::Ticket(ticket));

        let outcome = pair.outcome();
        assert_eq!(outcome.kind, Kind::Ticket);
        assert!(outcome.hello_retry_request && outcome.session_offered);
        assert_eq!(outcome.group.as_deref(), Some("secp384r1"));
        assert_eq!(pair.round_trips(), 2);
    }
}

#[test]
fn a_ticket_brings_its_own_suite() {
    let (mut pair, ticket) = primed(CipherSuite::TLS_AES_256_GCM_SHA384);
    let mut config = client(authority());
    config.cipher_suites = vec![CipherSuite::TLS_AES_128_GCM_SHA256];
    pair.client_config = config.into();
    pair.complete(Offer::Ticket(ticket));
    assert_eq!(pair.outcome().kind, Kind::Ticket);
}

#[test]
fn a_ticket_says_how_long_it_lives() {
    let (pair, ticket) = primed(SUITES[0]);
    assert_eq!(ticket.received.at, pair.now);
    assert!(ticket.lifetime > 0 && ticket.max_early_data.is_none());
    assert!(!ticket.is_expired(pair.now));
    let end = pair.now + Nanos(u64::from(ticket.lifetime) * 1_000_000_000);
    assert!(ticket.is_expired(end) && !ticket.is_expired(end - Nanos(1)));
    let later = pair.now + Nanos(7_000_000);
    assert_eq!(ticket.obfuscated_age(later), ticket.age_add.wrapping_add(7));
}

#[test]
fn a_session_cannot_be_offered_where_its_version_is_not() {
    let (_, ticket) = primed(SUITES[0]);
    let mut config = client(authority());
    config.versions = vec![Version::Tls12];
    let refused = client::start(&config.into(), Offer::Ticket(ticket), Nanos(0)).err();
    assert_eq!(refused, Some(Error::NothingToOffer("the session is of a version that is not offered")));
}

#[test]
fn a_ticket_too_long_for_a_hello_is_refused_before_it_is_sent() {
    let (pair, known) = primed(SUITES[0]);
    let hello = |length: usize| {
        let ticket = Tls13Ticket { ticket: vec![7; length], ..known.clone() };
        let mut client = client::start(&pair.client_config, Offer::Ticket(ticket), Nanos(0))?;
        Ok(HeardHello::from(&mut client).hello().extensions.unwrap().as_bytes().len())
    };
    let longest = 0xffff - hello(1).unwrap() + 1;
    assert_eq!(hello(longest), Ok(0xffff));
    assert_eq!(hello(longest + 1), Err(Error::TooLarge { what: "ticket or cookie", limit: 0xffff }));
}
