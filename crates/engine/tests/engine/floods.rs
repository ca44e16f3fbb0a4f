//! Servers that send for ever what changes nothing.

use reprise_engine::{Connection, Error};
use reprise_model::Version;
use reprise_wire::{AlertDescription, ContentType, HandshakeType, KeyUpdate};

use crate::script::tls13::{connected, new_session_ticket};
use crate::script::{NOW, alert_of, clear, framed, tls12};
use crate::{begun, tickets, tls12_connected, tls13_connected};

const MANY: usize = 32;

fn too_many(what: &'static str) -> Error {
    Error::TooMany { what, limit: MANY }
}

/// Sends again and again until the client has had enough; how often it bore it.
fn patience(client: &mut Connection, mut next: impl FnMut() -> Vec<u8>) -> (usize, Error) {
    for borne in 0..100_000 {
        if let Err(error) = client.receive(NOW, &next()) {
            assert_eq!(alert_of(client).as_deref(), Some("unexpected_message"));
            return (borne, error);
        }
    }
    panic!("the client bears it for ever")
}

#[test]
fn warnings() {
    for (version, description) in [
        (Version::Tls13, AlertDescription::USER_CANCELED),
        (Version::Tls12, AlertDescription::UNRECOGNIZED_NAME),
        (Version::Tls12, AlertDescription::USER_CANCELED),
    ] {
        let mut client = begun(version);
        let warning = clear(ContentType::ALERT, &[1, description.0]);
        assert_eq!(patience(&mut client, || warning.clone()), (MANY, too_many("warning alerts")));
    }
}

#[test]
fn change_cipher_specs() {
    let mut client = begun(Version::Tls13);
    let again = || tls12::CHANGE_CIPHER_SPEC.to_vec();
    assert_eq!(patience(&mut client, again), (MANY, too_many("ChangeCipherSpec")));
}

#[test]
fn empty_records() {
    let (mut client, mut server) = tls13_connected();
    let empty = || server.record(ContentType::APPLICATION_DATA, &[]);
    assert_eq!(patience(&mut client, empty), (MANY, too_many("empty records")));

    let (mut client, mut server) = tls12_connected();
    let empty = || server.record(ContentType::APPLICATION_DATA, &[]);
    assert_eq!(patience(&mut client, empty), (MANY, too_many("empty records")));
}

#[test]
fn hello_requests() {
    let request = framed(HandshakeType::HELLO_REQUEST, |_| {});
    let (mut client, mut server) = tls12_connected();
    let again = || server.record(ContentType::HANDSHAKE, &request);
    assert_eq!(patience(&mut client, again), (MANY, too_many("HelloRequest")));
}

#[test]
fn key_updates() {
    let (mut client, mut server) = tls13_connected();
    let update = framed(HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update: true }.emit(out));
    let mut secret = server.send_application();
    // The keys begin anew, so nothing was sent under them so far.
    let again = || {
        let record = server.record(ContentType::HANDSHAKE, &update);
        secret = secret.next().unwrap();
        server.send_under(&secret);
        record
    };
    assert_eq!(patience(&mut client, again), (MANY, too_many("KeyUpdate")));
}

#[test]
fn data_between_them_makes_them_bearable() {
    let (mut client, mut server) = tls12_connected();
    for _ in 0..10 * MANY {
        client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, &[])).unwrap();
        client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, b"data")).unwrap();
    }
}

/// BoGo: `SendEmptyRecords-Pass`, `AlternateEmptyRecordsAndWarningAlerts`. Records of the handshake and of other kinds
/// were counted too.
#[test]
fn each_kind_has_its_own_count_and_the_handshake_none_of_them() {
    let mut client = begun(Version::Tls13);
    for _ in 0..MANY {
        client.receive(NOW, &tls12::CHANGE_CIPHER_SPEC).unwrap();
    }
    let mut server = connected(&mut client);
    for _ in 0..MANY {
        client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, &[])).unwrap();
        client.receive(NOW, &server.record(ContentType::ALERT, &[1, AlertDescription::USER_CANCELED.0])).unwrap();
    }
    let error = client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, &[]));
    assert_eq!(error, Err(too_many("empty records")));
}

#[test]
fn tickets_without_end() {
    let (mut client, mut server) = tls13_connected();
    let mut count = 0_u32;
    let next = || {
        count += 1;
        let ticket = new_session_ticket(&count.to_be_bytes(), &count.to_be_bytes());
        server.record(ContentType::HANDSHAKE, &ticket)
    };
    let error = Error::TooMany { what: "NewSessionTicket", limit: 1024 };
    assert_eq!(patience(&mut client, next), (1024, error));
    assert_eq!(client.outcome().unwrap().tickets, 1024);
    // Of them, the newest are held.
    let held = tickets(client.take_sessions());
    assert_eq!(held.len(), 16);
    assert_eq!(held.last().unwrap().ticket, 1024_u32.to_be_bytes());
}

#[test]
fn data_without_end_is_counted_beyond_what_is_held() {
    let (mut client, mut server) = tls13_connected();
    for _ in 0..5_000 {
        client.receive(NOW, &server.record(ContentType::APPLICATION_DATA, b"x")).unwrap();
    }
    assert_eq!(client.take_application_data().len(), 5_000);
    assert_eq!(client.omitted_events(), 5_000 - 3_072);
    client.receive(NOW, &server.record(ContentType::ALERT, &[1, 0])).unwrap();
    assert_eq!(client.events().last().map(|event| event.what.name()), Some("close_notify"));
}
