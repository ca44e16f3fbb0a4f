//! TLS 1.2 sessions: by ID and by ticket.

use std::sync::Arc;

use reprise_engine::{Error, Offer, Tls12Session};
use reprise_lab::KeyKind;
use reprise_model::{Kind, Nanos, Verification, Version};
use rustls::HandshakeKind;

use crate::client::{self, client};
use crate::full::ECDSA;
use crate::pair::Pair;
use crate::server::{ONLY_TLS12, Resumption, Server, authority};
use crate::{FULL, session};

fn pair(resumption: Resumption) -> Pair {
    let server = Server { resumption, versions: &ONLY_TLS12, ..Server::with(KeyKind::P256) };
    Pair::new(client(authority()), server.start())
}

/// After a connection that brought this session.
fn primed(resumption: Resumption) -> (Pair, Tls12Session) {
    let mut pair = pair(resumption);
    pair.complete(FULL);
    let known = session(pair.client.take_sessions());
    (pair, known)
}

#[test]
fn an_id_resumes_again_and_again() {
    for suite in ECDSA {
        let server = Server {
            resumption: Resumption::Stored,
            cipher_suites: vec![suite],
            versions: &ONLY_TLS12,
            ..Server::with(KeyKind::P256)
        };
        let mut pair = Pair::new(client(authority()), server.start());
        pair.complete(Offer::Full { session_ticket: false });
        assert!(pair.outcome().session_id_given);
        let first = session(pair.client.take_sessions());
        assert!(first.ticket.is_none() && first.extended_master_secret);

        let mut latest = first.clone();
        for _ in 0..2 {
            pair.complete(Offer::SessionId(latest));
            let outcome = pair.outcome();
            assert_eq!((outcome.kind, outcome.version), (Kind::Id, Version::Tls12));
            assert_eq!(outcome.verification, Verification::Inherited);
            assert_eq!((outcome.peer_key, outcome.signature, outcome.group), (None, None, None));
            assert!(outcome.session_offered && outcome.extended_master_secret);
            assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Resumed));
            assert_eq!(pair.round_trips(), 1);
            let story = "> ClientHello < ServerHello < ChangeCipherSpec < {Finished} > ChangeCipherSpec > {Finished}";
            assert_eq!(pair.told(), story);

            latest = session(pair.client.take_sessions());
            assert_eq!(latest.session_id, first.session_id);
            // Resuming does not make a session younger.
            assert_eq!(latest.received.at, first.received.at);
        }
    }
}

#[test]
fn a_ticket_resumes_and_is_renewed() {
    let (mut pair, mut latest) = primed(Resumption::Tickets);
    assert_eq!(pair.outcome().tickets, 1);
    for _ in 0..2 {
        let before = latest.clone();
        pair.now = pair.now + Nanos(60_000_000_000);
        pair.complete(Offer::SessionTicket(latest));
        let outcome = pair.outcome();
        assert_eq!((outcome.kind, outcome.tickets), (Kind::Ticket, 1));
        assert!(outcome.session_offered && !outcome.session_id_given);
        assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Resumed));
        assert_eq!(pair.round_trips(), 1);
        let story = "> ClientHello < ServerHello < NewSessionTicket < ChangeCipherSpec < {Finished} \
            > ChangeCipherSpec > {Finished}";
        assert_eq!(pair.told(), story);

        latest = session(pair.client.take_sessions());
        assert_ne!(latest.ticket, before.ticket);
        assert!(latest.received.at > before.received.at);
        assert!(latest.session_id.is_empty(), "the echo of a random ID is no ID");
        assert_eq!(latest.master_secret.as_bytes(), before.master_secret.as_bytes());
    }
}

#[test]
fn a_session_of_another_server_is_refused_and_observed_as_full() {
    for resumption in [Resumption::Stored, Resumption::Tickets] {
        let by_id = matches!(resumption, Resumption::Stored);
        let mut pair = pair(resumption);
        pair.complete(Offer::Full { session_ticket: !by_id });
        let known = session(pair.client.take_sessions());

        pair.server_config = Arc::new(Server { versions: &ONLY_TLS12, ..Server::with(KeyKind::P256) }.start());
        pair.complete(if by_id { Offer::SessionId(known) } else { Offer::SessionTicket(known) });
        let outcome = pair.outcome();
        assert_eq!(outcome.kind, Kind::Full);
        assert!(outcome.session_offered);
        assert_eq!(outcome.verification, Verification::Verified);
        assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::Full));
        assert_eq!(pair.round_trips(), 2);
    }
}

#[test]
fn no_ticket_is_asked_for_unless_wanted() {
    let mut pair = pair(Resumption::Tickets);
    pair.complete(Offer::Full { session_ticket: false });
    assert_eq!(pair.outcome().tickets, 0);
    assert!(!pair.story().iter().any(|message| message.contains("NewSessionTicket")));
}

#[test]
fn the_secret_of_a_resumed_session_is_logged_too() {
    let (mut pair, known) = primed(Resumption::Tickets);
    let [ours, theirs] = pair.key_logs();
    pair.complete(Offer::SessionTicket(known));
    assert_eq!(pair.outcome().kind, Kind::Ticket);
    assert_eq!(ours.sorted(), theirs.sorted());
    assert_eq!(ours.sorted().len(), 1);
}

#[test]
fn what_a_session_does_not_have_cannot_be_offered() {
    let (pair, mut known) = primed(Resumption::Tickets);
    known.session_id.clear();
    let refused = |offer| client::start(&pair.client_config, offer, Nanos(0)).err();
    assert_eq!(refused(Offer::SessionId(known.clone())), Some(Error::NothingToOffer("the session has no ID")));
    known.ticket = None;
    assert_eq!(refused(Offer::SessionTicket(known)), Some(Error::NothingToOffer("the session has no ticket")));
}
