//! EncryptedExtensions (RFC 9846 §4.4.1).

use reprise_model::{EarlyData, Kind, Version};
use reprise_wire::extensions::{Empty, SupportedGroups, TicketRequestHint};
use reprise_wire::{EncryptedExtensions, ExtensionType, Extensions, Handshake, HandshakeType};

use super::{ExpectCertificateOrRequest, ExpectFinished, Handshake13};
use crate::core::Core;
use crate::error::Error;
use crate::handshake::State;
use crate::handshake::checks::{Place, accept_alpn, accept_record_size, expect, only_permitted, read};
use crate::protection::Sealer;

pub(crate) struct ExpectEncryptedExtensions {
    pub(super) handshake: Handshake13,
    pub(super) resumed: bool,
}

impl ExpectEncryptedExtensions {
    pub(crate) fn handle(mut self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let extensions = expect(message, HandshakeType::ENCRYPTED_EXTENSIONS, EncryptedExtensions::parse)?.extensions;
        only_permitted(core, extensions, Place::EncryptedExtensions)?;
        read(extensions, ExtensionType::SERVER_NAME, Empty::parse)?;
        // What the server would have preferred: for a later connection, and not to be acted on (RFC 9846 §4.3.7).
        read(extensions, ExtensionType::SUPPORTED_GROUPS, SupportedGroups::parse)?;
        accept_alpn(core, extensions)?;
        accept_record_size(core, extensions, Version::Tls13)?;
        let hint = read(extensions, ExtensionType::TICKET_REQUEST, TicketRequestHint::parse)?;
        core.note(|facts| facts.tickets_promised = hint.map(|hint| hint.expected_count));
        self.settle_early_data(core, extensions)?;
        self.handshake.handshaking.transcript.add(message.raw);

        let Self { handshake, resumed } = self;
        Ok(if resumed {
            State::Tls13Finished(Box::new(ExpectFinished { handshake }))
        } else {
            State::Tls13CertificateOrRequest(Box::new(ExpectCertificateOrRequest { handshake }))
        })
    }

    /// The server takes early data by echoing its extension, and skips it by not doing so (RFC 9846 §4.3.10).
    fn settle_early_data(&self, core: &mut Core, extensions: Extensions<'_>) -> Result<(), Error> {
        let suite = self.handshake.handshaking.suite;
        if read(extensions, ExtensionType::EARLY_DATA, Empty::parse)?.is_some() {
            core.early_data.accept(suite, core.protocol.as_deref())?;
            core.note(|facts| {
                facts.kind = Kind::Early;
                facts.early_data = Some(EarlyData::Accepted);
            });
        } else if core.early_data.is_unanswered() {
            core.reject_early_data();
            core.send_under(Sealer::tls13(suite, &self.handshake.keys.client)?);
        }
        Ok(())
    }
}
