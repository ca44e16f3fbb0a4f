//! One connection of the lean client: records in, bytes out.

use reprise_engine::suite::{self, Suite};
use reprise_trace::{Kind, Nanos, Version};
use reprise_wire::extensions::KeyShareHelloRetryRequest;
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ContentType, ExtensionType, HEADER_LEN, Handshake, HandshakeType, NamedGroup,
    ServerHello,
};
use ring::digest;

use super::exchange::KeyPair;
use super::hello::Fresh;
use super::hkdf::digest_of;
use super::joiner::Joiner;
use super::record::Protection;
use super::session::{Session, SessionForm};
use super::thread::Thread;
use super::{tls12, tls13};
use crate::generator::fault::Fault;

/// What a record came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard<'a> {
    /// Nothing that matters outside.
    Nothing,
    /// Application data may be sent: what `out` holds goes before it.
    Ready,
    /// Application data.
    Data(&'a [u8]),
    /// The server's close_notify.
    Ended,
}

/// The client's side of one connection. Its memory is used again by the next.
pub(crate) struct Machine {
    state: State,
    pub(super) hello: Vec<u8>,
    pub(super) random: [u8; 32],
    pub(super) session_id: SessionId,
    pub(super) session: Option<Session>,
    /// Which of the names it sends.
    pub(super) server_name: usize,
    pub(super) own: Option<KeyPair>,
    /// The group of the key share in the hello.
    pub(super) group: Option<NamedGroup>,
    pub(super) sealer: Option<Protection>,
    pub(super) opener: Option<Protection>,
    pub(super) kind: Kind,
    pub(super) suite: Option<&'static Suite>,
    confirmed: bool,
    joiner: Joiner,
}

/// A session ID in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionId {
    bytes: [u8; 32],
    length: usize,
}

/// Which message may come next.
enum State {
    Idle,
    ExpectServerHello,
    Tls13(tls13::State),
    Tls12(tls12::State),
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Idle,
            hello: Vec::new(),
            random: [0; 32],
            session_id: SessionId::default(),
            session: None,
            server_name: 0,
            own: None,
            group: None,
            sealer: None,
            opener: None,
            kind: Kind::Full,
            suite: None,
            confirmed: false,
            joiner: Joiner::default(),
        }
    }

    /// Begins a connection that is to be of this kind, under this name; the bytes to be sent first are in [`Machine::hello`].
    /// Where there is no session to offer, it is a full one, from which one may come.
    pub(crate) fn start(&mut self, thread: &mut Thread, kind: Kind, server_name: usize, now: Nanos) -> Result<(), Fault> {
        self.reset(thread, false);
        self.server_name = server_name;
        thread.entropy.fill(&mut self.random)?;
        self.session = thread.sessions.take(kind, server_name, now);
        self.session_id = match &self.session {
            Some(session) if session.form == SessionForm::Id => SessionId::new(&session.name).ok_or(Fault::Crypto)?,
            // RFC 5077 §3.4: a fresh one, whose echo says that the ticket was accepted.
            Some(session) if session.form == SessionForm::Ticket12 => {
                let mut bytes = [0; 32];
                thread.entropy.fill(&mut bytes)?;
                SessionId { bytes, length: 32 }
            }
            _ => SessionId::default(),
        };
        let name = thread.names.get(server_name).ok_or(Fault::Crypto)?;
        self.group = name.groups.first().copied();
        if thread.exchange.is_fresh() && thread.options.version == Version::Tls13 {
            self.own = self.group.map(KeyPair::generate).transpose()?;
        }
        let fresh = Fresh {
            random: &self.random,
            session_id: self.session_id.as_bytes(),
            share: self.own.as_ref().map(KeyPair::public),
            session: self.session.as_ref(),
            asks_ticket: thread.options.version == Version::Tls12 && kind != Kind::Id,
            now,
        };
        name.hello.write(&fresh, &thread.schedule, &mut self.hello)?;
        self.state = State::ExpectServerHello;
        Ok(())
    }

    /// The record with the ClientHello.
    pub(crate) fn hello(&self) -> &[u8] {
        &self.hello
    }

    /// Whether a session is offered.
    pub(crate) fn offers_session(&self) -> bool {
        self.session.is_some()
    }

    /// Takes one record from the server; its fragment is decrypted in place. What is to be sent is appended to `out`.
    pub(crate) fn receive<'a>(
        &mut self,
        thread: &mut Thread,
        now: Nanos,
        content_type: ContentType,
        fragment: &'a mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<Heard<'a>, Fault> {
        if content_type == ContentType::CHANGE_CIPHER_SPEC {
            return self.receive_change_cipher_spec(fragment);
        }
        let (inner, content) = match &mut self.opener {
            Some(opener) => opener.open(content_type, fragment)?,
            None => (content_type, fragment),
        };
        let content: &'a [u8] = content;
        let is_traffic = matches!(&self.state, State::Tls13(tls13::State::Traffic(_)) | State::Tls12(tls12::State::Traffic));
        // CONTRACT of a TLS 1.3 handshake: done once a record under the server's application keys has decrypted.
        self.confirmed |= is_traffic;
        match inner {
            ContentType::ALERT => hear_alert(content),
            ContentType::APPLICATION_DATA if is_traffic => Ok(Heard::Data(content)),
            ContentType::HANDSHAKE => self.receive_handshake(thread, now, content, out),
            _ => Err(Fault::PeerMisbehaved),
        }
    }

    /// Protects application data.
    pub(crate) fn send(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let sealer = self.sealer.as_mut().ok_or(Fault::Crypto)?;
        data.chunks(reprise_wire::MAX_PLAINTEXT).try_for_each(|part| sealer.seal(ContentType::APPLICATION_DATA, part, out))
    }

    /// Protects a close_notify.
    pub(crate) fn send_close(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let close = [AlertLevel::WARNING.0, AlertDescription::CLOSE_NOTIFY.0];
        self.sealer.as_mut().ok_or(Fault::Crypto)?.seal(ContentType::ALERT, &close, out)
    }

    /// The kind that was observed.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the server has shown that it has finished.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// Ends it: keys are dropped, and the session goes back to where it came from, unless it was refused.
    pub(crate) fn reset(&mut self, thread: &mut Thread, completed: bool) {
        self.state = State::Idle;
        self.sealer = None;
        self.opener = None;
        self.own = None;
        if let Some(session) = self.session.take() {
            thread.sessions.give_back(session, !completed || self.kind != Kind::Full);
        }
        self.kind = Kind::Full;
        self.suite = None;
        self.confirmed = false;
        self.joiner.clear();
    }

    fn receive_change_cipher_spec(&mut self, fragment: &[u8]) -> Result<Heard<'static>, Fault> {
        reprise_wire::ChangeCipherSpec::parse(fragment)?;
        match &mut self.state {
            // RFC 8446 §5: dropped, wherever it comes before the server's Finished.
            State::Tls13(_) => Ok(Heard::Nothing),
            State::Tls12(state) if self.joiner.is_empty() => {
                self.opener = Some(state.take_server_protection()?);
                Ok(Heard::Nothing)
            }
            _ => Err(Fault::PeerMisbehaved),
        }
    }

    fn receive_handshake(
        &mut self,
        thread: &mut Thread,
        now: Nanos,
        fragment: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Heard<'static>, Fault> {
        let mut heard = Heard::Nothing;
        let (whole, mut rest) = self.joiner.complete(fragment)?;
        if let Some(memory) = whole {
            if let Some((message, _)) = Handshake::parse(&memory)? {
                heard = self.handle(thread, now, &message, rest.is_empty(), out)?;
            }
            self.joiner.take_back(memory);
        }
        while let Some((message, length)) = Handshake::parse(rest)? {
            rest = rest.get(length..).unwrap_or_default();
            if self.handle(thread, now, &message, rest.is_empty(), out)? == Heard::Ready {
                heard = Heard::Ready;
            }
        }
        self.joiner.keep(rest)?;
        Ok(heard)
    }

    /// `last`: whether the message ends its record, as it must where keys change after it (RFC 8446 §5.1).
    fn handle(
        &mut self,
        thread: &mut Thread,
        now: Nanos,
        message: &Handshake<'_>,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<Heard<'static>, Fault> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::ExpectServerHello => {
                self.state = self.handle_server_hello(thread, message, last)?;
                Ok(Heard::Nothing)
            }
            State::Tls13(state) => {
                let (state, heard) = state.handle(self, thread, now, message, last, out)?;
                self.state = State::Tls13(state);
                Ok(heard)
            }
            State::Tls12(state) => {
                let (state, heard) = state.handle(self, thread, now, message, out)?;
                // RFC 5246 §7.4.9: once the server's Finished has verified, there is nothing left to be shown.
                self.confirmed |= heard == Heard::Ready;
                self.state = State::Tls12(state);
                Ok(heard)
            }
            State::Idle => Err(Fault::PeerMisbehaved),
        }
    }

    fn handle_server_hello(&mut self, thread: &mut Thread, message: &Handshake<'_>, last: bool) -> Result<State, Fault> {
        if message.msg_type != HandshakeType::SERVER_HELLO {
            return Err(Fault::PeerMisbehaved);
        }
        let hello = ServerHello::parse(message.body)?;
        if hello.is_hello_retry_request() {
            let wanted = hello.extensions.and_then(|extensions| extensions.find(ExtensionType::KEY_SHARE));
            if let Some(share) = wanted {
                thread.prefer(KeyShareHelloRetryRequest::parse(share)?.selected_group, self.server_name)?;
            }
            return Err(Fault::HelloRetryRequest);
        }
        let suite = suite::find(hello.cipher_suite).filter(|_| thread.options.cipher_suites.contains(&hello.cipher_suite));
        let suite = suite.ok_or(Fault::PeerMisbehaved)?;
        self.suite = Some(suite);
        let mut transcript = digest::Context::new(digest_of(suite.hash));
        transcript.update(self.hello.get(HEADER_LEN..).unwrap_or_default());
        transcript.update(message.raw);
        match suite.version {
            Version::Tls13 if last => Ok(State::Tls13(tls13::State::begin(self, thread, &hello, suite, transcript)?)),
            Version::Tls13 => Err(Fault::PeerMisbehaved),
            Version::Tls12 => Ok(State::Tls12(tls12::State::begin(self, thread, &hello, suite, transcript)?)),
        }
    }
}

impl SessionId {
    pub(crate) fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self { bytes, length: id.len() })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

fn hear_alert(content: &[u8]) -> Result<Heard<'static>, Fault> {
    let alert = Alert::parse(content)?;
    match alert.description {
        AlertDescription::CLOSE_NOTIFY => Ok(Heard::Ended),
        // RFC 5246 §7.2: a warning of TLS 1.2 may be passed over.
        _ if alert.level == AlertLevel::WARNING => Ok(Heard::Nothing),
        description => Err(Fault::Alert(description)),
    }
}
