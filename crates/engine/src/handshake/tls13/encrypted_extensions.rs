//! EncryptedExtensions (RFC 9846 §4.4.1).

use reprise_model::{EarlyData, Kind};
use reprise_wire::extensions::{Empty, SupportedGroups, TicketRequestHint};
use reprise_wire::{EncryptedExtensions, ExtensionType, Extensions, Handshake, HandshakeType};

use super::{ClientCertificate, ExpectCertificateOrRequest, ExpectFinished, HandshakeKeys};
use crate::core::Core;
use crate::error::Error;
use crate::handshake::checks::{Place, accept_alpn, expect, only_permitted, read};
use crate::handshake::{Handshaking, State};
use crate::protection::Sealer;

pub(crate) struct ExpectEncryptedExtensions {
    pub(super) handshaking: Handshaking,
    pub(super) keys: HandshakeKeys,
    pub(super) resumed: bool,
}

impl ExpectEncryptedExtensions {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let body = expect(message, HandshakeType::ENCRYPTED_EXTENSIONS)?;
        let extensions = EncryptedExtensions::parse(body).map_err(Error::malformed("EncryptedExtensions"))?.extensions;
        only_permitted(core, extensions, Place::EncryptedExtensions)?;
        read(extensions, ExtensionType::SERVER_NAME, Empty::parse)?;
        // What the server would have preferred: for a later connection, and not to be acted on (RFC 9846 §4.3.7).
        read(extensions, ExtensionType::SUPPORTED_GROUPS, SupportedGroups::parse)?;
        accept_alpn(core, extensions)?;
        let hint = read(extensions, ExtensionType::TICKET_REQUEST, TicketRequestHint::parse)?;
        core.note(|facts| facts.tickets_promised = hint.map(|hint| hint.expected_count));
        self.settle_early_data(core, extensions)?;
        self.handshaking.transcript.add(message.raw);

        let Self { handshaking, keys, resumed } = self;
        let client_certificate = ClientCertificate::NotRequested;
        Ok(if resumed {
            State::Tls13Finished(Box::new(ExpectFinished { handshaking, keys, client_certificate }))
        } else {
            let next = ExpectCertificateOrRequest { handshaking, keys, client_certificate };
            State::Tls13CertificateOrRequest(Box::new(next))
        })
    }

    /// The server takes early data by echoing its extension, and skips it by not doing so (RFC 9846 §4.3.10).
    fn settle_early_data(&self, core: &mut Core, extensions: Extensions<'_>) -> Result<(), Error> {
        let suite = self.handshaking.suite;
        if read(extensions, ExtensionType::EARLY_DATA, Empty::parse)?.is_some() {
            core.early_data.accept(suite, core.protocol.as_deref())?;
            core.note(|facts| {
                facts.kind = Kind::Early;
                facts.early_data = Some(EarlyData::Accepted);
            });
        } else if core.early_data.is_unanswered() {
            core.reject_early_data();
            core.send_under(Sealer::tls13(suite, &self.keys.client)?);
        }
        Ok(())
    }
}
