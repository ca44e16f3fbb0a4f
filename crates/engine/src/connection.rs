//! One connection: the engine's front door.

use std::sync::Arc;

use reprise_trace::{Direction, Event, Nanos, Outcome, What};
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ChangeCipherSpec, ContentType, HEADER_LEN, HandshakeType, MAX_PLAINTEXT,
};

use crate::config::{Config, Start};
use crate::core::Core;
use crate::deframer::Deframer;
use crate::error::{Error, Misbehaviour};
use crate::handshake::State;
use crate::joiner::Joiner;
use crate::session::Session;

/// Records without content, ignorable alerts, ignorable ChangeCipherSpecs and HelloRequests that a server may send
/// before it is judged to be wasting our time.
const MAX_IDLE_RECORDS: u32 = 32;

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
    idle_records: u32,
    peer_closed: bool,
    closed: bool,
}

/// When application data could first be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The moment.
    pub at: Nanos,
    /// How many events had been observed by then.
    pub events: usize,
}

impl Connection {
    /// Begins: the ClientHello waits in [`Connection::take_outgoing`].
    ///
    /// Fails if the configuration offers nothing, or if a key share or randomness cannot be had.
    pub fn start(config: Arc<Config>, start: Start, now: Nanos) -> Result<Self, Error> {
        let mut core = Core::new(config, start.date, now);
        let state = State::start(&mut core, start.offer)?;
        Ok(Self {
            core,
            deframer: Deframer::default(),
            joiner: Joiner::default(),
            state: Some(state),
            idle_records: 0,
            peer_closed: false,
            closed: false,
        })
    }

    /// Takes bytes that came from the server at `now`, and answers them.
    pub fn receive(&mut self, now: Nanos, bytes: &[u8]) -> Result<(), Error> {
        self.core.now = now;
        self.deframer.push(bytes);
        let result = self.handle_records();
        self.settle(result)
    }

    /// The server has closed its side of the transport. Before the handshake is done that is an error.
    pub fn receive_end(&mut self, now: Nanos) -> Result<(), Error> {
        self.core.now = now;
        if self.peer_closed || self.closed {
            return Ok(());
        }
        let result = match &self.state {
            Some(state) if !state.is_traffic() => Err(Error::ClosedEarly(if self.deframer.holds_partial_record() {
                "in the middle of a record"
            } else if self.deframer.spoke_tls() {
                "in the middle of the handshake"
            } else {
                "without an answer to the ClientHello"
            })),
            Some(_) if self.deframer.holds_partial_record() => Err(Error::ClosedEarly("in the middle of a record")),
            // Without a close_notify: common, and no harm where the request's own framing is complete.
            _ => Ok(()),
        };
        self.peer_closed = true;
        self.settle(result)
    }

    /// Sends application data. Fails before [`Connection::ready`] and after [`Connection::close`].
    pub fn send(&mut self, now: Nanos, data: &[u8]) -> Result<(), Error> {
        self.core.now = now;
        if self.closed || !self.state.as_ref().is_some_and(State::is_traffic) {
            return Err(Error::Closed);
        }
        for fragment in data.chunks(MAX_PLAINTEXT) {
            self.core.observe(Direction::Sent, What::ApplicationData, fragment.len());
            self.core.send_record(ContentType::APPLICATION_DATA, fragment)?;
        }
        Ok(())
    }

    /// Sends close_notify. What the server still sends is still read.
    pub fn close(&mut self, now: Nanos) -> Result<(), Error> {
        self.core.now = now;
        if self.closed || self.state.is_none() {
            return Ok(());
        }
        self.closed = true;
        self.core.send_alert(AlertLevel::WARNING, AlertDescription::CLOSE_NOTIFY)
    }

    /// The bytes that are to be written to the socket at `now`, which is the time that the events of their messages bear:
    /// between receiving and answering lies the client's own work.
    pub fn take_outgoing(&mut self, now: Nanos) -> Vec<u8> {
        self.core.depart(now);
        std::mem::take(&mut self.core.outgoing)
    }

    /// The application data that has come since the last call.
    pub fn take_application_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.core.application_data)
    }

    /// The sessions that the server has given so far and that were not taken yet, newest last. Each is given out once.
    pub fn take_sessions(&mut self) -> Vec<Session> {
        std::mem::take(&mut self.core.sessions).into()
    }

    /// When application data could first be sent; `None` until then.
    pub fn ready(&self) -> Option<Ready> {
        self.core.ready
    }

    /// Whether the server has proven that it has finished too: under TLS 1.3 a record under its application keys has
    /// been decrypted, so that it cannot have refused our Finished or our certificate.
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
    pub fn outcome(&self) -> Option<&Outcome> {
        self.core.outcome.as_ref()
    }

    /// Every message in and out so far.
    pub fn events(&self) -> &[Event] {
        &self.core.events
    }

    fn handle_records(&mut self) -> Result<(), Error> {
        while let Some(record) = self.deframer.next_record()? {
            if self.peer_closed {
                return Ok(());
            }
            let (content_type, plaintext) = match &mut self.core.opener {
                Some(opener) if !passes_unprotected(&self.core.is_tls13, record) => opener.open(record)?,
                _ => (ContentType(record[0]), HEADER_LEN..record.len()),
            };
            let fragment = &record[plaintext];
            if fragment.len() > MAX_PLAINTEXT {
                return Err(Error::TooLarge { what: "record", limit: MAX_PLAINTEXT });
            }
            if content_type != ContentType::HANDSHAKE && !self.joiner.is_aligned() {
                return Err(Misbehaviour::InterleavedMessage.into());
            }
            match content_type {
                ContentType::HANDSHAKE if fragment.is_empty() => return Err(Misbehaviour::EmptyFragment.into()),
                ContentType::HANDSHAKE => {
                    self.joiner.push(fragment);
                    handle_messages(&mut self.joiner, &mut self.state, &mut self.core, &mut self.idle_records)?;
                }
                ContentType::CHANGE_CIPHER_SPEC => {
                    ChangeCipherSpec::parse(fragment).map_err(Error::malformed("ChangeCipherSpec"))?;
                    self.core.observe(Direction::Received, What::ChangeCipherSpec, fragment.len());
                    if self.core.is_tls13 != Some(false) {
                        // Sent for middleboxes; it means nothing (RFC 8446 §5).
                        count_idle(&mut self.idle_records, "ChangeCipherSpec")?;
                    } else {
                        let state = self.state.take().ok_or(Error::Closed)?;
                        self.state = Some(state.handle_change_cipher_spec(&mut self.core)?);
                    }
                }
                ContentType::ALERT => {
                    let alert = Alert::parse(fragment).map_err(Error::malformed("alert"))?;
                    self.handle_alert(alert)?;
                }
                ContentType::APPLICATION_DATA if self.state.as_ref().is_some_and(State::is_traffic) => {
                    if self.core.opener.is_none() {
                        return Err(unexpected(content_type, "a protected record"));
                    }
                    if fragment.is_empty() {
                        count_idle(&mut self.idle_records, "empty records")?;
                    } else {
                        self.idle_records = 0;
                    }
                    self.core.confirmed = true;
                    self.core.observe(Direction::Received, What::ApplicationData, fragment.len());
                    self.core.application_data.extend_from_slice(fragment);
                }
                _ => {
                    let expected = self.state.as_ref().map_or("nothing", State::expected);
                    return Err(unexpected(content_type, expected));
                }
            }
        }
        Ok(())
    }

    fn handle_alert(&mut self, alert: Alert) -> Result<(), Error> {
        let name = alert.description.name().map_or_else(|| alert.description.to_string().into(), Into::into);
        self.core.observe(Direction::Received, What::Alert { description: name }, 2);
        let traffic = self.state.as_ref().is_some_and(State::is_traffic);
        match alert.description {
            AlertDescription::CLOSE_NOTIFY => {
                self.peer_closed = true;
                if traffic {
                    // An alert under the application keys proves as much as data does.
                    self.core.confirmed = true;
                    return Ok(());
                }
                Err(Error::AlertReceived(alert.description))
            }
            AlertDescription::USER_CANCELED => count_idle(&mut self.idle_records, "warning alerts"),
            // TLS 1.2 knows warnings that change nothing; in TLS 1.3 every alert ends the connection (RFC 8446 §6).
            _ if alert.level == AlertLevel::WARNING && self.core.is_tls13 != Some(true) => {
                count_idle(&mut self.idle_records, "warning alerts")
            }
            description => {
                self.peer_closed = true;
                Err(Error::AlertReceived(description))
            }
        }
    }

    /// After an error nothing more is taken in, and the server is told why.
    fn settle(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &result {
            self.state = None;
            if let Some(description) = error.alert()
                && !self.closed
            {
                self.closed = true;
                self.core.send_alert(AlertLevel::FATAL, description)?;
            }
        }
        result
    }
}

fn handle_messages(
    joiner: &mut Joiner,
    state: &mut Option<State>,
    core: &mut Core,
    idle_records: &mut u32,
) -> Result<(), Error> {
    while let Some(message) = joiner.next_message()? {
        if message.msg_type == HandshakeType::HELLO_REQUEST && core.is_tls13 == Some(false) {
            core.observe_message(Direction::Received, message.msg_type, message.raw.len());
            count_idle(idle_records, "HelloRequest")?;
            if state.as_ref().is_some_and(State::is_traffic) {
                // RFC 5246 §7.4.1.1: during a handshake it is ignored, afterwards it may be declined.
                core.send_alert(AlertLevel::WARNING, AlertDescription::NO_RENEGOTIATION)?;
            }
            continue;
        }
        let current = state.take().ok_or(Error::Closed)?;
        core.keys_changed = false;
        *state = Some(current.handle(core, &message)?);
        // RFC 8446 §5.1: what follows a change of keys begins a new record.
        if core.keys_changed && !joiner.is_aligned() {
            return Err(Misbehaviour::KeyChangeInsideMessage.into());
        }
    }
    Ok(())
}

/// Under TLS 1.3, ChangeCipherSpec is never protected, and a server that could not yet derive keys sends its alert in
/// the clear.
fn passes_unprotected(is_tls13: &Option<bool>, record: &[u8]) -> bool {
    *is_tls13 == Some(true)
        && match ContentType(record[0]) {
            ContentType::CHANGE_CIPHER_SPEC => true,
            ContentType::ALERT => record.len() == HEADER_LEN + 2,
            _ => false,
        }
}

fn count_idle(count: &mut u32, what: &'static str) -> Result<(), Error> {
    *count += 1;
    if *count > MAX_IDLE_RECORDS { Err(Error::TooMany { what, limit: MAX_IDLE_RECORDS as usize }) } else { Ok(()) }
}

fn unexpected(received: ContentType, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedRecord { received, expected }.into()
}
