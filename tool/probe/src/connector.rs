//! Makes connections to one target, one at a time, each an [`Attempt`] over a blocking socket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reprise_connection::exchange::Application;
use reprise_connection::prologue::Route;
use reprise_connection::{Attempt, Begin, End, EngineClient, EnginePlan, Fault, Target};
use reprise_engine::{Offer, Session, is_sealed_with_zero_key};
use reprise_model::{FailureClass, FaultName, Kind, Nanos, Observation, Origin, Recording, Version};
use reprise_wire::NamedGroup;
use rustls_pki_types::UnixTime;

use crate::addresses::{Addresses, DeadAddress, Place, SILENT};
use crate::clock::Clock;
use crate::connection_plan::{CloseMethod, ConnectionPlan, ConnectionRecord, HeldSession};
use crate::dialer::{Dialer, Established};
use crate::driver::closing::CLOSE_WAIT;
use crate::driver::{Connection, Driver};
use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::resolver;
use crate::settings::Settings;
use crate::socket::{Record, Stream};

/// Bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// Makes connections to one target, alike but for what each offers.
pub(crate) struct Connector {
    pub(crate) settings: Settings,
    place: Place,
    dialer: Dialer,
    dead_addresses: Vec<DeadAddress>,
    /// Connections that stay open beside those that follow.
    open: Vec<Stream>,
    begun: u32,
    buffer: Vec<u8>,
    /// The group that a HelloRetryRequest asked for last, where the client that is offered remembers it for its next connection.
    remembered: Option<NamedGroup>,
    remembers: bool,
}

impl Connector {
    /// Finds out the addresses of the target, or of its proxy.
    ///
    /// # Errors
    /// If a name does not resolve in time.
    pub(crate) fn new(target: &Target, options: &Options, interrupt: &Interrupt) -> Result<Self, Fault> {
        Self::by_clock(target, options, Clock::new(), interrupt)
    }

    /// The same by a clock that others read too: what one place gave is offered to another.
    ///
    /// # Errors
    /// If a name does not resolve in time.
    pub(crate) fn by_clock(target: &Target, options: &Options, clock: Clock, interrupt: &Interrupt) -> Result<Self, Fault> {
        let place = Place::locate(target, options, interrupt)?;
        let dialer = Dialer::new(interrupt.clone())
            .map_err(|error| Fault::of_connecting(vec![(place.addresses.current(), (&error).into())]))?;
        let settings = Settings {
            clock,
            interrupt: interrupt.clone(),
            route: Route {
                target: target.clone(),
                target_address: place.of_target.first().copied(),
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
        };
        Ok(Self {
            settings,
            place,
            dialer,
            dead_addresses: Vec::new(),
            open: Vec::new(),
            begun: 0,
            buffer: vec![0; BUFFER],
            remembered: None,
            remembers: options.like.is_some_and(|row| row.remembers_retry),
        })
    }

    /// Another to the same place, by the same clock, for one connection beside those of this one, which counts it.
    pub(crate) fn sibling(&mut self) -> std::io::Result<Self> {
        let begun = self.begun;
        self.begun = self.begun.saturating_add(1);
        let addresses = Addresses::only(self.place.addresses.current());
        Ok(Self {
            settings: self.settings.clone(),
            place: Place { addresses, names: Vec::new(), of_target: self.place.of_target.clone() },
            dialer: Dialer::new(self.settings.interrupt.clone())?,
            dead_addresses: Vec::new(),
            open: Vec::new(),
            begun,
            buffer: vec![0; BUFFER],
            remembered: self.remembered,
            remembers: self.remembers,
        })
    }

    /// The time by the clock of every observation.
    pub(crate) fn now(&self) -> Nanos {
        self.settings.clock.now()
    }

    /// Its further addresses, of which none is asked once one has answered.
    pub(crate) fn other_addresses(&self) -> Vec<SocketAddr> {
        let asked = self.target_address();
        self.place.of_target.iter().copied().filter(|address| Some(*address) != asked).collect()
    }

    /// The target's address, as far as this machine knows it: of several, the first that answered.
    pub(crate) fn target_address(&self) -> Option<SocketAddr> {
        match self.settings.route.proxy {
            Some(_) => self.settings.route.target_address,
            None => Some(self.place.addresses.current()),
        }
    }

    /// How many connections were begun, which is the index of the next.
    pub(crate) fn begun(&self) -> u32 {
        self.begun
    }

    /// The next connection has this index, since others count too.
    pub(crate) fn number_next(&mut self, index: u32) {
        self.begun = index;
    }

    /// Those that were tried in vain before it.
    pub(crate) fn take_dead_addresses(&mut self) -> Vec<DeadAddress> {
        std::mem::take(&mut self.dead_addresses)
    }

    /// Whether a connection stays open beside those that follow.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Closes those that stayed open.
    pub(crate) fn close_open(&mut self) {
        self.open.clear();
    }

    /// Lets time pass, unless Ctrl-C comes.
    pub(crate) fn wait_until(&self, time: Nanos) {
        self.settings.clock.wait_until(time, &self.settings.interrupt);
    }

    /// Whether Ctrl-C has come.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.settings.interrupt.is_raised()
    }

    /// How many bytes of early data a connection would send: its request, if that may be replayed.
    pub(crate) fn early_request_length(&self) -> Option<usize> {
        self.settings.application.early_request_length()
    }

    /// A connection of TCP to the address that has answered, or to another port there, for what is no single request.
    pub(crate) fn dial(&mut self, port: Option<u16>) -> Result<Stream, Fault> {
        self.begun = self.begun.saturating_add(1);
        let mut address = self.place.addresses.current();
        address.set_port(port.unwrap_or(address.port()));
        let (clock, timeout) = (self.settings.clock, self.settings.timeout);
        let Established { stream, .. } =
            self.dialer.connect(Dialer::socket(address), &mut Addresses::only(address), clock, timeout)?;
        stream.prepare().map_err(|error| Fault::of_transport(FailureClass::Connect, "the socket", &error))?;
        Ok(stream)
    }

    /// Makes one connection, and sees it to its end. Of several addresses, one that accepts it and says nothing of TLS is left for the
    /// next, and the same is tried there.
    pub(crate) fn connect(&mut self, plan: ConnectionPlan) -> ConnectionRecord {
        while self.place.addresses.has_others() {
            let (usual, begun) = (self.settings.timeout, self.now());
            self.settings.timeout = usual.min(SILENT);
            let record = self.connect_once(plan.clone());
            self.settings.timeout = usual;
            let address = self.place.addresses.current();
            let Some(accepted) = silence(&record).filter(|_| self.settings.route.proxy.is_none()) else {
                self.place.addresses.settle();
                return record;
            };
            if !self.place.addresses.move_on() {
                // The others were tried as it was dialed.
                return record;
            }
            let error = (&std::io::Error::from(std::io::ErrorKind::TimedOut)).into();
            let took = self.now().since(begun);
            self.dead_addresses.push(DeadAddress { address, error, accepted: Some(accepted), took });
        }
        self.connect_once(plan)
    }

    fn connect_once(&mut self, mut plan: ConnectionPlan) -> ConnectionRecord {
        if let Some(group) = self.remembered.filter(|_| plan.asked.tls == Version::Tls13) {
            Arc::make_mut(&mut plan.config).key_share_groups = vec![group];
        }
        let (index, start) = (self.begun, self.now());
        self.begun = self.begun.saturating_add(1);
        let begun = Observation::begun(index, start, plan.purpose, plan.asked);
        let mut record = ConnectionRecord {
            offered: plan.offer.held.clone(),
            ..ConnectionRecord::begun(Observation { offered: plan.offer.record(start), ..begun })
        };
        let settings = &self.settings;
        // Who leaves without a word leaves a server that waits for the next request: one that closes by itself loses nothing.
        let application = match plan.behavior.close {
            CloseMethod::StaysOpen => &Application::Silent,
            CloseMethod::CloseNotify if !plan.behavior.asks_again => &settings.application,
            _ => &settings.application.kept_open(),
        };
        let exchange = application.exchange(settings.keeps_messages || settings.keeps_software);
        let mut attempt = Attempt::new(EngineClient::default(), exchange);
        let mut sessions = Vec::new();
        let completed = self.drive(&mut attempt, &mut sessions, plan, &mut record);
        let completed = completed.map_err(|fault| attempt.blame_early_data(fault));
        attempt.describe(&mut record.observation);
        if self.settings.keeps_messages {
            attempt.record(&mut record.messages);
        }
        (record.software, record.date, record.content) = (attempt.software(), attempt.date(), attempt.content());
        let facts = attempt.facts();
        attempt.end(&mut sessions, if completed.is_ok() { End::Completed } else { End::Failed });
        let completed = completed.and_then(|()| facts.ok_or(Fault::new(FaultName::Unconfirmed)));
        record.observation.ticket_key_is_zero = sessions.iter().any(is_sealed_with_zeros);
        let was_resumed = completed.as_ref().is_ok_and(|facts| facts.kind != Kind::Full);
        let last = sessions.len().saturating_sub(1);
        let origin = |place| Some(Origin { index, was_resumed, is_last: place == last });
        let sessions = sessions.into_iter().enumerate();
        record.sessions = sessions.map(|(place, session)| HeldSession { session, origin: origin(place) }).collect();
        if self.remembers {
            let wanted = facts.and_then(|facts| facts.hello_retry?.wanted);
            self.remembered = wanted.map(NamedGroup).or(self.remembered);
        }
        record.observation.outcome = completed.as_ref().map(|facts| *facts).map_err(|fault| fault.name);
        record.fault = completed.err();
        record
    }

    fn drive(
        &mut self,
        attempt: &mut Connection,
        sessions: &mut Vec<Session>,
        plan: ConnectionPlan,
        record: &mut ConnectionRecord,
    ) -> Result<(), Fault> {
        let Self { settings, place, .. } = self;
        equalize_key_share_cost(&plan);
        let early = match &plan.offer.offer {
            Offer::Early(ticket) => Some(ticket.alpn.clone()),
            _ => None,
        };
        let asks = !settings.application.is_silent() && plan.behavior.close != CloseMethod::StaysOpen;
        let requests = u32::from(asks);
        let engine_plan = EnginePlan { config: plan.config, offer: plan.offer.offer, date: date() };
        let begin = Begin { plan: engine_plan, prologue: None, requests, early };
        // What can be made ready is made ready before the clock starts: the key share is part of no phase.
        attempt.begin(sessions, begin, settings.clock.now())?;
        let socket = Dialer::socket(place.addresses.current());

        for (name, port) in &place.names {
            let (_, took) = resolver::resolve(name, *port, settings.timeout, &settings.interrupt)?;
            let resolve = &mut record.observation.phases.resolve;
            *resolve = Some(resolve.unwrap_or_default() + took);
        }
        let Established { mut stream, connecting, connected, dead } =
            self.dialer.connect(socket, &mut place.addresses, settings.clock, settings.timeout)?;
        self.dead_addresses.extend(dead);
        settings.round_trip = connected.since(connecting).into();
        let server = place.addresses.current();
        if settings.route.proxy.is_none() {
            // The PROXY header names the one of several that has answered.
            settings.route.target_address = Some(server);
        }
        attempt.set_prologue(settings.route.prologue());
        attempt.connecting(connecting);
        let client = stream.local_address().ok();
        record.observation.server = Some(server);
        record.observation.client = client;
        if settings.keeps_messages {
            stream.record(settings.clock);
        }
        let (buffer, behavior) = (&mut self.buffer, plan.behavior);
        let mut driver = Driver { settings, buffer, attempt, sessions, stream, behavior, answered_before_finished: None };
        let ended = driver.run(connected, client);
        record.observation.answered_before_finished = driver.answered_before_finished;
        if let (Some(Record { segments, is_cut, .. }), Some(client)) = (driver.stream.take_record(), client) {
            record.recording = Some(Recording { client, server, connecting, connected, segments });
            record.recording_is_cut = is_cut;
        }
        if plan.behavior.close == CloseMethod::StaysOpen {
            self.open.push(driver.stream);
        }
        ended
    }
}

/// What became of a connection that was accepted, and on which nothing of TLS came; `None` where something did.
fn silence(record: &ConnectionRecord) -> Option<FaultName> {
    let (fault, seen) = (record.fault.as_ref()?, &record.observation);
    let is_silent = match fault.class {
        FailureClass::Tls => {
            matches!(
                fault.name,
                FaultName::Timeout | FaultName::ClosedEarly | FaultName::ConnectionReset | FaultName::NotTls
            )
        }
        FailureClass::Starttls => fault.name == FaultName::Timeout,
        _ => false,
    };
    (is_silent && !seen.heard_tls && seen.client.is_some()).then_some(fault.name)
}

/// Computes for TLS 1.2 what a ClientHello of TLS 1.3 needs: a key share. What was computed last displaces from the processor's
/// caches what connecting needs, which then takes a microsecond more: under both versions, so that `connect` compares.
fn equalize_key_share_cost(plan: &ConnectionPlan) {
    if let (Version::Tls12, Some(group)) = (plan.asked.tls, plan.config.groups.first()) {
        drop(plan.config.key_shares.share(*group));
    }
}

fn is_sealed_with_zeros(session: &Session) -> bool {
    let ticket = match session {
        Session::Tls12(session) => session.ticket.as_ref().map(|ticket| &ticket.ticket),
        Session::Tls13(ticket) => Some(&ticket.ticket),
    };
    ticket.is_some_and(|ticket| is_sealed_with_zero_key(ticket))
}

pub(crate) fn date() -> UnixTime {
    UnixTime::since_unix_epoch(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::Arc;

    use reprise_connection::prologue::ProxyProtocol;
    use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, SystemEntropy};
    use reprise_model::{Asked, Version};
    use rustls_pki_types::ServerName;

    use super::*;

    #[test]
    fn the_addresses_that_nobody_asks_are_known() {
        let target: Target = "127.0.0.1:9".parse().unwrap();
        let mut connector = Connector::new(&target, &Options::default(), &Interrupt::default()).unwrap();
        assert_eq!(connector.other_addresses(), []);
        let other = "[::1]:9".parse().unwrap();
        connector.place.of_target.push(other);
        assert_eq!(connector.other_addresses(), [other]);
    }

    #[test]
    fn an_address_that_says_nothing_of_tls_is_left_for_the_next() {
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [closes, plain, last] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let target: Target = last.to_string().parse().unwrap();
        let mut connector = Connector::new(&target, &Options::default(), &Interrupt::default()).unwrap();
        connector.place.addresses = Addresses::of([closes, plain, last]).unwrap();
        let served = std::thread::spawn(move || {
            for (place, listener) in listeners.iter().enumerate() {
                let mut stream = listener.accept().unwrap().0;
                let _ = stream.read(&mut [0; 4096]);
                if place == 1 {
                    std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
                }
            }
        });
        let policy = CertificatePolicy::AcceptAnyChain;
        let name = ServerName::IpAddress(last.ip().into());
        let config = Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
        let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
        let record = connector.connect(ConnectionPlan::discovery(&Arc::new(config), asked));
        served.join().unwrap();
        assert_eq!((record.observation.server, connector.target_address()), (Some(last), Some(last)));
        let dead = connector.take_dead_addresses();
        assert_eq!(dead.iter().map(|dead| dead.address).collect::<Vec<_>>(), [closes, plain]);
        assert_eq!(dead[1].accepted, Some(FaultName::NotTls));
    }

    #[test]
    fn the_proxy_header_names_the_address_that_answered() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = server.local_addr().unwrap();
        let options = Options { proxy_protocol: Some(ProxyProtocol::V1), ..Options::default() };
        let target: Target = open.to_string().parse().unwrap();
        let mut connector = Connector::new(&target, &options, &Interrupt::default()).unwrap();
        connector.place.addresses = Addresses::of([closed, open]).unwrap();
        let heard = std::thread::spawn(move || {
            let mut header = [0; 107];
            let count = server.accept().unwrap().0.read(&mut header).unwrap();
            String::from_utf8_lossy(header.get(..count).unwrap()).into_owned()
        });
        let name = ServerName::IpAddress(open.ip().into());
        let policy = CertificatePolicy::AcceptAnyChain;
        let config = Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
        let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
        let record = connector.connect(ConnectionPlan::discovery(&Arc::new(config), asked));
        let dead = connector.take_dead_addresses();
        assert_eq!(dead.iter().map(|dead| dead.address).collect::<Vec<_>>(), [closed]);
        let client = record.observation.client.unwrap();
        let header = format!("PROXY TCP4 127.0.0.1 127.0.0.1 {} {}\r\n", client.port(), open.port());
        assert!(heard.join().unwrap().starts_with(&header), "{header}");
    }
}
