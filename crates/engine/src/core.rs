//! What every state of a connection shares: the way out, the keys in force, and what has been observed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use reprise_trace::{Bytes, ClientAuthentication, Direction, Event, Kind, Nanos, Outcome, Verification, Version, What};
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ChangeCipherSpec, ContentType, HandshakeType, MAX_PLAINTEXT, ProtocolVersion,
    Record, SignatureScheme,
};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::config::Config;
use crate::connection::Ready;
use crate::error::Error;
use crate::protection::{Opener, Sealer};
use crate::session::{Session, Tls13Ticket};
use crate::suite::Suite;
use crate::verify::{CertificateError, CertificatePolicy, LeafKey, verify_signature};

/// Sessions held for the caller; of more, the oldest are dropped.
const MAX_SESSIONS: usize = 16;
/// Events held; a peer could otherwise make us hold as many as it likes.
const MAX_EVENTS: usize = 4096;

pub(crate) struct Core {
    pub(crate) config: Arc<Config>,
    pub(crate) date: UnixTime,
    pub(crate) now: Nanos,
    pub(crate) outgoing: Vec<u8>,
    pub(crate) application_data: Vec<u8>,
    pub(crate) opener: Option<Opener>,
    sealer: Option<Sealer>,
    /// Whether the keys in which we receive were changed by the message that is being handled.
    pub(crate) keys_changed: bool,
    /// Whether the server chose TLS 1.3; `None` before it chose.
    pub(crate) is_tls13: Option<bool>,
    pub(crate) events: Vec<Event>,
    /// How many of the events have left, or came in.
    departed: usize,
    pub(crate) ready: Option<Ready>,
    pub(crate) confirmed: bool,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) sessions: VecDeque<Session>,
}

impl Core {
    pub(crate) fn new(config: Arc<Config>, date: UnixTime, now: Nanos) -> Self {
        Self {
            config,
            date,
            now,
            outgoing: Vec::new(),
            application_data: Vec::new(),
            opener: None,
            sealer: None,
            keys_changed: false,
            is_tls13: None,
            events: Vec::with_capacity(24),
            departed: 0,
            ready: None,
            confirmed: false,
            outcome: None,
            sessions: VecDeque::new(),
        }
    }

    // Out.

    /// Sends a whole handshake message.
    pub(crate) fn send_handshake(&mut self, message: &[u8]) -> Result<(), Error> {
        let msg_type = HandshakeType(message.first().copied().unwrap_or_default());
        self.observe_message(Direction::Sent, msg_type, message.len());
        message.chunks(MAX_PLAINTEXT).try_for_each(|fragment| self.send_record(ContentType::HANDSHAKE, fragment))
    }

    pub(crate) fn send_change_cipher_spec(&mut self) -> Result<(), Error> {
        let mut body = Vec::with_capacity(1);
        ChangeCipherSpec.emit(&mut body);
        self.observe(Direction::Sent, What::ChangeCipherSpec, body.len());
        // Never protected under TLS 1.3, and not yet under a first TLS 1.2 handshake.
        self.send_unprotected(ContentType::CHANGE_CIPHER_SPEC, &body);
        Ok(())
    }

    pub(crate) fn send_alert(&mut self, level: AlertLevel, description: AlertDescription) -> Result<(), Error> {
        let mut body = Vec::with_capacity(2);
        Alert { level, description }.emit(&mut body);
        let name = description.name().map_or_else(|| Cow::Owned(description.to_string()), Cow::Borrowed);
        self.observe(Direction::Sent, What::Alert { description: name }, body.len());
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
        // RFC 8446 §5.1: a first ClientHello says TLS 1.0 for the sake of old servers.
        let first = self.events.len() <= 1;
        let version = if first { ProtocolVersion::TLS_1_0 } else { ProtocolVersion::TLS_1_2 };
        Record { content_type, version, fragment }.emit(&mut self.outgoing);
    }

    /// What was made since the last call leaves at `now`.
    pub(crate) fn depart(&mut self, now: Nanos) {
        for event in self.events[self.departed..].iter_mut().filter(|event| event.direction == Direction::Sent) {
            event.at = now;
        }
        self.departed = self.events.len();
    }

    // Keys.

    pub(crate) fn send_under(&mut self, sealer: Sealer) {
        self.sealer = Some(sealer);
    }

    pub(crate) fn receive_under(&mut self, opener: Opener) {
        self.opener = Some(opener);
        self.keys_changed = true;
    }

    pub(crate) fn log_secret(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        if let Some(key_log) = &self.config.key_log {
            key_log.log(label, client_random, secret);
        }
    }

    // What has been observed.

    pub(crate) fn observe(&mut self, direction: Direction, what: What, size: usize) {
        if self.events.len() < MAX_EVENTS {
            let encrypted = match direction {
                Direction::Sent => self.sealer.is_some() && what != What::ChangeCipherSpec,
                Direction::Received => self.opener.is_some() && what != What::ChangeCipherSpec,
            };
            self.events.push(Event { at: self.now, direction, what, size: Bytes::from(size), encrypted });
        }
    }

    pub(crate) fn observe_message(&mut self, direction: Direction, msg_type: HandshakeType, size: usize) {
        let message = msg_type.name().map_or_else(|| Cow::Owned(msg_type.to_string()), Cow::Borrowed);
        self.observe(direction, What::Handshake { message }, size);
    }

    pub(crate) fn observe_choice(&mut self, version: Version, suite: &Suite, session_offered: bool) {
        self.outcome = Some(Outcome {
            version,
            kind: Kind::Full,
            cipher: suite.id.to_string(),
            group: None,
            signature: None,
            peer_key: None,
            psk_mode: None,
            alpn: None,
            verification: Verification::Inherited,
            client_authentication: ClientAuthentication::NotRequested,
            extended_master_secret: version == Version::Tls13,
            hello_retry_request: false,
            early_data: None,
            session_offered,
            tickets: 0,
            session_id_given: false,
        });
    }

    /// Writes into what was negotiated; before the ServerHello there is nothing to write into.
    pub(crate) fn note(&mut self, write: impl FnOnce(&mut Outcome)) {
        if let Some(outcome) = &mut self.outcome {
            write(outcome);
        }
    }

    /// From here on application data may be sent.
    pub(crate) fn become_ready(&mut self) {
        self.ready = Some(Ready { at: self.now, events: self.events.len() });
    }

    pub(crate) fn keep_session(&mut self, session: Session) {
        if self.sessions.len() == MAX_SESSIONS {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
    }

    pub(crate) fn keep_ticket(&mut self, ticket: Tls13Ticket) {
        self.keep_session(Session::Tls13(ticket));
    }

    // The server's certificate.

    /// Judges the chain by the policy, and notes its key. `None` is a key that cannot be read, under the policy to
    /// accept any chain.
    pub(crate) fn judge_chain(&mut self, chain: &[CertificateDer<'_>]) -> Result<Option<LeafKey>, Error> {
        let leaf = chain.first().ok_or(CertificateError::Empty)?;
        let verification = match &self.config.certificates {
            CertificatePolicy::Verify(verifier) => {
                verifier.verify(chain, &self.config.server_name, self.date)?;
                Verification::Verified
            }
            CertificatePolicy::AcceptAnyChain => Verification::ChainSkipped,
        };
        let key = LeafKey::of(leaf);
        self.note(|outcome| {
            outcome.verification = verification;
            outcome.peer_key = key.as_ref().map(LeafKey::name);
        });
        Ok(key)
    }

    /// Judges the server's signature over the handshake.
    pub(crate) fn judge_signature(
        &mut self,
        version: Version,
        key: Option<&LeafKey>,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.note(|outcome| outcome.signature = Some(scheme.to_string()));
        let verdict = match key {
            Some(key) => verify_signature(version, key, scheme, message, signature),
            None => Err(CertificateError::UnsupportedKey("its certificate cannot be read".to_owned()).into()),
        };
        match (verdict, &self.config.certificates) {
            (Err(Error::Certificate(CertificateError::UnsupportedKey(_))), CertificatePolicy::AcceptAnyChain) => {
                self.note(|outcome| outcome.verification = Verification::SignatureUnverified);
                Ok(())
            }
            (verdict, _) => verdict,
        }
    }
}
