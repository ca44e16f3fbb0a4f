//! Scripted servers and the relay do what they are told, at the record they are told.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use reprise_harness::client::Client;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec, Versions};
use reprise_servers::{MisbehavingServer, Relay, RelayFault, RelayRule, ScriptStep};

/// Long enough for a loopback answer on a busy machine; a silence of this length is what a stall is told by.
const SILENCE: Duration = Duration::from_millis(300);

fn call(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn read_all(mut stream: &TcpStream) -> Result<Vec<u8>, ErrorKind> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(|error| error.kind())?;
    Ok(bytes)
}

#[test]
fn a_script_is_played_step_by_step() {
    let script = vec![
        ScriptStep::Read(4),
        ScriptStep::Send(b"one".to_vec()),
        ScriptStep::ReadRecord,
        ScriptStep::Send(b"two".to_vec()),
        ScriptStep::Close,
    ];
    let server = MisbehavingServer::start(script).unwrap();
    let mut stream = call(server.address());
    let mut word = [0; 3];
    stream.write_all(b"abcd").unwrap();
    stream.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"one");
    stream.write_all(&[22, 3, 1, 0, 2, 7]).unwrap();
    stream.write_all(&[8]).unwrap();
    assert_eq!(read_all(&stream), Ok(b"two".to_vec()));
    assert_eq!(server.received(), [b"abcd\x16\x03\x01\x00\x02\x07\x08".to_vec()]);
}

#[test]
fn a_script_may_read_until_the_client_falls_silent() {
    let idle = ScriptStep::ReadUntilIdle(Duration::from_millis(20));
    let server = MisbehavingServer::start(vec![idle, ScriptStep::Send(b"!".to_vec())]).unwrap();
    let mut stream = call(server.address());
    stream.write_all(b"whatever length").unwrap();
    assert_eq!(read_all(&stream), Ok(b"!".to_vec()));
    assert_eq!(server.received(), [b"whatever length".to_vec()]);
}

#[test]
fn each_client_may_have_a_script_of_its_own() {
    let say = |word: &str| vec![ScriptStep::Send(word.into())];
    let server = MisbehavingServer::start_each(vec![say("first"), say("then")]).unwrap();
    for expected in ["first", "then", "then"] {
        assert_eq!(read_all(&call(server.address())), Ok(expected.into()));
    }
}

#[test]
fn ready_made_servers_are_what_their_names_say() {
    let http = MisbehavingServer::plain_http().unwrap();
    let mut stream = call(http.address());
    stream.write_all(&[22, 3, 1, 0, 0]).unwrap();
    assert!(read_all(&stream).unwrap().starts_with(b"HTTP/1.1 400 "));

    let garbage = MisbehavingServer::garbage().unwrap();
    let mut stream = call(garbage.address());
    stream.write_all(&[22, 3, 1, 0, 0]).unwrap();
    let bytes = read_all(&stream).unwrap();
    assert_eq!(bytes.len(), 256);
    assert!(!matches!(bytes.first(), Some(20..=23)), "no record type");

    assert_eq!(read_all(&call(MisbehavingServer::closing().unwrap().address())), Ok(Vec::new()));

    let silent = MisbehavingServer::silent().unwrap();
    let stream = call(silent.address());
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    assert_eq!(read_all(&stream), Err(ErrorKind::WouldBlock));
    drop(silent);
    assert!(!matches!(read_all(&stream), Err(ErrorKind::WouldBlock)), "dropping ends it");
}

#[test]
fn reset_is_a_reset() {
    let server =
        MisbehavingServer::start(vec![ScriptStep::Read(1), ScriptStep::Send(b"x".to_vec()), ScriptStep::Reset]).unwrap();
    let mut stream = call(server.address());
    stream.write_all(b"?").unwrap();
    assert_eq!(read_all(&stream), Err(ErrorKind::ConnectionReset));
}

struct Lab {
    authority: Authority,
    server: EmbeddedServer,
}

impl Lab {
    fn new(versions: Versions) -> Self {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let config = EmbeddedConfig { versions, resumption: Resumption::Ticket, ..EmbeddedConfig::new(identity) };
        let server = EmbeddedServer::start(config).unwrap();
        Self { authority, server }
    }

    fn relay(&self, record: usize, fault: RelayFault) -> Relay {
        Relay::start(self.server.address(), RelayRule { skip_connections: 0, record, fault }).unwrap()
    }

    /// How many records the server sends in a connection that goes well.
    fn records(&self, versions: Versions) -> usize {
        let relay = Relay::transparent(self.server.address()).unwrap();
        Client::new(&self.authority, versions).fetch(relay.address(), "/").unwrap();
        relay.records()[0].len()
    }
}

#[test]
fn a_relay_that_breaks_nothing_shows_the_records() {
    let lab = Lab::new(Versions::Tls12);
    let relay = Relay::transparent(lab.server.address()).unwrap();
    let client = Client::new(&lab.authority, Versions::Tls12);
    for resumed in [false, true] {
        assert_eq!(client.fetch(relay.address(), "/").unwrap().resumed, resumed);
    }
    // Handshake 22, ChangeCipherSpec 20, application data 23, alert 21.
    let [full, abbreviated] = &relay.records()[..] else { panic!("two connections") };
    assert!(full.starts_with(&[22]) && full.ends_with(&[20, 22, 23, 21]), "{full:?}");
    assert!(abbreviated.starts_with(&[22]) && abbreviated.ends_with(&[23, 21]), "{abbreviated:?}");
}

#[test]
fn faults_that_break_a_connection_break_it_at_any_record() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let lab = Lab::new(versions);
        // The last record is the closing alert, without which a response is still whole.
        for record in 0..lab.records(versions) - 1 {
            for fault in [RelayFault::Close, RelayFault::Reset, RelayFault::Truncate, RelayFault::Flip(1)] {
                let relay = lab.relay(record, fault);
                let outcome = Client::new(&lab.authority, versions).fetch(relay.address(), "/");
                assert!(outcome.is_err(), "{versions:?} record {record} {fault:?}");
            }
        }
    }
}

#[test]
fn faults_that_only_try_a_clients_patience_do_not_break_it() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let lab = Lab::new(versions);
        for record in 0..lab.records(versions) {
            for fault in [RelayFault::Split, RelayFault::Pause(Duration::from_millis(5))] {
                let relay = lab.relay(record, fault);
                let fetched = Client::new(&lab.authority, versions).fetch(relay.address(), "/").unwrap();
                assert!(fetched.response.ends_with("Reprise lab\n"), "{versions:?} record {record} {fault:?}");
            }
        }
    }
}

#[test]
fn a_stall_keeps_the_connection_open_and_silent() {
    // The server says two records and ends: the client must hear the first and no end.
    let record = |byte| ScriptStep::Send(vec![22, 3, 3, 0, 1, byte]);
    let server = MisbehavingServer::start(vec![record(1), record(2), ScriptStep::Close]).unwrap();
    let rule = RelayRule { skip_connections: 0, record: 1, fault: RelayFault::Stall };
    let relay = Relay::start(server.address(), rule).unwrap();
    let mut stream = call(relay.address());
    let mut first = [0; 6];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(first, [22, 3, 3, 0, 1, 1]);
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    assert_eq!(read_all(&stream), Err(ErrorKind::WouldBlock));

    for versions in [Versions::Tls12, Versions::Tls13] {
        let lab = Lab::new(versions);
        let relay = lab.relay(0, RelayFault::Stall);
        let outcome = Client::new(&lab.authority, versions).connect_within(relay.address(), SILENCE);
        assert_eq!(outcome.err().map(|error| error.kind()), Some(ErrorKind::WouldBlock));
    }
}

#[test]
fn connections_that_are_skipped_pass_unharmed() {
    let lab = Lab::new(Versions::Tls13);
    let rule = RelayRule { skip_connections: 1, record: 0, fault: RelayFault::Close };
    let relay = Relay::start(lab.server.address(), rule).unwrap();
    let client = Client::new(&lab.authority, Versions::Tls13);
    assert!(client.fetch(relay.address(), "/").is_ok());
    assert!(client.fetch(relay.address(), "/").is_err());
    assert!(client.fetch(relay.address(), "/").is_err());
    assert_eq!(relay.records().iter().skip(1).map(Vec::len).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_relay_before_a_dead_server_resets() {
    let dead = MisbehavingServer::silent().unwrap().address();
    let relay = Relay::transparent(dead).unwrap();
    assert_eq!(read_all(&call(relay.address())), Err(ErrorKind::ConnectionReset));
}
