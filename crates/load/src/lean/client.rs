//! One connection of the lean client: records in, bytes out.

use reprise_connection::{End, Endpoint, EndpointEvent, Fault};
use reprise_engine::suite;
use reprise_model::{Facts, FaultName, Kind, Nanos, Protocol, PskMode, Tickets, Version};
use reprise_wire::extensions::KeyShareHelloRetryRequest;
use reprise_wire::{
    Alert, AlertDescription, AlertLevel, ChangeCipherSpec, ContentType, ExtensionType, HEADER_LEN, Handshake, HandshakeType,
    MAX_PLAINTEXT, ServerHello,
};
use ring::digest;

use super::core::{Core, SessionId, malformed};
use super::hello::Fresh;
use super::hkdf::digest_of;
use super::joiner::Joiner;
use super::key_exchange::KeyPair;
use super::session::SessionForm;
use super::shared::LeanShared;
use super::{tls12, tls13};
use crate::options::Plan;

/// So many records in a row that change nothing are borne, as the engine bears them.
const MAX_IDLE: u8 = 32;

/// The client's side of one connection after the other, in memory that is used again.
#[derive(Default)]
pub struct LeanClient {
    state: State,
    core: Core,
    version: Option<Version>,
    confirmed: bool,
    /// Records in a row that changed nothing.
    idle: u8,
    joiner: Joiner,
}

/// Which message may come next.
#[derive(Default)]
enum State {
    #[default]
    Idle,
    ExpectServerHello,
    Tls13(tls13::State),
    Tls12(tls12::State),
}

impl Endpoint for LeanClient {
    type Shared = LeanShared;
    type Plan = Plan;

    /// Where there is no session to offer, it is a full handshake, from which one may come.
    fn begin(&mut self, shared: &mut LeanShared, plan: Plan, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.end(shared, End::Failed);
        self.start(shared, plan, now).map_err(Fault::new)?;
        out.extend_from_slice(&self.core.hello);
        Ok(())
    }

    fn receive<'r>(
        &mut self,
        shared: &mut LeanShared,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        self.take_record(shared, now, record, out).map_err(Fault::new)
    }

    fn receive_end(&mut self, _now: Nanos, in_record: bool, _out: &mut Vec<u8>) -> Result<(), Fault> {
        // Without a close_notify: common, and no harm where the response's own framing is complete.
        if in_record || !self.is_traffic() { Err(Fault::new(FaultName::ClosedEarly)) } else { Ok(()) }
    }

    fn send(&mut self, _now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let sealer = self.core.sealer.as_mut().ok_or(Fault::new(FaultName::Closed))?;
        let mut parts = data.chunks(MAX_PLAINTEXT);
        parts.try_for_each(|part| sealer.seal(ContentType::APPLICATION_DATA, part, out)).map_err(Fault::new)
    }

    fn close(&mut self, _now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let close = [AlertLevel::WARNING.0, AlertDescription::CLOSE_NOTIFY.0];
        let sealer = self.core.sealer.as_mut().ok_or(Fault::new(FaultName::Closed))?;
        sealer.seal(ContentType::ALERT, &close, out).map_err(Fault::new)
    }

    fn facts(&self) -> Option<Facts> {
        let suite = self.core.suite?;
        let kind = self.core.kind();
        Some(Facts {
            kind,
            group: self.core.group.map(|group| group.0),
            psk_mode: (suite.version == Version::Tls13 && kind == Kind::Ticket).then_some(PskMode::PskDheKe),
            session_offered: self.core.session.is_some(),
            tickets: Tickets::counted(self.core.tickets),
            alpn: self.core.protocol,
            ..Facts::of_choice(suite.version, suite.id.0)
        })
    }

    fn alpn(&self) -> Option<Protocol> {
        self.core.protocol
    }

    fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// Keys are dropped, and the session goes back to where it came from, unless it was refused.
    fn end(&mut self, shared: &mut LeanShared, how: End) {
        self.state = State::Idle;
        let refused = how == End::Completed && self.core.kind() == Kind::Full;
        if let Some(session) = self.core.reset() {
            shared.sessions.give_back(session, !refused);
        }
        (self.confirmed, self.idle) = (false, 0);
        self.joiner.clear();
    }
}

impl LeanClient {
    fn start(&mut self, shared: &mut LeanShared, plan: Plan, now: Nanos) -> Result<(), FaultName> {
        let core = &mut self.core;
        core.server_name = plan.name;
        shared.entropy.fill(&mut core.random)?;
        core.session = shared.sessions.take(plan.kind, plan.name, now);
        core.session_id = match &core.session {
            Some(session) if session.form == SessionForm::Id => SessionId::new(&session.name).ok_or(FaultName::Crypto)?,
            // RFC 5077 §3.4: a fresh one, whose echo says that the ticket was accepted.
            Some(session) if session.form == SessionForm::Ticket12 => {
                let mut bytes = [0; 32];
                shared.entropy.fill(&mut bytes)?;
                SessionId::new(&bytes).ok_or(FaultName::Crypto)?
            }
            _ => SessionId::default(),
        };
        let version = shared.options.version;
        let name = shared.names.get(plan.name).ok_or(FaultName::NothingToOffer)?;
        core.group = name.groups.first().copied();
        if shared.keys.is_fresh() && version == Version::Tls13 {
            core.own = core.group.map(KeyPair::generate).transpose()?;
        }
        let fresh = Fresh {
            random: &core.random,
            session_id: core.session_id.as_bytes(),
            share: core.own.as_ref().map(KeyPair::public),
            session: core.session.as_ref(),
            asks_ticket: version == Version::Tls12 && plan.kind != Kind::Id,
            now,
        };
        name.hello.write(&fresh, &shared.schedule, &mut core.hello)?;
        self.version = Some(version);
        self.state = State::ExpectServerHello;
        Ok(())
    }

    /// Whether application data may be sent: the server's Finished has verified.
    fn is_traffic(&self) -> bool {
        matches!(&self.state, State::Tls13(tls13::State::Connected(_)) | State::Tls12(tls12::State::Connected))
    }

    fn take_record<'r>(
        &mut self,
        shared: &mut LeanShared,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, FaultName> {
        let outer = ContentType(record.first().copied().unwrap_or_default());
        let fragment = record.get_mut(HEADER_LEN..).ok_or(FaultName::Malformed)?;
        let is_traffic = self.is_traffic();
        if outer == ContentType::CHANGE_CIPHER_SPEC {
            return self.take_change_cipher_spec(fragment, is_traffic);
        }
        let is_tls13 = self.version == Some(Version::Tls13);
        let (inner, content) = match &mut self.core.opener {
            // RFC 8446 §5: all else is protected now, but for the alert of a server that cannot use its keys yet.
            Some(opener) if is_tls13 && outer != ContentType::APPLICATION_DATA => {
                if is_traffic || outer != ContentType::ALERT || !opener.is_unused() || fragment.len() != 2 {
                    return Err(FaultName::PeerMisbehaved);
                }
                (outer, fragment)
            }
            Some(opener) => opener.open(outer, fragment)?,
            None => (outer, fragment),
        };
        let content: &'r [u8] = content;
        if content.len() > MAX_PLAINTEXT {
            return Err(FaultName::TooLarge);
        }
        // CONTRACT of a TLS 1.3 handshake: done once a record under the server's application keys has decrypted.
        self.confirmed |= is_traffic;
        match inner {
            ContentType::HANDSHAKE if content.is_empty() => Err(FaultName::PeerMisbehaved),
            ContentType::HANDSHAKE => self.take_messages(shared, now, content, out),
            // An alert that ends the connection is worth more than where it stands.
            ContentType::ALERT => self.take_alert(content, is_traffic).and_then(|heard| match heard {
                // RFC 8446 §5.1: no other record stands between the fragments of a message.
                EndpointEvent::Nothing if !self.joiner.is_empty() => Err(FaultName::PeerMisbehaved),
                heard => Ok(heard),
            }),
            ContentType::APPLICATION_DATA if is_traffic && self.joiner.is_empty() => {
                if content.is_empty() {
                    self.count_idle()?;
                } else {
                    self.idle = 0;
                }
                Ok(EndpointEvent::Data(content))
            }
            _ => Err(FaultName::PeerMisbehaved),
        }
    }

    fn take_change_cipher_spec(&mut self, fragment: &[u8], is_traffic: bool) -> Result<EndpointEvent<'static>, FaultName> {
        // A second one of TLS 1.2 would be protected.
        let has_come = self.core.opener.is_some() && self.version == Some(Version::Tls12);
        if has_come || !self.joiner.is_empty() {
            return Err(FaultName::PeerMisbehaved);
        }
        ChangeCipherSpec::parse(fragment).map_err(malformed)?;
        match &mut self.state {
            State::Tls12(state) => {
                self.core.opener = Some(state.take_server_protection()?);
                Ok(EndpointEvent::Nothing)
            }
            // RFC 8446 §5: dropped, wherever it comes before the server's Finished, and nowhere else.
            State::Tls13(_) | State::ExpectServerHello if !is_traffic && self.version == Some(Version::Tls13) => {
                self.count_idle()
            }
            _ => Err(FaultName::PeerMisbehaved),
        }
    }

    fn take_alert(&mut self, content: &[u8], is_traffic: bool) -> Result<EndpointEvent<'static>, FaultName> {
        let alert = Alert::parse(content).map_err(malformed)?;
        match alert.description {
            AlertDescription::CLOSE_NOTIFY if is_traffic => Ok(EndpointEvent::Closed),
            AlertDescription::CLOSE_NOTIFY => Err(FaultName::Alert(alert.description.0)),
            AlertDescription::USER_CANCELED => self.count_idle(),
            // RFC 5246 §7.2: a warning may be passed over. RFC 8446 §6: under TLS 1.3 there are no others.
            _ if alert.level == AlertLevel::WARNING && self.version == Some(Version::Tls12) => self.count_idle(),
            AlertDescription(number) => Err(FaultName::Alert(number)),
        }
    }

    /// One more record that changes nothing.
    fn count_idle(&mut self) -> Result<EndpointEvent<'static>, FaultName> {
        self.idle += 1;
        if self.idle > MAX_IDLE { Err(FaultName::TooMany) } else { Ok(EndpointEvent::Nothing) }
    }

    fn take_messages(
        &mut self,
        shared: &mut LeanShared,
        now: Nanos,
        fragment: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'static>, FaultName> {
        let mut heard = EndpointEvent::Nothing;
        let (whole, mut rest) = self.joiner.complete(fragment)?;
        if let Some(memory) = whole {
            if let Some((message, _)) = Handshake::parse(&memory).map_err(malformed)? {
                heard = self.take_message(shared, now, &message, rest.is_empty(), out)?;
            }
            self.joiner.take_back(memory);
        }
        while let Some((message, length)) = Handshake::parse(rest).map_err(malformed)? {
            rest = rest.get(length..).unwrap_or_default();
            if self.take_message(shared, now, &message, rest.is_empty(), out)? == EndpointEvent::Ready {
                heard = EndpointEvent::Ready;
            }
        }
        self.joiner.keep(rest)?;
        Ok(heard)
    }

    /// `last`: whether the message ends its record, as it must where keys change after it (RFC 8446 §5.1).
    fn take_message(
        &mut self,
        shared: &mut LeanShared,
        now: Nanos,
        message: &Handshake<'_>,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'static>, FaultName> {
        if message.msg_type == HandshakeType::HELLO_REQUEST && self.version == Some(Version::Tls12) {
            // RFC 5246 §7.4.1.1: a client may pass it over.
            return self.count_idle();
        }
        match std::mem::take(&mut self.state) {
            State::ExpectServerHello => {
                self.state = self.take_server_hello(shared, message, last)?;
                Ok(EndpointEvent::Nothing)
            }
            State::Tls13(state) => {
                let (state, heard) = state.handle(&mut self.core, shared, now, message, last, out)?;
                self.state = State::Tls13(state);
                Ok(heard)
            }
            State::Tls12(state) => {
                let (state, heard) = state.handle(&mut self.core, shared, now, message, out)?;
                // RFC 5246 §7.4.9: once the server's Finished has verified, there is nothing left to be shown.
                self.confirmed |= heard == EndpointEvent::Ready;
                self.state = State::Tls12(state);
                Ok(heard)
            }
            State::Idle => Err(FaultName::PeerMisbehaved),
        }
    }

    fn take_server_hello(
        &mut self,
        shared: &mut LeanShared,
        message: &Handshake<'_>,
        last: bool,
    ) -> Result<State, FaultName> {
        if message.msg_type != HandshakeType::SERVER_HELLO {
            return Err(FaultName::PeerMisbehaved);
        }
        let hello = ServerHello::parse(message.body).map_err(malformed)?;
        let core = &mut self.core;
        if hello.is_hello_retry_request() {
            let wanted = hello.extensions.and_then(|extensions| extensions.find(ExtensionType::KEY_SHARE));
            if let Some(share) = wanted {
                let share = KeyShareHelloRetryRequest::parse(share).map_err(malformed)?;
                shared.prefer(share.selected_group, core.server_name)?;
            }
            return Err(FaultName::HelloRetryRequest);
        }
        if hello.compression_method != 0 {
            return Err(FaultName::PeerMisbehaved);
        }
        let suite = suite::find(hello.cipher_suite).filter(|_| shared.options.cipher_suites.contains(&hello.cipher_suite));
        let suite = suite.ok_or(FaultName::PeerMisbehaved)?;
        core.suite = Some(suite);
        let mut transcript = digest::Context::new(digest_of(suite.hash));
        transcript.update(core.hello.get(HEADER_LEN..).unwrap_or_default());
        transcript.update(message.raw);
        match suite.version {
            Version::Tls13 if last => Ok(State::Tls13(tls13::State::begin(core, shared, &hello, suite, transcript)?)),
            Version::Tls13 => Err(FaultName::PeerMisbehaved),
            Version::Tls12 => Ok(State::Tls12(tls12::State::begin(core, shared, &hello, suite, transcript)?)),
        }
    }
}
