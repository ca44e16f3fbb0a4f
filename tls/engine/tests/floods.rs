//! Servers that send again and again what changes nothing: how much of it is borne. What is not is in the table of hostile
//! servers.

use reprise_engine::Error;
use reprise_model::Version;
use reprise_wire::{AlertDescription, ContentType};

use crate::script::tls13::{connected, new_session_ticket};
use crate::script::{NOW, tls12};
use crate::{begun, tickets, tls12_connected, tls13_connected};

const MANY: usize = 32;

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
    assert_eq!(error, Err(Error::TooMany { what: "empty records", limit: MANY }));
}

#[test]
fn tickets_without_end() {
    let (mut client, mut server) = tls13_connected();
    let mut send = |count: u32| {
        let ticket = new_session_ticket(&count.to_be_bytes(), &count.to_be_bytes());
        client.receive(NOW, &server.record(ContentType::HANDSHAKE, &ticket))
    };
    assert!((1..=1024).all(|count| send(count).is_ok()));
    assert_eq!(send(1025), Err(Error::TooMany { what: "NewSessionTicket", limit: 1024 }));
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
