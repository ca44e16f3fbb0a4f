//! What rustls does not do any more: RSA key exchange, and master secrets that are not extended. And what only a script
//! can: tickets that come to nothing.

use std::sync::Arc;

use reprise_engine::{Config, Connection, Offer};
use reprise_model::{Kind, Verification, Version};
use reprise_wire::{AlertDescription, CipherSuite, ContentType, ExtensionType, HandshakeType};

use crate::client::{self, Lines, trusting_client};
use crate::pair::story;
use crate::refusals_tls12::known_session;
use crate::script::tls12::{greeted_with, handshake};
use crate::script::{NOW, framed};
use crate::server::authority;
use crate::{FULL, begun, begun_with, session, tls12_connected, tls12_greeted, tls12_half_done};

fn tls12(offer: Offer) -> Connection {
    begun_with(Config { versions: vec![Version::Tls12], ..trusting_client() }, offer)
}

fn told(client: &mut Connection) -> Vec<String> {
    let _ = client.take_outgoing(NOW);
    client.events().iter().map(story).collect()
}

#[test]
fn rsa_key_exchange_with_and_without_extended_master_secret() {
    for suite in [CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256, CipherSuite::TLS_RSA_WITH_AES_256_GCM_SHA384] {
        for extended in [true, false] {
            let lines = Arc::new(Lines::default());
            let config =
                Config { versions: vec![Version::Tls12], key_log: Some(lines.clone()), ..client::client(authority()) };
            let mut client = begun_with(config, FULL);
            let mut server = crate::script::tls12::Server::answering(&mut client).under(suite);
            let mut hello = server.hello();
            hello.session_id = vec![3; 32];
            if !extended {
                hello.remove(ExtensionType::EXTENDED_MASTER_SECRET);
            }
            client.receive(NOW, &server.say(&hello)).unwrap();
            let flight = server.flight();
            client.receive(NOW, &handshake(&flight)).unwrap();
            server.hear_flight(&mut client);
            client.receive(NOW, &server.end()).unwrap();

            let outcome = client.outcome().unwrap();
            assert_eq!((outcome.kind, outcome.cipher.as_str()), (Kind::Full, suite.name().unwrap()));
            assert_eq!((&outcome.group, &outcome.signature), (&None, &None));
            assert_eq!(outcome.peer_key.as_deref(), Some("rsa-2048"));
            assert_eq!(outcome.verification, Verification::Verified);
            assert_eq!(outcome.extended_master_secret, extended);
            let story = "> ClientHello < ServerHello < Certificate < ServerHelloDone > ClientKeyExchange \
                > ChangeCipherSpec > {Finished} < ChangeCipherSpec < {Finished}";
            assert_eq!(told(&mut client).join(" "), story);
            let master = server.master.as_ref().unwrap().as_bytes();
            let theirs = Lines::default();
            theirs.add("CLIENT_RANDOM", &server.heard.random, master);
            assert_eq!(lines.sorted(), theirs.sorted());
        }
    }
}

#[test]
fn sessions_without_extended_master_secret_resume() {
    let known = known_session(|hello| hello.remove(ExtensionType::EXTENDED_MASTER_SECRET));
    let mut client = tls12(Offer::SessionId(known.clone()));
    let mut server = greeted_with(&mut client, |hello| {
        hello.session_id = known.session_id.clone();
        hello.remove(ExtensionType::EXTENDED_MASTER_SECRET);
    });
    server.resume(known.master_secret);
    client.receive(NOW, &server.end()).unwrap();
    server.hear_flight(&mut client);
    let outcome = client.outcome().unwrap();
    assert_eq!(outcome.kind, Kind::Id);
    assert!(!outcome.extended_master_secret);
}

#[test]
fn a_session_with_an_id_and_a_ticket_can_be_offered_as_either() {
    let (mut client, mut server) = tls12_half_done(|hello| {
        hello.session_id = vec![5; 32];
        hello.set(ExtensionType::SESSION_TICKET, &[]);
    });
    let ticket = server.ticket(b"ticket");
    client.receive(NOW, &handshake(&[ticket])).unwrap();
    client.receive(NOW, &server.end()).unwrap();
    assert!(client.outcome().unwrap().session_id_given);
    let known = session(client.take_sessions());
    assert_eq!(known.ticket.as_ref().map(|ticket| ticket.lifetime_hint), Some(300));

    for offer in [Offer::SessionId(known.clone()), Offer::SessionTicket(known.clone())] {
        let kind = if matches!(offer, Offer::SessionId(_)) { Kind::Id } else { Kind::Ticket };
        let mut client = tls12(offer);
        let mut server = crate::script::tls12::Server::answering(&mut client);
        let offered = server.heard.extension(ExtensionType::SESSION_TICKET).map(<[u8]>::to_vec);
        assert_eq!(offered.as_deref(), (kind == Kind::Ticket).then_some(&b"ticket"[..]));
        let mut hello = server.hello();
        hello.session_id = server.heard.session_id.clone();
        client.receive(NOW, &server.say(&hello)).unwrap();
        server.resume(known.master_secret.clone());
        client.receive(NOW, &server.end()).unwrap();
        server.hear_flight(&mut client);
        assert_eq!(client.outcome().unwrap().kind, kind);
        // Not renewed, so it stays good, and as old as it was.
        let kept = session(client.take_sessions());
        assert_eq!((kept.ticket, kept.received.at), (known.ticket.clone(), known.received.at));
        assert_eq!(kept.session_id.is_empty(), kind == Kind::Ticket);
    }
}

#[test]
fn an_empty_ticket_is_a_change_of_mind() {
    let (mut client, mut server) = tls12_half_done(|hello| hello.set(ExtensionType::SESSION_TICKET, &[]));
    let ticket = server.ticket(b"");
    client.receive(NOW, &handshake(&[ticket])).unwrap();
    client.receive(NOW, &server.end()).unwrap();
    assert!(client.ready().is_some());
    assert_eq!(client.outcome().unwrap().tickets, 0);
    assert!(client.take_sessions().is_empty());
    assert!(told(&mut client).contains(&"< NewSessionTicket".to_owned()));
}

#[test]
fn renegotiation_is_declined_outside_a_handshake() {
    let request = framed(HandshakeType::HELLO_REQUEST, |_| {});
    let (mut client, mut server) = tls12_greeted(|_| {});
    client.receive(NOW, &handshake(std::slice::from_ref(&request))).unwrap();
    let flight = server.flight();
    client.receive(NOW, &handshake(&flight)).unwrap();
    server.hear_flight(&mut client);
    client.receive(NOW, &server.end()).unwrap();
    assert_eq!(told(&mut client).iter().filter(|event| *event == "< HelloRequest").count(), 1);

    client.receive(NOW, &server.record(ContentType::HANDSHAKE, &request)).unwrap();
    let story = told(&mut client);
    assert_eq!(story[story.len() - 2..], ["< {HelloRequest}", "> {no_renegotiation}"]);
    client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, b"still here")).unwrap();
    assert_eq!(client.take_application_data(), b"still here");
}

#[test]
fn a_warning_changes_nothing() {
    let warning = [1, AlertDescription::UNRECOGNIZED_NAME.0];
    let mut client = begun(Version::Tls12);
    let mut server = crate::script::tls12::Server::answering(&mut client);
    client.receive(NOW, &crate::script::clear(ContentType::ALERT, &warning)).unwrap();
    let hello = server.hello();
    client.receive(NOW, &server.say(&hello)).unwrap();
    assert_eq!(told(&mut client)[1..], ["< unrecognized_name", "< ServerHello"]);

    let (mut client, mut server) = tls12_connected();
    client.receive(NOW, &server.record(ContentType::ALERT, &warning)).unwrap();
    assert!(client.waiting_for().is_none() && !client.is_peer_closed());
}
