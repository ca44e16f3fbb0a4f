//! TLS 1.2 after the ServerHello (RFC 5246 §7.3, RFC 5077, RFC 7627).

use reprise_engine::Secret as StoredSecret;
use reprise_engine::suite::{KeyExchange, Suite};
use reprise_model::{Kind, Nanos, Version};
use reprise_wire::{
    CertificateTls12, ContentType, ExtensionType, Handshake, HandshakeType, NewSessionTicketTls12, ProtocolVersion,
    ServerHello, ServerKeyExchangeEcdhe, codec, frame,
};
use ring::digest;

use super::core::{Core, SessionId, malformed};
use super::key_exchange::{KeyPair, SharedSecret};
use super::record::Protection;
use super::schedule12::{MasterSecret, Side};
use super::session::{Session, SessionForm};
use super::shared::LeanShared;
use reprise_connection::EndpointEvent;
use reprise_model::FaultName;

/// Which message may come next.
#[expect(clippy::large_enum_variant, reason = "kept in place: a box would be an allocation for each handshake")]
pub(super) enum State {
    ExpectCertificate(Flight),
    ExpectKeyExchange(Flight),
    ExpectRequestOrDone(Flight, Premaster),
    /// Its ChangeCipherSpec, after a ticket if it has announced one; then its Finished.
    ExpectFinished(LastFlights),
    Connected,
}

/// While the server's first flight of a full handshake comes.
pub(super) struct Flight {
    suite: &'static Suite,
    transcript: digest::Context,
    server_random: [u8; 32],
    extended_master_secret: bool,
    ticket_announced: bool,
    session_id: SessionId,
    certificate_requested: bool,
}

/// What the master secret is made from.
pub(super) enum Premaster {
    Ecdhe {
        secret: SharedSecret,
        group: reprise_wire::NamedGroup,
    },
    /// The place among the thread's encrypted premasters.
    Rsa(usize),
}

/// Once the keys are there.
pub(super) struct LastFlights {
    suite: &'static Suite,
    transcript: digest::Context,
    master: MasterSecret,
    extended_master_secret: bool,
    ticket_announced: bool,
    ticket: Option<(Vec<u8>, u32)>,
    session_id: SessionId,
    resumed: bool,
    server: Option<Protection>,
}

impl State {
    pub(super) fn begin(
        core: &mut Core,
        shared: &LeanShared,
        hello: &ServerHello<'_>,
        suite: &'static Suite,
        transcript: digest::Context,
    ) -> Result<Self, FaultName> {
        if shared.options.version != Version::Tls12 {
            return Err(FaultName::PeerMisbehaved);
        }
        if hello.legacy_version != ProtocolVersion::TLS_1_2 {
            return Err(FaultName::Unspoken);
        }
        let has = |extension| hello.extensions.is_some_and(|extensions| extensions.contains(extension));
        if let Some(extensions) = hello.extensions {
            core.accept_alpn(&shared.options.alpn, extensions)?;
        }
        let extended_master_secret = has(ExtensionType::EXTENDED_MASTER_SECRET);
        let ticket_announced = has(ExtensionType::SESSION_TICKET);
        let session_id = SessionId::new(hello.session_id).ok_or(FaultName::PeerMisbehaved)?;
        // RFC 5246 §7.4.1.3, RFC 5077 §3.4: the echo says that the session is resumed.
        let echoed = !hello.session_id.is_empty() && hello.session_id == core.session_id.as_bytes();
        match core.session.as_ref().filter(|_| echoed) {
            None => Ok(Self::ExpectCertificate(Flight {
                suite,
                transcript,
                server_random: *hello.random,
                extended_master_secret,
                ticket_announced,
                session_id,
                certificate_requested: false,
            })),
            Some(session) => {
                // RFC 7627 §5.3: both handshakes with it, or neither.
                if session.suite.id != suite.id || session.extended_master_secret != extended_master_secret {
                    return Err(FaultName::PeerMisbehaved);
                }
                core.resumed = Some(if session.form == SessionForm::Id { Kind::Id } else { Kind::Ticket });
                let master = MasterSecret::from_bytes(session.secret.as_ref()).ok_or(FaultName::Crypto)?;
                let (client, server) = master.protections(suite, &core.random, hello.random)?;
                core.sealer = Some(client);
                Ok(Self::ExpectFinished(LastFlights {
                    suite,
                    transcript,
                    master,
                    extended_master_secret,
                    ticket_announced,
                    ticket: None,
                    session_id,
                    resumed: true,
                    server: Some(server),
                }))
            }
        }
    }

    /// The server's ChangeCipherSpec: its records are protected from here on.
    pub(super) fn take_server_protection(&mut self) -> Result<Protection, FaultName> {
        match self {
            Self::ExpectFinished(flights) if !flights.ticket_announced || flights.ticket.is_some() => {
                flights.server.take().ok_or(FaultName::PeerMisbehaved)
            }
            _ => Err(FaultName::PeerMisbehaved),
        }
    }

    pub(super) fn handle(
        self,
        core: &mut Core,
        shared: &mut LeanShared,
        now: Nanos,
        message: &Handshake<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(Self, EndpointEvent<'static>), FaultName> {
        match (self, message.msg_type) {
            (Self::ExpectCertificate(mut flight), HandshakeType::CERTIFICATE) => {
                flight.transcript.update(message.raw);
                let next = match flight.suite.key_exchange {
                    KeyExchange::Rsa => {
                        let certificates = CertificateTls12::parse(message.body).map_err(malformed)?;
                        let leaf = certificates.iter().next().ok_or(FaultName::PeerMisbehaved)?;
                        let place = shared.premasters.for_certificate(leaf)?;
                        Self::ExpectRequestOrDone(flight, Premaster::Rsa(place))
                    }
                    _ => Self::ExpectKeyExchange(flight),
                };
                Ok((next, EndpointEvent::Nothing))
            }
            (Self::ExpectKeyExchange(mut flight), HandshakeType::SERVER_KEY_EXCHANGE) => {
                flight.transcript.update(message.raw);
                let exchange = ServerKeyExchangeEcdhe::parse(message.body).map_err(malformed)?;
                if !shared.options.groups.contains(&exchange.group) {
                    return Err(FaultName::PeerMisbehaved);
                }
                if shared.keys.is_fresh() {
                    core.own = Some(KeyPair::generate(exchange.group)?);
                }
                let secret = shared.keys.agree(exchange.group, core.own.as_ref(), exchange.public)?;
                let premaster = Premaster::Ecdhe { secret, group: exchange.group };
                Ok((Self::ExpectRequestOrDone(flight, premaster), EndpointEvent::Nothing))
            }
            (Self::ExpectRequestOrDone(mut flight, premaster), HandshakeType::CERTIFICATE_REQUEST) => {
                flight.transcript.update(message.raw);
                flight.certificate_requested = true;
                Ok((Self::ExpectRequestOrDone(flight, premaster), EndpointEvent::Nothing))
            }
            (Self::ExpectRequestOrDone(mut flight, premaster), HandshakeType::SERVER_HELLO_DONE) => {
                flight.transcript.update(message.raw);
                Ok((Self::ExpectFinished(flight.answer(core, shared, &premaster, out)?), EndpointEvent::Nothing))
            }
            (Self::ExpectFinished(mut flights), HandshakeType::NEW_SESSION_TICKET)
                if flights.ticket_announced && flights.ticket.is_none() && flights.server.is_some() =>
            {
                flights.transcript.update(message.raw);
                flights.hold_ticket(core, shared, message)?;
                Ok((Self::ExpectFinished(flights), EndpointEvent::Nothing))
            }
            (Self::ExpectFinished(flights), HandshakeType::FINISHED) if flights.server.is_none() => {
                flights.finish(core, shared, now, message, out)?;
                Ok((Self::Connected, EndpointEvent::Ready))
            }
            _ => Err(FaultName::PeerMisbehaved),
        }
    }
}

impl Flight {
    /// ClientKeyExchange, ChangeCipherSpec and Finished.
    fn answer(
        mut self,
        core: &mut Core,
        shared: &LeanShared,
        premaster: &Premaster,
        out: &mut Vec<u8>,
    ) -> Result<LastFlights, FaultName> {
        let record_at = out.len();
        out.extend_from_slice(&[ContentType::HANDSHAKE.0, 3, 3, 0, 0]);
        let messages_at = out.len();
        if self.certificate_requested {
            // RFC 5246 §7.4.6: who has none to show sends an empty list.
            out.extend_from_slice(&[HandshakeType::CERTIFICATE.0, 0, 0, 3, 0, 0, 0]);
        }
        let mut failed = Ok(());
        frame(out, HandshakeType::CLIENT_KEY_EXCHANGE, |out| match premaster {
            Premaster::Ecdhe { group, .. } => codec::vec8(out, |out| {
                failed = shared.keys.append_public(*group, core.own.as_ref(), out);
            }),
            Premaster::Rsa(place) => codec::vec16(out, |out| {
                out.extend_from_slice(shared.premasters.at(*place).map(|(_, encrypted)| encrypted).unwrap_or_default());
            }),
        });
        failed?;
        let messages = out.get(messages_at..).unwrap_or_default();
        self.transcript.update(messages);
        let length = u16::try_from(messages.len()).map_err(|_| FaultName::TooLarge)?.to_be_bytes();
        out.get_mut(record_at + 3..messages_at).ok_or(FaultName::Crypto)?.copy_from_slice(&length);

        let premaster = match premaster {
            Premaster::Ecdhe { secret, .. } => secret.as_bytes(),
            Premaster::Rsa(place) => {
                shared.premasters.at(*place).map(|(premaster, _)| &premaster[..]).ok_or(FaultName::Crypto)?
            }
        };
        let hash = self.suite.hash;
        let master = if self.extended_master_secret {
            MasterSecret::extended(hash, premaster, self.transcript.clone().finish().as_ref())
        } else {
            MasterSecret::plain(hash, premaster, &core.random, &self.server_random)
        };
        let (client, server) = master.protections(self.suite, &core.random, &self.server_random)?;
        core.sealer = Some(client);
        let mut flights = LastFlights {
            suite: self.suite,
            transcript: self.transcript,
            master,
            extended_master_secret: self.extended_master_secret,
            ticket_announced: self.ticket_announced,
            ticket: None,
            session_id: self.session_id,
            resumed: false,
            server: Some(server),
        };
        flights.send_finished(core, out)?;
        Ok(flights)
    }
}

impl LastFlights {
    fn send_finished(&mut self, core: &mut Core, out: &mut Vec<u8>) -> Result<(), FaultName> {
        out.extend_from_slice(&[ContentType::CHANGE_CIPHER_SPEC.0, 3, 3, 0, 1, 1]);
        let verify_data = self.master.finished(self.suite.hash, Side::Client, self.transcript.clone().finish().as_ref());
        let mut message = [0; 4 + 12];
        message[..4].copy_from_slice(&[HandshakeType::FINISHED.0, 0, 0, 12]);
        message[4..].copy_from_slice(&verify_data);
        self.transcript.update(&message);
        core.sealer.as_mut().ok_or(FaultName::Crypto)?.seal(ContentType::HANDSHAKE, &message, out)
    }

    /// The ticket counts once the Finished has verified.
    fn hold_ticket(&mut self, core: &Core, shared: &mut LeanShared, message: &Handshake<'_>) -> Result<(), FaultName> {
        let ticket = NewSessionTicketTls12::parse(message.body).map_err(malformed)?;
        let kept = if shared.sessions.wants_tickets() { ticket.ticket } else { &[] };
        self.ticket = Some((shared.sessions.remember(kept, core.server_name), ticket.lifetime_hint));
        Ok(())
    }

    fn finish(
        mut self,
        core: &mut Core,
        shared: &mut LeanShared,
        now: Nanos,
        message: &Handshake<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FaultName> {
        let expected = self.master.finished(self.suite.hash, Side::Server, self.transcript.clone().finish().as_ref());
        if message.body != expected {
            return Err(FaultName::BadFinished);
        }
        self.transcript.update(message.raw);
        if self.resumed {
            self.send_finished(core, out)?;
        }
        let Some(secret) = StoredSecret::new(self.master.as_bytes()) else { return Ok(()) };
        let (form, name, lifetime) = match self.ticket.take() {
            // RFC 5077 §3.3: an empty one is none.
            Some((ticket, lifetime)) if !ticket.is_empty() => (SessionForm::Ticket12, ticket, lifetime),
            other => {
                if let Some((memory, _)) = other {
                    shared.sessions.recycle(memory, core.server_name);
                }
                if self.resumed || self.session_id.as_bytes().is_empty() {
                    return Ok(());
                }
                (SessionForm::Id, shared.sessions.remember(self.session_id.as_bytes(), core.server_name), 0)
            }
        };
        shared.sessions.keep(Session {
            form,
            suite: self.suite,
            secret,
            extended_master_secret: self.extended_master_secret,
            name,
            server_name: core.server_name,
            age_add: 0,
            lifetime,
            received_at: now,
        });
        Ok(())
    }
}
