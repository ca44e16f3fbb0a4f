//! The one phase clock: when things happened on a connection, and how long each phase took.

use reprise_model::{Nanos, NextRequest, Phase, Phases};

/// When things happened; `None` for not yet. It is told the time, and reads none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PhaseClock {
    begun: Nanos,
    connected: Option<Nanos>,
    /// When the stage before TLS that runs began.
    stage: Nanos,
    proxy: Option<Nanos>,
    starttls: Option<Nanos>,
    hello: Option<Nanos>,
    ready: Option<Nanos>,
    first: Answer,
    next: Answer,
    departing: Departing,
}

/// What leaves next, and so which time its leaving is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Departing {
    #[default]
    Other,
    Prologue,
    Hello,
    FirstRequest,
    NextRequest,
}

/// When one request was sent and answered.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    requested: Option<Nanos>,
    first_byte: Option<Nanos>,
    last_byte: Option<Nanos>,
}

impl PhaseClock {
    /// The connection begins.
    pub(crate) fn begin(&mut self, now: Nanos) {
        *self = Self { begun: now, ..Self::default() };
    }

    /// The transport begins to connect.
    pub(crate) fn connecting(&mut self, now: Nanos) {
        self.begun = now;
    }

    /// The transport is established, and with it what comes before TLS begins.
    pub(crate) fn connected(&mut self, now: Nanos) {
        (self.connected, self.stage) = (Some(now), now);
    }

    /// This leaves with what is written next.
    pub(crate) fn will_leave(&mut self, departing: Departing) {
        self.departing = departing;
    }

    /// What was made leaves.
    pub(crate) fn left(&mut self, now: Nanos) {
        match std::mem::take(&mut self.departing) {
            Departing::Other => {}
            Departing::Prologue => self.stage = now,
            Departing::Hello => self.hello = Some(now),
            Departing::FirstRequest => self.first.requested = self.first.requested.or(Some(now)),
            Departing::NextRequest => self.next.requested = self.next.requested.or(Some(now)),
        }
    }

    /// The handshake begins, though the ClientHello has not left: early data is made first.
    pub(crate) fn handshake_begins(&mut self, now: Nanos) {
        self.hello = Some(now);
    }

    /// A stage before TLS is over.
    pub(crate) fn passed(&mut self, phase: Phase, now: Nanos) {
        let took = Some(now.since(self.stage));
        match phase {
            Phase::Proxy => self.proxy = took,
            _ => self.starttls = took,
        }
        self.stage = now;
    }

    /// Application data may be sent; early data was rejected, or there was none.
    pub(crate) fn ready(&mut self, now: Nanos) {
        self.ready = Some(now);
        self.first = Answer::default();
    }

    /// Bytes of a response came: the first one's, or that of the request after it; whether they were its last.
    pub(crate) fn answered(&mut self, is_first: bool, is_last_byte: bool, at: Nanos) {
        let answer = if is_first { &mut self.first } else { &mut self.next };
        answer.first_byte = answer.first_byte.or(Some(at));
        if is_last_byte {
            answer.last_byte = answer.last_byte.or(Some(at));
        }
    }

    pub(crate) fn begun(&self) -> Nanos {
        self.begun
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected.is_some()
    }

    /// The phases that are over. `asks`: whether a request is sent; `early_accepted`: whether it was taken as early data.
    pub(crate) fn phases(&self, asks: bool, early_accepted: bool) -> Phases {
        let between = |from: Option<Nanos>, to: Option<Nanos>| Some(to?.since(from?));
        let first = self.first;
        // With early data that was accepted, data could be sent as soon as the ClientHello was.
        let ready = if early_accepted { first.requested } else { self.ready };
        Phases {
            resolve: None,
            connect: between(Some(self.begun), self.connected),
            proxy: self.proxy,
            starttls: self.starttls,
            tls: between(self.hello, ready),
            wait: between(first.requested, first.first_byte),
            receive: between(first.first_byte, first.last_byte),
            total: between(Some(self.begun), if asks { first.last_byte } else { ready }),
        }
    }

    /// The request after the first, once it is answered.
    pub(crate) fn next_request(&self) -> Option<NextRequest> {
        let Answer { requested, first_byte, last_byte } = self.next;
        let (requested, first, last) = (requested?, first_byte?, last_byte?);
        Some(NextRequest { wait: first.since(requested), receive: last.since(first) })
    }
}
