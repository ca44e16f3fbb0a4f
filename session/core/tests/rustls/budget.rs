//! Lookups are bounded. Rule 6: a ClientHello has room for some 900 identities, each work before the binder is checked.

use std::io::Cursor;

use reprise_session::rustls::{ClientAuth, ResumingServer};
use reprise_wire::extensions::{OfferedPsks, PskBinder, PskIdentity};
use reprise_wire::{
    ClientHello, ContentType, ExtensionType, ExtensionsBuilder, Handshake, HandshakeType, List, ProtocolVersion, Record,
    codec, frame,
};
use rustls::ServerConnection;

use super::pair::{Client, Fleet, LIMITS, MEANS, Means, Played, VERSIONS, provider, server};

#[test]
fn forty_identities_are_five_operations() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Store));
    // Entries that are there but open to nothing: each take is seen by its absence.
    let names: Vec<[u8; 32]> = (0..40).map(|number| [number; 32]).collect();
    for name in &names {
        assert!(fleet.store.put(fleet.clock.now(), name, &[1], LIMITS.lifetime));
    }
    let hello = hello_with(&fleet, &server, |_| names.iter().map(|name| name.to_vec()).collect());
    let before = fleet.store.len();
    assert!(answer(&server, &hello).is_ok());
    assert_eq!(fleet.store.len(), before - 5);
}

#[test]
fn a_good_session_in_the_sixth_place_is_not_looked_at() {
    for means in MEANS {
        for place in [4, 5] {
            let fleet = Fleet::new();
            let server = fleet.server(&fleet.resumption(means));
            let fill =
                |good: &[u8]| (0..8).map(|number| if number == place { good.to_vec() } else { vec![1; 32] }).collect();
            let hello = hello_with(&fleet, &server, fill);
            // Where it is looked at, its binder is found to be wrong.
            assert_eq!(answer(&server, &hello).is_err(), place == 4, "{means:?}");
        }
    }
}

#[test]
fn an_absurd_hello_ends_with_an_alert() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Store));
    let hello = hello_with(&fleet, &server, |_| vec![vec![7; 32]; 700]);
    let mut played = Played { sent: Cursor::new(hello), answered: Vec::new() };
    let refused = server.accept(&mut played).unwrap_err();
    assert_eq!(refused.to_string(), "the ClientHello has more than 32768 bytes");
    assert_eq!(played.answered, reprise_session::HelloTooLong::ALERT);
}

#[test]
fn no_ticket_makes_the_next_hello_too_long() {
    const MAX_HELLO: usize = 4096;
    for version in VERSIONS {
        for (certificates, resumes) in [(1, true), (10, false)] {
            let fleet = Fleet::new();
            let resumption = fleet.builder().tickets(fleet.ring.clone()).max_hello(MAX_HELLO).build().unwrap();
            let client_auth = ClientAuth::required(&[fleet.authority.certificate().clone()], &[], provider()).unwrap();
            let server = server(&fleet.identity(&["localhost"]), &client_auth, &resumption, |_| ());
            let identity = fleet.authority.client("client.test").unwrap();
            // A chain is as long as the client likes, and the ticket has all of it.
            let chain = vec![identity.chain()[0].clone(); certificates];
            let client = Client::new(&fleet.authority, version, Some((chain, identity.key_der())));
            client.connect(&server);
            assert_eq!(client.connect(&server).resumed, resumes, "{certificates}, {:?}", version.version);
        }
    }
}

fn answer(server: &ResumingServer, hello: &[u8]) -> Result<(), rustls::Error> {
    let mut connection = ServerConnection::new(server.connection(&Default::default(), Default::default()).0).unwrap();
    connection.read_tls(&mut &hello[..]).unwrap();
    connection.process_new_packets().map(|_| ())
}

/// The hello of a client that has been here, with what `identities` makes of its identity, and binders to match.
fn hello_with(fleet: &Fleet, server: &ResumingServer, identities: impl FnOnce(&[u8]) -> Vec<Vec<u8>>) -> Vec<u8> {
    let client = fleet.client(VERSIONS[1]);
    client.connect(server);
    let mut bytes = Vec::new();
    client.hello().write_tls(&mut bytes).unwrap();
    let bytes = &bytes[..];
    let (record, _) = Record::parse(bytes).unwrap().unwrap();
    let (message, _) = Handshake::parse(record.fragment).unwrap().unwrap();
    let hello = ClientHello::parse(message.body).unwrap();
    let offered = hello.extensions.unwrap();
    let own = OfferedPsks::parse(offered.find(ExtensionType::PRE_SHARED_KEY).unwrap()).unwrap();
    let identities = identities(own.identities.iter().next().unwrap().identity);

    let mut extensions = ExtensionsBuilder::new();
    for (extension, data) in offered.iter().filter(|&(extension, _)| extension != ExtensionType::PRE_SHARED_KEY) {
        extensions.push(extension, |out| out.extend_from_slice(data));
    }
    extensions.push(ExtensionType::PRE_SHARED_KEY, |out| {
        let psk = |identity| PskIdentity { identity, obfuscated_ticket_age: 0 };
        codec::vec16(out, |out| List::encode(identities.iter().map(|identity| psk(identity)), out));
        codec::vec16(out, |out| List::encode(std::iter::repeat_n(PskBinder(&[1; 32]), identities.len()), out));
    });
    let mut message = Vec::new();
    frame(&mut message, HandshakeType::CLIENT_HELLO, |out| {
        ClientHello { extensions: Some(extensions.view()), ..hello }.emit(out);
    });
    let mut out = Vec::new();
    for fragment in message.chunks(1 << 14) {
        Record { content_type: ContentType::HANDSHAKE, version: ProtocolVersion::TLS_1_2, fragment }.emit(&mut out);
    }
    out
}
