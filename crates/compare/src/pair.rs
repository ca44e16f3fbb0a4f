//! A client and a server in one thread, over memory, each side's CPU on its own clock.
//!
//! ```text
//! client's turn ── its records ──> server's turn ── its records ──> client's turn … until both are ready and nothing is under way
//! ```
//!
//! A turn is one interval of the clock: whoever is fed bytes is charged for what it does with them. The side's time is that of all
//! its turns, from the making of the connection to its end, so that the sides together are what the connection costs. That is why
//! it is no [`Link`](reprise_lab::Link): time is virtual there, and nobody is charged.

use reprise_connection::{Detail, End, Fault};
use reprise_lab::LinkEnd;
use reprise_model::{Kind, Nanos};
use reprise_stack::{Account, Plan, Session, Sessions, StackEndpoint, StackError};
use thiserror::Error;

use crate::case::{Case, REQUEST};
use crate::clock::CpuClock;
use crate::witness::{WireFacts, Witness};

/// Both ends of connections, one after the other.
pub(crate) struct Pair {
    client: Party,
    server: Party,
    clock: CpuClock,
}

/// One end with what it has learned and what it has sent.
pub(crate) struct Party {
    pub(crate) endpoint: Box<dyn StackEndpoint>,
    sessions: Sessions,
    pub(crate) side: LinkEnd,
    pub(crate) spent: Nanos,
    /// How many intervals of the clock that is made of, of this connection.
    pub(crate) turns: u64,
}

/// What the client says in the span that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    /// [`REQUEST`], once its handshake is complete.
    Request,
    /// The same as early data, where there is a session; and once more where the server has rejected it.
    Early,
}

impl Says {
    pub(crate) fn of(case: Case) -> Self {
        match (case.kind, case.request) {
            (Kind::Early, _) => Self::Early,
            (_, true) => Self::Request,
            _ => Self::Nothing,
        }
    }

    /// Early data only goes with a session.
    pub(crate) fn plan(self, session: Option<Session>) -> Plan {
        let early_data = (self == Self::Early && session.is_some()).then(|| REQUEST.to_vec());
        Plan { session, early_data }
    }
}

/// One connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connected {
    /// CPU time of the client's side.
    pub(crate) client: Nanos,
    /// And of the server's.
    pub(crate) server: Nanos,
    /// What the wire says.
    pub(crate) observed: WireFacts,
    /// What the client's library says.
    pub(crate) client_account: Account,
    /// What the server's library says.
    pub(crate) server_account: Account,
    /// How many intervals of the clock both are made of.
    pub(crate) turns: u64,
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

/// The library's words, or the name of what it did.
pub(crate) fn words(fault: &Fault) -> String {
    let name = fault.name;
    match fault.detail.as_deref() {
        Some(Detail::Said(said)) => format!("{name} ({})", String::from_utf8_lossy(said)),
        Some(Detail::Tls { error, .. }) => format!("{name} ({error})"),
        Some(Detail::Transport { awaited, error }) => format!("{name} (awaiting the {awaited}: {})", error.text),
        Some(Detail::Awaited(awaited)) => format!("{name} (no {awaited} in time)"),
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
    pub(crate) fn connect(&mut self, session: Option<Session>, says: Says) -> Result<Connected, PairError> {
        self.connect_and(session, says, |_| Ok(()))
    }

    /// The same, with something to be done between the handshake and the end; its time is not counted.
    pub(crate) fn connect_and(
        &mut self,
        session: Option<Session>,
        says: Says,
        between: impl FnOnce(&mut Self) -> Result<(), PairError>,
    ) -> Result<Connected, PairError> {
        let mut witness = Witness::default();
        let done = self.shake_hands(session, says, &mut witness).and_then(|(sent, received)| {
            let (client, server) = (self.client.spent, self.server.spent);
            let no_account = |side| move |error| PairError::NoAccount { side, error };
            let client_account = self.client.endpoint.account().map_err(no_account("the client"))?;
            let server_account = self.server.endpoint.account().map_err(no_account("the server"))?;
            let observed = witness.observed().ok_or(PairError::NothingSeen)?;
            if says != Says::Nothing {
                self.server.check_request(observed)?;
            }
            between(self)?;
            Ok(Connected { client, server, observed, client_account, server_account, turns: 0, sent, received })
        });
        let how = if done.is_ok() { End::Completed } else { End::Failed };
        (self.client.spent, self.server.spent) = (Nanos(0), Nanos(0));
        self.client.end(self.clock, how);
        self.server.end(self.clock, how);
        done.map(|done| Connected {
            client: done.client + self.client.spent,
            server: done.server + self.server.spent,
            turns: self.client.turns + self.server.turns,
            ..done
        })
    }

    /// The newest session that the client has learned.
    pub(crate) fn take_session(&mut self) -> Option<Session> {
        self.client.take_session()
    }

    /// The client's first flight, with early data, to the server twice: whether it accepts it each time.
    pub(crate) fn replay(&mut self, session: Session) -> Result<[bool; 2], PairError> {
        let plan = Plan { session: Some(session), early_data: Some(REQUEST.to_vec()) };
        self.client.begin(self.clock, plan).map_err(PairError::Client)?;
        let flight = std::mem::take(&mut self.client.side.sent);
        self.client.end(self.clock, End::Failed);
        let mut accepted = [false; 2];
        for is_accepted in &mut accepted {
            self.server.begin(self.clock, Plan::default()).map_err(PairError::Server)?;
            self.server.receive(self.clock, &mut flight.clone()).map_err(PairError::Server)?;
            *is_accepted = self.server.endpoint.early_data() == REQUEST;
            self.server.end(self.clock, End::Failed);
        }
        Ok(accepted)
    }

    /// Sends data each way, and holds what arrives against it.
    pub(crate) fn exchange(&mut self, data: &[u8]) -> Result<(), PairError> {
        self.client.send(data).map_err(PairError::Client)?;
        self.deliver()?;
        check_heard("the server", data, &std::mem::take(&mut self.server.side.heard))?;
        self.server.send(data).map_err(PairError::Server)?;
        self.deliver()?;
        check_heard("the client", data, &std::mem::take(&mut self.client.side.heard))
    }

    /// The client says close_notify, then the server.
    pub(crate) fn close(&mut self) -> Result<(), PairError> {
        let (now, out) = (Nanos(0), &mut self.client.side.sent);
        self.client.endpoint.close(now, out).map_err(PairError::Client)?;
        self.deliver()?;
        if !self.server.side.is_closed {
            return Err(PairError::NotClosed("the client"));
        }
        self.server.endpoint.close(now, &mut self.server.side.sent).map_err(PairError::Server)?;
        self.deliver()?;
        if self.client.side.is_closed { Ok(()) } else { Err(PairError::NotClosed("the server")) }
    }

    fn shake_hands(&mut self, session: Option<Session>, says: Says, witness: &mut Witness) -> Result<(u64, u64), PairError> {
        let (mut sent, mut received) = (0, 0);
        let mut is_unsaid = says != Says::Nothing;
        self.client.begin(self.clock, says.plan(session)).map_err(PairError::Client)?;
        self.server.begin(self.clock, Plan::default()).map_err(PairError::Server)?;
        for _ in 0..TURNS {
            if self.client.side.sent.is_empty() && self.server.side.sent.is_empty() {
                return match (self.client.side.is_ready, self.server.side.is_ready) {
                    (true, true) => Ok((sent, received)),
                    (false, _) => Err(PairError::Stalled("the client")),
                    (true, false) => Err(PairError::Stalled("the server")),
                };
            }
            sent += self.client.side.sent.len() as u64;
            witness.client_sends(&self.client.side.sent);
            self.server.receive(self.clock, &mut self.client.side.sent).map_err(PairError::Server)?;
            received += self.server.side.sent.len() as u64;
            witness.server_sends(&self.server.side.sent);
            self.client.receive(self.clock, &mut self.server.side.sent).map_err(PairError::Client)?;
            // It leaves with the client's Finished.
            if self.client.side.is_ready
                && std::mem::take(&mut is_unsaid)
                && !self.client.is_request_accepted().map_err(|error| PairError::NoAccount { side: "the client", error })?
            {
                self.client.send_request(self.clock).map_err(PairError::Client)?;
            }
        }
        Err(PairError::Endless)
    }

    fn deliver(&mut self) -> Result<(), PairError> {
        while !(self.client.side.sent.is_empty() && self.server.side.sent.is_empty()) {
            self.server.receive(self.clock, &mut self.client.side.sent).map_err(PairError::Server)?;
            self.client.receive(self.clock, &mut self.server.side.sent).map_err(PairError::Client)?;
        }
        Ok(())
    }
}

fn check_heard(side: &'static str, data: &[u8], heard: &[u8]) -> Result<(), PairError> {
    if heard == data { Ok(()) } else { Err(PairError::OtherData { side, sent: data.len(), heard: heard.len() }) }
}

impl Party {
    pub(crate) fn new(endpoint: Box<dyn StackEndpoint>) -> Self {
        Self { endpoint, sessions: Sessions::new(), side: LinkEnd::default(), spent: Nanos(0), turns: 0 }
    }

    /// The newest session that it has learned.
    pub(crate) fn take_session(&mut self) -> Option<Session> {
        let newest = self.sessions.pop();
        self.sessions.clear();
        newest
    }

    pub(crate) fn begin(&mut self, clock: CpuClock, plan: Plan) -> Result<(), Fault> {
        (self.spent, self.turns) = (Nanos(0), 1);
        let Self { endpoint, sessions, side, spent, .. } = self;
        clock.time(spent, || side.begin(&mut **endpoint, sessions, plan, Nanos(0)))
    }

    /// Takes all of the peer's records, and answers.
    pub(crate) fn receive(&mut self, clock: CpuClock, incoming: &mut Vec<u8>) -> Result<(), Fault> {
        if incoming.is_empty() {
            return Ok(());
        }
        let Self { endpoint, sessions, side, spent, turns } = self;
        *turns += 1;
        clock.time(spent, || side.receive(&mut **endpoint, sessions, Nanos(0), incoming))
    }

    fn send(&mut self, data: &[u8]) -> Result<(), Fault> {
        self.endpoint.send(Nanos(0), data, &mut self.side.sent)
    }

    /// Whether a client knows that the server has it from the early data.
    pub(crate) fn is_request_accepted(&self) -> Result<bool, StackError> {
        Ok(self.endpoint.account()?.early_data == Some(true))
    }

    /// A server has it once, and by the way that the wire says.
    pub(crate) fn check_request(&mut self, observed: WireFacts) -> Result<(), PairError> {
        let heard = std::mem::take(&mut self.side.heard);
        let early = self.endpoint.early_data();
        let (there, nothing) = if observed.kind == Kind::Early { (early, &*heard) } else { (&*heard, early) };
        check_heard("the server", &REQUEST, there)?;
        check_heard("the server", &[], nothing)
    }

    pub(crate) fn send_request(&mut self, clock: CpuClock) -> Result<(), Fault> {
        let Self { endpoint, side, spent, turns, .. } = self;
        *turns += 1;
        clock.time(spent, || endpoint.send(Nanos(0), &REQUEST, &mut side.sent))
    }

    pub(crate) fn end(&mut self, clock: CpuClock, how: End) {
        let Self { endpoint, sessions, spent, turns, .. } = self;
        *turns += 1;
        clock.time(spent, || endpoint.end(sessions, how));
    }
}
