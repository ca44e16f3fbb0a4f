//! One end of connections: a library's endpoint, what it has sent and heard, and its CPU time.

use reprise_connection::{Detail, End, EndpointEvent, Fault};
use reprise_model::{FaultName, Kind, Nanos};
use reprise_stack::{SessionPlan, StackAccount, StackEndpoint, StackSession, StackSessions};
use reprise_wire::{HEADER_LEN, Record};

use crate::bulk::Bulk;
use crate::case::REQUEST;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::witness::WireFacts;

/// One end: what it has learned, and what it has sent and received on this connection.
pub struct Party {
    /// As errors call it.
    pub name: &'static str,
    pub(crate) endpoint: Box<dyn StackEndpoint>,
    /// The sessions that it has learned.
    pub sessions: StackSessions,
    /// Records on their way to the peer, which whoever moves them takes away.
    pub sent: Vec<u8>,
    /// Application data, until somebody takes it away.
    heard: Vec<u8>,
    /// Whether the handshake is complete.
    pub is_ready: bool,
    /// Whether the peer has sent close_notify.
    pub(crate) is_closed: bool,
    /// CPU time of its turns.
    pub spent: Nanos,
    /// How many intervals of the clock that is made of, of this connection.
    pub turns: u64,
}

/// By how much protection may make a record longer (RFC 9846 §5.2); here it is less.
const EXPANSION: usize = 256;

impl Party {
    /// Of an endpoint; errors call it by this name.
    pub fn new(name: &'static str, endpoint: Box<dyn StackEndpoint>) -> Self {
        Self {
            name,
            endpoint,
            sessions: StackSessions::new(),
            sent: Vec::new(),
            heard: Vec::new(),
            is_ready: false,
            is_closed: false,
            spent: Nanos(0),
            turns: 0,
        }
    }

    /// The newest session that it has learned.
    pub fn take_session(&mut self) -> Option<StackSession> {
        let newest = self.sessions.pop();
        self.sessions.clear();
        newest
    }

    /// Begins another connection; its buffers keep their room.
    ///
    /// # Errors
    /// Where the library refuses.
    pub fn begin(&mut self, clock: CpuClock, plan: SessionPlan) -> Result<(), Failed> {
        (self.spent, self.turns) = (Nanos(0), 1);
        (self.is_ready, self.is_closed) = (false, false);
        self.sent.clear();
        self.heard.clear();
        let Self { endpoint, sessions, sent, spent, .. } = self;
        let begun = clock.time(spent, || endpoint.begin(sessions, plan, Nanos(0), sent));
        begun.map_err(|fault| self.refused(&fault))
    }

    /// Takes all of the peer's records, and answers. After a fault, `sent` holds the alert that says why.
    ///
    /// # Errors
    /// Where the library refuses.
    pub fn receive(&mut self, clock: CpuClock, incoming: &mut Vec<u8>) -> Result<(), Failed> {
        if incoming.is_empty() {
            return Ok(());
        }
        let Self { endpoint, sessions, sent, heard, is_ready, is_closed, spent, turns, .. } = self;
        *turns += 1;
        let received = clock.time(spent, || {
            endpoint.receive_all(sessions, incoming, sent, &mut |event| match event {
                EndpointEvent::Nothing => {}
                EndpointEvent::Ready => *is_ready = true,
                EndpointEvent::Data(data) => heard.extend_from_slice(data),
                EndpointEvent::Closed => *is_closed = true,
            })
        });
        incoming.clear();
        received.map_err(|fault| self.refused(&fault))
    }

    /// Takes all of the peer's records, which are of application data.
    ///
    /// # Errors
    /// Where the library refuses.
    pub fn receive_data(
        &mut self,
        clock: CpuClock,
        incoming: &mut Vec<u8>,
        hear: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Failed> {
        let Self { endpoint, sessions, sent, spent, turns, .. } = self;
        *turns += 1;
        let received = clock.time(spent, || {
            endpoint.receive_all(sessions, incoming, sent, &mut |event| match event {
                EndpointEvent::Data(data) => hear(data),
                EndpointEvent::Nothing | EndpointEvent::Ready | EndpointEvent::Closed => {}
            })
        });
        incoming.clear();
        received.map_err(|fault| self.refused(&fault))
    }

    /// Application data.
    ///
    /// # Errors
    /// Where the library refuses.
    pub fn send(&mut self, data: &[u8]) -> Result<(), Failed> {
        self.endpoint.send(Nanos(0), data, &mut self.sent).map_err(|fault| self.refused(&fault))
    }

    pub(crate) fn send_records(&mut self, clock: CpuClock, data: &[u8], bulk: Bulk) -> Result<(), Failed> {
        let Self { endpoint, sent, spent, turns, .. } = self;
        *turns += 1;
        let done = clock.time(spent, || endpoint.send_data(data, usize::from(bulk.record), sent));
        done.map_err(|fault| self.refused(&fault))
    }

    pub(crate) fn close(&mut self) -> Result<(), Failed> {
        self.endpoint.close(Nanos(0), &mut self.sent).map_err(|fault| self.refused(&fault))
    }

    /// What the library says that it negotiated.
    pub(crate) fn account(&self) -> Result<StackAccount, Failed> {
        let account = self.endpoint.account();
        account.map_err(|error| Failed::because(format!("{} gives no account of its connection: {error}", self.name)))
    }

    /// A client's, once its handshake is complete: the request, unless the server has it from the early data.
    pub(crate) fn send_request(&mut self, clock: CpuClock) -> Result<(), Failed> {
        if self.account()?.early_data == Some(true) {
            return Ok(());
        }
        let Self { endpoint, sent, spent, turns, .. } = self;
        *turns += 1;
        let done = clock.time(spent, || endpoint.send(Nanos(0), &REQUEST, sent));
        done.map_err(|fault| self.refused(&fault))
    }

    /// A server has it once, and by the way that the wire says.
    pub(crate) fn check_request(&mut self, observed: WireFacts) -> Result<(), Failed> {
        let early = self.endpoint.early_data().to_vec();
        let (in_early_data, after_handshake): (&[u8], &[u8]) =
            if observed.kind == Kind::Early { (&REQUEST, &[]) } else { (&[], &REQUEST) };
        self.check_data(in_early_data, &early)?;
        self.check_heard(after_handshake)
    }

    /// Whether a server has the request, in early data or after its handshake.
    pub(crate) fn has_request(&self) -> bool {
        self.heard == REQUEST || self.endpoint.early_data() == REQUEST
    }

    pub(crate) fn check_heard(&mut self, sent: &[u8]) -> Result<(), Failed> {
        let heard = std::mem::take(&mut self.heard);
        self.check_data(sent, &heard)
    }

    pub(crate) fn check_data(&self, sent: &[u8], heard: &[u8]) -> Result<(), Failed> {
        if heard == sent {
            return Ok(());
        }
        Err(self.misheard(sent.len(), heard.len()))
    }

    /// Of what is on its way.
    pub(crate) fn check_records(&self, max_fragment: Option<u16>) -> Result<(), Failed> {
        let Some(most) = max_fragment else { return Ok(()) };
        let largest = records(&self.sent).into_iter().flatten().max().unwrap_or_default();
        if largest <= usize::from(most) + EXPANSION {
            return Ok(());
        }
        Err(Failed::because(format!("{} sends a record of {largest} bytes where {most} of data are allowed", self.name)))
    }

    /// Other data than was sent.
    pub fn misheard(&self, sent: usize, heard: usize) -> Failed {
        Failed::because(format!("{} was sent {sent} bytes and heard {heard}, or others", self.name))
    }

    /// Ends the connection.
    pub fn end(&mut self, clock: CpuClock, how: End) {
        let Self { endpoint, sessions, spent, turns, .. } = self;
        *turns += 1;
        clock.time(spent, || endpoint.end(sessions, how));
    }

    fn refused(&self, fault: &Fault) -> Failed {
        match (fault.name, fault.detail.as_deref()) {
            // The library knows what it was sent, and says that it cannot do it.
            (FaultName::Unspoken, Some(Detail::Said(said))) => {
                Failed::unsupported(format!("{}: {}", self.name, String::from_utf8_lossy(said)))
            }
            _ => Failed::because(format!("{}: {}", self.name, words(fault))),
        }
    }
}

/// The library's words, or the name of what it did.
pub fn words(fault: &Fault) -> String {
    let name = fault.name;
    match fault.detail.as_deref() {
        Some(Detail::Said(said)) => format!("{name} ({})", String::from_utf8_lossy(said)),
        Some(Detail::Tls { error, .. }) => format!("{name} ({error})"),
        Some(Detail::Transport { awaited, error }) => format!("{name} (awaiting the {awaited}: {})", error.text),
        Some(Detail::Awaited(awaited)) => format!("{name} (no {awaited} in time)"),
        _ => name.to_string(),
    }
}

/// The lengths of these records' fragments. `None` of what ends within one, or is none.
pub(crate) fn records(sent: &[u8]) -> Option<Vec<usize>> {
    Some(lengths(sent)?.into_iter().map(|length| length - HEADER_LEN).collect())
}

/// The lengths of these records, headers included. Likewise.
pub(crate) fn lengths(mut sent: &[u8]) -> Option<Vec<usize>> {
    let mut lengths = Vec::new();
    while let Some((_, length)) = Record::parse(sent).ok()? {
        sent = sent.get(length..)?;
        lengths.push(length);
    }
    sent.is_empty().then_some(lengths)
}
