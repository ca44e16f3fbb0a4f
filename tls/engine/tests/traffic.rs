//! After the handshake: data, KeyUpdate, close_notify; and the same bytes in other pieces.

use std::io::{Read, Write};

use reprise_engine::Error;
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::{ContentType, HandshakeType, KeyUpdate, MAX_PLAINTEXT};

use crate::client::client;
use crate::full::ECDSA;
use crate::full::SUITES;
use crate::pair::Pair;
use crate::script::{NOW, framed};
use crate::server::{Server, authority};
use crate::{FULL, begun, tls13_connected, tls13_greeted};

fn pair(version: Version) -> Pair {
    let mut config = client(authority());
    config.versions = vec![version];
    let mut pair = Pair::new(config, Server::with(KeyKind::P256).start());
    pair.connect(FULL);
    pair
}

#[test]
fn data_goes_both_ways_under_every_suite() {
    for suite in SUITES.into_iter().chain(ECDSA) {
        let server = Server { cipher_suites: vec![suite], ..Server::with(KeyKind::P256) };
        let mut pair = Pair::new(client(authority()), server.start());
        pair.complete(FULL);
        // Several records each way, the last of them not full.
        let data: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        for _ in 0..2 {
            pair.client.send(pair.now, &data).unwrap();
            pair.drive();
            pair.echo();
            pair.drive();
            assert_eq!(pair.client.take_application_data(), data);
        }
        assert!(pair.client.take_application_data().is_empty());

        let records = |arrow| pair.story().iter().filter(|event| **event == format!("{arrow} {{application data}}")).count();
        assert_eq!(records('>'), 2 * data.len().div_ceil(MAX_PLAINTEXT));
        assert!(records('<') >= 2 * data.len().div_ceil(MAX_PLAINTEXT));
        assert_eq!(pair.client.omitted_events(), 0);
    }
}

#[test]
fn nothing_is_sent_before_the_handshake_or_after_close() {
    for version in [Version::Tls12, Version::Tls13] {
        let mut pair = pair(version);
        assert_eq!(pair.client.send(pair.now, b"too soon"), Err(Error::Closed));
        assert_eq!(pair.client.waiting_for(), Some("ServerHello"));
        pair.drive();
        assert_eq!(pair.client.waiting_for(), None);
        pair.client.close(pair.now).unwrap();
        pair.client.close(pair.now).unwrap();
        assert_eq!(pair.client.send(pair.now, b"too late"), Err(Error::Closed));
        pair.drive();
        assert_eq!(pair.story().iter().filter(|event| *event == "> {close_notify}").count(), 1);
        assert!(pair.server.reader().read(&mut [0]).is_ok_and(|count| count == 0), "the server has seen the end");
    }
}

#[test]
fn the_server_closes_with_notice() {
    for version in [Version::Tls12, Version::Tls13] {
        let mut pair = pair(version);
        pair.drive();
        pair.server.writer().write_all(b"farewell").unwrap();
        pair.server.send_close_notify();
        pair.drive();
        assert_eq!(pair.client.take_application_data(), b"farewell");
        assert!(pair.client.is_peer_closed());
        assert_eq!(pair.story().last().map(String::as_str), Some("< {close_notify}"));
        // What comes after it is not read any more (RFC 9846 §6.1), and need not be whole.
        assert_eq!(pair.client.receive(pair.now, b"garbage"), Ok(()));
        assert_eq!(pair.client.receive_end(pair.now), Ok(()));
    }
}

#[test]
fn an_unannounced_end_is_an_error_only_before_the_handshake() {
    let halfway = Error::ClosedEarly("in the middle of the handshake");
    assert_eq!(tls13_greeted().0.receive_end(NOW), Err(halfway));
    for version in [Version::Tls12, Version::Tls13] {
        let mut begun = pair(version);
        let early = Error::ClosedEarly("without an answer to the ClientHello");
        assert_eq!(begun.client.receive_end(begun.now), Err(early));
        let mut torn = pair(version);
        torn.client.receive(torn.now, &[22, 3, 3]).unwrap();
        assert_eq!(torn.client.receive_end(torn.now), Err(Error::ClosedEarly("in the middle of a record")));
        let mut done = pair(version);
        done.drive();
        assert_eq!(done.client.receive_end(done.now), Ok(()));
        assert!(done.client.is_peer_closed());

        // Who has closed does not mind what becomes of the rest.
        let mut closed = pair(version);
        closed.drive();
        closed.client.close(closed.now).unwrap();
        closed.client.receive(closed.now, &[23, 3, 3]).unwrap();
        assert_eq!(closed.client.receive_end(closed.now), Ok(()));
    }
}

#[test]
fn the_client_updates_keys_and_asks_the_server_to() {
    for suite in SUITES {
        let server = Server { cipher_suites: vec![suite], ..Server::with(KeyKind::P256) };
        let mut pair = Pair::completed(client(authority()), server.start());
        for round in 0..40_u8 {
            let ask_server = round % 2 == 0;
            pair.client.update_keys(pair.now, ask_server).unwrap();
            if ask_server {
                let unanswered = Error::NoKeyUpdate("the server has not answered the last request yet");
                assert_eq!(pair.client.update_keys(pair.now, true), Err(unanswered));
                pair.client.update_keys(pair.now, false).unwrap();
            }
            pair.client.send(pair.now, &[round]).unwrap();
            pair.drive();
            assert_eq!(pair.heard, [round]);
            // rustls answers with the next that it sends.
            pair.echo();
            pair.drive();
            assert_eq!(pair.client.take_application_data(), [round]);
        }
        let count = |name| pair.story().iter().filter(|event| *event == name).count();
        assert_eq!((count("> {KeyUpdate}"), count("< {KeyUpdate}")), (60, 20));
    }
}

#[test]
fn an_answer_that_was_asked_for_is_no_flood_and_ends_the_wait() {
    let (mut client, mut server) = tls13_connected();
    let mut secret = server.send_application();
    let update = framed(HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update: false }.emit(out));
    for _ in 0..100 {
        client.update_keys(NOW, true).unwrap();
        client.receive(NOW, &server.record(ContentType::HANDSHAKE, &update)).unwrap();
        secret = secret.next().unwrap();
        server.send_under(&secret);
    }
    // And those that were not are still counted.
    let flood = (0..100).find_map(|_| {
        let received = client.receive(NOW, &server.record(ContentType::HANDSHAKE, &update));
        secret = secret.next().unwrap();
        server.send_under(&secret);
        received.err()
    });
    assert_eq!(flood, Some(Error::TooMany { what: "KeyUpdate", limit: 32 }));
    assert_eq!(client.update_keys(NOW, false), Err(Error::Closed));
}

#[test]
fn keys_are_not_updated_where_there_is_no_such_thing() {
    let mut begun = begun(Version::Tls13);
    assert_eq!(begun.update_keys(NOW, false), Err(Error::NoKeyUpdate("the handshake is not done")));
    let mut tls12 = pair(Version::Tls12);
    tls12.drive();
    assert_eq!(tls12.client.update_keys(NOW, true), Err(Error::NoKeyUpdate("TLS 1.2 has no KeyUpdate")));
    tls12.client.send(NOW, b"unharmed").unwrap();
    tls12.drive();
    assert_eq!(tls12.heard, b"unharmed");
    let mut closed = pair(Version::Tls13);
    closed.drive();
    closed.client.close(NOW).unwrap();
    assert_eq!(closed.client.update_keys(NOW, false), Err(Error::Closed));
}

#[test]
fn bytes_that_arrive_one_by_one_tell_the_same_story() {
    for version in [Version::Tls12, Version::Tls13] {
        let told: Vec<_> = [usize::MAX, 7, 1]
            .into_iter()
            .map(|segment| {
                let mut pair = pair(version);
                pair.segment = segment;
                pair.drive();
                pair.client.send(pair.now, &[7; 20_000]).unwrap();
                pair.drive();
                pair.echo();
                pair.drive();
                assert_eq!(pair.client.take_application_data(), [7; 20_000]);
                (pair.story(), pair.round_trips())
            })
            .collect();
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0], told[2]);
    }
}

#[test]
fn a_key_update_is_answered_on_request_and_not_after_close() {
    for (asks, closed, answered) in [(true, false, true), (false, false, false), (true, true, false)] {
        let (mut client, mut server) = tls13_connected();
        if closed {
            client.close(NOW).unwrap();
        }
        let _ = client.take_outgoing(NOW);
        let update = framed(HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update: asks }.emit(out));
        client.receive(NOW, &server.record(ContentType::HANDSHAKE, &update)).unwrap();
        assert_eq!(!client.take_outgoing(NOW).is_empty(), answered);
    }
}
