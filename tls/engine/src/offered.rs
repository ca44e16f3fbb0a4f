//! What was offered, read from the ClientHello itself: what was sent is what a server may choose from.

use reprise_wire::extensions::{
    CompressCertificate, ProtocolNameList, SignatureAlgorithms, SupportedGroups, SupportedVersions,
};
use reprise_wire::{
    CertificateCompressionAlgorithm, CipherSuite, ClientHello, ExtensionType, Handshake, NamedGroup, ProtocolVersion,
    SignatureScheme,
};

/// The last ClientHello that was sent, framed.
#[derive(Default)]
pub(crate) struct Offered {
    message: Vec<u8>,
}

impl Offered {
    pub(crate) fn by(message: Vec<u8>) -> Self {
        Self { message }
    }

    /// The message, as the transcript takes it.
    pub(crate) fn message(&self) -> &[u8] {
        &self.message
    }

    pub(crate) fn has_suite(&self, suite: CipherSuite) -> bool {
        self.hello().is_some_and(|hello| hello.cipher_suites.contains(suite))
    }

    pub(crate) fn has_extension(&self, extension: ExtensionType) -> bool {
        self.extension(extension).is_some()
    }

    pub(crate) fn has_group(&self, group: NamedGroup) -> bool {
        let offered = self.extension(ExtensionType::SUPPORTED_GROUPS).and_then(|data| SupportedGroups::parse(data).ok());
        offered.is_some_and(|offered| offered.values.contains(group))
    }

    pub(crate) fn has_signature_scheme(&self, scheme: SignatureScheme) -> bool {
        let offered =
            self.extension(ExtensionType::SIGNATURE_ALGORITHMS).and_then(|data| SignatureAlgorithms::parse(data).ok());
        offered.is_some_and(|offered| offered.values.contains(scheme))
    }

    pub(crate) fn has_compression(&self, algorithm: CertificateCompressionAlgorithm) -> bool {
        let offered =
            self.extension(ExtensionType::COMPRESS_CERTIFICATE).and_then(|data| CompressCertificate::parse(data).ok());
        offered.is_some_and(|offered| offered.values.contains(algorithm))
    }

    /// A ClientHello without supported_versions offers TLS 1.2 (RFC 9846 §4.3.1).
    pub(crate) fn has_version(&self, version: ProtocolVersion) -> bool {
        match self.extension(ExtensionType::SUPPORTED_VERSIONS) {
            Some(data) => SupportedVersions::parse(data).is_ok_and(|offered| offered.values.contains(version)),
            None => version == ProtocolVersion::TLS_1_2,
        }
    }

    pub(crate) fn has_protocol(&self, name: &[u8]) -> bool {
        let offered = self.extension(ExtensionType::ALPN).and_then(|data| ProtocolNameList::parse(data).ok());
        offered.is_some_and(|offered| offered.iter().any(|protocol| protocol == name))
    }

    fn extension(&self, extension: ExtensionType) -> Option<&[u8]> {
        self.hello()?.extensions?.find(extension)
    }

    /// `None` before anything was sent.
    fn hello(&self) -> Option<ClientHello<'_>> {
        let body = self.message.get(Handshake::HEADER_LEN..)?;
        ClientHello::parse(body).ok()
    }
}
