//! The conversation in the clear before TLS: one dialogue after the other, each a state machine over whole messages.

use std::collections::VecDeque;
use std::net::SocketAddr;

use reprise_model::{FailureClass, FaultName, Phase};

use super::dialogue::{Dialogue, Turn, Unexpected};
use super::route::Stage;
use super::{ClearTextFault, Message, Peer, Problem, PrologueStep, Route};
use crate::fault::Fault;

/// Bytes that are listened to at most: a server could otherwise go on without end. Greetings and lists of capabilities
/// take hundreds.
const MAX_HEARD: usize = 16 * 1024;

/// A conversation in the clear before TLS begins: the stages of a route, bounded in bytes. One value for each connection.
pub struct Prologue {
    route: Route,
    /// Those that are still to come.
    stages: VecDeque<Stage>,
    current: Option<Current>,
    /// What has come and was not consumed yet.
    heard: Vec<u8>,
    total: usize,
    /// Whether the next bytes to come answer what was said, or greet who has connected.
    answer_is_due: bool,
    round_trips: u64,
}

struct Current {
    peer: Peer,
    dialogue: Box<dyn Dialogue>,
    due: Message,
}

impl Route {
    /// What is said before TLS on one connection; `None` where TLS begins at once.
    pub fn prologue(&self) -> Option<Box<Prologue>> {
        if self.is_direct() { None } else { Some(Box::new(Prologue::new(self.clone()))) }
    }
}

impl Prologue {
    fn new(route: Route) -> Self {
        Self {
            route,
            stages: VecDeque::new(),
            current: None,
            heard: Vec::new(),
            total: 0,
            answer_is_due: false,
            round_trips: 0,
        }
    }

    /// Enters the next dialogue; what goes before it is said. Without one TLS is due.
    fn enter(&mut self, out: &mut Vec<u8>) -> PrologueStep {
        while let Some(stage) = self.stages.pop_front() {
            match stage {
                Stage::Header(header) => out.extend(header),
                Stage::Dialogue(peer, dialogue) => {
                    let (words, due) = dialogue.opening();
                    out.extend(words);
                    self.answer_is_due = true;
                    self.current = Some(Current { peer, dialogue, due });
                    return PrologueStep::Waiting;
                }
            }
        }
        PrologueStep::Over(None)
    }

    /// The dialogue is over. Before TLS the next byte from the server belongs to TLS, and TLS servers wait for the ClientHello.
    /// An attacker on the path could have injected bytes that are there already (CVE-2011-0411), so they are an error.
    fn leave(&mut self, out: &mut Vec<u8>) -> Result<PrologueStep, Fault> {
        let is_last = !self.stages.iter().any(|stage| matches!(stage, Stage::Dialogue(..)));
        if is_last && !self.heard.is_empty() {
            let injected = std::mem::take(&mut self.heard);
            return Err(self.fault(Problem::Injected(injected)));
        }
        let left = self.current.take();
        let phase = if left.is_some_and(|left| left.peer.is_proxy()) { Phase::Proxy } else { Phase::Starttls };
        if is_last {
            self.enter(out);
        }
        Ok(if is_last { PrologueStep::Over(Some(phase)) } else { PrologueStep::Passed(phase) })
    }

    fn fault(&self, problem: Problem) -> Fault {
        match &self.current {
            Some(Current { peer, due, .. }) => ClearTextFault { peer: *peer, message: *due, problem }.into(),
            None => Fault::new(FaultName::ClosedEarly),
        }
    }

    /// The transport is established, from this address of the client's. What is said first is appended to `out`.
    pub fn begin(&mut self, client: SocketAddr, out: &mut Vec<u8>) -> PrologueStep {
        self.stages = self.route.stages(client);
        self.enter(out)
    }

    /// Takes bytes that have come; none after a [`PrologueStep::Passed`], to go on.
    ///
    /// # Errors
    /// A refusal, bytes that have no place, or bytes that came before their turn.
    pub fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<PrologueStep, Fault> {
        if !bytes.is_empty() && std::mem::take(&mut self.answer_is_due) {
            self.round_trips += 1;
        }
        self.total = self.total.saturating_add(bytes.len());
        self.heard.extend_from_slice(bytes);
        if self.current.is_none() {
            self.enter(out);
        }
        loop {
            let Some(current) = &mut self.current else { return Ok(PrologueStep::Over(None)) };
            let length = match current.dialogue.length(current.due, &self.heard) {
                Ok(Some(length)) => length.min(self.heard.len()),
                Ok(None) if self.total > MAX_HEARD => return Err(self.fault(Problem::TooLong(MAX_HEARD))),
                Ok(None) => return Ok(PrologueStep::Waiting),
                Err(Unexpected) => return Err(self.fault(Problem::Unexpected(self.heard.clone()))),
            };
            let message: Vec<u8> = self.heard.drain(..length).collect();
            match current.dialogue.answer(current.due, &message) {
                Turn::Say(words, due) => {
                    out.extend(words);
                    current.due = due;
                    self.answer_is_due = true;
                }
                Turn::Await(due) => current.due = due,
                Turn::Tell(words) => {
                    out.extend(words);
                    return self.leave(out);
                }
                Turn::Done => return self.leave(out),
                Turn::Fail(problem) => return Err(self.fault(problem)),
            }
        }
    }

    /// The peer has closed.
    pub fn receive_end(&self) -> Fault {
        self.fault(Problem::Closed)
    }

    /// What is awaited now, and at which stage: for an error of the transport.
    pub fn awaited(&self) -> (FailureClass, &'static str) {
        match &self.current {
            Some(Current { peer, due, .. }) if peer.is_proxy() => (FailureClass::Proxy, due.name()),
            Some(Current { due, .. }) => (FailureClass::Starttls, due.name()),
            None => (FailureClass::Connect, "connection"),
        }
    }

    /// How many round trips it has taken so far.
    pub fn round_trips(&self) -> u64 {
        self.round_trips
    }
}

#[cfg(test)]
mod tests;
