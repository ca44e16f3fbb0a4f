//! Records that break the rules of the record layer, under live keys.

use reprise_engine::{Error, Misbehaviour};
use reprise_model::Version;
use reprise_wire::{AlertDescription, ContentType, HandshakeType, KeyUpdate, MAX_CIPHERTEXT_TLS13, MAX_PLAINTEXT};

use crate::pair::story;
use crate::script::tls12;
use crate::script::tls13::{Server, connected};
use crate::script::{NOW, alert_of, clear, framed, record};
use crate::{begun, tls12_connected, tls12_half_done, tls13_connected, tls13_greeted};

fn unexpected(received: ContentType, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedRecord { received, expected }.into()
}

#[test]
fn a_message_across_a_change_of_keys() {
    // After the ServerHello in the clear.
    let mut client = begun(Version::Tls13);
    let server = Server::answering(&mut client);
    let hello = server.hello().message();
    let beginning = [&hello[..], &[HandshakeType::ENCRYPTED_EXTENSIONS.0]].concat();
    let result = client.receive(NOW, &clear(ContentType::HANDSHAKE, &beginning));
    assert_eq!(result, Err(Misbehaviour::KeyChangeInsideMessage.into()));

    // After a KeyUpdate.
    let (mut client, mut server) = tls13_connected();
    let update = framed(HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update: false }.emit(out));
    let result = client.receive(NOW, &server.handshake(&[update.clone(), update]));
    assert_eq!(result, Err(Misbehaviour::KeyChangeInsideMessage.into()));

    // Before the ChangeCipherSpec of TLS 1.2.
    let (mut client, _server) = tls12_half_done(|_| {});
    client.receive(NOW, &clear(ContentType::HANDSHAKE, &[HandshakeType::FINISHED.0, 0])).unwrap();
    let result = client.receive(NOW, &tls12::CHANGE_CIPHER_SPEC);
    assert_eq!(result, Err(Misbehaviour::InterleavedMessage.into()));
}

#[test]
fn records_between_the_fragments_of_a_message() {
    let mut client = begun(Version::Tls13);
    let server = Server::answering(&mut client);
    let hello = server.hello().message();
    client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello[..9])).unwrap();
    assert_eq!(client.receive(NOW, &tls12::CHANGE_CIPHER_SPEC), Err(Misbehaviour::InterleavedMessage.into()));

    // An alert that ends the connection is named wherever it stands.
    let (mut client, mut server) = tls13_greeted();
    let message = server.encrypted_extensions(&[]);
    client.receive(NOW, &server.record(ContentType::HANDSHAKE, &message[..3])).unwrap();
    let alert = server.record(ContentType::ALERT, &[2, AlertDescription::INTERNAL_ERROR.0]);
    assert_eq!(client.receive(NOW, &alert), Err(Error::AlertReceived(AlertDescription::INTERNAL_ERROR)));
}

#[test]
fn fragments_without_content() {
    let mut client = begun(Version::Tls13);
    let _ = client.take_outgoing(NOW);
    let mut empty = Vec::new();
    record(ContentType::HANDSHAKE, &[], &mut empty);
    assert_eq!(client.receive(NOW, &empty), Err(Misbehaviour::EmptyFragment.into()));

    let (mut client, mut server) = tls13_greeted();
    let empty = server.record(ContentType::HANDSHAKE, &[]);
    assert_eq!(client.receive(NOW, &empty), Err(Misbehaviour::EmptyFragment.into()));

    // Padding and nothing else (RFC 9846 §5.4).
    let (mut client, mut server) = tls13_greeted();
    let padding = server.record(ContentType(0), &[0; 40]);
    assert_eq!(client.receive(NOW, &padding), Err(Misbehaviour::EmptyFragment.into()));
    assert_eq!(alert_of(&mut client).as_deref(), Some("unexpected_message"));
}

#[test]
fn padding_is_taken_off() {
    let (mut client, mut server) = tls13_greeted();
    // The type, and after it zeros with a zero for type.
    let padded = [&server.flight().concat()[..], &[ContentType::HANDSHAKE.0], &[0; 300]].concat();
    client.receive(NOW, &server.record(ContentType(0), &padded)).unwrap();
    assert!(client.ready().is_some());
}

#[test]
fn an_alert_in_the_clear_counts_only_before_the_keys_are_used() {
    let alert = clear(ContentType::ALERT, &[2, AlertDescription::HANDSHAKE_FAILURE.0]);
    let (mut client, _server) = tls13_greeted();
    let named = Error::AlertReceived(AlertDescription::HANDSHAKE_FAILURE);
    assert_eq!(client.receive(NOW, &alert), Err(named));
    assert_eq!(client.events().last().map(|event| event.encrypted), Some(false));

    let expected = "a protected record";
    let (mut client, mut server) = tls13_greeted();
    let message = server.encrypted_extensions(&[]);
    client.receive(NOW, &server.handshake(&[message])).unwrap();
    assert_eq!(client.receive(NOW, &alert), Err(unexpected(ContentType::ALERT, expected)));

    // Nor does a farewell that anyone could have written confirm the handshake.
    let (mut client, _server) = tls13_connected();
    let farewell = clear(ContentType::ALERT, &[1, 0]);
    assert_eq!(client.receive(NOW, &farewell), Err(unexpected(ContentType::ALERT, expected)));
    assert!(!client.is_confirmed() && !client.is_peer_closed());
}

#[test]
fn an_alert_under_application_keys_confirms_the_handshake() {
    let (mut client, mut server) = tls13_connected();
    assert!(!client.is_confirmed());
    client.receive(NOW, &server.record(ContentType::ALERT, &[1, 0])).unwrap();
    assert!(client.is_confirmed() && client.is_peer_closed());
}

#[test]
fn a_change_of_mind_is_passed_over_until_the_farewell() {
    // RFC 9846 §6.1: user_canceled comes before close_notify.
    let (mut client, mut server) = tls13_connected();
    client.receive(NOW, &server.record(ContentType::ALERT, &[1, AlertDescription::USER_CANCELED.0])).unwrap();
    assert!(!client.is_peer_closed());
    client.receive(NOW, &server.record(ContentType::ALERT, &[1, 0])).unwrap();
    assert!(client.is_peer_closed());
    let told: Vec<_> = client.events().iter().map(story).collect();
    assert_eq!(told[told.len() - 2..], ["< {user_canceled}", "< {close_notify}"]);
}

#[test]
fn a_farewell_in_the_middle_of_the_handshake_is_a_refusal() {
    for version in [Version::Tls12, Version::Tls13] {
        let mut client = begun(version);
        let _ = client.take_outgoing(NOW);
        let error = client.receive(NOW, &clear(ContentType::ALERT, &[1, 0])).unwrap_err();
        assert_eq!(error, Error::AlertReceived(AlertDescription::CLOSE_NOTIFY));
        assert!(client.is_peer_closed());
    }
}

#[test]
fn tls13_change_cipher_spec_precedes_finished_in_the_clear() {
    let (mut client, mut server) = tls13_greeted();
    client.receive(NOW, &tls12::CHANGE_CIPHER_SPEC).unwrap();
    let protected = server.record(ContentType::CHANGE_CIPHER_SPEC, &[1]);
    let error = unexpected(ContentType::CHANGE_CIPHER_SPEC, "EncryptedExtensions");
    assert_eq!(client.receive(NOW, &protected), Err(error));

    let (mut client, _server) = tls13_connected();
    let error = unexpected(ContentType::CHANGE_CIPHER_SPEC, "application data");
    assert_eq!(client.receive(NOW, &tls12::CHANGE_CIPHER_SPEC), Err(error));
}

#[test]
fn a_record_that_does_not_decrypt() {
    for length in [0, 1, 15, 16] {
        let (mut client, _server) = tls13_greeted();
        let mut short = Vec::new();
        record(ContentType::APPLICATION_DATA, &vec![0; length], &mut short);
        assert_eq!(client.receive(NOW, &short), Err(Error::BadRecordMac));

        let (mut client, _server) = tls12_connected();
        assert_eq!(client.receive(NOW, &short), Err(Error::BadRecordMac));
    }
}

#[test]
fn records_come_in_their_order_and_once() {
    let (mut client, mut server) = tls13_connected();
    let records = [1, 2].map(|n| server.record(ContentType::APPLICATION_DATA, &[n]));
    assert_eq!(client.receive(NOW, &records[1]), Err(Error::BadRecordMac));
    let (mut client, mut server) = tls12_connected();
    let record = server.record(ContentType::APPLICATION_DATA, &[1]);
    client.receive(NOW, &record).unwrap();
    assert_eq!(client.receive(NOW, &record), Err(Error::BadRecordMac));
}

#[test]
fn records_that_are_too_long() {
    let mut client = begun(Version::Tls13);
    let _ = client.take_outgoing(NOW);
    let mut long = Vec::new();
    record(ContentType::HANDSHAKE, &vec![0; MAX_PLAINTEXT + 1], &mut long);
    let error = Error::TooLarge { what: "record", limit: MAX_PLAINTEXT };
    assert_eq!(client.receive(NOW, &long), Err(error.clone()));
    assert_eq!(alert_of(&mut client).as_deref(), Some("record_overflow"));

    for version in [Version::Tls12, Version::Tls13] {
        let data = vec![0; MAX_PLAINTEXT + 1];
        let mut client = begun(version);
        let (fits, long) = match version {
            Version::Tls12 => {
                let mut server = tls12::connected(&mut client);
                [&data[1..], &data].map(|data| server.record(ContentType::APPLICATION_DATA, data)).into()
            }
            Version::Tls13 => {
                let mut server = connected(&mut client);
                [&data[1..], &data].map(|data| server.record(ContentType::APPLICATION_DATA, data)).into()
            }
        };
        client.receive(NOW, &fits).unwrap();
        assert_eq!(client.receive(NOW, &long), Err(error.clone()));
    }

    let (mut client, _server) = tls13_connected();
    let mut long = Vec::new();
    record(ContentType::APPLICATION_DATA, &vec![0; MAX_CIPHERTEXT_TLS13 + 1], &mut long);
    assert_eq!(client.receive(NOW, &long), Err(Error::TooLarge { what: "record", limit: MAX_CIPHERTEXT_TLS13 }));

    // Not longer than it may be, but nothing that decrypts.
    let (mut client, _server) = tls13_connected();
    let mut longest = Vec::new();
    record(ContentType::APPLICATION_DATA, &vec![0; MAX_CIPHERTEXT_TLS13], &mut longest);
    assert_eq!(client.receive(NOW, &longest), Err(Error::BadRecordMac));

    // So long that no version allows it: refused by its header alone.
    let (mut client, _server) = tls13_connected();
    let error = Error::Malformed { message: "record", error: reprise_wire::Error::Oversized };
    assert_eq!(client.receive(NOW, &[23, 3, 3, 0x48, 1]), Err(error));
}

#[test]
fn messages_that_are_too_long_are_refused_by_their_header() {
    let header = |msg_type: HandshakeType, length: u32| [&[msg_type.0][..], &length.to_be_bytes()[1..]].concat();
    let mut client = begun(Version::Tls13);
    let _ = client.take_outgoing(NOW);
    let hello = header(HandshakeType::SERVER_HELLO, 68 * 1024 + 1);
    let error = Error::TooLarge { what: "handshake message", limit: 68 * 1024 };
    assert_eq!(client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello)), Err(error));

    let mut client = begun(Version::Tls13);
    let longest = header(HandshakeType::SERVER_HELLO, 68 * 1024);
    assert_eq!(client.receive(NOW, &clear(ContentType::HANDSHAKE, &longest)), Ok(()));
}

#[test]
fn a_record_of_a_type_that_has_no_place() {
    let (mut client, mut server) = tls13_connected();
    let heartbeat = server.record(ContentType::HEARTBEAT, &[1, 0, 0]);
    assert_eq!(client.receive(NOW, &heartbeat), Err(unexpected(ContentType::HEARTBEAT, "application data")));

    let mut client = begun(Version::Tls12);
    let _ = client.take_outgoing(NOW);
    let data = clear(ContentType::APPLICATION_DATA, b"too soon");
    assert_eq!(client.receive(NOW, &data), Err(unexpected(ContentType::APPLICATION_DATA, "ServerHello")));
}

#[test]
fn an_alert_that_is_none() {
    for fragment in [&[2][..], &[2, 40, 0]] {
        let mut client = begun(Version::Tls13);
        let _ = client.take_outgoing(NOW);
        let error = client.receive(NOW, &clear(ContentType::ALERT, fragment)).unwrap_err();
        assert!(matches!(error, Error::Malformed { message: "alert", .. }), "{error}");
    }
}
