//! From the first bytes of a connection to what its ClientHello offers.

use reprise_clients::{Transport, fingerprint};
use reprise_model::{ClientOffer, GivenSession, Kind, Nanos, OfferedSession, Version};
use reprise_wire::extensions::SupportedVersions;
use reprise_wire::extensions::{OfferedPsks, ProtocolNameList, PskKeyExchangeModes, ServerNameList, SupportedGroups};
use reprise_wire::{ClientHello, ExtensionType, Extensions, Handshake, HandshakeType, ProtocolVersion, first_message};

/// The most names of protocols and the most characters of a name that are kept.
const MAX_NAMES: usize = 16;
const MAX_NAME_CHARS: usize = 255;
/// Further identities are not looked at: a ClientHello has room for hundreds.
const MAX_IDENTITIES: usize = 16;

/// Reads the ClientHello at the front of `received`, in however many records it stands; none if it is no whole one.
pub(super) fn read(received: &[u8], at: Nanos, recognise: impl Fn(&[u8]) -> Option<GivenSession>) -> Option<ClientOffer> {
    let (_, message) = first_message(received).ok()??;
    let (message, _) = Handshake::parse(&message).ok()??;
    if message.msg_type != HandshakeType::CLIENT_HELLO {
        return None;
    }
    let hello = ClientHello::parse(message.body).ok()?;
    let extensions = hello.extensions.unwrap_or_default();
    let versions = versions(&hello, extensions);
    let sessions = sessions(&hello, extensions, &versions, recognise);
    let find = |extension| extensions.find(extension);
    let psk_modes = find(ExtensionType::PSK_KEY_EXCHANGE_MODES).and_then(|data| PskKeyExchangeModes::parse(data).ok());
    let groups = find(ExtensionType::SUPPORTED_GROUPS).and_then(|data| SupportedGroups::parse(data).ok());
    Some(ClientOffer {
        at,
        sni: find(ExtensionType::SERVER_NAME).and_then(host_name),
        alpn: find(ExtensionType::ALPN).map(protocols).unwrap_or_default(),
        versions,
        suites: hello.cipher_suites.iter().map(|suite| suite.0).collect(),
        groups: groups.map(|list| list.values.iter().map(|group| group.0).collect()).unwrap_or_default(),
        psk_modes: psk_modes.map(|list| list.modes.to_vec()),
        session_ticket: find(ExtensionType::SESSION_TICKET).is_some(),
        extended_master_secret: find(ExtensionType::EXTENDED_MASTER_SECRET).is_some(),
        early_data: find(ExtensionType::EARLY_DATA).is_some(),
        fingerprint: fingerprint(&hello, Transport::Tcp),
        sessions,
    })
}

fn versions(hello: &ClientHello<'_>, extensions: Extensions<'_>) -> Vec<Version> {
    let known = |version| match version {
        ProtocolVersion::TLS_1_2 => Some(Version::Tls12),
        ProtocolVersion::TLS_1_3 => Some(Version::Tls13),
        _ => None,
    };
    let list = extensions.find(ExtensionType::SUPPORTED_VERSIONS).and_then(|data| SupportedVersions::parse(data).ok());
    match list {
        Some(list) => list.values.iter().filter_map(known).collect(),
        None if hello.legacy_version >= ProtocolVersion::TLS_1_2 => vec![Version::Tls12],
        None => Vec::new(),
    }
}

/// Whatever can only be an offer, and of what might be a random session ID what is recognised.
fn sessions(
    hello: &ClientHello<'_>,
    extensions: Extensions<'_>,
    versions: &[Version],
    recognise: impl Fn(&[u8]) -> Option<GivenSession>,
) -> Vec<OfferedSession> {
    let mut sessions = Vec::new();
    let psks = extensions.find(ExtensionType::PRE_SHARED_KEY).and_then(|data| OfferedPsks::parse(data).ok());
    for psk in psks.iter().flat_map(|psks| psks.identities.iter()).take(MAX_IDENTITIES) {
        let given = recognise(psk.identity);
        sessions.push(OfferedSession { version: Version::Tls13, mechanism: Kind::Ticket, given });
    }
    let ticket = extensions.find(ExtensionType::SESSION_TICKET).filter(|ticket| !ticket.is_empty());
    if let Some(ticket) = ticket {
        let given = recognise(ticket);
        sessions.push(OfferedSession { version: Version::Tls12, mechanism: Kind::Ticket, given });
    } else if !hello.session_id.is_empty() {
        let given = recognise(hello.session_id);
        // A client that speaks TLS 1.3 sends a random one to please middleboxes (RFC 9846, appendix E.4).
        if given.is_some() || !versions.contains(&Version::Tls13) {
            sessions.push(OfferedSession { version: Version::Tls12, mechanism: Kind::Id, given });
        }
    }
    sessions
}

fn host_name(data: &[u8]) -> Option<String> {
    let list = ServerNameList::parse(data).ok()?;
    list.host_name().map(text)
}

fn protocols(data: &[u8]) -> Vec<String> {
    match ProtocolNameList::parse(data) {
        Ok(list) => list.iter().take(MAX_NAMES).map(text).collect(),
        Err(_) => Vec::new(),
    }
}

/// A peer's bytes, safe to print.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().chars().take(MAX_NAME_CHARS).collect()
}
