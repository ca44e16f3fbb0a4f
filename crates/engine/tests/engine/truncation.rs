//! Servers that die at any byte.

use reprise_engine::{Connection, Error};
use reprise_model::Version;

use crate::begun;
use crate::script::tls13::{Server, new_session_ticket};
use crate::script::{NOW, tls12};
use reprise_wire::{ContentType, ExtensionType};

/// All that a TLS 1.3 server sends up to its farewell. Every client of these tests sends the same hello, so it can be
/// played to any of them.
fn tls13_recording() -> Vec<u8> {
    let mut server = Server::answering(&mut begun(Version::Tls13));
    let hello = server.hello();
    let mut recording = server.say(&hello);
    recording.extend_from_slice(&tls12::CHANGE_CIPHER_SPEC);
    let flight = server.flight();
    recording.extend(server.handshake(&flight));
    server.send_application();
    recording.extend(server.record(ContentType::HANDSHAKE, &new_session_ticket(&[1], b"ticket")));
    recording.extend(server.record(ContentType::APPLICATION_DATA, b"data"));
    recording.extend(server.record(ContentType::ALERT, &[1, 0]));
    recording
}

/// The first flight of a TLS 1.2 server, and its second with what follows.
fn tls12_recording() -> [Vec<u8>; 2] {
    let mut client = begun(Version::Tls12);
    let mut server = tls12::Server::answering(&mut client);
    let mut hello = server.hello();
    hello.session_id = vec![5; 32];
    hello.set(ExtensionType::SESSION_TICKET, &[]);
    let mut first = server.say(&hello);
    let flight = server.flight();
    first.extend(tls12::handshake(&flight));
    client.receive(NOW, &first).unwrap();
    server.hear_flight(&mut client);
    let ticket = server.ticket(b"ticket");
    let mut second = tls12::handshake(&[ticket]);
    second.extend(server.end());
    second.extend(server.record(ContentType::APPLICATION_DATA, b"data"));
    second.extend(server.record(ContentType::ALERT, &[1, 0]));
    [first, second]
}

/// What comes of a connection whose server dies after these bytes.
fn ended(version: Version, bytes: &[u8]) -> (Connection, Result<(), Error>) {
    let mut client = begun(version);
    client.receive(NOW, bytes).unwrap();
    let result = client.receive_end(NOW);
    (client, result)
}

#[test]
fn a_server_that_dies_at_any_byte_is_said_to_have_died() {
    let recordings = [(Version::Tls13, tls13_recording()), (Version::Tls12, tls12_recording().concat())];
    for (version, recording) in recordings {
        let mut completed = 0;
        for cut in 0..=recording.len() {
            let (client, result) = ended(version, &recording[..cut]);
            match result {
                Err(Error::ClosedEarly(_)) => assert!(!client.is_confirmed() || client.ready().is_some()),
                Ok(()) => {
                    assert!(client.ready().is_some(), "{cut} of {}", recording.len());
                    completed += 1;
                }
                other => panic!("{cut}: {other:?}"),
            }
        }
        // Between records after the Finished, and after the farewell.
        assert_eq!(completed, if version == Version::Tls13 { 4 } else { 3 });
    }
}
