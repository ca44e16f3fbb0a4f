//! EncryptedExtensions (RFC 8446 §4.3.1).

use reprise_wire::{EncryptedExtensions, ExtensionType, Handshake, HandshakeType};

use super::{ClientCertificate, ExpectCertificateOrRequest, ExpectFinished, HandshakeKeys};
use crate::core::Core;
use crate::error::Error;
use crate::handshake::{Handshaking, State, accept_alpn, expect, only};

pub(crate) struct ExpectEncryptedExtensions {
    pub(super) handshaking: Handshaking,
    pub(super) keys: HandshakeKeys,
    pub(super) resumed: bool,
}

impl ExpectEncryptedExtensions {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let body = expect(message, HandshakeType::ENCRYPTED_EXTENSIONS)?;
        let extensions = EncryptedExtensions::parse(body).map_err(Error::malformed("EncryptedExtensions"))?.extensions;
        let config = core.config.clone();
        only(extensions, |extension| match extension {
            ExtensionType::SERVER_NAME => config.sni.is_some(),
            ExtensionType::APPLICATION_LAYER_PROTOCOL_NEGOTIATION => !config.alpn.is_empty(),
            ExtensionType::SUPPORTED_GROUPS => true,
            _ => false,
        })?;
        accept_alpn(core, extensions)?;
        self.handshaking.transcript.add(message.raw);

        let Self { handshaking, keys, resumed } = self;
        Ok(if resumed {
            State::Tls13Finished(Box::new(ExpectFinished {
                handshaking,
                keys,
                client_certificate: ClientCertificate::NotRequested,
            }))
        } else {
            State::Tls13CertificateOrRequest(Box::new(ExpectCertificateOrRequest {
                handshaking,
                keys,
                client_certificate: ClientCertificate::NotRequested,
            }))
        })
    }
}
