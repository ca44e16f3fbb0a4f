//! The client over one socket: the lean one, or the measurement engine where more is asked for.

use std::sync::Arc;

use reprise_trace::{Kind, Nanos};
use reprise_wire::{ContentType, HEADER_LEN, NamedGroup};

use super::engine_client::{EngineClient, EngineThread};
use crate::generator::fault::Fault;
use crate::generator::lean;
pub(crate) use crate::generator::lean::Heard;
use crate::generator::options::TlsOptions;

/// What the connections of one thread share.
pub(crate) enum Thread {
    Lean(Box<lean::Thread>),
    Engine(EngineThread),
}

/// The client of one connection, whose memory is used again by the next.
pub(crate) enum Client {
    Lean(Box<lean::Machine>),
    Engine(Box<EngineClient>),
}

impl Thread {
    /// `sessions` are held by this thread, for connections of the kinds that it `wants`.
    pub(crate) fn new(options: &Arc<TlsOptions>, sessions: usize, wants: &[Kind]) -> Result<Self, Fault> {
        if options.engine.is_empty() {
            return Ok(Self::Lean(Box::new(lean::Thread::new(Arc::clone(options), sessions, wants)?)));
        }
        Ok(Self::Engine(EngineThread::new(&options.engine, sessions, options.reuse_tickets)))
    }

    /// The groups that servers wanted last, by a HelloRetryRequest, each with the place of the name under which it was.
    pub(crate) fn wanted_groups(&self) -> Vec<(usize, NamedGroup)> {
        match self {
            Self::Lean(thread) => thread.wanted_groups().collect(),
            // The engine answers the retry.
            Self::Engine(_) => Vec::new(),
        }
    }
}

impl Client {
    /// One that fits the thread.
    pub(crate) fn new(thread: &Thread) -> Self {
        match thread {
            Thread::Lean(_) => Self::Lean(Box::new(lean::Machine::new())),
            Thread::Engine(_) => Self::Engine(Box::default()),
        }
    }

    /// Begins a connection that is to be of this kind, with the name at this place.
    pub(crate) fn start(&mut self, thread: &mut Thread, kind: Kind, server_name: usize, now: Nanos) -> Result<(), Fault> {
        match (self, thread) {
            (Self::Lean(machine), Thread::Lean(thread)) => machine.start(thread, kind, server_name, now),
            (Self::Engine(client), Thread::Engine(thread)) => client.start(thread, kind, server_name, now),
            _ => Err(Fault::Crypto),
        }
    }

    /// What is sent first.
    pub(crate) fn hello(&self) -> &[u8] {
        match self {
            Self::Lean(machine) => machine.hello(),
            Self::Engine(client) => client.hello(),
        }
    }

    /// Takes one whole record. What is to be sent is appended to `out`.
    pub(crate) fn receive<'a>(
        &mut self,
        thread: &mut Thread,
        now: Nanos,
        content_type: ContentType,
        record: &'a mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<Heard<'a>, Fault> {
        match (self, thread) {
            (Self::Lean(machine), Thread::Lean(thread)) => {
                let fragment = record.get_mut(HEADER_LEN..).unwrap_or_default();
                machine.receive(thread, now, content_type, fragment, out)
            }
            (Self::Engine(client), Thread::Engine(thread)) => client.receive(thread, now, record, out),
            _ => Err(Fault::Crypto),
        }
    }

    /// Protects application data.
    pub(crate) fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Lean(machine) => machine.send(data, out),
            Self::Engine(client) => client.send(now, data, out),
        }
    }

    /// Protects a close_notify.
    pub(crate) fn send_close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self {
            Self::Lean(machine) => machine.send_close(out),
            Self::Engine(client) => client.send_close(now, out),
        }
    }

    /// The kind that was observed.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Lean(machine) => machine.kind(),
            Self::Engine(client) => client.kind(),
        }
    }

    /// Whether the server has shown that it has finished.
    pub(crate) fn is_confirmed(&self) -> bool {
        match self {
            Self::Lean(machine) => machine.is_confirmed(),
            Self::Engine(client) => client.is_confirmed(),
        }
    }

    /// Whether a session is offered.
    pub(crate) fn offers_session(&self) -> bool {
        match self {
            Self::Lean(machine) => machine.offers_session(),
            Self::Engine(client) => client.offers_session(),
        }
    }

    /// Ends it. `completed`: whether what it was observed to be can be relied on.
    pub(crate) fn reset(&mut self, thread: &mut Thread, completed: bool) {
        match (self, thread) {
            (Self::Lean(machine), Thread::Lean(thread)) => machine.reset(thread, completed),
            (Self::Engine(client), Thread::Engine(thread)) => client.reset(thread, completed),
            _ => {}
        }
    }
}
