//! The states of a connection: one struct for each message that may come next, consumed by handling it.

mod server_hello;
mod tls12;
mod tls13;

use reprise_trace::{Direction, Version};
use reprise_wire::{ExtensionType, Extensions, Handshake, HandshakeType};

use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::session::Offer;
use crate::suite::Suite;
use crate::transcript::Transcript;

/// Where a connection stands.
pub(crate) enum State {
    ServerHello(Box<server_hello::ExpectServerHello>),
    Tls13EncryptedExtensions(Box<tls13::ExpectEncryptedExtensions>),
    Tls13CertificateOrRequest(Box<tls13::ExpectCertificateOrRequest>),
    Tls13CertificateVerify(Box<tls13::ExpectCertificateVerify>),
    Tls13Finished(Box<tls13::ExpectFinished>),
    Tls13Traffic(Box<tls13::Traffic>),
    Tls12Certificate(Box<tls12::ExpectCertificate>),
    Tls12ServerKeyExchange(Box<tls12::ExpectServerKeyExchange>),
    Tls12RequestOrDone(Box<tls12::ExpectRequestOrDone>),
    Tls12TicketOrCcs(Box<tls12::ExpectTicketOrCcs>),
    Tls12Finished(Box<tls12::ExpectFinished>),
    Tls12Traffic(tls12::Traffic),
}

impl State {
    /// Sends the ClientHello.
    pub(crate) fn start(core: &mut Core, offer: Offer) -> Result<Self, Error> {
        server_hello::ExpectServerHello::start(core, offer).map(|state| Self::ServerHello(Box::new(state)))
    }

    /// Handles one handshake message.
    pub(crate) fn handle(self, core: &mut Core, message: &Handshake<'_>) -> Result<Self, Error> {
        if !matches!(self, Self::ServerHello(_)) {
            core.observe_message(Direction::Received, message.msg_type, message.raw.len());
        }
        match self {
            Self::ServerHello(state) => state.handle(core, message),
            Self::Tls13EncryptedExtensions(state) => state.handle(core, message),
            Self::Tls13CertificateOrRequest(state) => state.handle(core, message),
            Self::Tls13CertificateVerify(state) => state.handle(core, message),
            Self::Tls13Finished(state) => state.handle(core, message),
            Self::Tls13Traffic(state) => state.handle(core, message),
            Self::Tls12Certificate(state) => state.handle(core, message),
            Self::Tls12ServerKeyExchange(state) => state.handle(core, message),
            Self::Tls12RequestOrDone(state) => state.handle(core, message),
            Self::Tls12TicketOrCcs(state) => state.handle(core, message),
            Self::Tls12Finished(state) => state.handle(core, message),
            Self::Tls12Traffic(_) => Err(unexpected(message, "application data")),
        }
    }

    /// Handles a ChangeCipherSpec of TLS 1.2.
    pub(crate) fn handle_change_cipher_spec(self, core: &mut Core) -> Result<Self, Error> {
        match self {
            Self::Tls12TicketOrCcs(state) => state.handle_change_cipher_spec(core),
            other => Err(Misbehaviour::UnexpectedRecord {
                received: reprise_wire::ContentType::CHANGE_CIPHER_SPEC,
                expected: other.expected(),
            }
            .into()),
        }
    }

    /// Whether the handshake is done.
    pub(crate) fn is_traffic(&self) -> bool {
        matches!(self, Self::Tls13Traffic(_) | Self::Tls12Traffic(_))
    }

    /// The message that is due, for people.
    pub(crate) fn expected(&self) -> &'static str {
        match self {
            Self::ServerHello(_) => "ServerHello",
            Self::Tls13EncryptedExtensions(_) => "EncryptedExtensions",
            Self::Tls13CertificateOrRequest(_) | Self::Tls12Certificate(_) => "Certificate",
            Self::Tls13CertificateVerify(_) => "CertificateVerify",
            Self::Tls13Finished(_) | Self::Tls12Finished(_) => "Finished",
            Self::Tls12ServerKeyExchange(_) => "ServerKeyExchange",
            Self::Tls12RequestOrDone(_) => "ServerHelloDone",
            Self::Tls12TicketOrCcs(_) => "ChangeCipherSpec",
            Self::Tls13Traffic(_) | Self::Tls12Traffic(_) => "application data",
        }
    }
}

/// What both versions carry from the ServerHello on.
struct Handshaking {
    suite: &'static Suite,
    transcript: Transcript,
    client_random: [u8; 32],
}

/// The body of a message of this type, or the complaint that another came.
fn expect<'m>(message: &Handshake<'m>, expected: HandshakeType) -> Result<&'m [u8], Error> {
    if message.msg_type == expected {
        Ok(message.body)
    } else {
        Err(unexpected(message, expected.name().unwrap_or("another message")))
    }
}

fn unexpected(message: &Handshake<'_>, expected: &'static str) -> Error {
    Misbehaviour::UnexpectedMessage { received: message.msg_type, expected }.into()
}

/// Refuses extensions that were not asked for (RFC 8446 §4.2, RFC 5246 §7.4.1.4).
fn only(extensions: Extensions<'_>, allowed: impl Fn(ExtensionType) -> bool) -> Result<(), Error> {
    match extensions.iter().find(|&(extension, _)| !allowed(extension)) {
        Some((extension, _)) => Err(Misbehaviour::UnofferedExtension(extension).into()),
        None => Ok(()),
    }
}

/// Notes the protocol that ALPN chose (RFC 7301 §3.1).
fn accept_alpn(core: &mut Core, extensions: Extensions<'_>) -> Result<(), Error> {
    let Some(body) = extensions.find(ExtensionType::APPLICATION_LAYER_PROTOCOL_NEGOTIATION) else { return Ok(()) };
    let malformed = Error::malformed("application_layer_protocol_negotiation");
    let mut reader = reprise_wire::Reader::new(body);
    let parsed = reader.vec16().and_then(|list| {
        let mut list = reprise_wire::Reader::new(list);
        let protocol = list.vec8()?;
        list.finish()?;
        reader.finish()?;
        Ok(protocol)
    });
    let protocol = parsed.map_err(malformed)?;
    if !core.config.alpn.iter().any(|offered| offered == protocol) {
        return Err(Misbehaviour::UnofferedProtocol.into());
    }
    let name = String::from_utf8_lossy(protocol).into_owned();
    core.note(|outcome| outcome.alpn = Some(name));
    Ok(())
}

/// The scheme in which the client's key will sign, of those that the server takes.
fn choose_scheme(
    core: &Core,
    version: Version,
    accepted: reprise_wire::List16<'_, reprise_wire::SignatureScheme>,
) -> Result<Option<reprise_wire::SignatureScheme>, Error> {
    let Some(identity) = &core.config.identity else { return Ok(None) };
    let allowed = |scheme: &reprise_wire::SignatureScheme| {
        // RFC 8446 §4.2.3: PKCS #1 v1.5 does not sign TLS 1.3 handshakes.
        version == Version::Tls12 || !is_pkcs1(*scheme)
    };
    let schemes = identity.signer.schemes().iter().copied();
    schemes.filter(allowed).find(|&scheme| accepted.contains(scheme)).map(Some).ok_or(Error::NoCommonSignatureScheme)
}

fn is_pkcs1(scheme: reprise_wire::SignatureScheme) -> bool {
    use reprise_wire::SignatureScheme as Scheme;
    [Scheme::RSA_PKCS1_SHA256, Scheme::RSA_PKCS1_SHA384, Scheme::RSA_PKCS1_SHA512].contains(&scheme)
}
