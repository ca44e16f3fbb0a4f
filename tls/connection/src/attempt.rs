//! The attempt itself: from the first byte to the last, with the one phase clock.
//!
//! ```text
//! begin ─> connecting ─> connected ─> prologue ─> ClientHello ─> Ready ─> request ─> response … ─> Done
//!          └── connect ───────────┘ └─ proxy, starttls ─┘└──── tls ────┘ └─ wait ─┘└ receive ┘
//! ```
//!
//! Time comes in with every call. A call that reaches the end of a phase returns there ([`Progress::Boundary`]), so that what
//! the client itself has computed until then is in the phase that it belongs to: the driver reads its clock and calls again.
//! What is sent is stamped when the driver takes it to be written ([`Attempt::outgoing`]).
//!
//! How received bytes are interpreted stands in a file each: `records` and `requests`, what comes before TLS in `prologue`. `account` reports the state.

mod account;
mod records;
mod requests;

use std::net::SocketAddr;

use reprise_model::{Answer, Ended, Nanos, Phase};

use crate::clock::{Departing, PhaseClock};
use crate::endpoint::{End, Endpoint};
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::input::{HeldBytes, Input};
use crate::prologue::{Prologue, PrologueStep};

/// One connection after the other, each in the memory of the last.
pub struct Attempt<E: Endpoint, X: Exchange> {
    endpoint: E,
    exchange: X,
    prologue: Option<Box<Prologue>>,
    stage: Stage,
    /// The end of a phase that the last call reached: the next call's time is its time.
    reached: Option<Boundary>,
    /// What was made to be sent, and not taken yet.
    outgoing: Vec<u8>,
    /// The ClientHello, while something else goes before it.
    hello: Vec<u8>,
    early_alpn: Option<Option<Vec<u8>>>,
    held: HeldBytes,
    /// Requests that are wanted.
    wanted: u32,
    clock: PhaseClock,
    seen: Seen,
    /// Of all responses, each status with its count.
    statuses: Vec<(u16, u64)>,
}

/// What was seen of the connection so far.
#[derive(Default)]
struct Seen {
    answered: u32,
    round_trips: u64,
    answer_is_due: bool,
    sent: u64,
    received: u64,
    answer: Option<Answer>,
    /// Sent within the handshake before anything of it came.
    first_flight: u64,
    ended: Ended,
    was_told_done: bool,
    /// Whether a record has come: before, what is none means that the peer does not speak TLS at all.
    spoke_tls: bool,
}

/// What a connection is to be.
pub struct Begin<P> {
    /// For the endpoint.
    pub plan: P,
    /// What comes before TLS.
    pub prologue: Option<Box<Prologue>>,
    /// How many requests are sent, one after the other; none where nothing is said.
    pub requests: u32,
    /// Where the first request is to leave as early data: the protocol of the connection that gave the ticket, in which it must
    /// be (RFC 9846 §4.3.10).
    pub early: Option<Option<Vec<u8>>>,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    Waiting,
    /// A phase has ended: read the clock, and call again with what is left of the input.
    Boundary,
    /// All that was wanted has come; said once. Whoever wants what comes after, tickets or a close_notify, calls again.
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    Prologue,
    Handshake,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boundary {
    Passed { phase: Phase, is_last: bool },
    Ready,
}

impl<E: Endpoint, X: Exchange> Attempt<E, X> {
    /// A place for connections.
    pub fn new(endpoint: E, exchange: X) -> Self {
        Self {
            endpoint,
            exchange,
            prologue: None,
            stage: Stage::Idle,
            reached: None,
            outgoing: Vec::new(),
            hello: Vec::new(),
            early_alpn: None,
            held: HeldBytes::default(),
            wanted: 0,
            clock: PhaseClock::default(),
            seen: Seen::default(),
            statuses: Vec::with_capacity(4),
        }
    }

    /// Makes ready what can be: the ClientHello is made here, so that its cost is part of no phase.
    ///
    /// # Errors
    /// Those of [`Endpoint::begin`].
    pub fn begin(&mut self, shared: &mut E::Shared, begin: Begin<E::Plan>, now: Nanos) -> Result<(), Fault> {
        self.stage = Stage::Idle;
        self.reached = None;
        self.outgoing.clear();
        self.hello.clear();
        self.held.clear();
        self.clock.begin(now);
        self.prologue = begin.prologue;
        self.early_alpn = begin.early;
        self.wanted = begin.requests;
        self.seen = Seen::default();
        self.statuses.clear();
        self.endpoint.begin(shared, begin.plan, now, &mut self.hello)
    }

    /// What comes before TLS, where it depends on the address that has answered: to be said before [`Attempt::connected`].
    pub fn set_prologue(&mut self, prologue: Option<Box<Prologue>>) {
        self.prologue = prologue;
    }

    /// The transport begins to connect.
    pub fn connecting(&mut self, now: Nanos) {
        self.clock.connecting(now);
    }

    /// The transport is established, as far as its driver knows: may be called again as long as nothing was sent.
    ///
    /// # Errors
    /// If the request that is to leave with the ClientHello cannot be made.
    pub fn connected(&mut self, now: Nanos, client: impl FnOnce() -> Option<SocketAddr>) -> Result<(), Fault> {
        self.clock.connected(now);
        if self.stage != Stage::Idle {
            // The transport had not been established after all: what is to go first leaves now.
            match self.stage {
                Stage::Prologue if self.outgoing.is_empty() => {}
                Stage::Prologue => self.clock.will_leave(Departing::Prologue),
                _ => self.clock.will_leave(Departing::Hello),
            }
            return Ok(());
        }
        let Some(prologue) = &mut self.prologue else { return self.begin_tls(now) };
        let client = client().unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        self.exchange.connected(client);
        self.stage = Stage::Prologue;
        match prologue.begin(client, &mut self.outgoing) {
            PrologueStep::Over(_) => return self.begin_tls(now),
            // The peer speaks first: the stage has begun already.
            _ if self.outgoing.is_empty() => {}
            _ => self.clock.will_leave(Departing::Prologue),
        }
        Ok(())
    }

    /// What is to be written, at `now`, which must be read just before: the messages in it leave then.
    pub fn outgoing(&mut self, now: Nanos) -> &[u8] {
        self.clock.left(now);
        if !self.outgoing.is_empty() {
            self.endpoint.depart(now);
        }
        &self.outgoing
    }

    /// Whether there is anything to be written.
    pub fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The transport has taken so many bytes of it.
    pub fn sent(&mut self, count: usize) {
        self.seen.sent += count as u64;
        if self.stage == Stage::Handshake && self.seen.round_trips == 0 {
            self.seen.first_flight += count as u64;
        }
        self.seen.answer_is_due |= count > 0;
        if count >= self.outgoing.len() {
            self.outgoing.clear();
        } else {
            drop(self.outgoing.drain(..count));
        }
    }

    /// Takes bytes from the transport, at `now`: when they came, or after a boundary, the time that was read there. They are
    /// decrypted in place; what they call for is in [`Attempt::outgoing`], an alert where it fails.
    ///
    /// # Errors
    /// Why the connection is of no use any more.
    pub fn receive(&mut self, shared: &mut E::Shared, input: &mut Input<'_>, now: Nanos) -> Result<Progress, Fault> {
        if let Some(boundary) = self.reached.take()
            && self.pass(boundary, now)? == Progress::Boundary
        {
            return Ok(Progress::Boundary);
        }
        if self.seen.answer_is_due && !input.is_empty() {
            self.seen.answer_is_due = false;
            self.seen.round_trips += u64::from(matches!(self.stage, Stage::Handshake));
        }
        match self.stage {
            Stage::Prologue => self.receive_in_the_clear(input),
            _ => self.receive_records(shared, input),
        }
    }

    /// The peer sends nothing more. Afterwards [`Attempt::is_done`] says whether all has come.
    ///
    /// # Errors
    /// If that was too early.
    pub fn receive_end(&mut self, now: Nanos) -> Result<(), Fault> {
        if let Some(boundary) = self.reached.take() {
            self.pass(boundary, now)?;
        }
        if let (Stage::Prologue, Some(prologue)) = (self.stage, &mut self.prologue) {
            self.seen.ended = Ended::Fin;
            return Err(prologue.receive_end());
        }
        if self.seen.ended == Ended::Open {
            self.seen.ended = Ended::Fin;
            let in_record = !self.held.is_empty();
            self.endpoint.receive_end(now, in_record, &mut self.outgoing)?;
        }
        self.end_response(now)
    }

    /// The peer has reset the connection.
    pub fn receive_reset(&mut self) {
        self.seen.ended = Ended::Reset;
    }

    /// Asks once more, on a connection whose last response is whole.
    ///
    /// # Errors
    /// If the connection takes no further request.
    pub fn ask_again(&mut self, now: Nanos) -> Result<(), Fault> {
        self.wanted += 1;
        self.seen.was_told_done = false;
        self.ask(now)
    }

    /// Closes: sends what the protocol says before it ends a connection, and a close_notify.
    ///
    /// # Errors
    /// Those of the endpoint.
    pub fn close(&mut self, now: Nanos) -> Result<(), Fault> {
        if self.stage == Stage::Open && self.wanted > 0 && self.exchange.keeps_alive() && !self.is_peer_closed() {
            let farewell = self.exchange.farewell();
            self.send(now, &farewell)?;
        }
        self.endpoint.close(now, &mut self.outgoing)
    }

    /// Ends it, whatever its state. What the endpoint has learned goes to `shared`.
    pub fn end(&mut self, shared: &mut E::Shared, how: End) {
        self.endpoint.end(shared, how);
    }

    /// The ClientHello is due, and with it the early data.
    fn begin_tls(&mut self, now: Nanos) -> Result<(), Fault> {
        self.stage = Stage::Handshake;
        self.seen.answer_is_due = false;
        self.clock.will_leave(Departing::Hello);
        if self.outgoing.is_empty() {
            std::mem::swap(&mut self.outgoing, &mut self.hello);
        } else {
            self.outgoing.append(&mut self.hello);
        }
        if let Some(alpn) = &self.early_alpn {
            self.clock.handshake_begins(now);
            self.exchange.begin(alpn.as_deref())?;
            let request = self.exchange.request()?;
            self.endpoint.send_early(now, request, &mut self.outgoing)?;
            self.clock.will_leave(Departing::FirstRequest);
        }
        Ok(())
    }

    fn receive_in_the_clear(&mut self, input: &mut Input<'_>) -> Result<Progress, Fault> {
        let Some(prologue) = &mut self.prologue else { return Ok(Progress::Waiting) };
        let step = prologue.receive(input.rest(), &mut self.outgoing);
        self.seen.received += input.rest().len() as u64;
        input.take(usize::MAX);
        self.step(step?, input.at())
    }

    /// A timed stage ends in a boundary; without one TLS begins at once.
    fn step(&mut self, step: PrologueStep, now: Nanos) -> Result<Progress, Fault> {
        self.reached = match step {
            PrologueStep::Waiting => return Ok(Progress::Waiting),
            PrologueStep::Over(None) => return self.begin_tls(now).map(|()| Progress::Waiting),
            PrologueStep::Over(Some(phase)) => Some(Boundary::Passed { phase, is_last: true }),
            PrologueStep::Passed(phase) => Some(Boundary::Passed { phase, is_last: false }),
        };
        Ok(Progress::Boundary)
    }

    /// The end of a phase was reached, and this is its time.
    fn pass(&mut self, boundary: Boundary, now: Nanos) -> Result<Progress, Fault> {
        match boundary {
            Boundary::Passed { phase, is_last } => {
                self.clock.passed(phase, now);
                if is_last {
                    return self.begin_tls(now).map(|()| Progress::Waiting);
                }
                let Some(prologue) = &mut self.prologue else { return Ok(Progress::Waiting) };
                let step = prologue.receive(&[], &mut self.outgoing)?;
                self.step(step, now)
            }
            Boundary::Ready => {
                self.stage = Stage::Open;
                if self.early_was_accepted() {
                    return Ok(Progress::Waiting);
                }
                self.clock.ready(now);
                if self.wanted == 0 {
                    return Ok(Progress::Waiting);
                }
                // Early data that was rejected begins anew, by the protocol that was chosen now.
                let alpn = self.endpoint.alpn();
                self.exchange.begin(alpn.as_ref().map(|alpn| alpn.as_bytes()))?;
                self.ask(now).map(|()| Progress::Waiting)
            }
        }
    }
}
