//! One established connection: the rest of the route, handshake, request and response, tickets, close. Every phase but
//! the first two is timed here.

mod early_data;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_engine::{Config, Connection};
use reprise_trace::{Asked, Bytes, Failure, FailureClass, Nanos, NextRequest, Phases, Sample, Version, round_trips};

pub(crate) use self::early_data::Early;
use crate::application::{Exchange, Prepared};
use crate::failure;
use crate::options::ConnectionReuse;
use crate::socket::Stream;
use crate::visitor::Visitor;

/// After the response, how long a server that said it would close is waited for.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

/// An established connection.
pub(crate) struct Call<'v> {
    visitor: &'v Visitor,
    config: &'v Arc<Config>,
    pub(crate) connection: Connection,
    pub(crate) stream: Stream,
    phases: Phases,
    /// Round trips before TLS.
    route_round_trips: u64,
}

/// What the service said over the connection.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) http_status: Option<u16>,
    pub(crate) next_request: Option<NextRequest>,
    /// The most bytes of early data that a ticket of this connection allows the next one.
    pub(crate) max_early_data: Option<u32>,
}

/// How long the first byte of a response took, and how long the rest.
type Took = (Nanos, Nanos);

impl<'v> Call<'v> {
    pub(crate) fn new(
        visitor: &'v Visitor,
        config: &'v Arc<Config>,
        connection: Connection,
        stream: Stream,
        phases: Phases,
    ) -> Self {
        Self { visitor, config, connection, stream, phases, route_round_trips: 0 }
    }

    pub(crate) fn run(
        &mut self,
        application: Prepared,
        early: Option<Early>,
        client: IpAddr,
        connecting: Nanos,
    ) -> Result<Answer, Failure> {
        self.stream.prepare().map_err(|error| failure::socket(FailureClass::Connect, "the socket", &error))?;
        let visitor = self.visitor;
        self.route_round_trips = visitor.route.pass(&mut self.stream, visitor.clock, visitor.timeout, &mut self.phases)?;
        match early {
            None => self.handshake()?,
            Some(Early { alpn, application }) => match application.choose(alpn.as_deref(), client)? {
                None => self.handshake()?,
                Some(mut exchange) => {
                    if let Some(took) = self.exchange_early(exchange.as_mut())? {
                        return self.conclude(exchange.as_mut(), took, connecting);
                    }
                }
            },
        }
        let chosen = self.connection.outcome().and_then(|outcome| outcome.alpn);
        match application.choose(chosen.as_deref(), client)? {
            Some(mut exchange) => self.converse(exchange.as_mut(), connecting),
            None => self.say_nothing(connecting),
        }
    }

    fn converse(&mut self, exchange: &mut dyn Exchange, connecting: Nanos) -> Result<Answer, Failure> {
        let took = self.exchange(exchange)?;
        self.conclude(exchange, took, connecting)
    }

    /// What follows the first response.
    fn conclude(&mut self, exchange: &mut dyn Exchange, took: Took, connecting: Nanos) -> Result<Answer, Failure> {
        let (wait, receive) = took;
        self.phases.wait = Some(wait);
        self.phases.receive = Some(receive);
        self.phases.total = Some(self.total(connecting));

        let http_status = exchange.status();
        let mut next_request = None;
        if self.visitor.reuse == ConnectionReuse::KeepAlive && exchange.keeps_alive() {
            let (wait, receive) = self.exchange(exchange)?;
            next_request = Some(NextRequest { wait, receive });
        }
        if exchange.keeps_alive() {
            self.bid_farewell(exchange)?;
        } else {
            // The server closes, so whatever it still has to say comes before: tickets too.
            self.drain(Instant::now() + CLOSE_WAIT)?;
        }
        self.close()?;
        self.confirm()?;
        Ok(Answer { next_request, http_status, max_early_data: None })
    }

    fn say_nothing(&mut self, connecting: Nanos) -> Result<Answer, Failure> {
        self.phases.total = Some(self.total(connecting));
        self.await_tickets()?;
        self.close()?;
        self.confirm()?;
        Ok(Answer::default())
    }

    /// First handshake byte until application data may first be sent.
    fn handshake(&mut self) -> Result<(), Failure> {
        let hello = self.now();
        let bytes = self.connection.take_outgoing(hello);
        self.write(FailureClass::Tls, "ServerHello", &bytes)?;
        self.await_readiness()?;
        // The last flight leaves with the request, as it does with clients that know what they will say.
        self.phases.tls = Some(self.clock_since(hello));
        if self.visitor.application.is_silent() {
            self.flush(FailureClass::Tls)?;
        }
        Ok(())
    }

    /// Until the server's part of the handshake is there; when its last bytes were.
    fn await_readiness(&mut self) -> Result<Nanos, Failure> {
        loop {
            let at = self.receive(FailureClass::Tls)?;
            if self.connection.ready().is_some() {
                return Ok(at);
            }
            self.flush(FailureClass::Tls)?;
        }
    }

    /// One request and its response.
    fn exchange(&mut self, exchange: &mut dyn Exchange) -> Result<Took, Failure> {
        let request = exchange.ask()?;
        let now = self.now();
        self.connection.send(now, &request).map_err(|error| self.tls_failure(&error))?;
        let bytes = self.connection.take_outgoing(now);
        let sent = self.now();
        self.write(FailureClass::Request, "response", &bytes)?;
        let at = self.receive(FailureClass::Request)?;
        self.await_response(exchange, sent, at)
    }

    /// The response to what was `sent`; its first bytes may have come with those that arrived `at`.
    fn await_response(&mut self, exchange: &mut dyn Exchange, sent: Nanos, mut at: Nanos) -> Result<Took, Failure> {
        let mut first = None;
        loop {
            let data = self.connection.take_application_data();
            if !data.is_empty() {
                exchange.receive(&data)?;
                if exchange.has_begun() {
                    first.get_or_insert(at);
                }
                let reply = exchange.outgoing();
                if !reply.is_empty() && !self.connection.is_peer_closed() {
                    self.connection.send(at, &reply).map_err(|error| self.tls_failure(&error))?;
                }
            }
            if self.connection.is_peer_closed() && !exchange.is_done() {
                exchange.receive_end()?;
            }
            if exchange.is_done() {
                let first = first.unwrap_or(at);
                return Ok((first - sent, at - first));
            }
            self.flush(FailureClass::Request)?;
            at = self.receive(FailureClass::Request)?;
        }
    }

    /// Leaves with the close_notify.
    fn bid_farewell(&mut self, exchange: &mut dyn Exchange) -> Result<(), Failure> {
        let farewell = exchange.farewell();
        if farewell.is_empty() || self.connection.is_peer_closed() {
            return Ok(());
        }
        let now = self.now();
        self.connection.send(now, &farewell).map_err(|error| self.tls_failure(&error))
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
        match self.drain(Instant::now() + CLOSE_WAIT.min(self.visitor.timeout)) {
            // A server that went on in the clear once TLS had ended (Exim: 421) is past what is measured.
            Err(failure) if failure.name == "malformed" && self.visitor.route.begins_in_the_clear() => Ok(()),
            drained => drained,
        }
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
        let failure = failure::tls(error, self.config.identity.is_some());
        if self.connection.outcome().is_none() { failure::of_hello(failure) } else { failure }
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

    pub(crate) fn into_sample(self, asked: Asked, local_port: u16, answer: Answer) -> Result<Sample, Failure> {
        let (sent, received) = self.stream.traffic();
        let events = self.connection.events().to_vec();
        let ready = self.connection.ready().map_or(events.len(), |ready| ready.events.min(events.len()));
        let outcome = self.connection.outcome().ok_or_else(failure::unconfirmed)?;
        let ready = early_data::before_data(&outcome, &events, ready);
        Ok(Sample {
            local_port,
            asked,
            outcome,
            phases: self.phases,
            sent: Bytes(sent),
            received: Bytes(received),
            round_trips: self.route_round_trips + round_trips(&events[..ready]),
            max_early_data: answer.max_early_data,
            http_status: answer.http_status,
            next_request: answer.next_request,
            events,
        })
    }
}
