//! What RFC 7627 (extended master secret) and RFC 5077 (tickets) demand of a client, each with the test that shows it;
//! the hostile servers are `reprise_scripted::hostile`.
//!
//! | demand | shown by |
//! | --- | --- |
//! | RFC 7627 §5.1: its extension is empty | `refusals::a_tls12_server_hello_against_the_rules` |
//! | RFC 7627 §4: the secret is derived over all messages up to ClientKeyExchange, a client's certificate among them | [`the_session_hash_covers_the_clients_certificate`] |
//! | RFC 7627 §5.2: a server without it is gone on with, and that is observed | `tls12_legacy::rsa_key_exchange_with_and_without_extended_master_secret` |
//! | RFC 7627 §5.3: the extension is offered with every session | [`every_hello_offers_the_extended_master_secret`] |
//! | RFC 7627 §5.3: a session resumed without it that was made with it, or the other way, is refused | `refusals_tls12::a_session_without_extended_master_secret_resumes_without`, the hostile servers |
//! | RFC 7627 §5.3: a session without it resumes without it, if the user wants to see that | `tls12_legacy::sessions_without_extended_master_secret_resume` |
//! | RFC 5077 §3.2: a server that was not asked does not answer | the hostile servers |
//! | RFC 5077 §3.2, §3.3: what was announced comes, what was not does not, and once | the hostile servers |
//! | RFC 5077 §3.3: no ticket is valid before the server's Finished is | [`a_ticket_before_a_finished_that_is_wrong_is_worth_nothing`] |
//! | RFC 5077 §3.3: a ticket of no length changes the server's mind | `tls12_legacy::an_empty_ticket_is_a_change_of_mind` |
//! | RFC 5077 §3.3: a renewed ticket takes the old one's place, with the same secret | `resumption_tls12::a_ticket_resumes_and_is_renewed` |
//! | RFC 5077 §3.4: the echo of a fresh session ID, and nothing else, says that a ticket was taken | `tls12_legacy::a_session_with_an_id_and_a_ticket_can_be_offered_as_either` |

use reprise_engine::Misbehaviour;
use reprise_model::{ClientAuthentication, Kind, Version};
use reprise_scripted::play::Play;
use reprise_scripted::setting::Setting;
use reprise_wire::{ContentType, ExtensionType, HandshakeType};

use crate::script::tls12::{CHANGE_CIPHER_SPEC, handshake};
use crate::script::{HeardHello, NOW, framed};
use crate::tls12_half_done;

/// The server verifies the client's Finished, so another hash would be found out there.
#[test]
fn the_session_hash_covers_the_clients_certificate() {
    let setting = Setting { asks_certificate: true, has_certificate: true, ..Setting::full(Version::Tls12) };
    let mut client = setting.client();
    Play::honest(setting).perform(&mut client).unwrap();
    let outcome = client.outcome().unwrap();
    assert!(outcome.extended_master_secret && client.is_confirmed());
    assert_eq!(outcome.client_authentication, ClientAuthentication::Sent);
}

#[test]
fn every_hello_offers_the_extended_master_secret() {
    for kind in [Kind::Full, Kind::Id, Kind::Ticket] {
        let heard = HeardHello::from(&mut Setting { kind, ..Setting::full(Version::Tls12) }.client());
        assert_eq!(heard.extension(ExtensionType::EXTENDED_MASTER_SECRET), Some(&[][..]), "{kind}");
    }
}

#[test]
fn a_ticket_before_a_finished_that_is_wrong_is_worth_nothing() {
    let (mut client, mut server) = tls12_half_done(|hello| hello.set(ExtensionType::SESSION_TICKET, &[]));
    let ticket = server.ticket(b"ticket");
    client.receive(NOW, &[&handshake(&[ticket])[..], &CHANGE_CIPHER_SPEC].concat()).unwrap();
    assert!(client.take_sessions().is_empty());
    let wrong = framed(HandshakeType::FINISHED, |out| out.extend_from_slice(&[1; 12]));
    let record = server.record(ContentType::HANDSHAKE, &wrong);
    assert_eq!(client.receive(NOW, &record), Err(Misbehaviour::BadFinished.into()));
    assert!(client.take_sessions().is_empty());
}
