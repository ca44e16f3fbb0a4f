//! A client and a server in one thread, over memory, each side's CPU on its own clock.
//!
//! ```text
//! client's turn ── its records ──> server's turn ── its records ──> client's turn … until both are ready and nothing is under way
//! ```
//!
//! A turn is one interval of the clock: whoever is fed bytes is charged for what it does with them. The side's time is that of all
//! its turns, from the making of the connection to its end, so that the sides together are what the connection costs.

use reprise_attempt::{Detail, End, Fault, Heard};
use reprise_stack::{Account, Session, Sessions, StackEndpoint, StackError};
use reprise_trace::Nanos;
use reprise_wire::Record;
use thiserror::Error;

use crate::clock::CpuClock;
use crate::witness::{Observed, Witness};

/// Both ends of connections, one after the other.
pub(crate) struct Pair {
    client: Party,
    server: Party,
    clock: CpuClock,
}

/// One end with what it has learned and what it has sent.
struct Party {
    endpoint: Box<dyn StackEndpoint>,
    sessions: Sessions,
    sent: Vec<u8>,
    heard: Vec<u8>,
    is_ready: bool,
    is_closed: bool,
    spent: Nanos,
}

/// One connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connected {
    /// CPU time of the client's side.
    pub(crate) client: Nanos,
    /// And of the server's.
    pub(crate) server: Nanos,
    /// What the wire says.
    pub(crate) observed: Observed,
    /// What the client's library says.
    pub(crate) client_account: Account,
    /// What the server's library says.
    pub(crate) server_account: Account,
    /// Bytes that the client sent.
    pub(crate) sent: u64,
    /// Bytes that the server sent.
    pub(crate) received: u64,
}

/// What went wrong, and at which end.
#[derive(Debug, Error)]
pub(crate) enum PairError {
    /// The client refuses.
    #[error("the client: {}", words(.0))]
    Client(Fault),
    /// The server refuses.
    #[error("the server: {}", words(.0))]
    Server(Fault),
    /// Neither has anything to say, and the handshake is not complete.
    #[error("{0} waits for more, and its peer has nothing to say")]
    Stalled(&'static str),
    /// It goes on and on.
    #[error("the handshake does not end after {TURNS} turns")]
    Endless,
    /// A library cannot say what it negotiated.
    #[error("{side} gives no account of its connection: {error}")]
    NoAccount {
        /// Which.
        side: &'static str,
        /// Why.
        error: StackError,
    },
    /// No ServerHello was seen.
    #[error("both say that the handshake is complete, and no ServerHello was seen")]
    NothingSeen,
    /// Application data did not arrive as it was sent.
    #[error("{side} was sent {sent} bytes and heard {heard}, or others")]
    OtherData {
        /// Which.
        side: &'static str,
        /// Bytes.
        sent: usize,
        /// Bytes.
        heard: usize,
    },
    /// A close_notify did not arrive.
    #[error("{0} said close_notify, and its peer did not hear it")]
    NotClosed(&'static str),
}

/// More than any handshake takes: one with client certificates and a retry takes eight.
const TURNS: usize = 40;

fn words(fault: &Fault) -> String {
    let name = fault.name;
    match fault.detail.as_deref() {
        Some(Detail::Said(said)) => format!("{name} ({})", String::from_utf8_lossy(said)),
        Some(Detail::Tls { error, .. }) => format!("{name} ({error})"),
        _ => name.to_string(),
    }
}

impl Pair {
    pub(crate) fn new(client: Box<dyn StackEndpoint>, server: Box<dyn StackEndpoint>) -> Self {
        Self { client: Party::new(client), server: Party::new(server), clock: CpuClock::calibrated() }
    }

    pub(crate) fn clock(&self) -> CpuClock {
        self.clock
    }

    /// Makes one connection and ends it; what the client learned is then in [`Pair::take_session`].
    pub(crate) fn connect(&mut self, session: Option<Session>) -> Result<Connected, PairError> {
        self.connect_and(session, |_| Ok(()))
    }

    /// The same, with something to be done between the handshake and the end; its time is not counted.
    pub(crate) fn connect_and(
        &mut self,
        session: Option<Session>,
        between: impl FnOnce(&mut Self) -> Result<(), PairError>,
    ) -> Result<Connected, PairError> {
        let mut witness = Witness::default();
        let done = self.shake_hands(session, &mut witness).and_then(|(sent, received)| {
            let (client, server) = (self.client.spent, self.server.spent);
            let no_account = |side| move |error| PairError::NoAccount { side, error };
            let client_account = self.client.endpoint.account().map_err(no_account("the client"))?;
            let server_account = self.server.endpoint.account().map_err(no_account("the server"))?;
            let observed = witness.observed().ok_or(PairError::NothingSeen)?;
            between(self)?;
            Ok(Connected { client, server, observed, client_account, server_account, sent, received })
        });
        let how = if done.is_ok() { End::Completed } else { End::Failed };
        (self.client.spent, self.server.spent) = (Nanos(0), Nanos(0));
        self.client.end(self.clock, how);
        self.server.end(self.clock, how);
        done.map(|done| Connected {
            client: done.client + self.client.spent,
            server: done.server + self.server.spent,
            ..done
        })
    }

    /// The newest session that the client has learned.
    pub(crate) fn take_session(&mut self) -> Option<Session> {
        let newest = self.client.sessions.pop();
        self.client.sessions.clear();
        newest
    }

    /// Sends data each way, and holds what arrives against it.
    pub(crate) fn exchange(&mut self, data: &[u8]) -> Result<(), PairError> {
        self.client.send(data).map_err(PairError::Client)?;
        self.deliver()?;
        check_heard("the server", data, &std::mem::take(&mut self.server.heard))?;
        self.server.send(data).map_err(PairError::Server)?;
        self.deliver()?;
        check_heard("the client", data, &std::mem::take(&mut self.client.heard))
    }

    /// The client says close_notify, then the server.
    pub(crate) fn close(&mut self) -> Result<(), PairError> {
        let (now, out) = (Nanos(0), &mut self.client.sent);
        self.client.endpoint.close(now, out).map_err(PairError::Client)?;
        self.deliver()?;
        if !self.server.is_closed {
            return Err(PairError::NotClosed("the client"));
        }
        self.server.endpoint.close(now, &mut self.server.sent).map_err(PairError::Server)?;
        self.deliver()?;
        if self.client.is_closed { Ok(()) } else { Err(PairError::NotClosed("the server")) }
    }

    fn shake_hands(&mut self, session: Option<Session>, witness: &mut Witness) -> Result<(u64, u64), PairError> {
        let (mut sent, mut received) = (0, 0);
        self.client.begin(self.clock, session).map_err(PairError::Client)?;
        self.server.begin(self.clock, None).map_err(PairError::Server)?;
        for _ in 0..TURNS {
            if self.client.sent.is_empty() && self.server.sent.is_empty() {
                return match (self.client.is_ready, self.server.is_ready) {
                    (true, true) => Ok((sent, received)),
                    (false, _) => Err(PairError::Stalled("the client")),
                    (true, false) => Err(PairError::Stalled("the server")),
                };
            }
            sent += self.client.sent.len() as u64;
            witness.client_sends(&self.client.sent);
            self.server.receive(self.clock, &mut self.client.sent).map_err(PairError::Server)?;
            received += self.server.sent.len() as u64;
            witness.server_sends(&self.server.sent);
            self.client.receive(self.clock, &mut self.server.sent).map_err(PairError::Client)?;
        }
        Err(PairError::Endless)
    }

    fn deliver(&mut self) -> Result<(), PairError> {
        while !(self.client.sent.is_empty() && self.server.sent.is_empty()) {
            self.server.receive(self.clock, &mut self.client.sent).map_err(PairError::Server)?;
            self.client.receive(self.clock, &mut self.server.sent).map_err(PairError::Client)?;
        }
        Ok(())
    }
}

fn check_heard(side: &'static str, data: &[u8], heard: &[u8]) -> Result<(), PairError> {
    if heard == data { Ok(()) } else { Err(PairError::OtherData { side, sent: data.len(), heard: heard.len() }) }
}

impl Party {
    fn new(endpoint: Box<dyn StackEndpoint>) -> Self {
        Self {
            endpoint,
            sessions: Sessions::new(),
            sent: Vec::new(),
            heard: Vec::new(),
            is_ready: false,
            is_closed: false,
            spent: Nanos(0),
        }
    }

    fn begin(&mut self, clock: CpuClock, session: Option<Session>) -> Result<(), Fault> {
        (self.is_ready, self.is_closed, self.spent) = (false, false, Nanos(0));
        self.sent.clear();
        self.heard.clear();
        let Self { endpoint, sessions, sent, spent, .. } = self;
        clock.time(spent, || endpoint.begin(sessions, session, Nanos(0), sent))
    }

    /// Takes all of the peer's records, and answers.
    fn receive(&mut self, clock: CpuClock, incoming: &mut Vec<u8>) -> Result<(), Fault> {
        if incoming.is_empty() {
            return Ok(());
        }
        let Self { endpoint, sessions, sent, heard, is_ready, is_closed, spent } = self;
        let received = clock.time(spent, || {
            let mut rest = incoming.as_mut_slice();
            while let Ok(Some((_, length))) = Record::parse(rest) {
                let (record, after) = std::mem::take(&mut rest).split_at_mut(length);
                rest = after;
                match endpoint.receive(sessions, Nanos(0), record, sent)? {
                    Heard::Nothing => {}
                    Heard::Ready => *is_ready = true,
                    Heard::Data(data) => heard.extend_from_slice(data),
                    Heard::Closed => *is_closed = true,
                }
            }
            Ok(())
        });
        incoming.clear();
        received
    }

    fn send(&mut self, data: &[u8]) -> Result<(), Fault> {
        self.endpoint.send(Nanos(0), data, &mut self.sent)
    }

    fn end(&mut self, clock: CpuClock, how: End) {
        let Self { endpoint, sessions, spent, .. } = self;
        clock.time(spent, || endpoint.end(sessions, how));
    }
}
