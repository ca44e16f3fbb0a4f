//! What every state of a connection shares: the output, the keys in force, and what has been observed.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use reprise_model::{Bytes, Direction, Event, Facts, Nanos, Ticket, TicketKeyName, Version, What};
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ChangeCipherSpec, ContentType, Handshake, MAX_PLAINTEXT, ProtocolVersion, Record,
};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::config::{Config, Strictness};
use crate::early_data::EarlyData;
use crate::error::{Error, Misbehaviour};
use crate::event_log::EventLog;
use crate::offered::Offered;
use crate::protection::{Opener, Sealer};
use crate::ready::Ready;
use crate::session::Session;
use crate::suite::Suite;

/// Records without content, ignorable alerts, ignorable ChangeCipherSpecs, HelloRequests and KeyUpdates that a server may
/// send, of each kind, without a byte of data between them, before it is judged to be wasting our time.
const MAX_IDLE: u32 = 32;
/// Sessions held for the caller; of more, the oldest are dropped.
const MAX_SESSIONS: usize = 16;
/// Room for an ordinary ClientHello, and for the client's last flight.
const FLIGHT_LEN: usize = 512;
/// A level and a description.
const ALERT_LEN: usize = 2;

pub(crate) struct Core {
    pub(crate) config: Arc<Config>,
    pub(crate) date: UnixTime,
    pub(crate) now: Nanos,
    pub(crate) offered: Offered,
    pub(crate) outgoing: Vec<u8>,
    /// The most bytes of content in a record that the server takes.
    pub(crate) record_size: usize,
    pub(crate) application_data: Vec<u8>,
    pub(crate) opener: Option<Opener>,
    sealer: Option<Sealer>,
    /// Whether our ChangeCipherSpec has gone out: TLS 1.2 has one, and TLS 1.3 shows one to middleboxes.
    change_cipher_spec_sent: bool,
    /// Whether the server's has come.
    pub(crate) change_cipher_spec_received: bool,
    /// Whether an alert has ended what we send (RFC 9846 §6.1).
    pub(crate) closed: bool,
    /// What the server chose; `None` before it chose.
    pub(crate) version: Option<Version>,
    pub(crate) log: EventLog,
    pub(crate) ready: Option<Ready>,
    pub(crate) confirmed: bool,
    /// Whether the server has ever sent a record of TLS.
    pub(crate) heard_record: bool,
    pub(crate) facts: Option<Facts>,
    /// The server's certificate, until somebody asks for its fingerprint.
    pub(crate) leaf: Option<CertificateDer<'static>>,
    /// The protocol that ALPN chose.
    pub(crate) protocol: Option<Vec<u8>>,
    pub(crate) sessions: VecDeque<Session>,
    pub(crate) early_data: EarlyData,
    /// How often each kind came.
    idle: BTreeMap<&'static str, u32>,
}

impl Core {
    pub(crate) fn new(config: Arc<Config>, date: UnixTime, now: Nanos) -> Self {
        Self {
            log: EventLog::new(config.records_events),
            config,
            date,
            now,
            offered: Offered::default(),
            outgoing: Vec::with_capacity(FLIGHT_LEN),
            record_size: MAX_PLAINTEXT,
            application_data: Vec::new(),
            opener: None,
            sealer: None,
            change_cipher_spec_sent: false,
            change_cipher_spec_received: false,
            closed: false,
            version: None,
            ready: None,
            confirmed: false,
            heard_record: false,
            facts: None,
            leaf: None,
            protocol: None,
            sessions: VecDeque::new(),
            early_data: EarlyData::default(),
            idle: BTreeMap::new(),
        }
    }

    // Out.

    /// Sends a ClientHello, in records as small as the configuration wants them.
    pub(crate) fn send_hello(&mut self, hello: &[u8]) -> Result<(), Error> {
        let size = usize::from(self.config.shape.record_size).clamp(1, MAX_PLAINTEXT);
        self.send_in_records(hello, size)
    }

    /// Sends a whole handshake message, or a flight of several in as few records as hold them.
    pub(crate) fn send_handshake(&mut self, flight: &[u8]) -> Result<(), Error> {
        self.send_in_records(flight, self.record_size)
    }

    /// From here on records hold so many bytes at most.
    pub(crate) fn limit_records(&mut self, size: usize) {
        self.record_size = size.clamp(1, MAX_PLAINTEXT);
    }

    fn send_in_records(&mut self, mut flight: &[u8], size: usize) -> Result<(), Error> {
        let fragments = flight.chunks(size);
        while let Ok(Some((message, length))) = Handshake::parse(flight) {
            self.observe_message(Direction::Sent, &message);
            flight = flight.get(length..).unwrap_or_default();
        }
        fragments.into_iter().try_for_each(|fragment| self.send_record(ContentType::HANDSHAKE, fragment))
    }

    /// Sends ChangeCipherSpec, unless it was sent before: under TLS 1.3 it stands where the client's second flight would
    /// begin at the earliest, be that early data, another ClientHello or the last flight (RFC 9846 §E.4).
    pub(crate) fn send_change_cipher_spec(&mut self) {
        let is_shown = self.version == Some(Version::Tls12) || self.config.is_compatible();
        if std::mem::replace(&mut self.change_cipher_spec_sent, true) || !is_shown {
            return;
        }
        let mut body = Vec::with_capacity(1);
        ChangeCipherSpec.emit(&mut body);
        // Never protected under TLS 1.3, and not yet under a first TLS 1.2 handshake.
        self.observe_record(Direction::Sent, What::ChangeCipherSpec, body.len(), false);
        self.send_unprotected(ContentType::CHANGE_CIPHER_SPEC, &body);
    }

    pub(crate) fn send_alert(&mut self, level: AlertLevel, description: AlertDescription) -> Result<(), Error> {
        if self.version == Some(Version::Tls13) && self.sealer.is_some() {
            // It may be the first that we send under keys.
            self.send_change_cipher_spec();
        }
        let mut body = Vec::with_capacity(ALERT_LEN);
        Alert { level, description }.emit(&mut body);
        self.observe_alert(Direction::Sent, description, self.sealer.is_some());
        self.send_record(ContentType::ALERT, &body)
    }

    pub(crate) fn send_record(&mut self, content_type: ContentType, fragment: &[u8]) -> Result<(), Error> {
        match &mut self.sealer {
            Some(sealer) => sealer.seal(content_type, fragment, &mut self.outgoing),
            None => {
                self.send_unprotected(content_type, fragment);
                Ok(())
            }
        }
    }

    fn send_unprotected(&mut self, content_type: ContentType, fragment: &[u8]) {
        // RFC 9846 §5.1: the first ClientHello says TLS 1.0 for the sake of old servers, and nothing else does.
        let is_first_hello = self.offered.message().is_empty();
        let version = match &self.config.form {
            _ if !is_first_hello => ProtocolVersion::TLS_1_2,
            Some(form) => form.record_version,
            None => ProtocolVersion::TLS_1_0,
        };
        Record { content_type, version, fragment }.emit(&mut self.outgoing);
    }

    // Keys.

    pub(crate) fn send_under(&mut self, sealer: Sealer) {
        self.sealer = Some(sealer);
    }

    /// From here on nothing that is sent is protected, until [`Core::send_under`].
    pub(crate) fn send_in_the_clear(&mut self) {
        self.sealer = None;
    }

    /// The message that changes them must end its record: see [`Message::ends_record`](crate::joiner::Message::ends_record).
    pub(crate) fn receive_under(&mut self, opener: Opener) {
        self.opener = Some(opener);
    }

    pub(crate) fn log_secret(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        if let Some(key_log) = &self.config.key_log {
            key_log.log(label, client_random, secret);
        }
    }

    // What has been observed.

    /// What is always under the keys in force, if there are any: messages and data.
    pub(crate) fn observe(&mut self, direction: Direction, what: What, size: usize) {
        self.observe_record(direction, what, size, self.is_protected(direction));
    }

    pub(crate) fn observe_record(&mut self, direction: Direction, what: What, size: usize, encrypted: bool) {
        self.log.push(Event::new(self.now, direction, what, Bytes::from(size), encrypted));
    }

    pub(crate) fn observe_message(&mut self, direction: Direction, message: &Handshake<'_>) {
        let msg_type = message.msg_type;
        let name = msg_type.name().map_or_else(|| Cow::Owned(msg_type.to_string()), Cow::Borrowed);
        self.observe_message_as(name, direction, message);
    }

    /// A message by another name than that of its type.
    pub(crate) fn observe_message_as(&mut self, name: Cow<'static, str>, direction: Direction, message: &Handshake<'_>) {
        let what = What::Handshake { message: name };
        let event = Event::new(self.now, direction, what, Bytes::from(message.raw.len()), self.is_protected(direction));
        self.log.push_message(event, self.config.keeps_messages.then(|| message.raw.to_vec()));
    }

    fn is_protected(&self, direction: Direction) -> bool {
        match direction {
            Direction::Sent => self.sealer.is_some(),
            Direction::Received => self.opener.is_some(),
        }
    }

    pub(crate) fn observe_alert(&mut self, direction: Direction, description: AlertDescription, encrypted: bool) {
        let name = description.name().map_or_else(|| Cow::Owned(description.to_string()), Cow::Borrowed);
        self.observe_record(direction, What::Alert { description: name }, ALERT_LEN, encrypted);
    }

    /// The server broke a rule that need not end the connection: refused, or recorded, as the configuration says.
    pub(crate) fn complain(&mut self, rule: Misbehaviour) -> Result<(), Error> {
        match self.config.strictness {
            Strictness::Strict => Err(rule.into()),
            Strictness::Lenient => {
                self.observe(Direction::Received, What::Violation { rule: rule.to_string().into() }, 0);
                Ok(())
            }
        }
    }

    pub(crate) fn observe_choice(&mut self, version: Version, suite: &Suite, session_offered: bool) {
        let facts = Facts::of_choice(version, suite.id.0);
        self.facts = Some(Facts { early_data: self.early_data.verdict(), session_offered, ..facts });
    }

    /// Writes into what was negotiated; before the ServerHello there is nothing to write into.
    pub(crate) fn note(&mut self, write: impl FnOnce(&mut Facts)) {
        if let Some(facts) = &mut self.facts {
            write(facts);
        }
    }

    /// A ticket has come.
    pub(crate) fn note_ticket(&mut self, ticket: &[u8], lifetime_s: u32, max_early_data: Option<u32>) {
        let at = self.now;
        let length = u16::try_from(ticket.len()).unwrap_or(u16::MAX);
        self.note(|facts| {
            facts.tickets.add(Ticket { at, length, key_name: TicketKeyName::of(ticket), lifetime_s, max_early_data })
        });
    }

    /// Early data was rejected, or there was none.
    pub(crate) fn reject_early_data(&mut self) {
        self.early_data.reject();
        let verdict = self.early_data.verdict();
        self.note(|facts| facts.early_data = verdict);
    }

    /// From here on application data may be sent.
    pub(crate) fn become_ready(&mut self) {
        self.forgive_idle();
        self.ready = Some(Ready { at: self.now, events: self.log.events().len() });
    }

    pub(crate) fn keep_session(&mut self, session: Session) {
        if self.sessions.len() == MAX_SESSIONS {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
    }

    // What costs us time and brings nothing.

    pub(crate) fn count_idle(&mut self, what: &'static str) -> Result<(), Error> {
        let count = self.idle.entry(what).or_default();
        *count += 1;
        if *count > MAX_IDLE { Err(Error::TooMany { what, limit: MAX_IDLE as usize }) } else { Ok(()) }
    }

    /// Data has come, or the handshake is done, so the server is of use after all.
    pub(crate) fn forgive_idle(&mut self) {
        self.idle.clear();
    }
}
