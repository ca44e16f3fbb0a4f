//! psk_ke and psk_dhe_ke: which is offered, which is taken (RFC 9846 §4.3.9).

use reprise_engine::{Config, Connection, Error, Misbehaviour, Offer, Tls13Extensions};
use reprise_lab::KeyKind;
use reprise_model::{Kind, PskMode, Version};
use reprise_wire::{AlertDescription, CipherSuite, ContentType, ExtensionType, NamedGroup};

use crate::client::{self, client};
use crate::pair::Pair;
use crate::script::tls13::{Server, new_session_ticket, refusal_of_hello};
use crate::script::{HeardHello, NOW};
use crate::server::{self, ONLY_TLS13, authority};
use crate::{FULL, begun_with, psk_config, ticket, tickets};

fn offering(modes: &[PskMode]) -> Connection {
    begun_with(psk_config(modes), Offer::Ticket(ticket()))
}

fn drive(client: &mut Connection, server: &mut Server) -> Result<(), Error> {
    let hello = server.hello();
    client.receive(NOW, &server.say(&hello))?;
    let flight = server.flight();
    client.receive(NOW, &server.handshake(&flight))
}

const KE: &[PskMode] = &[PskMode::PskKe];
const DHE: &[PskMode] = &[PskMode::PskDheKe];
const BOTH: &[PskMode] = &[PskMode::PskDheKe, PskMode::PskKe];

#[test]
fn the_hello_lists_them_in_order_of_preference() {
    let reversed = &[PskMode::PskKe, PskMode::PskDheKe];
    let cases: [(&[PskMode], &[u8]); 4] = [(KE, &[1, 0]), (DHE, &[1, 1]), (BOTH, &[2, 1, 0]), (reversed, &[2, 0, 1])];
    for (modes, said) in cases {
        let heard = HeardHello::from(&mut offering(modes));
        assert_eq!(heard.extension(ExtensionType::PSK_KEY_EXCHANGE_MODES), Some(said));
        assert!(heard.extension(ExtensionType::KEY_SHARE).unwrap().len() > 32);
    }
    assert_eq!(Tls13Extensions::default().psk_modes, DHE);
    let heard = HeardHello::from(&mut begun_with(psk_config(&[]), FULL));
    assert_eq!(heard.extension(ExtensionType::PSK_KEY_EXCHANGE_MODES), None);
}

#[test]
fn a_psk_without_a_mode_is_not_offered() {
    let refused = client::start(&psk_config(&[]).into(), Offer::Ticket(ticket()), NOW).err();
    assert_eq!(refused, Some(Error::NothingToOffer("a PSK needs a mode to be used in")));
}

#[test]
fn psk_ke_resumes_without_a_key_share() {
    for modes in [KE, BOTH] {
        let mut ticket = ticket();
        for _ in 0..2 {
            let mut client = begun_with(psk_config(modes), Offer::Ticket(ticket.clone()));
            let mut server = Server::answering(&mut client).resuming(&ticket).without_share();
            drive(&mut client, &mut server).unwrap();
            let outcome = client.outcome().unwrap();
            assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Ticket, Some(PskMode::PskKe)));
            assert_eq!(outcome.group, None);

            let flight = client.take_outgoing(NOW);
            assert_eq!(server.open(&flight).len(), 1, "Finished");
            server.send_application();
            client.receive(NOW, &server.handshake(&[new_session_ticket(&[2], b"another")])).unwrap();
            ticket = tickets(client.take_sessions()).pop().unwrap();
        }
    }
}

#[test]
fn where_both_are_offered_a_key_share_means_psk_dhe_ke() {
    let ticket = ticket();
    let mut client = begun_with(psk_config(BOTH), Offer::Ticket(ticket.clone()));
    let mut server = Server::answering(&mut client).resuming(&ticket);
    drive(&mut client, &mut server).unwrap();
    let outcome = client.outcome().unwrap();
    assert_eq!((outcome.psk_mode, outcome.group.as_deref()), (Some(PskMode::PskDheKe), Some("x25519")));
}

#[test]
fn a_mode_that_was_not_offered() {
    let error = refusal_of_hello(&mut offering(KE), |hello| hello.set(ExtensionType::PRE_SHARED_KEY, &[0, 0]));
    assert_eq!(error, Misbehaviour::UnofferedPskMode.into());
    assert_eq!(error.alert(), Some(AlertDescription::ILLEGAL_PARAMETER));

    let error = refusal_of_hello(&mut offering(DHE), |hello| {
        hello.set(ExtensionType::PRE_SHARED_KEY, &[0, 0]);
        hello.remove(ExtensionType::KEY_SHARE);
    });
    let extension = ExtensionType::KEY_SHARE;
    assert_eq!(error, Misbehaviour::MissingExtension { message: "ServerHello", extension }.into());
}

#[test]
fn without_a_psk_a_key_share_is_needed_whatever_the_mode() {
    for modes in [KE, BOTH] {
        let error = refusal_of_hello(&mut offering(modes), |hello| hello.remove(ExtensionType::KEY_SHARE));
        let extension = ExtensionType::KEY_SHARE;
        assert_eq!(error, Misbehaviour::MissingExtension { message: "ServerHello", extension }.into());
    }
}

#[test]
fn a_required_key_exchange_means_a_full_handshake() {
    // rustls knows no psk_ke.
    let server = server::Server { versions: &ONLY_TLS13, ..server::Server::with(KeyKind::P256) }.start();
    let mut pair = Pair::completed(Config { versions: vec![Version::Tls13], ..client(authority()) }, server);
    let ticket = tickets(pair.client.take_sessions()).pop().unwrap();
    pair.client_config = Config { certificates: client(authority()).certificates, ..psk_config(KE) }.into();
    pair.complete(Offer::Ticket(ticket));
    let outcome = pair.outcome();
    assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Full, None));
    assert_eq!(outcome.group.as_deref(), Some("x25519"));
    assert!(outcome.session_offered);
}

#[test]
fn after_a_retry_for_another_group_psk_ke_may_still_be_chosen() {
    let ticket = ticket();
    let mut client = begun_with(psk_config(BOTH), Offer::Ticket(ticket.clone()));
    let mut server = Server::answering(&mut client).resuming(&ticket);
    let retry = server.retry(NamedGroup::SECP256R1);
    client.receive(NOW, &server.say(&retry)).unwrap();
    server.hear_again(&mut client);
    let mut server = server.without_share();
    drive(&mut client, &mut server).unwrap();
    let outcome = client.outcome().unwrap();
    assert!(outcome.hello_retry_request);
    assert_eq!((outcome.psk_mode, outcome.group.as_deref()), (Some(PskMode::PskKe), None));
    assert_eq!(outcome.cipher, CipherSuite::TLS_AES_128_GCM_SHA256.to_string());
    // What the client sends is under keys that both have.
    let flight = server.open(&client.take_outgoing(NOW));
    assert!(matches!(&flight[..], [(ContentType::HANDSHAKE, _)]));
}
