//! One visit to the target: everything is made ready, the names are resolved, TCP connects, and the call begins.

use std::io;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use reprise_engine::{Config, Connection, Offer, Session, Start};
use reprise_trace::{Asked, Attempt, Direction, Failure, Nanos, Phases, Recording};
use rustls_pki_types::UnixTime;
use socket2::Socket;

use crate::call::{Answer, Call, Early};
use crate::failure;
use crate::resolver;
use crate::socket::{Dialer, Record, Stream};
use crate::visitor::Visitor;

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
        let has_psk = matches!(offer, Offer::External(_));
        let early = match &offer {
            Offer::Early(ticket) => Some(Early {
                alpn: ticket.alpn.as_ref().map(|protocol| String::from_utf8_lossy(protocol).into_owned()),
                application: self.application.prepare(&config.alpn),
            }),
            _ => None,
        };
        // What can be made ready is made ready before the clock starts: the key share is no part of any phase.
        let start = Start { offer, date: date() };
        let connection = Connection::start(config.clone(), start, self.clock.now())
            .map_err(|error| failure::tls(&error, config.identity.is_some()))?;
        let application = self.application.prepare(&config.alpn);
        let socket = Dialer::socket(self.route.addresses.current());

        for (name, port) in &self.route.names {
            let (_, took) = resolver::resolve(name, *port, self.timeout, &self.interrupt)?;
            phases.resolve = Some(phases.resolve.unwrap_or_default() + took);
        }
        let Established { mut stream, connecting, connected } = self.establish(socket, deadline)?;
        phases.connect = Some(connected - connecting);

        let server = self.route.addresses.current();
        let client = stream.local_address().map_err(|error| self.route.connect_failure(&error))?;
        let local_port = client.port();
        if self.records {
            stream.record(self.clock);
        }
        let mut call = Call::new(self, config, connection, stream, phases);
        let result = call.run(application, early, client.ip(), connecting);
        left.sessions = call.connection.take_sessions();
        left.omitted_events = call.connection.omitted_events();
        if let Some(Record { segments, is_cut, .. }) = call.stream.take_record() {
            left.recording = Some(Recording { client, server, connecting, connected, segments });
            left.recording_is_cut = is_cut;
        }
        let max_early_data = left.sessions.iter().filter_map(early_data_allowed).max();
        let is_unanswered = call.connection.events().iter().all(|event| event.direction == Direction::Sent);
        let result = result.and_then(|answer| call.into_sample(asked, local_port, Answer { max_early_data, ..answer }));
        result.map_err(|failure| {
            let failure = if has_psk { failure::of_psk(failure) } else { failure };
            let is_misled = self.route.proxy_protocol.is_some() && is_unanswered;
            let failure = if is_misled { failure::after_proxy_header(failure) } else { failure };
            Failure { local_port: Some(local_port), ..failure }
        })
    }

    /// Connects. Where the name has several addresses and none has answered yet, this is what tries them: the connection
    /// that comes about is the one that is measured, and no other is made.
    fn establish(&mut self, mut socket: io::Result<Socket>, mut deadline: Instant) -> Result<Established, Failure> {
        let mut failures = Vec::new();
        loop {
            let address = self.route.addresses.current();
            let patience = deadline.min(Instant::now() + self.route.addresses.patience(self.timeout));
            let connecting = self.clock.now();
            match socket.and_then(|socket| self.dialer.connect(socket, address, patience)) {
                Ok(mut stream) => {
                    let connected = self.clock.now();
                    self.route.addresses.settle();
                    stream.set_deadline(deadline);
                    return Ok(Established { stream, connecting, connected });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(failure::interrupted()),
                Err(error) => failures.push(self.route.connect_failure(&error)),
            }
            // There may be many, and each that is silent takes its time.
            if self.interrupt.is_raised() {
                return Err(failure::interrupted());
            }
            if !self.route.addresses.move_on() {
                return Err(failure::of_each_address(failures));
            }
            socket = Dialer::socket(self.route.addresses.current());
            deadline = Instant::now() + self.timeout;
        }
    }
}

/// A connection that TCP has established, and when.
struct Established {
    stream: Stream,
    connecting: Nanos,
    connected: Nanos,
}

/// What a connection leaves behind, whatever came of it.
#[derive(Default)]
struct Left {
    sessions: Vec<Session>,
    recording: Option<Recording>,
    recording_is_cut: bool,
    omitted_events: u64,
}

/// How much early data the next connection may send with this session.
fn early_data_allowed(session: &Session) -> Option<u32> {
    match session {
        Session::Tls13(ticket) => ticket.max_early_data.filter(|&bytes| bytes > 0),
        Session::Tls12(_) => None,
    }
}

fn date() -> UnixTime {
    UnixTime::since_unix_epoch(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};
    use std::time::Duration;

    use super::*;
    use crate::addresses::Addresses;
    use crate::approach;
    use crate::interrupt::Interrupt;
    use crate::options::Options;
    use crate::route::Route;
    use reprise_attempt::Target;

    /// Nobody listens there.
    const REFUSES: [&str; 2] = ["127.0.0.1:1", "127.0.0.1:2"];

    fn establish(addresses: &[SocketAddr], interrupt: &Interrupt) -> (Result<Established, Failure>, Visitor) {
        let target: Target = "localhost".parse().unwrap();
        let addresses = Addresses::of(addresses.iter().copied()).unwrap();
        let socket = Dialer::socket(addresses.current());
        let route = Route {
            addresses,
            names: Vec::new(),
            target_behind_proxy: None,
            target: target.clone(),
            proxy: None,
            proxy_protocol: None,
            starttls: None,
        };
        let mut visitor = approach::visitor(&target, &Options::default(), route, interrupt).unwrap();
        let established = visitor.establish(socket, Instant::now() + Duration::from_secs(60));
        (established, visitor)
    }

    #[test]
    fn the_first_address_that_answers_is_kept_by_one_connection_and_ctrl_c_ends_the_search() {
        let [refuses, never_tried] = REFUSES.map(|address| address.parse().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answers = listener.local_addr().unwrap();
        let interrupt = Interrupt::default();
        let (established, mut visitor) = establish(&[refuses, answers, never_tried], &interrupt);
        let local = established.unwrap().stream.local_address().unwrap();
        assert_eq!((visitor.route.addresses.current(), visitor.route.target_address()), (answers, Some(answers)));
        assert!(!visitor.route.addresses.move_on());
        assert_eq!(listener.accept().unwrap().1, local);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "one connection");

        interrupt.raise();
        let (interrupted, _) = establish(&[refuses, answers], &interrupt);
        assert_eq!(interrupted.err().unwrap().name, "interrupted");
    }

    #[test]
    fn where_none_answers_each_says_why() {
        let (refused, _) = establish(&REFUSES.map(|address| address.parse().unwrap()), &Interrupt::default());
        let failure = refused.err().unwrap();
        assert_eq!(failure.name, "connection_refused");
        let due = REFUSES.map(|address| format!("cannot connect to {address}: connection refused")).join("; ");
        assert_eq!(failure.message, due);
    }
}
