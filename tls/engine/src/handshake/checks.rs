//! Checks of a server's message that several states share.

use reprise_model::Version;
use reprise_wire::extensions::{RecordSizeLimit, SelectedProtocol};
use reprise_wire::{
    CipherSuite, ExtensionType, Extensions, Handshake, HandshakeType, NamedGroup, ServerHello, SignatureScheme,
};

use crate::core::Core;
use crate::error::{Error, Misbehaviour, Unspoken};
use crate::key_share::GROUPS;
use crate::suite::{self, Suite};

/// What a message of this type says, or the complaint that it is another or cannot be read.
pub(super) fn expect<'m, T>(
    message: &Handshake<'m>,
    expected: HandshakeType,
    parse: impl FnOnce(&'m [u8]) -> Result<T, reprise_wire::Error>,
) -> Result<T, Error> {
    let name = expected.name().unwrap_or("message");
    if message.msg_type != expected {
        return Err(unexpected(message, name));
    }
    parse(message.body).map_err(Error::malformed(name))
}

pub(super) fn unexpected(message: &Handshake<'_>, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedMessage { received: message.msg_type, expected }.into()
}

/// Refuses extensions that the ClientHello did not ask for, and those that it did but that stand in another message.
pub(super) fn only_permitted(core: &Core, extensions: Extensions<'_>, place: Place) -> Result<(), Error> {
    let fault = extensions.iter().find_map(|(extension, _)| {
        let solicited = core.offered.has_extension(extension) || place.may_begin(core, extension);
        match (solicited, place.permits(extension)) {
            (false, _) => Some(Misbehaviour::UnofferedExtension(extension).into()),
            (true, true) => None,
            (true, false) if UNSPOKEN.contains(&extension) => Some(Error::Unspoken(Unspoken::Extension(extension))),
            // Only in another client's form, and without a meaning to us: nothing follows from it.
            (true, false) if extension.name().is_none() => None,
            (true, false) => Some(Misbehaviour::MisplacedExtension { message: place.message(), extension }.into()),
        }
    });
    fault.map_or(Ok(()), Err)
}

/// What other clients offer and the engine does not do: a server that takes it up cannot be answered.
const UNSPOKEN: [ExtensionType; 3] =
    [ExtensionType::APPLICATION_SETTINGS, ExtensionType::APPLICATION_SETTINGS_DRAFT, ExtensionType::DELEGATED_CREDENTIAL];

/// The messages in which a server answers extensions (RFC 9846 §4.3; for TLS 1.2 the RFC of each extension).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    HelloRetryRequest,
    ServerHelloTls13,
    ServerHelloTls12,
    EncryptedExtensions,
    Certificate,
}

impl Place {
    /// RFC 9846 §4.3.2: the only extension that a server brings up; and the one that a suite may offer (RFC 5746 §3.3).
    fn may_begin(self, core: &Core, extension: ExtensionType) -> bool {
        match self {
            Self::HelloRetryRequest => extension == ExtensionType::COOKIE,
            Self::ServerHelloTls12 => {
                extension == ExtensionType::RENEGOTIATION_INFO
                    && core.offered.has_suite(CipherSuite::TLS_EMPTY_RENEGOTIATION_INFO_SCSV)
            }
            _ => false,
        }
    }

    fn permits(self, extension: ExtensionType) -> bool {
        use ExtensionType as E;
        let permitted: &[E] = match self {
            Self::HelloRetryRequest => &[E::SUPPORTED_VERSIONS, E::KEY_SHARE, E::COOKIE, E::ENCRYPTED_CLIENT_HELLO],
            Self::ServerHelloTls13 => &[E::SUPPORTED_VERSIONS, E::KEY_SHARE, E::PRE_SHARED_KEY],
            Self::ServerHelloTls12 => &[
                E::SERVER_NAME,
                E::MAX_FRAGMENT_LENGTH,
                E::STATUS_REQUEST,
                // RFC 8422 §5.2 knows it not in a server's hello, but old servers send it.
                E::SUPPORTED_GROUPS,
                E::EC_POINT_FORMATS,
                E::ALPN,
                E::SIGNED_CERTIFICATE_TIMESTAMP,
                E::ENCRYPT_THEN_MAC,
                E::EXTENDED_MASTER_SECRET,
                E::RECORD_SIZE_LIMIT,
                E::SESSION_TICKET,
                E::RENEGOTIATION_INFO,
            ],
            Self::EncryptedExtensions => &[
                E::SERVER_NAME,
                E::MAX_FRAGMENT_LENGTH,
                E::SUPPORTED_GROUPS,
                E::ALPN,
                E::RECORD_SIZE_LIMIT,
                E::EARLY_DATA,
                E::TICKET_REQUEST,
                // The server's configuration, to a GREASE (RFC 9849 §6.2): of no use to who has none.
                E::ENCRYPTED_CLIENT_HELLO,
            ],
            Self::Certificate => &[E::STATUS_REQUEST, E::SIGNED_CERTIFICATE_TIMESTAMP],
        };
        permitted.contains(&extension)
    }

    fn message(self) -> &'static str {
        match self {
            Self::HelloRetryRequest => "HelloRetryRequest",
            Self::ServerHelloTls13 | Self::ServerHelloTls12 => "ServerHello",
            Self::EncryptedExtensions => "EncryptedExtensions",
            Self::Certificate => "Certificate",
        }
    }
}

/// What an extension says; `None` where it is absent.
pub(super) fn read<'a, T>(
    extensions: Extensions<'a>,
    extension: ExtensionType,
    parse: impl FnOnce(&'a [u8]) -> Result<T, reprise_wire::Error>,
) -> Result<Option<T>, Error> {
    let parsed = extensions.find(extension).map(parse).transpose();
    parsed.map_err(Error::malformed(extension.name().unwrap_or("extension")))
}

/// Obeys the length of records that the server asks for (RFC 8449 §4): of TLS 1.3 with the type of the content in it.
pub(super) fn accept_record_size(core: &mut Core, extensions: Extensions<'_>, version: Version) -> Result<(), Error> {
    if let Some(limit) = read(extensions, ExtensionType::RECORD_SIZE_LIMIT, RecordSizeLimit::parse)? {
        let limit = usize::from(limit.record_size_limit);
        core.limit_records(if version == Version::Tls13 { limit.saturating_sub(1) } else { limit });
    }
    Ok(())
}

/// Notes the protocol that ALPN chose (RFC 7301 §3.1).
pub(super) fn accept_alpn(core: &mut Core, extensions: Extensions<'_>) -> Result<(), Error> {
    let Some(selected) = read(extensions, ExtensionType::ALPN, SelectedProtocol::parse)? else { return Ok(()) };
    let protocol = selected.protocol.0;
    if !core.offered.has_protocol(protocol) {
        return Err(Misbehaviour::UnofferedProtocol.into());
    }
    core.note(|facts| facts.alpn = Some(reprise_model::Protocol::new(protocol)));
    core.protocol = Some(protocol.to_vec());
    Ok(())
}

/// The suite, if it was offered for this version and is spoken here.
pub(super) fn chosen_suite(core: &Core, hello: &ServerHello<'_>, version: Version) -> Result<&'static Suite, Error> {
    let id = hello.cipher_suite;
    if !core.offered.has_suite(id) {
        return Err(Misbehaviour::UnofferedSuite(id).into());
    }
    let suite = suite::find(id).ok_or(Error::Unspoken(Unspoken::Suite(id)))?;
    if suite.version == version { Ok(suite) } else { Err(Misbehaviour::UnofferedSuite(id).into()) }
}

/// Refuses a group that was not offered, and one that was offered only to see whether it would be chosen.
pub(super) fn check_group(core: &Core, group: NamedGroup) -> Result<(), Error> {
    if !core.offered.has_group(group) {
        return Err(Misbehaviour::UnofferedGroup(group).into());
    }
    if !core.config.groups.contains(&group) && !GROUPS.contains(&group) {
        return Err(Error::Unspoken(Unspoken::Group(group)));
    }
    Ok(())
}

/// The scheme in which the client's key will sign, of those that the server takes; `None` without a certificate.
pub(super) fn choose_scheme(
    core: &Core,
    version: Version,
    accepted: impl Fn(SignatureScheme) -> bool,
) -> Result<Option<SignatureScheme>, Error> {
    let Some(identity) = &core.config.identity else { return Ok(None) };
    // RFC 9846 §4.3.3: PKCS #1 v1.5 does not sign TLS 1.3 handshakes.
    let allowed = |scheme: &SignatureScheme| version == Version::Tls12 || !is_pkcs1(*scheme);
    let schemes = identity.signer.schemes().iter().copied();
    schemes.filter(allowed).find(|&scheme| accepted(scheme)).map(Some).ok_or(Error::NoCommonSignatureScheme)
}

fn is_pkcs1(scheme: SignatureScheme) -> bool {
    use SignatureScheme as Scheme;
    [Scheme::RSA_PKCS1_SHA256, Scheme::RSA_PKCS1_SHA384, Scheme::RSA_PKCS1_SHA512].contains(&scheme)
}
