//! ClientHellos that look unlike what clients commonly send, against a server that must not mind.

use reprise_engine::{Error, HelloShape, Offer};
use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};

use crate::client::client;
use crate::pair::{Ended, Pair};
use crate::server::{Resumption, Server, authority};
use crate::tickets;

fn pair(version: Version, shape: HelloShape) -> Pair {
    let mut config = client(authority());
    config.versions = vec![version];
    config.shape = shape;
    Pair::new(config, Server { resumption: Resumption::Tickets, ..Server::with(KeyKind::P256) }.start())
}

/// Resumes under TLS 1.3 with this shape; returns how many records the first ClientHello took.
fn resume(shape: HelloShape) -> (Pair, usize) {
    let mut pair = pair(Version::Tls13, shape);
    pair.drive();
    let ticket = tickets(pair.client.take_sessions()).pop().unwrap();
    pair.complete(Offer::Ticket(ticket));
    assert_eq!(pair.outcome().kind, Kind::Ticket, "{shape:?}");
    let records = pair.sent.iter().zip(pair.sent.iter().skip(1)).filter(|bytes| *bytes == (&22, &3)).count();
    (pair, records)
}

#[test]
fn the_ticket_is_found_behind_decoys() {
    for decoys in [1, 4, 39] {
        let (pair, _) = resume(HelloShape { decoys, ..HelloShape::default() });
        assert!(!pair.outcome().hello_retry_request);
    }
}

#[test]
fn without_a_key_share_the_server_asks_for_one() {
    for decoys in [0, 3] {
        let (pair, _) = resume(HelloShape { key_share: false, decoys, ..HelloShape::default() });
        assert!(pair.outcome().hello_retry_request);
    }
}

#[test]
fn padding_makes_the_hello_as_long_as_wanted() {
    let (plain, _) = resume(HelloShape::default());
    let (padded, _) = resume(HelloShape { padding: 2000, ..HelloShape::default() });
    assert_eq!(padded.sent.len(), plain.sent.len() + 2000 + 4);
}

/// It has to be the same in the second ClientHello, and the server ignores it.
#[test]
fn an_ech_that_holds_nothing_is_ignored() {
    for key_share in [true, false] {
        let shape = HelloShape { key_share, ..HelloShape::default() };
        let (plain, _) = resume(shape);
        let (greased, _) = resume(HelloShape { ech_grease: true, ..shape });
        let hellos = if key_share { 1 } else { 2 };
        // Its type and length, what stands before the public value, that value with its length, the payload with its own.
        let lengths = [144, 176, 208, 240].map(|payload| hellos * (4 + 6 + 2 + 32 + 2 + payload));
        assert!(lengths.contains(&(greased.sent.len() - plain.sent.len())), "{}", greased.sent.len() - plain.sent.len());
    }
}

#[test]
fn a_hello_is_split_over_records() {
    let (_, whole) = resume(HelloShape::default());
    let (_, split) = resume(HelloShape { record_size: 100, ..HelloShape::default() });
    assert!(whole < split, "{whole} {split}");
}

#[test]
fn extended_master_secret_is_left_out_on_request() {
    let shape = HelloShape { extended_master_secret: false, ..HelloShape::default() };
    let mut pair = pair(Version::Tls12, shape);
    pair.drive();
    assert!(!pair.outcome().extended_master_secret);
}

/// RFC 7627 §5.3: a server must abort a resumption without the extension of a session that was made with it.
#[test]
fn a_session_without_its_extended_master_secret_is_an_error() {
    let mut pair = pair(Version::Tls12, HelloShape::default());
    pair.drive();
    let session = crate::session(pair.client.take_sessions());
    let mut config = (*pair.client_config).clone();
    config.shape.extended_master_secret = false;
    pair.client_config = config.into();
    pair.connect(Offer::SessionTicket(session));
    let ended = pair.try_drive().unwrap_err();
    assert!(matches!(ended, Ended::ByClient(Error::AlertReceived(_))), "{ended:?}");
}
