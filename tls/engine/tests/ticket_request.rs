//! Tickets asked for by number (RFC 9149).

use reprise_engine::{Config, Connection, Error, Misbehaviour, Offer, Tls13Extensions};
use reprise_model::Version;
use reprise_wire::extensions::TicketRequest;
use reprise_wire::{ExtensionType, NamedGroup};

use crate::client::trusting_client;
use crate::script::tls13::{Server, greeted};
use crate::script::{HeardHello, NOW};
use crate::{FULL, begun, begun_with, ticket};

const EXTENSION: ExtensionType = ExtensionType::TICKET_REQUEST;

fn asking(offer: Offer) -> Connection {
    let ticket_request = Some(TicketRequest { new_session_count: 5, resumption_count: 1 });
    let tls13 = Tls13Extensions { ticket_request, ..Tls13Extensions::default() };
    begun_with(Config { versions: vec![Version::Tls13], tls13, ..trusting_client() }, offer)
}

/// What the client makes of this answer in EncryptedExtensions.
fn answered(mut client: Connection, answer: &[u8]) -> Result<Option<u8>, Error> {
    let mut server = greeted(&mut client);
    let message = server.encrypted_extensions(&[(EXTENSION, answer.to_vec())]);
    client.receive(NOW, &server.handshake(&[message]))?;
    Ok(client.outcome().unwrap().tickets_promised)
}

#[test]
fn both_numbers_are_in_every_hello_only_on_request() {
    for offer in [FULL, Offer::Ticket(ticket())] {
        let mut client = asking(offer);
        let mut server = Server::answering(&mut client);
        assert_eq!(server.heard.extension(EXTENSION), Some(&[5, 1][..]));
        let retry = server.retry(NamedGroup::SECP256R1);
        client.receive(NOW, &server.say(&retry)).unwrap();
        server.hear_again(&mut client);
        assert_eq!(server.heard.extension(EXTENSION), Some(&[5, 1][..]));
    }
    assert_eq!(HeardHello::from(&mut begun(Version::Tls13)).extension(EXTENSION), None);
}

#[test]
fn the_promise_is_kept_in_mind() {
    assert_eq!(answered(asking(FULL), &[3]), Ok(Some(3)));
    let mut client = asking(FULL);
    let mut server = greeted(&mut client);
    let flight = server.flight();
    client.receive(NOW, &server.handshake(&flight)).unwrap();
    assert_eq!(client.outcome().unwrap().tickets_promised, None);
    assert_eq!(answered(begun(Version::Tls13), &[3]), Err(Misbehaviour::UnofferedExtension(EXTENSION).into()));
    for answer in [&[][..], &[3, 1]] {
        let error = answered(asking(FULL), answer).unwrap_err();
        assert!(matches!(error, Error::Malformed { message: "ticket_request", .. }), "{error}");
    }
}
