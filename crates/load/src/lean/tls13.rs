//! TLS 1.3 after the ServerHello (RFC 8446 §4.3–4.6).

use reprise_engine::Secret as StoredSecret;
use reprise_engine::suite::Suite;
use reprise_model::{Kind, Nanos, Version};
use reprise_wire::extensions::{KeyShareServerHello, SelectedPsk, SelectedVersion};
use reprise_wire::{
    CertificateRequestTls13, ContentType, EncryptedExtensions, ExtensionType, Handshake, HandshakeType,
    NewSessionTicketTls13, ProtocolVersion, ServerHello,
};
use ring::digest;

use super::core::{Core, malformed};
use super::hkdf::Secret;
use super::record::Protection;
use super::session::{Session, SessionForm};
use super::shared::LeanShared;
use reprise_connection::EndpointEvent;
use reprise_model::FaultName;

/// Which message may come next.
pub(super) enum State {
    ExpectEncryptedExtensions(Flight),
    ExpectCertificateOrRequest(Flight),
    ExpectCertificateVerify(Flight),
    ExpectFinished(Flight),
    Connected(Connected),
}

/// While the server's first flight comes.
pub(super) struct Flight {
    suite: &'static Suite,
    transcript: digest::Context,
    handshake: Secret,
    client: Secret,
    server: Secret,
    /// The context of a CertificateRequest (RFC 8446 §4.3.2), empty in a handshake.
    certificate_requested: bool,
}

/// Once application data may be sent.
pub(super) struct Connected {
    /// From which the PSKs of tickets come; `None` where tickets are of no use.
    resumption: Option<Secret>,
}

impl State {
    pub(super) fn begin(
        core: &mut Core,
        shared: &LeanShared,
        hello: &ServerHello<'_>,
        suite: &'static Suite,
        transcript: digest::Context,
    ) -> Result<Self, FaultName> {
        let extensions = hello.extensions.ok_or(FaultName::PeerMisbehaved)?;
        let selected = extensions.find(ExtensionType::SUPPORTED_VERSIONS).ok_or(FaultName::PeerMisbehaved)?;
        if SelectedVersion::parse(selected).map_err(malformed)?.selected_version != ProtocolVersion::TLS_1_3 {
            return Err(FaultName::OtherVersion);
        }
        if shared.options.version != Version::Tls13 || hello.session_id != core.session_id.as_bytes() {
            return Err(FaultName::PeerMisbehaved);
        }
        let psk = match extensions.find(ExtensionType::PRE_SHARED_KEY) {
            None => None,
            Some(selected) => {
                let session = core.session.as_ref().ok_or(FaultName::PeerMisbehaved)?;
                // RFC 8446 §4.2.11: the hash of the PSK's suite, and one of the identities that were offered.
                if SelectedPsk::parse(selected).map_err(malformed)?.selected_identity != 0
                    || session.suite.hash != suite.hash
                {
                    return Err(FaultName::PeerMisbehaved);
                }
                core.resumed = Some(Kind::Ticket);
                Some(session.secret.as_ref())
            }
        };
        // psk_ke is not offered, so there is a share always.
        let share = extensions.find(ExtensionType::KEY_SHARE).ok_or(FaultName::PeerMisbehaved)?;
        let share = KeyShareServerHello::parse(share).map_err(malformed)?.server_share;
        if core.group != Some(share.group) {
            return Err(FaultName::PeerMisbehaved);
        }
        let secret = shared.keys.agree(share.group, core.own.as_ref(), share.key_exchange)?;
        let handshake = shared.schedule.handshake(suite.hash, psk, secret.as_bytes());
        let so_far = transcript.clone().finish();
        let client = Secret::new(suite.hash, handshake.derive(b"c hs traffic", so_far.as_ref()).as_ref());
        let server = Secret::new(suite.hash, handshake.derive(b"s hs traffic", so_far.as_ref()).as_ref());
        core.opener = Some(Protection::tls13(suite, &server)?);
        let flight = Flight { suite, transcript, handshake, client, server, certificate_requested: false };
        Ok(Self::ExpectEncryptedExtensions(flight))
    }

    pub(super) fn handle(
        self,
        core: &mut Core,
        shared: &mut LeanShared,
        now: Nanos,
        message: &Handshake<'_>,
        last: bool,
        out: &mut Vec<u8>,
    ) -> Result<(Self, EndpointEvent<'static>), FaultName> {
        match (self, message.msg_type) {
            (Self::ExpectEncryptedExtensions(mut flight), HandshakeType::ENCRYPTED_EXTENSIONS) => {
                let extensions = EncryptedExtensions::parse(message.body).map_err(malformed)?.extensions;
                core.accept_alpn(&shared.options.alpn, extensions)?;
                flight.transcript.update(message.raw);
                let next = match core.kind() {
                    Kind::Full => Self::ExpectCertificateOrRequest(flight),
                    _ => Self::ExpectFinished(flight),
                };
                Ok((next, EndpointEvent::Nothing))
            }
            (Self::ExpectCertificateOrRequest(mut flight), HandshakeType::CERTIFICATE_REQUEST)
                if !flight.certificate_requested =>
            {
                CertificateRequestTls13::parse(message.body).map_err(malformed)?;
                flight.transcript.update(message.raw);
                flight.certificate_requested = true;
                Ok((Self::ExpectCertificateOrRequest(flight), EndpointEvent::Nothing))
            }
            (Self::ExpectCertificateOrRequest(mut flight), HandshakeType::CERTIFICATE) => {
                flight.transcript.update(message.raw);
                Ok((Self::ExpectCertificateVerify(flight), EndpointEvent::Nothing))
            }
            (Self::ExpectCertificateVerify(mut flight), HandshakeType::CERTIFICATE_VERIFY) => {
                flight.transcript.update(message.raw);
                Ok((Self::ExpectFinished(flight), EndpointEvent::Nothing))
            }
            (Self::ExpectFinished(flight), HandshakeType::FINISHED) if last => {
                Ok((flight.finish(core, shared, message, out)?, EndpointEvent::Ready))
            }
            (Self::Connected(traffic), HandshakeType::NEW_SESSION_TICKET) => {
                traffic.keep_ticket(core, shared, now, message)?;
                Ok((Self::Connected(traffic), EndpointEvent::Nothing))
            }
            // A server that rekeys has been sent more than a load sends.
            (Self::Connected(_), HandshakeType::KEY_UPDATE) => Err(FaultName::Unspoken),
            _ => Err(FaultName::PeerMisbehaved),
        }
    }
}

impl Flight {
    /// Verifies the server's Finished, and answers with the client's (RFC 8446 §4.4.4).
    fn finish(
        mut self,
        core: &mut Core,
        shared: &LeanShared,
        message: &Handshake<'_>,
        out: &mut Vec<u8>,
    ) -> Result<State, FaultName> {
        let hash = self.suite.hash;
        let expected = self.server.finished(hash, self.transcript.clone().finish().as_ref());
        if message.body != expected.as_ref() {
            return Err(FaultName::BadFinished);
        }
        self.transcript.update(message.raw);
        let master = shared.schedule.master(hash, &self.handshake);
        let so_far = self.transcript.clone().finish();
        let traffic = |label| Secret::new(hash, master.derive(label, so_far.as_ref()).as_ref());

        let mut sealer = Protection::tls13(self.suite, &self.client)?;
        if self.certificate_requested {
            // RFC 8446 §4.4.2: who has none to show sends an empty list.
            let certificate = [HandshakeType::CERTIFICATE.0, 0, 0, 4, 0, 0, 0, 0];
            self.transcript.update(&certificate);
            sealer.seal(ContentType::HANDSHAKE, &certificate, out)?;
        }
        let verify_data = self.client.finished(hash, self.transcript.clone().finish().as_ref());
        let mut finished = [0; 4 + 48];
        let length = 4 + hash.output_len();
        let finished = finished.get_mut(..length).ok_or(FaultName::Crypto)?;
        finished[..4].copy_from_slice(&[HandshakeType::FINISHED.0, 0, 0, hash.output_len() as u8]);
        finished[4..].copy_from_slice(verify_data.as_ref());
        sealer.seal(ContentType::HANDSHAKE, finished, out)?;

        core.opener = Some(Protection::tls13(self.suite, &traffic(b"s ap traffic"))?);
        core.sealer = Some(Protection::tls13(self.suite, &traffic(b"c ap traffic"))?);
        let resumption = shared.sessions.wants_tickets().then(|| {
            self.transcript.update(finished);
            Secret::new(hash, master.derive(b"res master", self.transcript.finish().as_ref()).as_ref())
        });
        Ok(State::Connected(Connected { resumption }))
    }
}

impl Connected {
    fn keep_ticket(
        &self,
        core: &mut Core,
        shared: &mut LeanShared,
        now: Nanos,
        message: &Handshake<'_>,
    ) -> Result<(), FaultName> {
        let ticket = NewSessionTicketTls13::parse(message.body).map_err(malformed)?;
        core.tickets = core.tickets.saturating_add(1);
        let (Some(resumption), Some(suite)) = (&self.resumption, core.suite) else { return Ok(()) };
        let psk = resumption.expand(b"resumption", ticket.nonce, suite.hash.output_len());
        let Some(secret) = StoredSecret::new(psk.as_ref()) else { return Ok(()) };
        let name = shared.sessions.remember(ticket.ticket, core.server_name);
        shared.sessions.keep(Session {
            form: SessionForm::Ticket13,
            suite,
            secret,
            extended_master_secret: true,
            name,
            server_name: core.server_name,
            age_add: ticket.age_add,
            lifetime: ticket.lifetime,
            received_at: now,
        });
        Ok(())
    }
}
