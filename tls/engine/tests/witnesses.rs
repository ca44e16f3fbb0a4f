//! The engine against servers of other authors, over sockets: what rustls in memory cannot witness.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use reprise_engine::suite::Hash;
use reprise_engine::{
    CertificatePolicy, Config, Connection, Error, ExternalPsk, FreshKeyShares, Offer, Session, Start, SystemEntropy,
    Tls13Extensions, Tls13Ticket,
};
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec, Versions};
use reprise_model::{EarlyData, Kind, Nanos, Outcome, PskMode, Version};
use reprise_servers::require;
use reprise_servers::{Nginx, NginxConfig, RealServer, SServer, SServerConfig, SessionCache};
use reprise_wire::AlertDescription;
use rustls_pki_types::{ServerName, UnixTime};
use zeroize::Zeroizing;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn openssl_resumes_with_psk_ke_only_where_allowed() {
    require!("openssl");
    for (extra, due) in [(vec!["-allow_no_dhe_kex".to_owned()], Some(PskMode::PskKe)), (Vec::new(), None)] {
        let server = s_server(|config| config.extra = extra);
        let first = complete(server.address(), config(&[PskMode::PskDheKe]), FULL, REQUEST).unwrap();
        let resumed = complete(server.address(), config(&[PskMode::PskKe]), Offer::Ticket(first.ticket()), REQUEST).unwrap();
        let kind = if due.is_some() { Kind::Ticket } else { Kind::Full };
        assert_eq!((resumed.outcome.kind, resumed.outcome.psk_mode), (kind, due));
        assert_eq!(resumed.outcome.group.is_none(), due.is_some());
        assert!(resumed.outcome.session_offered && resumed.response.contains("HTTP/1.0 200"));
    }
}

#[test]
fn openssl_takes_a_known_external_psk_only() {
    require!("openssl");
    let psk = Some(("meter".to_owned(), "0102030405060708090a0b0c0d0e0f10".to_owned()));
    let external = |identity: &str, key: std::ops::RangeInclusive<u8>| {
        let key = Zeroizing::new(key.collect());
        Offer::External(ExternalPsk { identity: identity.as_bytes().to_vec(), key, hash: Hash::Sha256 })
    };
    let server = s_server(|config| config.psk = psk.clone());
    let dhe = || config(&[PskMode::PskDheKe]);
    let known = complete(server.address(), dhe(), external("meter", 1..=16), REQUEST).unwrap();
    assert_eq!((known.outcome.kind, known.outcome.psk_mode), (Kind::Psk, Some(PskMode::PskDheKe)));
    assert!(known.response.contains("HTTP/1.0 200"));
    // Another name: there is a certificate to fall back on.
    let unknown = complete(server.address(), dhe(), external("stranger", 1..=16), REQUEST).unwrap();
    assert_eq!((unknown.outcome.kind, unknown.outcome.session_offered), (Kind::Full, true));
    // Its name and another key: the binder is wrong.
    let refused = complete(server.address(), dhe(), external("meter", 2..=17), REQUEST).err();
    let expected = [AlertDescription::ILLEGAL_PARAMETER, AlertDescription::DECRYPT_ERROR].map(Error::AlertReceived);
    assert!(refused.as_ref().is_some_and(|error| expected.contains(error)), "{refused:?}");
}

#[test]
fn nginx_answers_early_data_and_accounts_for_it() {
    require!("nginx");
    let mut nginx = Nginx::start(NginxConfig {
        versions: Versions::Tls13,
        early_data: true,
        session_cache: SessionCache::Shared("1m".to_owned()),
        ..NginxConfig::new(vec![identity()])
    })
    .unwrap();
    let first = complete(nginx.address(), config(&[PskMode::PskDheKe]), FULL, REQUEST).unwrap();
    // nginx knows data as early until our Finished arrives: it waits until the answer has come.
    let mut early = Running::begin(nginx.address(), config(&[PskMode::PskDheKe]), Offer::Early(first.ticket())).unwrap();
    assert_eq!(early.connection.send_early(Nanos(0), REQUEST), Ok(REQUEST.len()));
    early.speak();
    early.hear_until(|connection| count(connection, "application data") > 0).unwrap();
    early.until(Connection::is_peer_closed).unwrap();
    let early = early.end();
    assert_eq!((early.outcome.kind, early.outcome.early_data), (Kind::Early, Some(EarlyData::Accepted)));
    assert!(early.response.starts_with("HTTP/1.1 200"), "{}", early.response);

    let accounts = nginx.accounts_when(2, PATIENCE).unwrap();
    let of = |port| accounts.iter().find(|account| account.client_port == port).unwrap();
    assert_eq!((of(first.port).resumed, of(first.port).early_data), (false, None));
    assert_eq!((of(early.port).resumed, of(early.port).early_data), (true, Some(true)));
}

#[test]
fn a_session_that_was_saved_resumes_on_nginx_in_either_version() {
    require!("nginx");
    let mut nginx = Nginx::start(NginxConfig::new(vec![identity()])).unwrap();
    let mut ports = Vec::new();
    for version in [Version::Tls12, Version::Tls13] {
        let config = || Config { versions: vec![version], ..config(&[PskMode::PskDheKe]) };
        let mut first = complete(nginx.address(), config(), FULL, REQUEST).unwrap();
        let date = SystemTime::now();
        let saved = first.sessions.pop().unwrap().encode("nginx", Nanos(0), date);
        let offer = match Session::decode(&saved, "nginx", Nanos(0), date + Duration::from_secs(1)).unwrap() {
            Session::Tls12(session) => Offer::SessionTicket(session),
            Session::Tls13(ticket) => Offer::Ticket(ticket),
        };
        let second = complete(nginx.address(), config(), offer, REQUEST).unwrap();
        assert_eq!(second.outcome.kind, Kind::Ticket);
        ports.extend([(first.port, false), (second.port, true)]);
    }
    let accounts = nginx.accounts_when(4, PATIENCE).unwrap();
    let observed: Vec<_> = accounts.iter().map(|account| (account.client_port, account.resumed)).collect();
    assert_eq!(observed, ports);
}

#[test]
fn nginx_follows_our_key_update_with_its_own() {
    require!("nginx");
    let nginx = Nginx::start(NginxConfig { versions: Versions::Tls13, ..NginxConfig::new(vec![identity()]) }).unwrap();
    let mut running = Running::begin(nginx.address(), config(&[PskMode::PskDheKe]), FULL).unwrap();
    running.until(|connection| connection.ready().is_some()).unwrap();
    for _ in 0..3 {
        running.connection.update_keys(Nanos(0), true).unwrap();
        running.connection.send(Nanos(0), b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let updates = running.received("KeyUpdate");
        running.until(|connection| count(connection, "KeyUpdate") > updates).unwrap();
    }
    running.until(|connection| count(connection, "application data") >= 3).unwrap();
    assert!(String::from_utf8_lossy(&running.connection.take_application_data()).starts_with("HTTP/1.1 200"));
}

fn s_server(change: impl FnOnce(&mut SServerConfig)) -> SServer {
    let mut config = SServerConfig { versions: Versions::Tls13, ..SServerConfig::new(vec![identity()]) };
    change(&mut config);
    SServer::start(config).unwrap()
}

fn identity() -> Identity {
    Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap()
}

const FULL: Offer = Offer::Full { session_ticket: true };

fn config(psk_modes: &[PskMode]) -> Config {
    let name = ServerName::try_from("localhost").unwrap();
    let config = Config::new(name, CertificatePolicy::AcceptAnyChain, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
    let tls13 = Tls13Extensions { psk_modes: psk_modes.to_vec(), ..Tls13Extensions::default() };
    Config { versions: vec![Version::Tls13], tls13, ..config }
}

/// What one connection came to.
struct Completed {
    port: u16,
    outcome: Outcome,
    response: String,
    sessions: Vec<Session>,
}

impl Completed {
    /// The newest ticket.
    fn ticket(&self) -> Tls13Ticket {
        match self.sessions.last() {
            Some(Session::Tls13(ticket)) => ticket.clone(),
            other => panic!("no ticket but {other:?}"),
        }
    }
}

/// Makes a connection, says a request, and reads until the server closes.
fn complete(address: SocketAddr, config: Config, offer: Offer, request: &[u8]) -> Result<Completed, Error> {
    let mut running = Running::begin(address, config, offer)?;
    running.until(|connection| connection.ready().is_some())?;
    running.connection.send(Nanos(0), request)?;
    running.until(Connection::is_peer_closed)?;
    Ok(running.end())
}

/// A connection under way.
struct Running {
    socket: TcpStream,
    connection: Connection,
}

impl Running {
    fn begin(address: SocketAddr, config: Config, offer: Offer) -> Result<Self, Error> {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let start = Start { offer, date: UnixTime::now() };
        Ok(Self { socket, connection: Connection::start(Arc::new(config), start, Nanos(0))? })
    }

    /// Moves bytes until this holds.
    fn until(&mut self, holds: impl Fn(&Connection) -> bool) -> Result<(), Error> {
        let end = Instant::now() + PATIENCE;
        loop {
            self.speak();
            if holds(&self.connection) {
                return Ok(());
            }
            assert!(Instant::now() < end, "the server has nothing more to say");
            self.hear()?;
        }
    }

    /// Takes what the server says, without an answer, until this holds.
    fn hear_until(&mut self, holds: impl Fn(&Connection) -> bool) -> Result<(), Error> {
        while !holds(&self.connection) {
            assert!(!self.connection.is_peer_closed(), "the server has nothing more to say");
            self.hear()?;
        }
        Ok(())
    }

    fn speak(&mut self) {
        self.socket.write_all(&self.connection.take_outgoing(Nanos(0))).unwrap();
    }

    fn hear(&mut self) -> Result<(), Error> {
        let mut bytes = [0; 16_384];
        match self.socket.read(&mut bytes).unwrap() {
            0 => self.connection.receive_end(Nanos(0)),
            length => self.connection.receive(Nanos(0), &bytes[..length]),
        }
    }

    fn end(mut self) -> Completed {
        Completed {
            port: self.socket.local_addr().unwrap().port(),
            outcome: self.connection.outcome().unwrap().clone(),
            response: String::from_utf8_lossy(&self.connection.take_application_data()).into_owned(),
            sessions: self.connection.take_sessions(),
        }
    }

    fn received(&self, name: &str) -> usize {
        count(&self.connection, name)
    }
}

/// How many of these messages came.
fn count(connection: &Connection, name: &str) -> usize {
    let received = connection.events().iter().filter(|event| event.direction == reprise_model::Direction::Received);
    received.filter(|event| event.what.name() == name).count()
}
