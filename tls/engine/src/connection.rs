//! One connection: the engine's public interface.

mod incoming;

use std::ops::Range;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use reprise_model::{Direction, Event, Facts, Nanos, Outcome, Protocol, What};
use reprise_wire::{AlertDescription, AlertLevel, ContentType};

use crate::config::Config;
use crate::core::Core;
use crate::deframer::Deframer;
use crate::error::Error;
use crate::facts::outcome_of;
use crate::handshake::State;
use crate::joiner::Joiner;
use crate::offer::Start;
use crate::ready::Ready;
use crate::session::Session;

/// The client's side of one TLS connection.
///
/// The caller moves bytes: what [`Connection::take_outgoing`] gives goes to the socket, what the socket gives goes to
/// [`Connection::receive`]. After an error the connection is of no use, but for the alert that waits in
/// [`Connection::take_outgoing`] and for what was observed until then.
pub struct Connection {
    core: Core,
    deframer: Deframer,
    joiner: Joiner,
    /// `None` once the connection has failed.
    state: Option<State>,
    peer_closed: bool,
    /// That of the session that was offered.
    offered_leaf: Option<[u8; 32]>,
}

impl Connection {
    /// Begins: the ClientHello waits in [`Connection::take_outgoing`].
    ///
    /// Fails if the configuration offers nothing, if it does not offer the version of the session, or if a key share or
    /// randomness cannot be had.
    pub fn start(config: Arc<Config>, start: Start, now: Nanos) -> Result<Self, Error> {
        let mut core = Core::new(config, start.date, now);
        let offered_leaf = start.offer.leaf();
        let state = State::start(&mut core, start.offer)?;
        Ok(Self { offered_leaf, ..Self::begun(core, state) })
    }

    pub(crate) fn begun(core: Core, state: State) -> Self {
        let (deframer, joiner) = (Deframer::default(), Joiner::default());
        Self { core, deframer, joiner, state: Some(state), peer_closed: false, offered_leaf: None }
    }

    /// Takes bytes that came from the server at `now`, and answers them.
    ///
    /// Fails once; from then on it fails with [`Error::Closed`].
    pub fn receive(&mut self, now: Nanos, bytes: &[u8]) -> Result<(), Error> {
        self.core.now = now;
        if self.state.is_none() {
            return Err(Error::Closed);
        }
        self.deframer.push(bytes);
        let result = self.take_records();
        self.settle(result)
    }

    /// Takes one whole record that came from the server at `now`, header included, and decrypts it in place; returns where in
    /// it application data stands. Whoever hands in records does not use [`Connection::receive`].
    ///
    /// Fails once; from then on it fails with [`Error::Closed`].
    pub fn receive_record(&mut self, now: Nanos, record: &mut [u8]) -> Result<Option<Range<usize>>, Error> {
        self.core.now = now;
        if self.state.is_none() {
            return Err(Error::Closed);
        }
        let result = self.take_record(record);
        self.settle(result)
    }

    /// What came at `now` is no record: the connection has failed, and this is why. `is_first`: nothing came before.
    pub fn refuse_record(&mut self, now: Nanos, bytes: &[u8], error: reprise_wire::Error, is_first: bool) -> Error {
        self.core.now = now;
        let error = match is_first {
            true => Error::not_tls(bytes),
            false => Error::Malformed { message: "record", error },
        };
        match self.settle(Err::<(), _>(error.clone())) {
            Err(refused) => refused,
            Ok(()) => error,
        }
    }

    /// The server has closed its side of the transport. Before the handshake is done that is an error.
    pub fn receive_end(&mut self, now: Nanos) -> Result<(), Error> {
        self.receive_end_of_transport(now, self.deframer.holds_partial_record())
    }

    /// The same for whoever hands in records, and knows whether the last was whole.
    pub fn receive_end_of_transport(&mut self, now: Nanos, in_record: bool) -> Result<(), Error> {
        self.core.now = now;
        if self.peer_closed {
            return Ok(());
        }
        let result = match &self.state {
            // After our close_notify the server owes us nothing.
            _ if self.core.closed => Ok(()),
            Some(_) if in_record => Err(Error::ClosedEarly("in the middle of a record")),
            Some(state) if !state.is_traffic() => Err(Error::ClosedEarly(if self.core.heard_record {
                "in the middle of the handshake"
            } else {
                "without an answer to the ClientHello"
            })),
            // Without a close_notify: common, and no harm where the request's own framing is complete.
            _ => Ok(()),
        };
        self.peer_closed = true;
        self.settle(result)
    }

    /// Sends application data. Fails before [`Connection::ready`] and after [`Connection::close`].
    pub fn send(&mut self, now: Nanos, data: &[u8]) -> Result<(), Error> {
        self.core.now = now;
        if self.core.closed || !self.state.as_ref().is_some_and(State::is_traffic) {
            return Err(Error::Closed);
        }
        for fragment in data.chunks(self.core.record_size) {
            self.core.observe(Direction::Sent, What::ApplicationData, fragment.len());
            self.core.send_record(ContentType::APPLICATION_DATA, fragment)?;
        }
        Ok(())
    }

    /// Sends data before the server has answered, where the connection was begun with
    /// [`Offer::Early`](crate::Offer::Early): as much of it as the ticket still allows, and only until the server's Finished.
    /// Returns how many bytes of `data` that was.
    ///
    /// Such data may be replayed by whoever records it (RFC 9846 §8), and the server may skip it: then [`Outcome::early_data`] says
    /// `Rejected`. Whether to send it again is the caller's choice: the server may have chosen another protocol by ALPN.
    pub fn send_early(&mut self, now: Nanos, data: &[u8]) -> Result<usize, Error> {
        self.core.now = now;
        if self.core.closed || self.state.is_none() {
            return Err(Error::Closed);
        }
        let (data, _) = data.split_at(data.len().min(self.core.early_data.left()));
        for fragment in data.chunks(self.core.record_size) {
            self.core.observe(Direction::Sent, What::ApplicationData, fragment.len());
            self.core.send_record(ContentType::APPLICATION_DATA, fragment)?;
        }
        self.core.early_data.count(data);
        Ok(data.len())
    }

    /// Sends a KeyUpdate (RFC 9846 §4.7.3): what is sent from here on is under new keys. With `ask_server` the server is to
    /// update its own; while such a request is unanswered there is no second, so that answers cannot pile up.
    ///
    /// Fails with [`Error::NoKeyUpdate`] under TLS 1.2, before the handshake is done and while a request is unanswered,
    /// and leaves the connection as it was.
    pub fn update_keys(&mut self, now: Nanos, ask_server: bool) -> Result<(), Error> {
        self.core.now = now;
        match &mut self.state {
            None => Err(Error::Closed),
            Some(_) if self.core.closed => Err(Error::Closed),
            Some(State::Tls13Traffic(traffic)) => traffic.update_keys(&mut self.core, ask_server),
            Some(State::Tls12Traffic(_)) => Err(Error::NoKeyUpdate("TLS 1.2 has no KeyUpdate")),
            Some(_) => Err(Error::NoKeyUpdate("the handshake is not done")),
        }
    }

    /// Sends close_notify. What the server still sends is still read.
    pub fn close(&mut self, now: Nanos) -> Result<(), Error> {
        self.core.now = now;
        if self.core.closed || self.state.is_none() {
            return Ok(());
        }
        self.core.closed = true;
        self.core.send_alert(AlertLevel::WARNING, AlertDescription::CLOSE_NOTIFY)
    }

    /// The bytes that are to be written to the socket at `now`, which is the time that the events of their messages bear:
    /// between receiving and answering lies the client's own work.
    pub fn take_outgoing(&mut self, now: Nanos) -> Vec<u8> {
        self.depart(now);
        std::mem::take(&mut self.core.outgoing)
    }

    /// Moves those bytes to the end of `out`. When they are written, [`Connection::depart`] is told.
    pub fn append_outgoing(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.core.outgoing);
    }

    /// What was handed out leaves at `now`.
    pub fn depart(&mut self, now: Nanos) {
        self.core.log.depart(now);
    }

    /// The application data that has come since the last call.
    pub fn take_application_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.application_data)
    }

    /// The sessions that the server has given so far and that were not taken yet, newest last; of more than 16, the
    /// newest. Each is given out once.
    pub fn take_sessions(&mut self) -> Vec<Session> {
        // A resumed connection shows none: its sessions are those of the certificate before.
        let leaf = self.leaf().or(self.offered_leaf);
        std::mem::take(&mut self.core.sessions).into_iter().map(|session| session.with_leaf(leaf)).collect()
    }

    /// When application data could first be sent; `None` until then.
    pub fn ready(&self) -> Option<Ready> {
        self.core.ready
    }

    /// Whether the server has shown that it has finished too: under TLS 1.3 a record under its application keys has been
    /// decrypted; under TLS 1.2 its Finished says so.
    pub fn is_confirmed(&self) -> bool {
        self.core.confirmed
    }

    /// Whether the server has closed.
    pub fn is_peer_closed(&self) -> bool {
        self.peer_closed
    }

    /// The message that the handshake waits for, `ServerHello`; `None` when it is done or has failed.
    pub fn waiting_for(&self) -> Option<&'static str> {
        self.state.as_ref().filter(|state| !state.is_traffic()).map(State::expected)
    }

    /// What was negotiated so far; `None` before the ServerHello.
    pub fn facts(&self) -> Option<Facts> {
        let facts = self.core.facts.as_ref()?;
        Some(Facts { leaf: self.leaf(), ..*facts })
    }

    /// SHA-256 of the certificate that the server has shown on this connection.
    fn leaf(&self) -> Option<[u8; 32]> {
        self.core.leaf.as_ref().and_then(|leaf| digest(&SHA256, leaf).as_ref().try_into().ok())
    }

    /// The same in IANA's names.
    pub fn outcome(&self) -> Option<Outcome> {
        self.core.facts.as_ref().map(outcome_of)
    }

    /// The protocol that ALPN chose; `None` before the server has chosen.
    pub fn alpn(&self) -> Option<Protocol> {
        self.core.facts.as_ref()?.alpn
    }

    /// Every message in and out so far, but for [`Connection::omitted_events`], in the order of time: what is sent is
    /// there once [`Connection::take_outgoing`] has handed it out.
    pub fn events(&self) -> &[Event] {
        self.core.log.events()
    }

    /// The bytes of each handshake message of [`Connection::events`], header included, in the same order; none unless
    /// [`Config::keeps_messages`].
    pub fn messages(&self) -> &[Vec<u8>] {
        self.core.log.messages()
    }

    /// How many messages are missing from the end of [`Connection::events`], because a peer could otherwise make us hold
    /// as many as it likes: of records of application data the first 3,072 are kept, of all events the first 4,096.
    pub fn omitted_events(&self) -> u64 {
        self.core.log.omitted()
    }

    /// After an error nothing more is taken in, and the server is told why.
    fn settle<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.state = None;
            if let Some(description) = error.alert()
                && !self.core.closed
            {
                self.core.closed = true;
                self.core.send_alert(AlertLevel::FATAL, description)?;
            }
        }
        result
    }
}
