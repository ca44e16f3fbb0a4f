//! One visit to the target: connect, handshake, request, response, tickets, close. Every phase is timed here.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use reprise_engine::{Config, Connection, Offer, Session, Start};
use reprise_trace::{
    Asked, Attempt, Bytes, Failure, FailureClass, Nanos, NextRequest, Phases, Recording, Sample, Version, round_trips,
};
use rustls_pki_types::UnixTime;

use crate::clock::Clock;
use crate::failure;
use crate::http::Response;
use crate::interrupt::Interrupt;
use crate::options::{ConnectionReuse, Request};
use crate::resolver;
use crate::socket::{Dialer, Record, Stream};

/// After the response, how long a server that said it would close is waited for.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

/// What all visits to one target have in common.
pub(crate) struct Visitor {
    pub(crate) clock: Clock,
    pub(crate) dialer: Dialer,
    pub(crate) interrupt: Interrupt,
    pub(crate) address: SocketAddr,
    /// The name to resolve before each connection; `None` where the target is an address.
    pub(crate) name: Option<String>,
    pub(crate) request: Option<(Request, Vec<u8>)>,
    pub(crate) reuse: ConnectionReuse,
    pub(crate) timeout: Duration,
    pub(crate) ticket_wait: Duration,
    /// Whether the bytes of each connection are kept.
    pub(crate) records: bool,
}

/// What came of a visit.
pub(crate) struct Visit {
    pub(crate) attempt: Attempt,
    /// What the server gave for the next one.
    pub(crate) sessions: Vec<Session>,
    /// Its bytes, where the visitor records them and the connection was established.
    pub(crate) recording: Option<Recording>,
    /// Whether it was too long to be recorded to its end.
    pub(crate) recording_is_cut: bool,
    /// How many messages there was no room for among the sample's events.
    pub(crate) omitted_events: u64,
}

impl Visitor {
    pub(crate) fn visit(&mut self, config: &Arc<Config>, asked: Asked, offer: Offer) -> Visit {
        let mut left = Left::default();
        let attempt = self.attempt(config, asked, offer, &mut left);
        let Left { sessions, recording, recording_is_cut, omitted_events } = left;
        Visit { attempt, sessions, recording, recording_is_cut, omitted_events }
    }

    fn attempt(&mut self, config: &Arc<Config>, asked: Asked, offer: Offer, left: &mut Left) -> Attempt {
        let deadline = Instant::now() + self.timeout;
        let mut phases = Phases::default();
        // What can be made ready is made ready before the clock starts: the key share is no part of any phase.
        let start = Start { offer, date: date() };
        let connection = Connection::start(config.clone(), start, self.clock.now())
            .map_err(|error| failure::tls(&error, config.identity.is_some()))?;
        let socket = Dialer::socket(self.address).map_err(|error| failure::connect(self.address, &error))?;

        if let Some(name) = &self.name {
            let (_, took) = resolver::resolve(name, self.address.port(), self.timeout, &self.interrupt)?;
            phases.resolve = Some(took);
        }
        let connecting = self.clock.now();
        let mut stream =
            self.dialer.connect(socket, self.address, deadline).map_err(|error| self.connect_failure(&error))?;
        let connected = self.clock.now();
        phases.connect = Some(connected - connecting);

        let client = stream.local_address().map_err(|error| failure::connect(self.address, &error))?;
        let local_port = client.port();
        if self.records {
            stream.record(self.clock);
        }
        let mut call = Call { visitor: self, config, connection, stream, phases };
        let result = call.run(connecting);
        left.sessions = call.connection.take_sessions();
        left.omitted_events = call.connection.omitted_events();
        if let Some(Record { segments, is_cut, .. }) = call.stream.take_record() {
            left.recording = Some(Recording { client, server: call.visitor.address, connecting, connected, segments });
            left.recording_is_cut = is_cut;
        }
        result.and_then(|answer| call.into_sample(asked, local_port, answer)).map_err(|mut failure| {
            failure.local_port = Some(local_port);
            failure
        })
    }

    fn connect_failure(&self, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::Interrupted => failure::interrupted(),
            _ => failure::connect(self.address, error),
        }
    }
}

/// What a connection leaves behind, whatever came of it.
#[derive(Default)]
struct Left {
    sessions: Vec<Session>,
    recording: Option<Recording>,
    recording_is_cut: bool,
    omitted_events: u64,
}

/// An established connection.
struct Call<'v> {
    visitor: &'v Visitor,
    config: &'v Arc<Config>,
    connection: Connection,
    stream: Stream,
    phases: Phases,
}

impl Call<'_> {
    fn run(&mut self, connecting: Nanos) -> Result<Answer, Failure> {
        self.stream.prepare().map_err(|error| failure::socket(FailureClass::Connect, "the socket", &error))?;
        self.handshake()?;
        let visitor = self.visitor;
        let Some((request, bytes)) = &visitor.request else {
            self.phases.total = Some(self.total(connecting));
            self.await_tickets()?;
            self.close()?;
            self.confirm()?;
            return Ok(Answer::default());
        };
        let (response, wait, receive) = self.exchange(request, bytes)?;
        self.phases.wait = Some(wait);
        self.phases.receive = Some(receive);
        self.phases.total = Some(self.total(connecting));

        let mut next_request = None;
        if visitor.reuse == ConnectionReuse::KeepAlive && response.keeps_alive() {
            let (_, wait, receive) = self.exchange(request, bytes)?;
            next_request = Some(NextRequest { wait, receive });
        }
        let status = response.status();
        if !response.keeps_alive() {
            // The server closes, so whatever it still has to say comes before: tickets too.
            self.drain(Instant::now() + CLOSE_WAIT)?;
        }
        self.close()?;
        self.confirm()?;
        Ok(Answer { next_request, http_status: status })
    }

    /// First handshake byte until application data may first be sent.
    fn handshake(&mut self) -> Result<(), Failure> {
        let hello = self.now();
        let bytes = self.connection.take_outgoing(hello);
        self.write(FailureClass::Tls, "ServerHello", &bytes)?;
        while self.connection.ready().is_none() {
            self.receive(FailureClass::Tls)?;
            if self.connection.ready().is_none() {
                self.flush(FailureClass::Tls)?;
            }
        }
        // The last flight leaves with the request, as it does with clients that know what they will say.
        self.phases.tls = Some(self.clock_since(hello));
        if self.visitor.request.is_none() {
            self.flush(FailureClass::Tls)?;
        }
        Ok(())
    }

    /// One request and its response; how long the first byte and the rest took.
    fn exchange(&mut self, request: &Request, bytes: &[u8]) -> Result<(Response, Nanos, Nanos), Failure> {
        let mut response = Response::to(request);
        let now = self.now();
        self.connection.send(now, bytes).map_err(|error| self.tls_failure(&error))?;
        let bytes = self.connection.take_outgoing(now);
        let sent = self.now();
        self.write(FailureClass::Request, "response", &bytes)?;

        let mut first = None;
        loop {
            let at = self.receive(FailureClass::Request)?;
            let data = self.connection.take_application_data();
            if !data.is_empty() {
                first.get_or_insert(at);
                response.receive(&data)?;
            }
            if self.connection.is_peer_closed() && !response.is_done() {
                response.receive_end()?;
            }
            if response.is_done() {
                let first = first.unwrap_or(at);
                return Ok((response, first - sent, at - first));
            }
            self.flush(FailureClass::Request)?;
        }
    }

    /// Where nothing else is awaited: TLS 1.3 servers send their tickets after the handshake.
    fn await_tickets(&mut self) -> Result<(), Failure> {
        let tls13 = self.connection.outcome().is_some_and(|outcome| outcome.version == Version::Tls13);
        let until = Instant::now() + self.visitor.ticket_wait;
        self.stream.set_deadline(until);
        while tls13
            && !self.connection.is_peer_closed()
            && !self.stream.has_ended()
            && self.connection.outcome().is_some_and(|outcome| outcome.tickets == 0)
        {
            match self.receive(FailureClass::Tls) {
                Err(failure) if failure.name == "timeout" => break,
                other => other?,
            };
            let _ = self.connection.take_application_data();
        }
        Ok(())
    }

    /// close_notify, and what the server still says to it. Without it an OpenSSL server forgets the session.
    fn close(&mut self) -> Result<(), Failure> {
        let now = self.now();
        self.connection.close(now).map_err(|error| self.tls_failure(&error))?;
        let bytes = self.connection.take_outgoing(now);
        // The server may be gone already, and owes us nothing any more.
        let _ = self.stream.write_all(&bytes);
        self.stream.shut_down();
        self.drain(Instant::now() + CLOSE_WAIT.min(self.visitor.timeout))
    }

    /// Reads until the server has closed or `until` has come.
    fn drain(&mut self, until: Instant) -> Result<(), Failure> {
        self.stream.set_deadline(until);
        while !self.connection.is_peer_closed() && !self.stream.has_ended() {
            match self.receive(FailureClass::Tls) {
                Err(failure) if matches!(failure.name.as_str(), "timeout" | "connection_reset" | "socket_error") => break,
                other => other?,
            };
            let _ = self.connection.take_application_data();
        }
        Ok(())
    }

    fn confirm(&self) -> Result<(), Failure> {
        if self.connection.is_confirmed() { Ok(()) } else { Err(failure::unconfirmed()) }
    }

    /// Reads once and hands it to the engine; returns when the bytes were there.
    fn receive(&mut self, class: FailureClass) -> Result<Nanos, Failure> {
        let mut buffer = [0; 16 * 1024];
        let waiting_for = self.connection.waiting_for().unwrap_or("response");
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            Err(error) => return Err(self.socket_failure(class, waiting_for, &error)),
        };
        let at = self.now();
        let result = match buffer.get(..count) {
            Some(bytes) if count > 0 => self.connection.receive(at, bytes),
            _ => self.connection.receive_end(at),
        };
        if let Err(error) = result {
            let alert = self.connection.take_outgoing(at);
            let _ = self.stream.write_all(&alert);
            return Err(self.tls_failure(&error));
        }
        Ok(at)
    }

    fn flush(&mut self, class: FailureClass) -> Result<(), Failure> {
        let now = self.now();
        let bytes = self.connection.take_outgoing(now);
        let waiting_for = self.connection.waiting_for().unwrap_or("response");
        if bytes.is_empty() { Ok(()) } else { self.write(class, waiting_for, &bytes) }
    }

    fn write(&mut self, class: FailureClass, waiting_for: &str, bytes: &[u8]) -> Result<(), Failure> {
        let Err(error) = self.stream.write_all(bytes) else { return Ok(()) };
        if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            // A server that refuses says so before it closes: its alert may still be there to be read.
            self.receive(class)?;
        }
        Err(self.socket_failure(class, waiting_for, &error))
    }

    fn socket_failure(&self, class: FailureClass, waiting_for: &str, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::Interrupted => failure::interrupted(),
            io::ErrorKind::TimedOut => failure::timed_out(class, waiting_for, self.visitor.timeout),
            _ => failure::socket(class, waiting_for, error),
        }
    }

    fn tls_failure(&self, error: &reprise_engine::Error) -> Failure {
        failure::tls(error, self.config.identity.is_some())
    }

    fn total(&self, connecting: Nanos) -> Nanos {
        self.phases.resolve.unwrap_or_default() + self.clock_since(connecting)
    }

    fn now(&self) -> Nanos {
        self.visitor.clock.now()
    }

    fn clock_since(&self, earlier: Nanos) -> Nanos {
        self.now() - earlier
    }

    fn into_sample(self, asked: Asked, local_port: u16, answer: Answer) -> Result<Sample, Failure> {
        let (sent, received) = self.stream.traffic();
        let events = self.connection.events().to_vec();
        let ready = self.connection.ready().map_or(events.len(), |ready| ready.events.min(events.len()));
        Ok(Sample {
            local_port,
            asked,
            outcome: self.connection.outcome().cloned().ok_or_else(failure::unconfirmed)?,
            phases: self.phases,
            sent: Bytes(sent),
            received: Bytes(received),
            round_trips: round_trips(&events[..ready]),
            http_status: answer.http_status,
            next_request: answer.next_request,
            events,
        })
    }
}

/// What the service said over the connection.
#[derive(Default)]
struct Answer {
    http_status: Option<u16>,
    next_request: Option<NextRequest>,
}

fn date() -> UnixTime {
    UnixTime::since_unix_epoch(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}
