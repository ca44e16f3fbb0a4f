//! A client and a server in one thread, over memory, each side's CPU on its own clock.
//!
//! ```text
//! client's turn ── its records ──> server's turn ── its records ──> client's turn … until both are ready and nothing is under way
//! ```
//!
//! A turn is one interval of the clock: whoever is fed bytes is charged for what it does with them. The side's time is that of all
//! its turns, from the making of the connection to its end, so that the sides together are what the connection costs.

mod turns;

use reprise_connection::End;
use reprise_model::Nanos;
use reprise_model::document::{BulkSender, CompareTurn};
use reprise_stack::{SessionPlan, Side, StackEndpoint, StackSession};

use crate::bulk::{Bulk, LARGEST_RECORD};
use crate::case::REQUEST;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::party::{Party, records};
use crate::transport::{Connected, Says, Transport};
use crate::witness::Witness;

/// Both ends of connections, one after the other.
pub struct Pair {
    /// The client's end.
    pub client: Party,
    /// The server's.
    pub server: Party,
    pub(crate) clock: CpuClock,
    /// Whether a signature of the server's chain is of ML-DSA.
    pub(crate) signs_by_ml_dsa: bool,
    /// The most bytes of data in a record of either side, where it was asked for.
    pub(crate) max_fragment: Option<u16>,
    /// Every turn of the connection, of one record each and with a pause before it, where they are asked for.
    pub(crate) recording: Option<Vec<CompareTurn>>,
}

/// More than any handshake takes: one with client certificates and a retry takes eight.
const TURNS: usize = 40;

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
    /// Of two endpoints.
    pub fn new(client: Box<dyn StackEndpoint>, server: Box<dyn StackEndpoint>) -> Self {
        let (client, server) = (Party::new("the client", client), Party::new("the server", server));
        Self { client, server, clock: CpuClock::calibrated(), signs_by_ml_dsa: false, max_fragment: None, recording: None }
    }

    /// As [`Transport::connect`], with something to be done between the handshake and the end; its time is not counted.
    ///
    /// # Errors
    /// Where it fails, or other data arrives than was sent.
    pub fn connect_and(
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
    ///
    /// # Errors
    /// Where it fails, or other data arrives than was sent.
    pub fn replay(&mut self, session: StackSession) -> Result<[bool; 2], Failed> {
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
    ///
    /// # Errors
    /// Where it fails, or other data arrives than was sent.
    pub fn exchange(&mut self, data: &[u8]) -> Result<(), Failed> {
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
    ///
    /// # Errors
    /// Where it fails, or other data arrives than was sent.
    pub fn close(&mut self) -> Result<(), Failed> {
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

/// Whether each of so many records was made as two, the first of almost the largest size: Mbed TLS tells its peer of a limit that, under TLS 1.3,
/// counts more than the data (RFC 8449 §4).
fn is_just_short(made: &[usize], asked: usize) -> bool {
    made.len() == 2 * asked && made.first().is_some_and(|first| *first >= usize::from(LARGEST_RECORD) - 64)
}
