//! The server authenticates itself and may ask the client to: Certificate, ServerKeyExchange, CertificateRequest,
//! ServerHelloDone (RFC 5246 §7.4.2 to §7.4.5, RFC 8422 §5.4).

use reprise_model::{ClientAuthentication, PeerKey, Version, key_share_ending};
use reprise_wire::{
    CertificateRequestTls12, CertificateTls12, ExtensionType, Handshake, HandshakeType, ServerHelloDone,
    ServerKeyExchangeEcdhe, SignatureScheme,
};
use rustls_pki_types::CertificateDer;

use super::Handshake12;
use super::client_flight::{self, ExchangeKey};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::State;
use crate::handshake::checks::{check_group, choose_scheme, expect};
use crate::hello_form::is_of_tls12;
use crate::joiner::Message;
use crate::suite::{Authentication, KeyExchange};
use crate::verify::{CertificateError, LeafKey, curve, subject_public_key_info};

pub(crate) struct ExpectCertificate {
    pub(super) handshake: Handshake12,
}

impl ExpectCertificate {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let certificate = expect(message, HandshakeType::CERTIFICATE, CertificateTls12::parse)?;
        let chain: Vec<_> = certificate.iter().map(CertificateDer::from).collect();
        if chain.is_empty() {
            return Err(CertificateError::Empty.into());
        }
        let key = core.judge_chain(&chain)?;
        let suite = self.handshake.handshaking.suite;
        if key.as_ref().is_some_and(|key| !fits(key.kind, suite.authentication)) {
            return Err(Misbehaviour::UnfitCertificate.into());
        }
        // RFC 8422 §5.3: under TLS 1.2 supported_groups speaks of certificates too.
        let curve = key.as_ref().and_then(|key| curve(key.kind)).filter(|&curve| !core.offered.has_group(curve));
        if let Some(curve) = curve {
            core.complain(Misbehaviour::UnofferedGroup(curve))?;
        }
        self.handshake.handshaking.transcript.add(message.raw);

        let handshake = self.handshake;
        match suite.key_exchange {
            KeyExchange::Rsa => {
                if key.as_ref().is_some_and(|key| !key.may_encipher) {
                    core.complain(Misbehaviour::KeyUsage("encipher keys"))?;
                }
                // Where certificates are not checked, nobody has read the key so far.
                let spki = key.map(|key| key.spki).or_else(|| subject_public_key_info(chain.first()?));
                let peer_key = ExchangeKey::Rsa { spki: spki.ok_or(CertificateError::Unreadable)? };
                Ok(State::Tls12RequestOrDone(Box::new(ExpectRequestOrDone { handshake, peer_key, request: None })))
            }
            _ => Ok(State::Tls12ServerKeyExchange(Box::new(ExpectServerKeyExchange { handshake, key }))),
        }
    }
}

pub(crate) struct ExpectServerKeyExchange {
    pub(super) handshake: Handshake12,
    pub(super) key: Option<LeafKey>,
}

impl ExpectServerKeyExchange {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        if is_status(core, message)? {
            self.handshake.handshaking.transcript.add(message.raw);
            return Ok(State::Tls12ServerKeyExchange(Box::new(self)));
        }
        let exchange = expect(message, HandshakeType::SERVER_KEY_EXCHANGE, ServerKeyExchangeEcdhe::parse)?;
        check_group(core, exchange.group)?;
        if !is_of_tls12(exchange.group) {
            return Err(Misbehaviour::UnofferedGroup(exchange.group).into());
        }

        // RFC 8422 §5.4: both randoms and the parameters are signed.
        let handshaking = &mut self.handshake.handshaking;
        let signed = [&handshaking.client_random[..], &self.handshake.server_random, exchange.params_raw].concat();
        core.judge_signature(Version::Tls12, self.key.as_ref(), exchange.scheme, &signed, exchange.signature)?;
        core.note(|facts| {
            (facts.group, facts.key_share) = (Some(exchange.group.0), key_share_ending(exchange.public));
        });
        handshaking.transcript.add(message.raw);

        let peer_key = ExchangeKey::Ecdhe { group: exchange.group, public: exchange.public.to_vec() };
        Ok(State::Tls12RequestOrDone(Box::new(ExpectRequestOrDone { handshake: self.handshake, peer_key, request: None })))
    }
}

pub(crate) struct ExpectRequestOrDone {
    pub(super) handshake: Handshake12,
    pub(super) peer_key: ExchangeKey,
    /// Whether a certificate was asked for, and the scheme in which to sign.
    pub(super) request: Option<Option<SignatureScheme>>,
}

impl ExpectRequestOrDone {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Message<'_>) -> Result<State, Error> {
        if matches!(self.peer_key, ExchangeKey::Rsa { .. }) && self.request.is_none() && is_status(core, message)? {
            self.handshake.handshaking.transcript.add(message.raw);
            return Ok(State::Tls12RequestOrDone(Box::new(self)));
        }
        if message.msg_type == HandshakeType::CERTIFICATE_REQUEST && self.request.is_none() {
            let request = CertificateRequestTls12::parse(message.body).map_err(Error::malformed("CertificateRequest"))?;
            core.note(|facts| facts.client_authentication = ClientAuthentication::RequestedNoneSent);
            let accepted = |scheme| {
                request.signature_schemes.contains(scheme) && request.certificate_types.contains(&certificate_type(scheme))
            };
            self.request = Some(choose_scheme(core, Version::Tls12, accepted)?);
            self.handshake.handshaking.transcript.add(message.raw);
            return Ok(State::Tls12RequestOrDone(Box::new(self)));
        }
        expect(message, HandshakeType::SERVER_HELLO_DONE, ServerHelloDone::parse)?;
        message.ends_record()?;
        self.handshake.handshaking.transcript.add(message.raw);
        client_flight::send(core, self.handshake, self.peer_key, self.request)
    }
}

/// Whether a message is the OCSP response behind the certificates, which another client's form asks for (RFC 6066 §8). Nobody here
/// reads it.
fn is_status(core: &mut Core, message: &Handshake<'_>) -> Result<bool, Error> {
    let asked = [ExtensionType::STATUS_REQUEST, ExtensionType::STATUS_REQUEST_V2];
    if message.msg_type != HandshakeType::CERTIFICATE_STATUS || !asked.iter().any(|it| core.offered.has_extension(*it)) {
        return Ok(false);
    }
    core.count_idle("CertificateStatus")?;
    Ok(true)
}

/// The ClientCertificateType of a certificate whose key signs in this scheme (RFC 5246 §7.4.4, RFC 8422 §5.5).
fn certificate_type(scheme: SignatureScheme) -> u8 {
    const RSA_SIGN: u8 = 1;
    const ECDSA_SIGN: u8 = 64;
    match scheme {
        SignatureScheme::ED25519 | SignatureScheme::ED448 => ECDSA_SIGN,
        // SignatureAlgorithm ecdsa(3) in the second byte.
        SignatureScheme(other) if other & 0xff == 3 => ECDSA_SIGN,
        _ => RSA_SIGN,
    }
}

/// Whether a certificate with such a key goes with a suite (RFC 5246 §7.4.2, RFC 8422 §2.1 and §5.1.1).
fn fits(key: PeerKey, authentication: Authentication) -> bool {
    match key {
        PeerKey::Rsa { .. } => authentication == Authentication::Rsa,
        PeerKey::P256 | PeerKey::P384 | PeerKey::P521 | PeerKey::Ed25519 | PeerKey::Ed448 => {
            authentication == Authentication::Ecdsa
        }
        // It may sign and not encrypt, and its schemes are not offered.
        PeerKey::RsaPss => false,
        PeerKey::Unknown => true,
    }
}
