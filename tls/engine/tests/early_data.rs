//! Early data: taken, skipped in every way that there is, and answered wrongly (RFC 9846 §4.3.10).

use std::io::Read;

use reprise_engine::suite::find;
use reprise_engine::{Config, Connection, Error, Misbehaviour, Offer, Receipt, Secret, Tls13Extensions, Tls13Ticket};
use reprise_lab::KeyKind;
use reprise_model::{EarlyData, Kind, Outcome, PskMode, Version};
use reprise_wire::{AlertDescription, CipherSuite, ContentType, ExtensionType, NamedGroup};
use rustls::ServerConfig;

use crate::client::{self, client, trusting_client};
use crate::pair::Pair;
use crate::script::tls13::{Server, open_under, protocols};
use crate::script::{NOW, clear, tls12};
use crate::server::{self, ONLY_TLS13, Resumption, authority};
use crate::{FULL, begun_with, tickets};

/// rustls takes early data with stored sessions only.
fn willing(max_early_data_size: u32, groups: Vec<NamedGroup>) -> ServerConfig {
    let resumption = Resumption::Stored;
    let server = server::Server { versions: &ONLY_TLS13, resumption, groups, ..server::Server::with(KeyKind::P256) };
    let mut server = server.start();
    server.max_early_data_size = max_early_data_size;
    server
}

fn tls13_client() -> Config {
    Config { versions: vec![Version::Tls13], ..client(authority()) }
}

/// A pair that has a ticket with early data of up to 100 bytes.
fn pair() -> (Pair, Tls13Ticket) {
    let mut pair = Pair::completed(tls13_client(), willing(100, Vec::new()));
    let ticket = tickets(pair.client.take_sessions()).pop().unwrap();
    assert_eq!(ticket.max_early_data, Some(100));
    (pair, ticket)
}

/// What the server's application reads as early data.
fn heard_early(pair: &mut Pair) -> Vec<u8> {
    let mut heard = Vec::new();
    if let Some(mut early) = pair.server.early_data() {
        early.read_to_end(&mut heard).unwrap();
    }
    heard
}

fn verdict(outcome: &Outcome) -> (Kind, Option<EarlyData>) {
    (outcome.kind, outcome.early_data)
}

#[test]
fn it_is_taken_and_the_handshake_is_of_the_kind_early() {
    let (mut pair, ticket) = pair();
    pair.connect(Offer::Early(ticket));
    assert_eq!(pair.client.send_early(pair.now, b"GET / ").unwrap(), 6);
    assert_eq!(pair.client.send_early(pair.now, b"HTTP/1.1").unwrap(), 8);
    pair.drive();
    assert_eq!(heard_early(&mut pair), b"GET / HTTP/1.1");
    let outcome = pair.outcome();
    assert_eq!(verdict(&outcome), (Kind::Early, Some(EarlyData::Accepted)));
    assert_eq!(outcome.psk_mode, Some(PskMode::PskDheKe));
    let story = "> ClientHello > ChangeCipherSpec > {application data} > {application data} < ServerHello \
        < ChangeCipherSpec < {EncryptedExtensions} < {Finished} > {EndOfEarlyData} > {Finished}";
    assert!(pair.told().starts_with(story), "{}", pair.told());
    assert_eq!(pair.round_trips(), 1);

    // Its time is over, and both sides go on under the keys of the connection.
    assert_eq!(pair.client.send_early(pair.now, b"more"), Ok(0));
    pair.client.send(pair.now, b"later").unwrap();
    pair.drive();
    assert_eq!(pair.heard, b"later");
    pair.echo();
    pair.drive();
    assert_eq!(pair.client.take_application_data(), b"later");

    // And so does a ticket of this connection.
    let next = tickets(pair.client.take_sessions()).pop().unwrap();
    pair.complete(Offer::Early(next));
    assert_eq!(verdict(&pair.outcome()), (Kind::Early, Some(EarlyData::Accepted)), "with no data at all");
}

#[test]
fn no_more_is_sent_than_the_ticket_allows() {
    let (mut pair, ticket) = pair();
    pair.connect(Offer::Early(ticket));
    let data: Vec<u8> = (0..150).collect();
    assert_eq!(pair.client.send_early(pair.now, &data[..60]), Ok(60));
    assert_eq!(pair.client.send_early(pair.now, &data[60..]), Ok(40));
    assert_eq!(pair.client.send_early(pair.now, &data[100..]), Ok(0));
    pair.drive();
    assert_eq!(heard_early(&mut pair), data[..100]);
    assert_eq!(pair.outcome().kind, Kind::Early);
}

#[test]
fn its_keys_are_logged_as_the_server_logs_them() {
    let (mut pair, ticket) = pair();
    let [ours, theirs] = pair.key_logs();
    pair.complete(Offer::Early(ticket));
    assert_eq!(pair.outcome().kind, Kind::Early);
    let lines = ours.sorted();
    assert!(lines.iter().any(|line| line.starts_with("CLIENT_EARLY_TRAFFIC_SECRET ")), "{lines:?}");
    assert_eq!(lines, theirs.sorted());
}

/// Early data that was rejected can be sent again.
fn rejected(pair: &mut Pair, kind: Kind) {
    pair.client.send_early(pair.now, b"one, ").unwrap();
    pair.client.send_early(pair.now, b"two").unwrap();
    pair.drive();
    assert_eq!(verdict(&pair.outcome()), (kind, Some(EarlyData::Rejected)));
    assert!(pair.outcome().session_offered);
    assert_eq!(pair.client.send_early(pair.now, b"more"), Ok(0));
    assert!(heard_early(pair).is_empty());
    pair.client.send(pair.now, b"one, two").unwrap();
    pair.drive();
    assert_eq!(pair.heard, b"one, two");
    let count = |name| pair.story().iter().filter(|event| *event == name).count();
    assert_eq!((count("> ChangeCipherSpec"), count("> {EndOfEarlyData}")), (1, 0));
}

#[test]
fn it_is_rejected_by_a_server_that_resumes_without_it() {
    let (mut pair, ticket) = pair();
    let mut server = (*pair.server_config).clone();
    server.max_early_data_size = 0;
    pair.server_config = server.into();
    pair.connect(Offer::Early(ticket));
    rejected(&mut pair, Kind::Ticket);
    assert_eq!(pair.round_trips(), 1);
}

#[test]
fn it_is_rejected_by_a_retry() {
    let (mut pair, ticket) = pair();
    let storage = pair.server_config.session_storage.clone();
    let mut server = willing(100, vec![NamedGroup::SECP384R1]);
    server.session_storage = storage;
    pair.server_config = server.into();
    pair.connect(Offer::Early(ticket));
    rejected(&mut pair, Kind::Ticket);
    assert!(pair.outcome().hello_retry_request);
    assert_eq!(pair.round_trips(), 2);
    let story = pair.story();
    assert_eq!(story[..2], ["> ClientHello", "> ChangeCipherSpec"]);
    assert_eq!(story.iter().filter(|event| *event == "> ClientHello").count(), 2, "both in the clear");
}

#[test]
fn it_is_rejected_by_a_full_handshake() {
    let (mut pair, ticket) = pair();
    pair.server_config = willing(100, Vec::new()).into();
    pair.connect(Offer::Early(ticket));
    rejected(&mut pair, Kind::Full);
}

/// A ticket that allows early data, of a connection that spoke `http/1.1`.
fn ticket() -> Tls13Ticket {
    Tls13Ticket {
        suite: find(CipherSuite::TLS_AES_128_GCM_SHA256).unwrap(),
        psk: Secret::new(&[5; 32]).unwrap(),
        ticket: b"ticket".to_vec(),
        lifetime: 3600,
        age_add: 0,
        max_early_data: Some(1000),
        received: Receipt::fresh(NOW),
        alpn: Some(b"http/1.1".to_vec()),
        leaf: None,
    }
}

fn config() -> Config {
    let alpn = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
    Config { versions: vec![Version::Tls13], alpn, ..trusting_client() }
}

fn offering() -> Connection {
    begun_with(config(), Offer::Early(ticket()))
}

fn alpn(name: &[u8]) -> (ExtensionType, Vec<u8>) {
    (ExtensionType::ALPN, protocols(&[name]))
}

const TAKEN: (ExtensionType, Vec<u8>) = (ExtensionType::EARLY_DATA, Vec::new());

/// What the client makes of EncryptedExtensions after it has sent early data.
fn extended(server: impl FnOnce(Server) -> Server, list: &[(ExtensionType, Vec<u8>)]) -> Result<Outcome, Error> {
    let mut client = offering();
    client.send_early(NOW, b"early").unwrap();
    let mut server = server(Server::answering(&mut client));
    server.greet(&mut client);
    let message = server.encrypted_extensions(list);
    client.receive(NOW, &server.handshake(&[message]))?;
    Ok(client.outcome().unwrap().clone())
}

/// Where it takes it the table of hostile servers shows that it is bound to them.
#[test]
fn another_suite_or_protocol_is_no_fault_where_it_is_skipped() {
    let resuming = |server: Server| server.resuming(&ticket());
    let taken = extended(resuming, &[alpn(b"http/1.1"), TAKEN]).unwrap();
    assert_eq!(verdict(&taken), (Kind::Early, Some(EarlyData::Accepted)));
    let other = extended(resuming, &[alpn(b"h2"), TAKEN]);
    assert_eq!(other, Err(Misbehaviour::IllegalEarlyData("with another ALPN protocol").into()));

    let chacha = |server: Server| resuming(server.under(CipherSuite::TLS_CHACHA20_POLY1305_SHA256));
    let skipped = extended(chacha, &[alpn(b"h2")]).unwrap();
    assert_eq!(verdict(&skipped), (Kind::Ticket, Some(EarlyData::Rejected)));
}

#[test]
fn a_server_that_skips_it_may_finish_in_the_same_record() {
    let mut client = offering();
    client.send_early(NOW, b"early").unwrap();
    let mut server = Server::answering(&mut client).resuming(&ticket());
    server.complete(&mut client);
    assert_eq!(verdict(&client.outcome().unwrap()), (Kind::Ticket, Some(EarlyData::Rejected)));
    assert!(client.ready().is_some());
    assert_eq!(server.open(&client.take_outgoing(NOW)).len(), 1, "Finished, under the keys of the handshake");
}

#[test]
fn a_server_of_tls12_cannot_be_spoken_to_any_more() {
    let mut client =
        begun_with(Config { versions: vec![Version::Tls12, Version::Tls13], ..config() }, Offer::Early(ticket()));
    let hello = tls12::Server::answering(&mut client).hello();
    let error = client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello.message())).unwrap_err();
    assert_eq!(error, Misbehaviour::EarlyDataUnderTls12.into());
    assert_eq!(error.alert(), Some(AlertDescription::PROTOCOL_VERSION));
}

#[test]
fn it_may_be_sent_until_the_finished_and_goes_with_psk_ke_too() {
    let tls13 = Tls13Extensions { psk_modes: vec![PskMode::PskKe], ..Tls13Extensions::default() };
    let mut client = begun_with(Config { tls13, ..config() }, Offer::Early(ticket()));
    client.send_early(NOW, b"at once").unwrap();
    let mut server = Server::answering(&mut client).resuming(&ticket()).without_share();
    let mut opener = server.early_opener();
    let early = std::mem::take(&mut server.heard.early);
    assert_eq!(open_under(&mut opener, early), [(ContentType::APPLICATION_DATA, b"at once".to_vec())]);

    server.greet(&mut client);
    let taken = server.encrypted_extensions(&[alpn(b"http/1.1"), TAKEN]);
    client.receive(NOW, &server.handshake(&[taken])).unwrap();
    assert_eq!(client.send_early(NOW, b"and after it was taken"), Ok(22));
    let finished = server.finished();
    client.receive(NOW, &server.handshake(&[finished])).unwrap();
    assert_eq!(client.send_early(NOW, b"too late"), Ok(0));

    let flight = crate::script::records(&client.take_outgoing(NOW));
    let (early, late) = flight.split_at(2);
    let early = open_under(&mut opener, early.to_vec());
    let end_of_early_data = vec![5, 0, 0, 0];
    let due =
        [(ContentType::APPLICATION_DATA, b"and after it was taken".to_vec()), (ContentType::HANDSHAKE, end_of_early_data)];
    assert_eq!(early, due);
    assert_eq!(late.len(), 1, "Finished");
    let outcome = client.outcome().unwrap();
    assert_eq!((outcome.kind, outcome.psk_mode), (Kind::Early, Some(PskMode::PskKe)));
    assert!(client.ready().is_some());
}

#[test]
fn what_cannot_be_early_is_not_sent() {
    let mut plain = begun_with(config(), FULL);
    assert_eq!(plain.send_early(NOW, b"early"), Ok(0));
    let mut failed = offering();
    let _ = failed.receive(NOW, b"HTTP/1.1 400 Bad Request");
    assert_eq!(failed.send_early(NOW, b"early"), Err(Error::Closed));
    let mut closed = offering();
    closed.close(NOW).unwrap();
    assert_eq!(closed.send_early(NOW, b"early"), Err(Error::Closed));
}

#[test]
fn a_ticket_without_early_data_is_refused_before_sending() {
    let refused = |config: Config, ticket| client::start(&config.into(), Offer::Early(ticket), NOW).err();
    for max_early_data in [None, Some(0)] {
        let why = "the ticket allows no early data";
        let ticket = Tls13Ticket { max_early_data, ..ticket() };
        assert_eq!(refused(config(), ticket), Some(Error::NothingToOffer(why)));
    }
    let why = "the protocol that the early data would be of is not offered by ALPN";
    let other = Config { alpn: vec![b"h2".to_vec()], ..config() };
    assert_eq!(refused(other, ticket()), Some(Error::NothingToOffer(why)));
    assert_eq!(refused(config(), Tls13Ticket { alpn: None, ..ticket() }), None);
}
