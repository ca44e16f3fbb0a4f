//! The ServerHello, which decides the version.

use reprise_model::{Direction, Version};
use reprise_wire::extensions::SelectedVersion;
use reprise_wire::{ExtensionType, HandshakeType, ProtocolVersion, ServerHello};

use super::checks::{expect, read};
use super::first_flight::ExpectServerHello;
use super::{State, tls12, tls13};
use crate::core::Core;
use crate::error::{Error, Misbehaviour, Unspoken};
use crate::joiner::Message;

impl ExpectServerHello {
    pub(super) fn handle(self, core: &mut Core, message: &Message<'_>) -> Result<State, Error> {
        // A HelloRetryRequest is a ServerHello in disguise (RFC 9846 §4.2.4), and told by its true name.
        let hello = expect(message, HandshakeType::SERVER_HELLO, ServerHello::parse);
        match &hello {
            Ok(hello) if hello.is_hello_retry_request() => {
                core.observe_message_as("HelloRetryRequest".into(), Direction::Received, message);
            }
            _ => core.observe_message(Direction::Received, message),
        }
        let hello = hello?;

        if hello.compression_method != 0 {
            return Err(Misbehaviour::Compression.into());
        }
        let version = chosen_version(core, &hello);
        if hello.is_hello_retry_request() {
            return self.retry(core, message, &hello, version?);
        }
        // Whether or not the other version was offered: the server knows TLS 1.3, and has said so.
        if self.retried.is_some() && version != Ok(Version::Tls13) {
            return Err(Misbehaviour::ChangedAfterRetry("the version").into());
        }
        let version = version?;
        if version == Version::Tls12 && core.early_data.is_unanswered() {
            return Err(Misbehaviour::EarlyDataUnderTls12.into());
        }
        if !core.config.versions.contains(&version) {
            // In the form of a client that knows both, and not what this connection is made for.
            return Err(Error::OtherVersion(hello.legacy_version));
        }
        core.version = Some(version);
        match version {
            Version::Tls13 => tls13::accept(self, core, message, &hello),
            Version::Tls12 => tls12::accept(self, core, message, &hello),
        }
    }
}

/// RFC 9846 §4.2.3 and §4.3.1: TLS 1.3 is chosen in an extension and only there, any other version only in the old field.
fn chosen_version(core: &Core, hello: &ServerHello<'_>) -> Result<Version, Error> {
    let extensions = hello.extensions.unwrap_or_default();
    let selected = read(extensions, ExtensionType::SUPPORTED_VERSIONS, SelectedVersion::parse)?;
    let (chosen, version) = match selected.map(|selected| selected.selected_version) {
        Some(ProtocolVersion::TLS_1_3) if hello.legacy_version != ProtocolVersion::TLS_1_2 => {
            return Err(Misbehaviour::LegacyVersion.into());
        }
        Some(ProtocolVersion::TLS_1_3) => (ProtocolVersion::TLS_1_3, Version::Tls13),
        Some(other) => return Err(Misbehaviour::UnofferedVersion(other).into()),
        None => match hello.legacy_version {
            ProtocolVersion::TLS_1_2 => (ProtocolVersion::TLS_1_2, Version::Tls12),
            older @ (ProtocolVersion::SSL_3_0 | ProtocolVersion::TLS_1_0 | ProtocolVersion::TLS_1_1) => {
                return Err(Error::Unspoken(Unspoken::Version(older)));
            }
            other => return Err(Misbehaviour::UnofferedVersion(other).into()),
        },
    };
    if core.offered.has_version(chosen) { Ok(version) } else { Err(Misbehaviour::UnofferedVersion(chosen).into()) }
}
