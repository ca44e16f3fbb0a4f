//! The ServerHello: where the versions part. A HelloRetryRequest is a ServerHello in disguise (RFC 8446 §4.1.4).

use reprise_trace::{Direction, Kind, PskMode, Version, What};
use reprise_wire::{ExtensionType, Extensions, Handshake, HandshakeType, NamedGroup, ProtocolVersion, Reader, ServerHello};

use super::{Handshaking, State, expect, only, tls12, tls13};
use crate::client_hello::{Hello, binder_start, offered_groups, offered_suites, wire_version};
use crate::core::Core;
use crate::error::{Error, Misbehaviour, Unspoken};
use crate::key_schedule::tls13::{BinderLabel, EarlySecret};
use crate::key_share::{EcdhKeyShare, KeyShare};
use crate::session::Offer;
use crate::suite::{self, Suite};
use crate::transcript::{Transcript, UnhashedTranscript, hash_of};

/// The ClientHello is sent; the server chooses.
pub(crate) struct ExpectServerHello {
    offer: Offer,
    client_random: [u8; 32],
    session_id: Vec<u8>,
    key_share: Option<Box<dyn KeyShare>>,
    /// The early secret of the offered PSK.
    early: Option<EarlySecret>,
    transcript: Hellos,
    /// What a HelloRetryRequest has fixed.
    retried: Option<Retry>,
}

/// The transcript: not hashed before the server has chosen a hash, and hashed from a HelloRetryRequest on.
enum Hellos {
    First(UnhashedTranscript),
    Second(Transcript),
}

struct Retry {
    suite: &'static Suite,
    group: Option<NamedGroup>,
}

impl ExpectServerHello {
    pub(crate) fn start(core: &mut Core, offer: Offer) -> Result<Self, Error> {
        let config = core.config.clone();
        let tls13 = config.versions.contains(&Version::Tls13);
        if config.versions.is_empty() {
            return Err(Error::NothingToOffer("no version"));
        }
        let mut client_random = [0; 32];
        config.entropy.fill(&mut client_random)?;
        let session_id = match &offer {
            Offer::SessionId(session) => session.session_id.clone(),
            // RFC 5077 §3.4: the echo of a fresh ID tells that the ticket was taken.
            Offer::SessionTicket(_) => random_session_id(core)?,
            // RFC 8446 §4.1.2: middlebox compatibility.
            _ if tls13 => random_session_id(core)?,
            _ => Vec::new(),
        };
        let key_share = match config.groups.first() {
            Some(&group) if tls13 => Some(config.key_shares.share(group)?),
            None if tls13 => return Err(Error::NothingToOffer("no group")),
            _ => None,
        };

        let mut state = Self {
            offer,
            client_random,
            session_id,
            key_share,
            early: None,
            transcript: Hellos::First(UnhashedTranscript::default()),
            retried: None,
        };
        state.send_hello(core, None)?;
        Ok(state)
    }

    /// Sends the first or the second ClientHello, its binder over all that went before.
    fn send_hello(&mut self, core: &mut Core, cookie: Option<&[u8]>) -> Result<(), Error> {
        let hello = Hello {
            random: &self.client_random,
            session_id: &self.session_id,
            key_share: self.key_share.as_deref(),
            cookie,
            offer: &self.offer,
            now: core.now,
        };
        let mut message = hello.emit(&core.config)?;
        if let Offer::Ticket(ticket) = &self.offer {
            let early = EarlySecret::new(ticket.suite.hash, Some(ticket.psk.as_ref()))?;
            let start = binder_start(&message, ticket);
            let (covered, binders) = message.split_at_mut(start);
            let transcript = match &self.transcript {
                Hellos::First(_) => hash_of(ticket.suite.hash, covered),
                Hellos::Second(transcript) => transcript.with(covered),
            };
            let binder = early.binder(BinderLabel::Resumption, transcript.as_ref())?;
            // Two bytes of the list's length, one of the binder's.
            binders.get_mut(3..).ok_or(Error::Crypto("binder"))?.copy_from_slice(binder.as_ref());
            self.early = Some(early);
        }
        match &mut self.transcript {
            Hellos::First(transcript) => transcript.add(&message),
            Hellos::Second(transcript) => transcript.add(&message),
        }
        core.send_handshake(&message)
    }

    pub(super) fn handle(self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let body = match expect(message, HandshakeType::SERVER_HELLO) {
            Ok(body) => body,
            Err(error) => {
                core.observe_message(Direction::Received, message.msg_type, message.raw.len());
                return Err(error);
            }
        };
        let hello = ServerHello::parse(body).map_err(Error::malformed("ServerHello"))?;
        if hello.is_hello_retry_request() {
            core.observe(Direction::Received, What::Handshake { message: "HelloRetryRequest".into() }, message.raw.len());
            return self.retry(core, message, &hello);
        }
        core.observe_message(Direction::Received, message.msg_type, message.raw.len());

        if hello.compression_method != 0 {
            return Err(Misbehaviour::Compression.into());
        }
        match self.chosen_version(core, &hello)? {
            Version::Tls13 => self.accept_tls13(core, message, &hello),
            Version::Tls12 => self.accept_tls12(core, message, &hello),
        }
    }

    fn chosen_version(&self, core: &Core, hello: &ServerHello<'_>) -> Result<Version, Error> {
        let selected = match hello.extensions.and_then(|extensions| extensions.find(ExtensionType::SUPPORTED_VERSIONS)) {
            Some(body) => parse_u16(body, "supported_versions").map(ProtocolVersion)?,
            None => hello.legacy_version,
        };
        let version = match selected {
            ProtocolVersion::TLS_1_3 => Version::Tls13,
            ProtocolVersion::TLS_1_2 => Version::Tls12,
            other => return Err(Error::Unspoken(Unspoken::Version(other))),
        };
        let via_extension = selected != hello.legacy_version;
        if !core.config.versions.contains(&version) || (version == Version::Tls13) != via_extension {
            return Err(Misbehaviour::UnofferedVersion(wire_version(version)).into());
        }
        if self.retried.is_some() && version == Version::Tls12 {
            return Err(Misbehaviour::ChangedAfterRetry("the version").into());
        }
        Ok(version)
    }

    fn chosen_suite(&self, core: &Core, hello: &ServerHello<'_>, version: Version) -> Result<&'static Suite, Error> {
        let id = hello.cipher_suite;
        if !offered_suites(&core.config, &self.offer).contains(&id) {
            return Err(Misbehaviour::UnofferedSuite(id).into());
        }
        let suite = suite::find(id).ok_or(Error::Unspoken(Unspoken::Suite(id)))?;
        if suite.version != version {
            return Err(Misbehaviour::UnofferedSuite(id).into());
        }
        if self.retried.as_ref().is_some_and(|retry| retry.suite != suite) {
            return Err(Misbehaviour::ChangedAfterRetry("the cipher suite").into());
        }
        Ok(suite)
    }

    // TLS 1.3.

    fn retry(mut self, core: &mut Core, message: &Handshake<'_>, hello: &ServerHello<'_>) -> Result<State, Error> {
        if self.retried.is_some() {
            return Err(Misbehaviour::IllegalRetry("it is the second").into());
        }
        let Hellos::First(first) = self.transcript else {
            return Err(Misbehaviour::IllegalRetry("it is the second").into());
        };
        self.transcript = Hellos::First(UnhashedTranscript::default());
        if self.chosen_version(core, hello)? != Version::Tls13 {
            return Err(Misbehaviour::IllegalRetry("it is not of TLS 1.3").into());
        }
        if hello.compression_method != 0 {
            return Err(Misbehaviour::Compression.into());
        }
        let suite = self.chosen_suite(core, hello, Version::Tls13)?;
        self.check_echo(hello)?;
        let extensions = hello.extensions.unwrap_or_default();
        only(extensions, |extension| {
            [ExtensionType::SUPPORTED_VERSIONS, ExtensionType::KEY_SHARE, ExtensionType::COOKIE].contains(&extension)
        })?;
        let group = match extensions.find(ExtensionType::KEY_SHARE) {
            Some(body) => Some(NamedGroup(parse_u16(body, "key_share")?)),
            None => None,
        };
        let cookie = match extensions.find(ExtensionType::COOKIE) {
            Some(body) => Some(parse_cookie(body)?),
            None => None,
        };
        if group.is_none() && cookie.is_none() {
            return Err(Misbehaviour::IllegalRetry("it asks for nothing").into());
        }
        if let Some(group) = group {
            self.check_group(core, group)?;
            if self.key_share.as_ref().is_some_and(|share| share.group() == group) {
                return Err(Misbehaviour::IllegalRetry("it asks for the group whose share it has").into());
            }
            self.key_share = Some(core.config.key_shares.share(group)?);
        }

        // A PSK whose hash is not the suite's cannot be used any more (RFC 8446 §4.1.4).
        if matches!(&self.offer, Offer::Ticket(ticket) if ticket.suite.hash != suite.hash) {
            self.offer = Offer::Full { session_ticket: false };
            self.early = None;
        }
        let mut transcript = first.hashed_by(suite.hash);
        transcript.replace_by_message_hash();
        transcript.add(message.raw);
        self.transcript = Hellos::Second(transcript);
        self.retried = Some(Retry { suite, group });
        core.send_change_cipher_spec()?;
        self.send_hello(core, cookie)?;
        Ok(State::ServerHello(Box::new(self)))
    }

    fn accept_tls13(mut self, core: &mut Core, message: &Handshake<'_>, hello: &ServerHello<'_>) -> Result<State, Error> {
        core.is_tls13 = Some(true);
        let suite = self.chosen_suite(core, hello, Version::Tls13)?;
        self.check_echo(hello)?;
        let extensions = hello.extensions.unwrap_or_default();
        let psk_offered = matches!(self.offer, Offer::Ticket(_));
        only(extensions, |extension| match extension {
            ExtensionType::SUPPORTED_VERSIONS | ExtensionType::KEY_SHARE => true,
            ExtensionType::PRE_SHARED_KEY => psk_offered,
            _ => false,
        })?;
        core.observe_choice(Version::Tls13, suite, psk_offered);
        core.note(|outcome| outcome.hello_retry_request = self.retried.is_some());

        let resumed = self.accept_psk(core, extensions, suite)?;
        let shared = self.agree(core, extensions)?;
        let early = match (resumed, self.early) {
            (true, Some(early)) => early,
            _ => EarlySecret::new(suite.hash, None)?,
        };
        let mut transcript = match self.transcript {
            Hellos::First(first) => first.hashed_by(suite.hash),
            Hellos::Second(transcript) => transcript,
        };
        transcript.forget_messages();
        transcript.add(message.raw);
        let handshaking = Handshaking { suite, transcript, client_random: self.client_random };
        tls13::begin(core, handshaking, early, &shared, resumed)
    }

    /// Whether the server took the PSK that was offered.
    fn accept_psk(&self, core: &mut Core, extensions: Extensions<'_>, suite: &Suite) -> Result<bool, Error> {
        let Some(body) = extensions.find(ExtensionType::PRE_SHARED_KEY) else { return Ok(false) };
        let index = parse_u16(body, "pre_shared_key")?;
        match &self.offer {
            Offer::Ticket(ticket) if index == 0 && ticket.suite.hash == suite.hash => {
                core.note(|outcome| {
                    outcome.kind = Kind::Ticket;
                    outcome.psk_mode = Some(PskMode::PskDheKe);
                });
                Ok(true)
            }
            _ => Err(Misbehaviour::IllegalPsk.into()),
        }
    }

    /// The (EC)DHE secret with the server's share.
    fn agree(&mut self, core: &mut Core, extensions: Extensions<'_>) -> Result<crate::key_share::SharedSecret, Error> {
        let missing = Misbehaviour::MissingExtension { message: "ServerHello", extension: ExtensionType::KEY_SHARE };
        let body = extensions.find(ExtensionType::KEY_SHARE).ok_or(missing)?;
        let mut reader = Reader::new(body);
        let malformed = || Error::malformed("key_share");
        let group = NamedGroup(reader.u16().map_err(malformed())?);
        let public = reader.vec16().map_err(malformed())?;
        reader.finish().map_err(malformed())?;

        let share = self.key_share.take().ok_or(missing)?;
        if group != share.group() {
            return Err(match &self.retried {
                Some(retry) if retry.group.is_some() => Misbehaviour::ChangedAfterRetry("the group"),
                _ => Misbehaviour::UnofferedGroup(group),
            }
            .into());
        }
        core.note(|outcome| outcome.group = Some(group.to_string()));
        share.agree(public)
    }

    fn check_group(&self, core: &Core, group: NamedGroup) -> Result<(), Error> {
        if !offered_groups(&core.config).contains(&group) {
            return Err(Misbehaviour::UnofferedGroup(group).into());
        }
        if !EcdhKeyShare::GROUPS.contains(&group) {
            return Err(Error::Unspoken(Unspoken::Group(group)));
        }
        Ok(())
    }

    fn check_echo(&self, hello: &ServerHello<'_>) -> Result<(), Error> {
        if hello.session_id == self.session_id { Ok(()) } else { Err(Misbehaviour::SessionIdNotEchoed.into()) }
    }

    // TLS 1.2.

    fn accept_tls12(self, core: &mut Core, message: &Handshake<'_>, hello: &ServerHello<'_>) -> Result<State, Error> {
        core.is_tls13 = Some(false);
        if core.config.versions.contains(&Version::Tls13) && hello.downgrade_sentinel().is_some() {
            return Err(Misbehaviour::Downgraded.into());
        }
        let suite = self.chosen_suite(core, hello, Version::Tls12)?;
        let Hellos::First(hellos) = self.transcript else {
            return Err(Misbehaviour::ChangedAfterRetry("the version").into());
        };
        let mut transcript = hellos.hashed_by(suite.hash);
        if core.config.identity.is_none() {
            transcript.forget_messages();
        }
        transcript.add(message.raw);
        let session_offered = matches!(self.offer, Offer::SessionId(_) | Offer::SessionTicket(_));
        core.observe_choice(Version::Tls12, suite, session_offered);
        let handshaking = Handshaking { suite, transcript, client_random: self.client_random };
        tls12::begin(core, handshaking, hello, self.offer, &self.session_id)
    }
}

fn random_session_id(core: &Core) -> Result<Vec<u8>, Error> {
    let mut session_id = vec![0; 32];
    core.config.entropy.fill(&mut session_id)?;
    Ok(session_id)
}

fn parse_u16(body: &[u8], extension: &'static str) -> Result<u16, Error> {
    let mut reader = Reader::new(body);
    let value = reader.u16().map_err(Error::malformed(extension))?;
    reader.finish().map_err(Error::malformed(extension))?;
    Ok(value)
}

fn parse_cookie(body: &[u8]) -> Result<&[u8], Error> {
    let mut reader = Reader::new(body);
    let cookie = reader.vec16().map_err(Error::malformed("cookie"))?;
    reader.finish().map_err(Error::malformed("cookie"))?;
    if cookie.is_empty() { Err(Misbehaviour::IllegalRetry("its cookie is empty").into()) } else { Ok(cookie) }
}
