//! Attempts in memory against a rustls server, in virtual time: every phase is a whole number of round trips.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::sync::Arc;

use reprise_connection::{Attempt, Begin, EngineClient, EnginePlan, Exchange, Fault, Input, MessageLog, Progress, Reply};
use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, Offer, Session, SystemEntropy};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, KeyKind, ServerSpec, rustls_turn};
use reprise_model::{EarlyData, Kind, Nanos, Phases, Version};
use rustls_pki_types::{ServerName, UnixTime};

const ROUND_TRIP: Nanos = Nanos(50_000_000);

/// One question and one answer.
#[derive(Default)]
struct Echo {
    heard: Vec<u8>,
}

impl Exchange for Echo {
    fn begin(&mut self, _alpn: Option<&[u8]>) -> Result<(), Fault> {
        self.heard.clear();
        Ok(())
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.heard.clear();
        Ok(b"ping")
    }

    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault> {
        self.heard.extend_from_slice(data);
        Ok(if self.heard == b"pong" { Reply::Done } else { Reply::Begun })
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        Ok(Reply::Done)
    }

    fn keeps_alive(&self) -> bool {
        true
    }
}

fn config(version: Version) -> Arc<Config> {
    let server_name = ServerName::try_from("localhost").unwrap();
    let defaults =
        Config::new(server_name, CertificatePolicy::AcceptAnyChain, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
    Arc::new(Config { versions: vec![version], ..defaults })
}

/// A client and a server that keeps its sessions from one connection to the next.
struct Pair {
    attempt: Attempt<EngineClient, Echo>,
    sessions: Vec<Session>,
    server: Arc<rustls::ServerConfig>,
}

impl Pair {
    fn new(resumption: EmbeddedResumption, max_early_data: u32) -> Self {
        let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let config = EmbeddedConfig { resumption, max_early_data, ..EmbeddedConfig::new(identity) };
        let mut server = config.to_rustls().unwrap();
        // Early data is answered in the server's own first flight.
        server.send_half_rtt_data = true;
        Self {
            attempt: Attempt::new(EngineClient::default(), Echo::default()),
            sessions: Vec::new(),
            server: Arc::new(server),
        }
    }

    fn connect(&mut self, version: Version, offer: Offer, requests: u32) -> Phases {
        let early = matches!(offer, Offer::Early(_)).then_some(None);
        let plan = EnginePlan { config: config(version), offer, date: UnixTime::now() };
        let begin = Begin { plan, prologue: None, requests, early };
        let mut server = rustls::ServerConnection::new(Arc::clone(&self.server)).unwrap();
        let (attempt, mut now, mut heard) = (&mut self.attempt, Nanos(0), Vec::new());
        attempt.begin(&mut self.sessions, begin, now).unwrap();
        attempt.connecting(now);
        now = now + ROUND_TRIP;
        attempt.connected(now, || None).unwrap();
        while !attempt.is_done() {
            let (flight, mut answer) = (attempt.outgoing(now).to_vec(), Vec::new());
            attempt.sent(flight.len());
            rustls_turn(&mut server, &flight, &mut heard, &mut answer).unwrap();
            if let Some(mut early) = server.early_data() {
                early.read_to_end(&mut heard).unwrap();
            }
            if heard == b"ping" {
                heard.clear();
                server.writer().write_all(b"pong").unwrap();
                rustls_turn(&mut server, &[], &mut heard, &mut answer).unwrap();
            }
            assert!(!answer.is_empty(), "both wait for each other");
            now = now + ROUND_TRIP;
            receive(attempt, &mut self.sessions, &mut Input::new(&mut answer, now), now);
        }
        attempt.phases()
    }

    fn end(&mut self) -> Vec<Session> {
        self.attempt.end(&mut self.sessions, reprise_connection::End::Completed);
        std::mem::take(&mut self.sessions)
    }
}

/// Takes all of it, from one phase boundary to the next.
fn receive(attempt: &mut Attempt<EngineClient, Echo>, sessions: &mut Vec<Session>, input: &mut Input<'_>, now: Nanos) {
    loop {
        match attempt.receive(sessions, input, now).unwrap() {
            Progress::Done | Progress::Waiting if input.is_empty() => return,
            _ => {}
        }
    }
}

/// In round trips: connect, tls, wait, receive, total.
fn round_trips(phases: Phases) -> [Option<f64>; 5] {
    [phases.connect, phases.tls, phases.wait, phases.receive, phases.total]
        .map(|phase| phase.map(|time| time.0 as f64 / ROUND_TRIP.0 as f64))
}

fn full() -> Offer {
    Offer::Full { session_ticket: true }
}

#[test]
fn a_full_handshake_takes_its_round_trips() {
    let mut pair = Pair::new(EmbeddedResumption::Ticket, 0);
    assert_eq!(
        round_trips(pair.connect(Version::Tls13, full(), 1)),
        [Some(1.0), Some(1.0), Some(1.0), Some(0.0), Some(3.0)]
    );
    assert_eq!(
        round_trips(pair.connect(Version::Tls12, full(), 1)),
        [Some(1.0), Some(2.0), Some(1.0), Some(0.0), Some(4.0)]
    );
}

#[test]
fn a_resumed_handshake_saves_one_under_tls_1_2_alone() {
    let mut pair = Pair::new(EmbeddedResumption::Ticket, 0);
    for version in [Version::Tls12, Version::Tls13] {
        pair.connect(version, full(), 1);
        let offer = match pair.end().pop().unwrap() {
            Session::Tls12(session) => Offer::SessionTicket(session),
            Session::Tls13(ticket) => Offer::Ticket(ticket),
        };
        let phases = pair.connect(version, offer, 1);
        assert_eq!(pair.attempt.facts().unwrap().kind, Kind::Ticket);
        assert_eq!(round_trips(phases)[1], Some(1.0), "{version}");
    }
}

#[test]
fn accepted_early_data_waits_for_nothing() {
    for (accepts, wait, total) in [(true, 1.0, 2.0), (false, 1.0, 3.0)] {
        let mut pair = Pair::new(EmbeddedResumption::Id, 1_000);
        pair.connect(Version::Tls13, full(), 1);
        let Some(Session::Tls13(ticket)) = pair.end().pop() else { panic!("no ticket") };
        if !accepts {
            // It has the session no more.
            pair.server = Pair::new(EmbeddedResumption::Id, 1_000).server;
        }
        let phases = pair.connect(Version::Tls13, Offer::Early(ticket), 1);
        let facts = pair.attempt.facts().unwrap();
        let expected = if accepts { EarlyData::Accepted } else { EarlyData::Rejected };
        assert_eq!(facts.early_data, Some(expected));
        let tls = if accepts { 0.0 } else { 1.0 };
        assert_eq!(round_trips(phases), [Some(1.0), Some(tls), Some(wait), Some(0.0), Some(total)]);
    }
}

#[test]
fn silence_ends_once_the_server_has_shown_its_keys() {
    let mut pair = Pair::new(EmbeddedResumption::Ticket, 0);
    let phases = pair.connect(Version::Tls13, full(), 0);
    assert_eq!(round_trips(phases), [Some(1.0), Some(1.0), None, None, Some(2.0)]);
    assert_eq!(pair.attempt.facts().unwrap().tickets.count, 2);
}

#[test]
fn a_recorder_is_told_every_message() {
    let mut pair = Pair::new(EmbeddedResumption::Ticket, 0);
    pair.connect(Version::Tls13, full(), 1);
    let mut log = MessageLog::default();
    pair.attempt.record(&mut log);
    let names: Vec<&str> = log.messages.iter().map(|event| event.what.name()).collect();
    assert_eq!(names.first(), Some(&"ClientHello"));
    assert!(names.contains(&"CertificateVerify") && names.contains(&"NewSessionTicket"), "{names:?}");
    assert_eq!(log.omitted, 0);
}
