//! Makes connections to one target, one at a time, each an [`Attempt`] over a blocking socket.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use reprise_connection::exchange::{Application, ConnectionReuse};
use reprise_connection::prologue::Route;
use reprise_connection::{Attempt, Begin, End, EngineClient, EnginePlan, Fault, MessageLog, Target};
use reprise_engine::{Offer, Session};
use reprise_model::{FaultName, Kind, Nanos, Observation, Origin, Recording, Version};
use rustls_pki_types::UnixTime;

use crate::addresses::{self, Addresses, DeadAddress, Place};
use crate::clock::Clock;
use crate::close_behavior::Leaving;
use crate::dialer::{Dialer, Established};
use crate::driver::leaving::CLOSE_WAIT;
use crate::driver::{Connection, Driver};
use crate::held_session::HeldSession;
use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::resolver;
use crate::socket::{Record, SLICE};
use crate::trial::{Trial, Tried};

/// Bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// Makes connections to one target, alike but for what each offers.
pub struct Connector {
    clock: Clock,
    dialer: Dialer,
    interrupt: Interrupt,
    addresses: Addresses,
    /// All addresses of the target, as far as this machine knows them.
    of_target: Vec<SocketAddr>,
    dead_addresses: Vec<DeadAddress>,
    /// The names to resolve before each connection; none where everything is an address.
    names: Vec<(String, u16)>,
    route: Route,
    application: Application,
    reuse: ConnectionReuse,
    pub(crate) timeout: Duration,
    ticket_wait: Duration,
    /// How long a server is waited for that is to close.
    close_wait: Duration,
    /// What the last TCP handshake took.
    round_trip: Duration,
    keeps_messages: bool,
    /// Whether what the responses say that the server is is kept: with the messages always.
    pub(crate) keeps_software: bool,
    begun: u32,
    buffer: Vec<u8>,
}

impl Connector {
    /// Finds out the addresses of the target, or of its proxy.
    ///
    /// # Errors
    /// If a name does not resolve in time.
    pub fn new(target: &Target, options: &Options, interrupt: &Interrupt) -> Result<Self, Fault> {
        let Place { of_target, addresses, names, target_address } = addresses::locate(target, options, interrupt)?;
        let dialer = Dialer::new(interrupt.clone())
            .map_err(|error| Fault::of_connecting(vec![(addresses.current(), (&error).into())]))?;
        Ok(Self {
            clock: Clock::new(),
            dialer,
            interrupt: interrupt.clone(),
            addresses,
            of_target,
            dead_addresses: Vec::new(),
            names,
            route: Route {
                target: target.clone(),
                target_address,
                proxy: options.proxy.clone(),
                proxy_protocol: options.proxy_protocol,
                starttls: options.starttls,
            },
            application: options.application(target),
            reuse: options.connections,
            timeout: options.timeout,
            ticket_wait: options.ticket_wait,
            close_wait: CLOSE_WAIT,
            round_trip: Duration::ZERO,
            keeps_messages: false,
            keeps_software: false,
            begun: 0,
            buffer: vec![0; BUFFER],
        })
    }

    /// From here on every message and every byte of each connection is kept.
    pub fn keep_messages(&mut self) {
        self.keeps_messages = true;
    }

    /// Another to the same place, by the same clock, for one connection beside those of this one, which counts it.
    pub(crate) fn sibling(&mut self) -> std::io::Result<Self> {
        let begun = self.begun;
        self.begun = self.begun.saturating_add(1);
        Ok(Self {
            clock: self.clock,
            dialer: Dialer::new(self.interrupt.clone())?,
            interrupt: self.interrupt.clone(),
            addresses: Addresses::only(self.addresses.current()),
            of_target: self.of_target.clone(),
            dead_addresses: Vec::new(),
            names: Vec::new(),
            route: self.route.clone(),
            application: self.application.clone(),
            reuse: self.reuse,
            timeout: self.timeout,
            ticket_wait: self.ticket_wait,
            close_wait: self.close_wait,
            round_trip: self.round_trip,
            keeps_messages: self.keeps_messages,
            keeps_software: self.keeps_software,
            begun,
            buffer: vec![0; BUFFER],
        })
    }

    /// The time by the clock of every observation.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Its further addresses, of which none is asked once one has answered.
    pub(crate) fn other_addresses(&self) -> Vec<SocketAddr> {
        let asked = self.target_address();
        self.of_target.iter().copied().filter(|address| Some(*address) != asked).collect()
    }

    /// The target's address, as far as this machine knows it: of several, the first that answered.
    pub fn target_address(&self) -> Option<SocketAddr> {
        match self.route.proxy {
            Some(_) => self.route.target_address,
            None => Some(self.addresses.current()),
        }
    }

    /// How many connections were begun, which is the index of the next.
    pub fn begun(&self) -> u32 {
        self.begun
    }

    /// Those that were tried in vain before it.
    pub(crate) fn take_dead_addresses(&mut self) -> Vec<DeadAddress> {
        std::mem::take(&mut self.dead_addresses)
    }

    /// Lets time pass, unless Ctrl-C comes.
    pub(crate) fn wait_until(&self, time: Nanos) {
        while self.clock.now() < time && !self.is_interrupted() {
            std::thread::sleep(SLICE.min(time.since(self.clock.now()).into()));
        }
    }

    /// Whether Ctrl-C has come.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// How many bytes of early data a connection would send: its request, if that may be replayed.
    pub fn early_request_length(&self) -> Option<usize> {
        self.application.early_request_length()
    }

    /// Makes one connection, and sees it to its end.
    pub fn connect(&mut self, trial: Trial) -> Tried {
        let index = self.begun;
        self.begun = self.begun.saturating_add(1);
        let start = self.clock.now();
        let mut tried = Tried {
            observation: Observation {
                offered: trial.offered(start),
                ..Observation::begun(index, start, trial.purpose, trial.asked)
            },
            fault: None,
            sessions: Vec::new(),
            messages: MessageLog::default(),
            recording: None,
            recording_is_cut: false,
            software: None,
        };
        let mut sessions = Vec::new();
        // Who leaves without a word leaves a server that waits for the next request: one that closes by itself loses nothing.
        let application = match trial.manner.leaving {
            Leaving::CloseNotify => &self.application,
            Leaving::Fin | Leaving::Reset => &self.application.kept_open(),
        };
        let mut attempt =
            Attempt::new(EngineClient::default(), application.exchange(self.keeps_messages || self.keeps_software));
        let completed = self.drive(&mut attempt, &mut sessions, trial, &mut tried);
        let completed = completed.map_err(|fault| attempt.blame_early_data(fault));
        attempt.describe(&mut tried.observation);
        if self.keeps_messages {
            attempt.record(&mut tried.messages);
        }
        tried.software = attempt.software();
        let facts = attempt.facts();
        attempt.end(&mut sessions, if completed.is_ok() { End::Completed } else { End::Failed });
        let completed = completed.and_then(|()| facts.ok_or(Fault::new(FaultName::Unconfirmed)));
        let was_resumed = completed.as_ref().is_ok_and(|facts| facts.kind != Kind::Full);
        let last = sessions.len().saturating_sub(1);
        let origin = |place| Some(Origin { index, was_resumed, is_last: place == last });
        let sessions = sessions.into_iter().enumerate();
        tried.sessions = sessions.map(|(place, session)| HeldSession { session, origin: origin(place) }).collect();
        tried.observation.outcome = completed.as_ref().map(|facts| *facts).map_err(|fault| fault.name);
        tried.fault = completed.err();
        tried
    }

    fn drive(
        &mut self,
        attempt: &mut Connection,
        sessions: &mut Vec<Session>,
        trial: Trial,
        tried: &mut Tried,
    ) -> Result<(), Fault> {
        let early = match &trial.offer {
            Offer::Early(ticket) => Some(ticket.alpn.clone()),
            _ => None,
        };
        let manner = trial.manner;
        equalize_key_share_cost(&trial);
        let plan = EnginePlan { config: trial.config, offer: trial.offer, date: date() };
        let requests = u32::from(!self.application.is_silent());
        let begin = Begin { plan, prologue: None, requests, early };
        // What can be made ready is made ready before the clock starts: the key share is part of no phase.
        attempt.begin(sessions, begin, self.clock.now())?;
        let socket = Dialer::socket(self.addresses.current());

        for (name, port) in &self.names {
            let (_, took) = resolver::resolve(name, *port, self.timeout, &self.interrupt)?;
            let resolve = &mut tried.observation.phases.resolve;
            *resolve = Some(resolve.unwrap_or_default() + took);
        }
        let Established { mut stream, connecting, connected, dead } =
            self.dialer.connect(socket, &mut self.addresses, self.clock, self.timeout)?;
        self.dead_addresses.extend(dead);
        self.round_trip = Duration::from_nanos(connected.since(connecting).0);
        let server = self.addresses.current();
        if self.route.proxy.is_none() {
            // The PROXY header names the one of several that has answered.
            self.route.target_address = Some(server);
        }
        attempt.set_prologue(self.route.prologue());
        attempt.connecting(connecting);
        tried.observation.server = Some(server);
        tried.observation.client = stream.local_address().ok();
        if self.keeps_messages {
            stream.record(self.clock);
        }
        let client = tried.observation.client;
        let mut driver = Driver {
            clock: self.clock,
            is_silent: self.application.is_silent(),
            reuse: self.reuse,
            begins_in_the_clear: self.route.begins_in_the_clear(),
            ticket_wait: self.ticket_wait,
            timeout: self.timeout,
            round_trip: self.round_trip,
            close_wait: &mut self.close_wait,
            buffer: &mut self.buffer,
            attempt,
            sessions,
            stream,
            manner,
        };
        let ended = driver.run(connected, client);
        if let (Some(Record { segments, is_cut, .. }), Some(client)) = (driver.stream.take_record(), client) {
            tried.recording = Some(Recording { client, server, connecting, connected, segments });
            tried.recording_is_cut = is_cut;
        }
        ended
    }
}

/// Computes for TLS 1.2 what a ClientHello of TLS 1.3 needs: a key share. What was computed last displaces from the processor's
/// caches what connecting needs, which then takes a microsecond more: under both versions, so that `connect` compares.
fn equalize_key_share_cost(trial: &Trial) {
    if let (Version::Tls12, Some(group)) = (trial.asked.tls, trial.config.groups.first()) {
        drop(trial.config.key_shares.share(*group));
    }
}

fn date() -> UnixTime {
    UnixTime::since_unix_epoch(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::Arc;

    use reprise_connection::prologue::ProxyProtocol;
    use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, SystemEntropy};
    use reprise_model::{Asked, Purpose, Version};
    use rustls_pki_types::ServerName;

    use super::*;
    use crate::close_behavior::CloseBehavior;

    #[test]
    fn the_addresses_that_nobody_asks_are_known() {
        let target: Target = "127.0.0.1:9".parse().unwrap();
        let mut connector = Connector::new(&target, &Options::default(), &Interrupt::default()).unwrap();
        assert_eq!(connector.other_addresses(), []);
        let other = "[::1]:9".parse().unwrap();
        connector.of_target.push(other);
        assert_eq!(connector.other_addresses(), [other]);
    }

    #[test]
    fn the_proxy_header_names_the_address_that_answered() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = server.local_addr().unwrap();
        let options = Options { proxy_protocol: Some(ProxyProtocol::V1), ..Options::default() };
        let target: Target = open.to_string().parse().unwrap();
        let mut connector = Connector::new(&target, &options, &Interrupt::default()).unwrap();
        connector.addresses = Addresses::of([closed, open]).unwrap();
        let heard = std::thread::spawn(move || {
            let mut header = [0; 107];
            let count = server.accept().unwrap().0.read(&mut header).unwrap();
            String::from_utf8_lossy(header.get(..count).unwrap()).into_owned()
        });
        let name = ServerName::IpAddress(open.ip().into());
        let policy = CertificatePolicy::AcceptAnyChain;
        let config = Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
        let tried = connector.connect(Trial {
            config: Arc::new(config),
            asked: Asked { tls: Version::Tls13, kind: Kind::Full },
            purpose: Purpose::Sample,
            offer: Offer::Full { session_ticket: true },
            origin: None,
            manner: CloseBehavior::default(),
        });
        let dead = connector.take_dead_addresses();
        assert_eq!(dead.iter().map(|dead| dead.address).collect::<Vec<_>>(), [closed]);
        let client = tried.observation.client.unwrap();
        let header = format!("PROXY TCP4 127.0.0.1 127.0.0.1 {} {}\r\n", client.port(), open.port());
        assert!(heard.join().unwrap().starts_with(&header), "{header}");
    }
}
