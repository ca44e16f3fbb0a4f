//! The server authenticates itself, and may ask the client to: CertificateRequest, Certificate, CertificateVerify (RFC
//! 9846 §4.4.2, §4.5.1, §4.5.2).

use reprise_model::{CertificateCompression, ClientAuthentication, Version};
use reprise_wire::extensions::{CertificateAuthorities, SignatureAlgorithms};
use reprise_wire::{
    CertificateRequestTls13, CertificateTls13, CertificateVerify, CompressedCertificate, ExtensionType, Handshake,
    HandshakeType,
};
use rustls_pki_types::CertificateDer;

use super::{ClientCertificate, ExpectFinished, Handshake13, signed_content};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::State;
use crate::handshake::checks::{Place, choose_scheme, expect, only_permitted, read, unexpected};
use crate::joiner::MAX_CERTIFICATE;
use crate::verify::{CertificateError, LeafKey};

pub(crate) struct ExpectCertificateOrRequest {
    pub(super) handshake: Handshake13,
}

impl ExpectCertificateOrRequest {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        if message.msg_type == HandshakeType::CERTIFICATE_REQUEST
            && matches!(self.handshake.client_certificate, ClientCertificate::NotRequested)
        {
            self.handshake.client_certificate = accept_request(core, message)?;
            self.handshake.handshaking.transcript.add(message.raw);
            return Ok(State::Tls13CertificateOrRequest(Box::new(self)));
        }
        let decompressed = match message.msg_type {
            HandshakeType::COMPRESSED_CERTIFICATE => Some(decompress(core, message)?),
            _ => None,
        };
        let certificate = match &decompressed {
            Some(body) => CertificateTls13::parse(body).map_err(Error::malformed("CompressedCertificate"))?,
            None => expect(message, HandshakeType::CERTIFICATE, CertificateTls13::parse)?,
        };
        if !certificate.context.is_empty() {
            return Err(Misbehaviour::IllegalValue("the context of its Certificate is not empty").into());
        }
        let mut chain = Vec::new();
        for entry in certificate.entries.iter() {
            only_permitted(core, entry.extensions, Place::Certificate)?;
            chain.push(CertificateDer::from(entry.cert_data));
        }
        if chain.is_empty() {
            return Err(CertificateError::Empty.into());
        }
        let key = core.judge_chain(&chain)?;
        self.handshake.handshaking.transcript.add(message.raw);
        Ok(State::Tls13CertificateVerify(Box::new(ExpectCertificateVerify { handshake: self.handshake, key })))
    }
}

/// The body of the Certificate that a CompressedCertificate holds (RFC 8879 §4).
fn decompress(core: &mut Core, message: &Handshake<'_>) -> Result<Vec<u8>, Error> {
    const NAME: &str = "CompressedCertificate";
    let certificate = CompressedCertificate::parse(message.body).map_err(Error::malformed(NAME))?;
    let offered = core.offered.has_compression(certificate.algorithm);
    let Some(decompressor) = core.config.decompressor.clone().filter(|_| offered) else {
        return Err(unexpected(message, "Certificate"));
    };
    let length = certificate.uncompressed_length as usize;
    if length > MAX_CERTIFICATE {
        return Err(Error::TooLarge { what: "decompressed certificate", limit: MAX_CERTIFICATE });
    }
    let body = decompressor.decompress(certificate.algorithm, certificate.compressed, length);
    // RFC 8879 §4: bad_certificate, which is the alert of what cannot be read.
    let body = body.ok_or(CertificateError::Unreadable)?;
    let bytes = [certificate.compressed.len(), length].map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    core.note(|facts| {
        facts.certificate_compression = Some(CertificateCompression {
            algorithm: certificate.algorithm.0,
            compressed: bytes[0],
            uncompressed: bytes[1],
        });
    });
    Ok(body)
}

fn accept_request(core: &mut Core, message: &Handshake<'_>) -> Result<ClientCertificate, Error> {
    let request = CertificateRequestTls13::parse(message.body).map_err(Error::malformed("CertificateRequest"))?;
    if !request.context.is_empty() {
        return Err(Misbehaviour::IllegalValue("the context of its CertificateRequest is not empty").into());
    }
    let extension = ExtensionType::SIGNATURE_ALGORITHMS;
    let accepted = read(request.extensions, extension, SignatureAlgorithms::parse)?
        .ok_or(Misbehaviour::MissingExtension { message: "CertificateRequest", extension })?;
    read(request.extensions, ExtensionType::CERTIFICATE_AUTHORITIES, CertificateAuthorities::parse)?;
    core.note(|facts| facts.client_authentication = ClientAuthentication::RequestedNoneSent);
    choose_scheme(core, Version::Tls13, |scheme| accepted.values.contains(scheme)).map(ClientCertificate::Requested)
}

pub(crate) struct ExpectCertificateVerify {
    pub(super) handshake: Handshake13,
    pub(super) key: Option<LeafKey>,
}

impl ExpectCertificateVerify {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let verify = expect(message, HandshakeType::CERTIFICATE_VERIFY, CertificateVerify::parse)?;
        let transcript = &mut self.handshake.handshaking.transcript;
        let signed = signed_content(b"TLS 1.3, server CertificateVerify", transcript.current().as_ref());
        core.judge_signature(Version::Tls13, self.key.as_ref(), verify.scheme, &signed, verify.signature)?;
        transcript.add(message.raw);
        Ok(State::Tls13Finished(Box::new(ExpectFinished { handshake: self.handshake })))
    }
}
