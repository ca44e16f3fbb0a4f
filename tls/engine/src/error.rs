//! What can go wrong, each naming its culprit.

use reprise_wire::{
    AlertDescription, CipherSuite, ContentType, ExtensionType, HandshakeType, NamedGroup, ProtocolVersion, SignatureScheme,
};
use thiserror::Error;

use crate::verify::CertificateError;

/// How much of what is not TLS is kept to be shown.
const SHOWN: usize = 64;

/// Why a connection ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The first bytes are no TLS record: up to 64 of them.
    #[error("the peer does not speak TLS: its first bytes are {}", show(.0))]
    NotTls(Vec<u8>),
    /// Bytes that no TLS message consists of.
    #[error("the server's {message} cannot be read: {error}")]
    Malformed {
        /// The message, or `record`.
        message: &'static str,
        /// What is wrong with it.
        error: reprise_wire::Error,
    },
    /// The server broke a rule of the protocol.
    #[error("the server misbehaved: {0}")]
    PeerMisbehaved(Misbehaviour),
    /// The server chose something that Reprise recognises and does not speak.
    #[error("the server chose {0}, which Reprise does not support")]
    Unspoken(Unspoken),
    /// The server chose a version that was offered, and that this connection is not made for.
    #[error("the server chose {0}")]
    OtherVersion(ProtocolVersion),
    /// The server ended the connection with an alert.
    #[error("the server refused with the alert {0}")]
    AlertReceived(AlertDescription),
    /// The server's certificate is not to be trusted.
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    /// A record does not decrypt.
    #[error("a record from the server does not decrypt")]
    BadRecordMac,
    /// The server closed the connection in the middle of the handshake.
    #[error("the server closed the connection {0}")]
    ClosedEarly(&'static str),
    /// The server asks for more than a client should hold.
    #[error("the server's {what} exceeds the limit of {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A message came too often.
    #[error("the server sent {what} more than {limit} times")]
    TooMany {
        /// What came too often.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The configuration offers nothing that could be negotiated.
    #[error("nothing to offer: {0}")]
    NothingToOffer(&'static str),
    /// The client's key cannot sign in any scheme that the server takes.
    #[error("the client's key supports no signature scheme that the server accepts")]
    NoCommonSignatureScheme,
    /// A primitive failed that does not fail on valid input.
    #[error("the crypto library failed at {0}")]
    Crypto(&'static str),
    /// Keys cannot be updated, or not yet; the connection goes on as it was.
    #[error("the keys cannot be updated: {0}")]
    NoKeyUpdate(&'static str),
    /// The server asks for a second ClientHello, with a share of this group if it names one, and the configuration has none
    /// sent.
    #[error("the server requests a second ClientHello")]
    RetryRequested(Option<NamedGroup>),
    /// The connection was used after it had failed or was closed.
    #[error("the connection is closed")]
    Closed,
}

impl Error {
    /// The alert that tells the server why (RFC 9846 §6.2); `None` where an alert would be pointless.
    pub fn alert(&self) -> Option<AlertDescription> {
        match self {
            Self::NotTls(_)
            | Self::AlertReceived(_)
            | Self::ClosedEarly(_)
            | Self::NoKeyUpdate(_)
            | Self::RetryRequested(_)
            | Self::Closed => None,
            Self::Malformed { error, .. } => Some(match error {
                reprise_wire::Error::Illegal(_) | reprise_wire::Error::DuplicateExtension(_) => {
                    AlertDescription::ILLEGAL_PARAMETER
                }
                reprise_wire::Error::Oversized => AlertDescription::RECORD_OVERFLOW,
                reprise_wire::Error::UnknownContentType(_) => AlertDescription::UNEXPECTED_MESSAGE,
                _ => AlertDescription::DECODE_ERROR,
            }),
            Self::PeerMisbehaved(rule) => Some(rule.alert()),
            Self::Unspoken(Unspoken::Version(_)) | Self::OtherVersion(_) => Some(AlertDescription::PROTOCOL_VERSION),
            Self::Unspoken(_) | Self::NoCommonSignatureScheme => Some(AlertDescription::HANDSHAKE_FAILURE),
            Self::Certificate(error) => Some(error.alert()),
            Self::BadRecordMac => Some(AlertDescription::BAD_RECORD_MAC),
            Self::TooLarge { what: "record", .. } => Some(AlertDescription::RECORD_OVERFLOW),
            Self::TooLarge { .. } => Some(AlertDescription::ILLEGAL_PARAMETER),
            Self::TooMany { .. } => Some(AlertDescription::UNEXPECTED_MESSAGE),
            Self::NothingToOffer(_) | Self::Crypto(_) => Some(AlertDescription::INTERNAL_ERROR),
        }
    }

    /// What came instead of TLS, as much of it as is worth showing.
    pub(crate) fn not_tls(bytes: &[u8]) -> Self {
        Self::NotTls(bytes.iter().take(SHOWN).copied().collect())
    }

    pub(crate) fn malformed(message: &'static str) -> impl FnOnce(reprise_wire::Error) -> Self {
        move |error| Self::Malformed { message, error }
    }
}

impl From<Misbehaviour> for Error {
    fn from(rule: Misbehaviour) -> Self {
        Self::PeerMisbehaved(rule)
    }
}

/// A rule of the protocol that the server broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Misbehaviour {
    /// A message where another was due.
    #[error("{received} where {expected} was due")]
    UnexpectedMessage {
        /// What came.
        received: HandshakeType,
        /// What was due.
        expected: &'static str,
    },
    /// A record of a type that has no place here.
    #[error("a record of type {received} where {expected} was due")]
    UnexpectedRecord {
        /// What came.
        received: ContentType,
        /// What was due.
        expected: &'static str,
    },
    /// A handshake message spans a change of keys (RFC 9846 §5.1).
    #[error("a handshake message spans a change of keys")]
    KeyChangeInsideMessage,
    /// Another record type in the middle of a handshake message (RFC 9846 §5.1).
    #[error("a handshake message is interleaved with other records")]
    InterleavedMessage,
    /// A version that was not offered.
    #[error("it chose {0}, which was not offered")]
    UnofferedVersion(ProtocolVersion),
    /// A legacy_version other than TLS 1.2 beside the choice of TLS 1.3 (RFC 9846 §4.2.3).
    #[error("its legacy_version is not TLS 1.2")]
    LegacyVersion,
    /// A suite that was not offered.
    #[error("it chose {0}, which was not offered")]
    UnofferedSuite(CipherSuite),
    /// A group that was not offered.
    #[error("it chose the group {0}, which was not offered")]
    UnofferedGroup(NamedGroup),
    /// A signature scheme that was not offered, or that does not fit the certificate's key.
    #[error("it signed with {0}, which was not offered or does not fit its key")]
    UnofferedScheme(SignatureScheme),
    /// An extension that was not asked for (RFC 9846 §4.3).
    #[error("it answered an extension that was not offered: {0}")]
    UnofferedExtension(reprise_wire::ExtensionType),
    /// A message lacks an extension that it must carry.
    #[error("its {message} lacks the extension {extension}")]
    MissingExtension {
        /// The message.
        message: &'static str,
        /// What it lacks.
        extension: reprise_wire::ExtensionType,
    },
    /// The session ID is not the one that was offered (RFC 9846 §4.2.3).
    #[error("it did not echo legacy_session_id")]
    SessionIdNotEchoed,
    /// An extension in a message where it has no place (RFC 9846 §4.3).
    #[error("its {message} carries the extension {extension}, which has no place there")]
    MisplacedExtension {
        /// The message.
        message: &'static str,
        /// What stands there.
        extension: reprise_wire::ExtensionType,
    },
    /// A second HelloRetryRequest (RFC 9846 §4.2.4).
    #[error("it sent a second HelloRetryRequest")]
    SecondRetry,
    /// A HelloRetryRequest that asks for nothing new (RFC 9846 §4.2.4).
    #[error("its HelloRetryRequest is illegal: {0}")]
    IllegalRetry(&'static str),
    /// The choice made after a HelloRetryRequest differs from the one made in it.
    #[error("it changed its mind after the HelloRetryRequest about {0}")]
    ChangedAfterRetry(&'static str),
    /// A PSK that was not offered.
    #[error("it selected a PSK that was not offered")]
    IllegalPsk,
    /// The PSK together with a cipher suite whose hash is not the PSK's (RFC 9846 §4.3.11).
    #[error("it selected the PSK with {0}, whose hash is another")]
    PskOfAnotherHash(CipherSuite),
    /// It used the PSK in a mode that was not offered (RFC 9846 §4.3.9).
    #[error("it used the PSK with psk_dhe_ke, which was not offered")]
    UnofferedPskMode,
    /// It says that it takes early data where it may not (RFC 9846 §4.3.10).
    #[error("it accepted early data {0}")]
    IllegalEarlyData(&'static str),
    /// TLS 1.2 to a client that has sent early data already (RFC 9846 §E.3).
    #[error("it chose TLS 1.2 after early data, which that version does not know")]
    EarlyDataUnderTls12,
    /// The sentinel of RFC 9846 §4.2.3 says that someone took TLS 1.3 away.
    #[error("its random carries the downgrade sentinel")]
    Downgraded,
    /// A key share that is no point of its group, or none at all.
    #[error("its key share is invalid")]
    IllegalKeyShare,
    /// The signature over the handshake is wrong.
    #[error("its signature over the handshake is wrong")]
    BadSignature,
    /// The verify_data of its Finished is wrong.
    #[error("its Finished is wrong")]
    BadFinished,
    /// A resumed session with another version, suite or master-secret derivation (RFC 5246 §7.4.1.3, RFC 7627 §5.3).
    #[error("it resumed the session with another {0}")]
    ResumedDifferently(&'static str),
    /// TLS 1.2: a certificate whose key is not of the kind that the suite signs or encrypts with (RFC 5246 §7.4.2).
    #[error("its certificate's key does not fit the cipher suite")]
    UnfitCertificate,
    /// A certificate whose key usage forbids what its key does (RFC 5280 §4.2.1.3, RFC 9846 §4.5.1.2).
    #[error("its certificate does not let its key {0}")]
    KeyUsage(&'static str),
    /// A compression method, which nobody offered.
    #[error("it chose a compression method")]
    Compression,
    /// An empty fragment where none is allowed (RFC 9846 §5.1), or a plaintext without a type (§5.4).
    #[error("it sent an empty handshake fragment or a plaintext without a type")]
    EmptyFragment,
    /// An ALPN protocol that was not offered.
    #[error("it chose an ALPN protocol that was not offered")]
    UnofferedProtocol,
    /// A field whose value the RFC forbids.
    #[error("{0}")]
    IllegalValue(&'static str),
    /// A renegotiation with a wrong renegotiation_info (RFC 5746 §3.4).
    #[error("its renegotiation_info is not empty in a first handshake")]
    RenegotiationInfo,
}

impl Misbehaviour {
    fn alert(self) -> AlertDescription {
        match self {
            Self::UnexpectedMessage { .. }
            | Self::UnexpectedRecord { .. }
            | Self::KeyChangeInsideMessage
            | Self::InterleavedMessage
            | Self::SecondRetry
            | Self::EmptyFragment => AlertDescription::UNEXPECTED_MESSAGE,
            Self::UnofferedExtension(_) => AlertDescription::UNSUPPORTED_EXTENSION,
            Self::MissingExtension { .. } => AlertDescription::MISSING_EXTENSION,
            Self::UnofferedVersion(_) | Self::LegacyVersion | Self::EarlyDataUnderTls12 => {
                AlertDescription::PROTOCOL_VERSION
            }
            // RFC 5746 §3.4.
            Self::RenegotiationInfo => AlertDescription::HANDSHAKE_FAILURE,
            Self::BadSignature | Self::BadFinished => AlertDescription::DECRYPT_ERROR,
            _ => AlertDescription::ILLEGAL_PARAMETER,
        }
    }
}

/// What Reprise recognises in a server's choice and does not speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unspoken {
    /// TLS 1.0, 1.1 or SSL.
    #[error("{0}")]
    Version(ProtocolVersion),
    /// A suite with finite-field Diffie-Hellman, CBC, CCM, …
    #[error("the cipher suite {0}")]
    Suite(CipherSuite),
    /// RSA key exchange with a key that cannot be encrypted to.
    #[error("RSA key exchange with a key that is malformed or not of 2048 to 8192 bits")]
    RsaKey,
    /// A group such as secp521r1.
    #[error("the group {0}")]
    Group(NamedGroup),
    /// What an extension of another client's form asks for, and the engine cannot do: application settings, delegated credentials.
    #[error("what the client's extension {0} offers")]
    Extension(ExtensionType),
}

/// The first line of something that is not TLS, or its first bytes where they are no text.
fn show(bytes: &[u8]) -> String {
    let line = bytes.split(|&byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    match str::from_utf8(line) {
        Ok(text) if !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ') => format!("{text:?}"),
        _ => bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use reprise_wire::Error as Wire;

    use super::*;

    /// RFC 9846 §6.2, where the engine's own tests do not show it.
    #[test]
    fn the_server_is_told_what_was_wrong() {
        let malformed = |error| Error::Malformed { message: "record", error };
        let cases = [
            (malformed(Wire::Truncated), AlertDescription::DECODE_ERROR),
            (malformed(Wire::Illegal("")), AlertDescription::ILLEGAL_PARAMETER),
            (malformed(Wire::Oversized), AlertDescription::RECORD_OVERFLOW),
            (malformed(Wire::UnknownContentType(ContentType(99))), AlertDescription::UNEXPECTED_MESSAGE),
            (Error::TooLarge { what: "record", limit: 1 }, AlertDescription::RECORD_OVERFLOW),
            (Error::TooLarge { what: "handshake message", limit: 1 }, AlertDescription::ILLEGAL_PARAMETER),
            (Misbehaviour::UnofferedVersion(ProtocolVersion::TLS_1_2).into(), AlertDescription::PROTOCOL_VERSION),
            (Misbehaviour::LegacyVersion.into(), AlertDescription::PROTOCOL_VERSION),
            (Error::NoCommonSignatureScheme, AlertDescription::HANDSHAKE_FAILURE),
            (Error::Crypto(""), AlertDescription::INTERNAL_ERROR),
        ];
        for (error, alert) in cases {
            assert_eq!(error.alert(), Some(alert), "{error:?}");
        }
        for error in [Error::NotTls(Vec::new()), Error::AlertReceived(AlertDescription::INTERNAL_ERROR), Error::Closed] {
            assert_eq!(error.alert(), None);
        }
    }
}
