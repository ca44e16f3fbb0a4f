//! A client and a server in one thread, over memory, each side's CPU on its own clock.
//!
//! ```text
//! client's turn ── its records ──> server's turn ── its records ──> client's turn … until both are ready and nothing is under way
//! ```
//!
//! A turn is one interval of the clock: whoever is fed bytes is charged for what it does with them. The side's time is that of all
//! its turns, from the making of the connection to its end, so that the sides together are what the connection costs.

use reprise_connection::{Detail, End, EndpointEvent, Fault};
use reprise_model::document::{BulkSender, CompareTurn};
use reprise_model::{FaultName, Kind, Nanos};
use reprise_stack::{SessionPlan, Side, StackAccount, StackEndpoint, StackSession, StackSessions};
use reprise_wire::{HEADER_LEN, Record};

use crate::bulk::{Bulk, LARGEST_RECORD};
use crate::case::{Case, REQUEST};
use crate::cell::Transport;
use crate::clock::CpuClock;
use crate::message::Failed;
use crate::witness::{WireFacts, Witness};

/// Both ends of connections, one after the other.
pub(crate) struct Pair {
    pub(crate) client: Party,
    pub(crate) server: Party,
    pub(crate) clock: CpuClock,
    /// Whether a signature of the server's chain is of ML-DSA.
    pub(crate) signs_by_ml_dsa: bool,
    /// The most bytes of data in a record of either side, where it was asked for.
    pub(crate) max_fragment: Option<u16>,
    /// Every turn of the connection, of one record each and with a pause before it, where they are asked for.
    pub(crate) recording: Option<Vec<CompareTurn>>,
}

/// One end: what it has learned, and what it has sent and received on this connection.
pub(crate) struct Party {
    /// As errors call it.
    pub(crate) name: &'static str,
    pub(crate) endpoint: Box<dyn StackEndpoint>,
    pub(crate) sessions: StackSessions,
    /// Records on their way to the peer, which whoever moves them takes away.
    pub(crate) sent: Vec<u8>,
    /// Application data, until somebody takes it away.
    heard: Vec<u8>,
    /// Whether the handshake is complete.
    pub(crate) is_ready: bool,
    /// Whether the peer has sent close_notify.
    is_closed: bool,
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
    pub(crate) fn plan(self, session: Option<StackSession>) -> SessionPlan {
        let early_data = (self == Self::Early && session.is_some()).then(|| REQUEST.to_vec());
        SessionPlan { session, early_data }
    }
}

/// One connection, as far as the sides that are here know it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connected {
    /// CPU time of the client's side.
    pub(crate) client: Nanos,
    /// And of the server's.
    pub(crate) server: Nanos,
    /// What of it decides how many connections make a sample.
    pub(crate) cost: Nanos,
    /// What the wire says; `None` where nobody reads along.
    pub(crate) observed: Option<WireFacts>,
    /// What the client's library says, and the server's.
    pub(crate) accounts: [Option<StackAccount>; 2],
    /// How many intervals of the clock the CPU time is made of.
    pub(crate) turns: u64,
    /// Bytes that the client sent.
    pub(crate) sent: u64,
    /// Bytes that the server sent.
    pub(crate) received: u64,
    /// Of them, those of the flight that its ServerHello begins; `None` where flights are not told apart.
    pub(crate) server_flight: Option<u64>,
}

impl Connected {
    /// The kind that was observed.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.observed.map(|observed| observed.kind)
    }
}

/// By how much protection may make a record longer (RFC 9846 §5.2); here it is less.
const EXPANSION: usize = 256;

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

impl Transport for Pair {
    fn connect(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed> {
        self.connect_and(session, says, |_| Ok(()))
    }

    fn take_session(&mut self) -> Option<StackSession> {
        self.client.take_session()
    }

    fn clock(&self) -> CpuClock {
        self.clock
    }
}

impl Pair {
    pub(crate) fn new(client: Box<dyn StackEndpoint>, server: Box<dyn StackEndpoint>) -> Self {
        let (client, server) = (Party::new("the client", client), Party::new("the server", server));
        Self { client, server, clock: CpuClock::calibrated(), signs_by_ml_dsa: false, max_fragment: None, recording: None }
    }

    /// As [`Transport::connect`], with something to be done between the handshake and the end; its time is not counted.
    pub(crate) fn connect_and(
        &mut self,
        session: Option<StackSession>,
        says: Says,
        between: impl FnOnce(&mut Self) -> Result<(), Failed>,
    ) -> Result<Connected, Failed> {
        let done = self.handshake(session, says).and_then(|connected| between(self).map(|()| connected));
        let how = if done.is_ok() { End::Completed } else { End::Failed };
        self.take_spent();
        self.client.end(self.clock, how);
        self.server.end(self.clock, how);
        done.map(|done| {
            let (client, server) = (done.client + self.client.spent, done.server + self.server.spent);
            Connected { client, server, cost: client + server, turns: self.client.turns + self.server.turns, ..done }
        })
    }

    /// The client's first flight, with early data, to the server twice: whether it accepts it each time.
    pub(crate) fn replay(&mut self, session: StackSession) -> Result<[bool; 2], Failed> {
        let plan = SessionPlan { session: Some(session), early_data: Some(REQUEST.to_vec()) };
        self.client.begin(self.clock, plan)?;
        let flight = std::mem::take(&mut self.client.sent);
        self.client.end(self.clock, End::Failed);
        let mut accepted = [false; 2];
        for is_accepted in &mut accepted {
            self.server.begin(self.clock, SessionPlan::default())?;
            self.server.receive(self.clock, &mut flight.clone())?;
            *is_accepted = self.server.endpoint.early_data() == REQUEST;
            self.server.end(self.clock, End::Failed);
        }
        Ok(accepted)
    }

    /// Sends data each way, and checks that it arrives as it was sent, in records as small as was asked for.
    pub(crate) fn exchange(&mut self, data: &[u8]) -> Result<(), Failed> {
        self.client.send(data)?;
        self.client.check_records(self.max_fragment)?;
        self.deliver()?;
        self.server.check_heard(data)?;
        self.server.send(data)?;
        self.server.check_records(self.max_fragment)?;
        self.deliver()?;
        self.client.check_heard(data)
    }

    /// One side sends data in records of one size, and the other receives them; then each is charged for it.
    pub(crate) fn transfer(&mut self, bulk: Bulk, data: &[u8]) -> Result<(), Failed> {
        let clock = self.clock;
        let (sender, receiver) = self.sender_and_receiver(bulk);
        sender.send_records(clock, data, bulk)?;
        // A copy of what was heard would be charged to the library.
        let mut heard = 0;
        receiver.receive_data(clock, &mut sender.sent, &mut |data| heard += data.len())?;
        if heard == data.len() { Ok(()) } else { Err(receiver.misheard(data.len(), heard)) }
    }

    /// The same, of which nothing is charged, and all is checked: the bytes on the wire.
    pub(crate) fn transfer_checked(&mut self, bulk: Bulk, data: &[u8]) -> Result<u64, Failed> {
        let clock = self.clock;
        let (sender, receiver) = self.sender_and_receiver(bulk);
        sender.send_records(clock, data, bulk)?;
        let (made, asked) = (records(&sender.sent), data.len() / usize::from(bulk.record));
        let is_asked = made.as_ref().is_some_and(|made| made.len() == asked);
        if !is_asked {
            let shown =
                made.as_ref().map_or_else(|| "what are no records".to_owned(), |made| format!("{} records", made.len()));
            let why = format!("{} makes {shown} of what was to be {asked}", sender.name);
            let falls_short = made.is_some_and(|made| bulk.record == LARGEST_RECORD && is_just_short(&made, asked));
            return Err(if falls_short { Failed::unsupported(why) } else { Failed::because(why) });
        }
        let bytes = sender.sent.len() as u64;
        let mut heard = Vec::with_capacity(data.len());
        receiver.receive_data(clock, &mut sender.sent, &mut |data| heard.extend_from_slice(data))?;
        receiver.check_data(data, &heard)?;
        self.take_spent();
        Ok(bytes)
    }

    /// What each side was charged with since its connection was begun, the client first; from now on it is nothing.
    pub(crate) fn take_spent(&mut self) -> [Nanos; 2] {
        [&mut self.client, &mut self.server].map(|side| std::mem::take(&mut side.spent))
    }

    fn sender_and_receiver(&mut self, bulk: Bulk) -> (&mut Party, &mut Party) {
        match bulk.sender {
            BulkSender::Client => (&mut self.client, &mut self.server),
            BulkSender::Server => (&mut self.server, &mut self.client),
        }
    }

    /// The client sends close_notify, then the server.
    pub(crate) fn close(&mut self) -> Result<(), Failed> {
        let not_received =
            |side: &Party| Failed::because(format!("{} said close_notify, and its peer did not hear it", side.name));
        self.client.close()?;
        self.deliver()?;
        if !self.server.is_closed {
            return Err(not_received(&self.client));
        }
        self.server.close()?;
        self.deliver()?;
        if self.client.is_closed { Ok(()) } else { Err(not_received(&self.server)) }
    }

    fn handshake(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed> {
        let mut witness = Witness::default();
        let exchanged = self.exchange_flights(session, says, &mut witness);
        let (sent, received, server_flight) = match exchanged {
            Err(_) if self.signs_by_ml_dsa && !witness.offers_ml_dsa() => {
                return Err(Failed::unsupported("the client offers no signatures of ML-DSA"));
            }
            exchanged => exchanged?,
        };
        let (client, server) = (self.client.spent, self.server.spent);
        let accounts = [Some(self.client.account()?), Some(self.server.account()?)];
        let observed = witness.facts()?;
        if says != Says::Nothing {
            self.server.check_request(observed)?;
        }
        Ok(Connected {
            client,
            server,
            observed: Some(observed),
            accounts,
            sent,
            received,
            server_flight,
            ..Connected::default()
        })
    }

    /// Until both are complete and nothing is under way: the bytes that each has sent, and those of the server's first flight.
    fn exchange_flights(
        &mut self,
        session: Option<StackSession>,
        says: Says,
        witness: &mut Witness,
    ) -> Result<(u64, u64, Option<u64>), Failed> {
        let (mut sent, mut received, mut server_flight) = (0, 0, None);
        let mut is_unsaid = says != Says::Nothing;
        self.turn(Side::Client, 0, |client, clock| client.begin(clock, says.plan(session)))?;
        self.turn(Side::Server, 0, |server, clock| server.begin(clock, SessionPlan::default()))?;
        for _ in 0..TURNS {
            if self.client.sent.is_empty() && self.server.sent.is_empty() {
                let waiting = [&self.client, &self.server].into_iter().find(|side| !side.is_ready);
                let stalled =
                    |side: &Party| Failed::because(format!("{} waits for more, and its peer has nothing to say", side.name));
                return waiting.map_or(Ok((sent, received, server_flight)), |side| Err(stalled(side)));
            }
            sent += self.client.sent.len() as u64;
            witness.client_sends(&self.client.sent);
            self.hand_over(Side::Server)?;
            let flight = self.server.sent.len() as u64;
            received += flight;
            witness.server_sends(&self.server.sent);
            server_flight = server_flight.or_else(|| witness.observed().map(|_| flight));
            self.hand_over(Side::Client)?;
            // It leaves with the client's Finished.
            if self.client.is_ready && std::mem::take(&mut is_unsaid) {
                self.turn(Side::Client, 0, Party::send_request)?;
            }
        }
        Err(Failed::because(format!("the handshake does not end after {TURNS} turns")))
    }

    /// A side takes all that its peer has sent.
    fn hand_over(&mut self, to: Side) -> Result<(), Failed> {
        let Self { client, server, clock, recording, .. } = self;
        match to {
            _ if recording.is_some() => self.hand_over_by_record(to),
            Side::Server => server.receive(*clock, &mut client.sent),
            Side::Client => client.receive(*clock, &mut server.sent),
        }
    }

    fn deliver(&mut self) -> Result<(), Failed> {
        while !(self.client.sent.is_empty() && self.server.sent.is_empty()) {
            self.server.receive(self.clock, &mut self.client.sent)?;
            self.client.receive(self.clock, &mut self.server.sent)?;
        }
        Ok(())
    }
}

impl Party {
    pub(crate) fn new(name: &'static str, endpoint: Box<dyn StackEndpoint>) -> Self {
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
    pub(crate) fn take_session(&mut self) -> Option<StackSession> {
        let newest = self.sessions.pop();
        self.sessions.clear();
        newest
    }

    /// Begins another connection; its buffers keep their room.
    pub(crate) fn begin(&mut self, clock: CpuClock, plan: SessionPlan) -> Result<(), Failed> {
        (self.spent, self.turns) = (Nanos(0), 1);
        (self.is_ready, self.is_closed) = (false, false);
        self.sent.clear();
        self.heard.clear();
        let Self { endpoint, sessions, sent, spent, .. } = self;
        let begun = clock.time(spent, || endpoint.begin(sessions, plan, Nanos(0), sent));
        begun.map_err(|fault| self.refused(&fault))
    }

    /// Takes all of the peer's records, and answers. After a fault, `sent` holds the alert that says why.
    pub(crate) fn receive(&mut self, clock: CpuClock, incoming: &mut Vec<u8>) -> Result<(), Failed> {
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
    pub(crate) fn receive_data(
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

    pub(crate) fn send(&mut self, data: &[u8]) -> Result<(), Failed> {
        self.endpoint.send(Nanos(0), data, &mut self.sent).map_err(|fault| self.refused(&fault))
    }

    fn send_records(&mut self, clock: CpuClock, data: &[u8], bulk: Bulk) -> Result<(), Failed> {
        let Self { endpoint, sent, spent, turns, .. } = self;
        *turns += 1;
        let done = clock.time(spent, || endpoint.send_data(data, usize::from(bulk.record), sent));
        done.map_err(|fault| self.refused(&fault))
    }

    fn close(&mut self) -> Result<(), Failed> {
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

    fn check_heard(&mut self, sent: &[u8]) -> Result<(), Failed> {
        let heard = std::mem::take(&mut self.heard);
        self.check_data(sent, &heard)
    }

    fn check_data(&self, sent: &[u8], heard: &[u8]) -> Result<(), Failed> {
        if heard == sent {
            return Ok(());
        }
        Err(self.misheard(sent.len(), heard.len()))
    }

    /// Of what is on its way.
    fn check_records(&self, max_fragment: Option<u16>) -> Result<(), Failed> {
        let Some(most) = max_fragment else { return Ok(()) };
        let largest = records(&self.sent).into_iter().flatten().max().unwrap_or_default();
        if largest <= usize::from(most) + EXPANSION {
            return Ok(());
        }
        Err(Failed::because(format!("{} sends a record of {largest} bytes where {most} of data are allowed", self.name)))
    }

    pub(crate) fn misheard(&self, sent: usize, heard: usize) -> Failed {
        Failed::because(format!("{} was sent {sent} bytes and heard {heard}, or others", self.name))
    }

    pub(crate) fn end(&mut self, clock: CpuClock, how: End) {
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

/// Whether each of so many records was made as two, the first of almost the largest size: Mbed TLS tells its peer of a limit that, under TLS 1.3,
/// counts more than the data (RFC 8449 §4).
fn is_just_short(made: &[usize], asked: usize) -> bool {
    made.len() == 2 * asked && made.first().is_some_and(|first| *first >= usize::from(LARGEST_RECORD) - 64)
}

/// The lengths of these records' fragments. `None` of what ends within one, or is none.
fn records(sent: &[u8]) -> Option<Vec<usize>> {
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
