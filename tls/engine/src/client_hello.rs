//! The ClientHello: everything that is offered.

use reprise_model::{Nanos, PskMode, Version};
use reprise_wire::extensions::{
    Cookie, EcPointFormats, KeyShareClientHello, KeyShareEntry, OfferedPsks, ProtocolNameList, PskBinder, PskIdentity,
    PskKeyExchangeModes, RenegotiationInfo, ServerNameEntry, ServerNameList, SignatureAlgorithms, SupportedGroups,
    SupportedVersions,
};
use reprise_wire::{
    CipherSuite, ClientHello, ExtensionType, ExtensionsBuilder, HandshakeType, List16, NamedGroup, ProtocolVersion,
    PskKeyExchangeMode, frame,
};

use crate::config::Config;
use crate::error::Error;
use crate::hello_shape::decoy;
use crate::key_share::{GROUPS, KeyShare, is_of_tls12};
use crate::offer::{Offer, Psk};
use crate::suite;

/// Room for a ClientHello with a ticket of ordinary length.
const ORDINARY_LEN: usize = 512;

/// What the 16-bit length before them can express.
const MAX_EXTENSIONS: usize = 0xffff;

/// Choices that differ from ClientHello to ClientHello.
pub(crate) struct Hello<'a> {
    pub(crate) random: &'a [u8; 32],
    pub(crate) session_id: &'a [u8],
    pub(crate) key_share: Option<&'a dyn KeyShare>,
    /// From a HelloRetryRequest.
    pub(crate) cookie: Option<&'a [u8]>,
    pub(crate) offer: &'a Offer,
    pub(crate) now: Nanos,
}

impl Hello<'_> {
    /// The message, framed. Where a PSK is offered, its binder is still zero and ends the message: see [`binder_start`].
    pub(crate) fn emit(&self, config: &Config) -> Result<Vec<u8>, Error> {
        let suites = offered_suites(config, self.offer);
        if suites.is_empty() {
            return Err(Error::NothingToOffer("no cipher suite of an offered version"));
        }
        let mut suite_bytes = Vec::with_capacity(2 * suites.len());
        List16::encode(&suites, &mut suite_bytes);

        if config.alpn.iter().any(|protocol| protocol.is_empty() || protocol.len() > 255) {
            return Err(Error::NothingToOffer("a protocol of ALPN has 1 to 255 bytes"));
        }
        let extensions = self.extensions(config);
        if extensions.as_bytes().len() > MAX_EXTENSIONS {
            // The server's own words fill it, its ticket or its cookie: no other is near as long.
            return Err(Error::TooLarge { what: "ticket or cookie", limit: MAX_EXTENSIONS });
        }
        let hello = ClientHello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random: self.random,
            session_id: self.session_id,
            cipher_suites: List16::from_bytes(&suite_bytes).map_err(Error::malformed("ClientHello"))?,
            compression_methods: &[0],
            extensions: Some(extensions.view()),
        };
        let mut message = Vec::with_capacity(ORDINARY_LEN);
        frame(&mut message, HandshakeType::CLIENT_HELLO, |out| hello.emit(out));
        Ok(message)
    }

    fn extensions(&self, config: &Config) -> ExtensionsBuilder {
        let tls12 = config.versions.contains(&Version::Tls12);
        let tls13 = config.versions.contains(&Version::Tls13);
        let groups = offered_groups(config);
        let mut extensions = ExtensionsBuilder::with_capacity(ORDINARY_LEN);

        if let Some(name) = &config.sni {
            let name = ServerNameEntry::host_name(name.as_bytes());
            extensions.push(ExtensionType::SERVER_NAME, |out| ServerNameList::encode([name], out));
        }
        if !groups.is_empty() {
            extensions.push(ExtensionType::SUPPORTED_GROUPS, |out| SupportedGroups::encode(&groups, out));
        }
        extensions.push(ExtensionType::SIGNATURE_ALGORITHMS, |out| {
            SignatureAlgorithms::encode(&config.signature_schemes, out);
        });
        if !config.alpn.is_empty() {
            extensions.push(ExtensionType::APPLICATION_LAYER_PROTOCOL_NEGOTIATION, |out| {
                ProtocolNameList::encode(config.alpn.iter().map(Vec::as_slice), out);
            });
        }
        if tls12 {
            if config.shape.extended_master_secret {
                extensions.push(ExtensionType::EXTENDED_MASTER_SECRET, |_| {});
            }
            extensions
                .push(ExtensionType::RENEGOTIATION_INFO, |out| RenegotiationInfo { renegotiated_connection: &[] }.emit(out));
            extensions.push(ExtensionType::EC_POINT_FORMATS, |out| {
                EcPointFormats { formats: &[EcPointFormats::UNCOMPRESSED] }.emit(out)
            });
            match self.offer {
                Offer::Full { session_ticket: true } => {
                    extensions.push(ExtensionType::SESSION_TICKET, |_| {});
                }
                Offer::SessionTicket(session) => {
                    extensions.push(ExtensionType::SESSION_TICKET, |out| {
                        session.ticket.iter().for_each(|ticket| out.extend_from_slice(&ticket.ticket));
                    });
                }
                _ => {}
            }
        }
        if tls13 {
            extensions.push(ExtensionType::SUPPORTED_VERSIONS, |out| {
                SupportedVersions::encode(&offered_versions(config), out);
            });
            if !config.tls13.psk_modes.is_empty() {
                extensions.push(ExtensionType::PSK_KEY_EXCHANGE_MODES, |out| {
                    PskKeyExchangeModes::encode(config.tls13.psk_modes.iter().copied().map(wire_mode), out);
                });
            }
            extensions.push(ExtensionType::KEY_SHARE, |out| {
                let entries =
                    self.key_share.iter().map(|share| KeyShareEntry { group: share.group(), key_exchange: share.public() });
                KeyShareClientHello::encode(entries, out);
            });
            if let Some(cookie) = self.cookie {
                extensions.push(ExtensionType::COOKIE, |out| Cookie { cookie }.emit(out));
            }
            if let Some(request) = &config.tls13.ticket_request {
                extensions.push(ExtensionType::TICKET_REQUEST, |out| request.emit(out));
            }
            if matches!(self.offer, Offer::Early(_)) {
                extensions.push(ExtensionType::EARLY_DATA, |_| {});
            }
        }
        if config.shape.padding > 0 {
            let padding = usize::from(config.shape.padding);
            extensions.push(ExtensionType::PADDING, |out| out.resize(out.len() + padding, 0));
        }
        if tls13 && let Some(psk) = self.offer.psk() {
            // RFC 9846 §4.3.11: it must be the last.
            extensions.push(ExtensionType::PRE_SHARED_KEY, |out| self.emit_psk(psk, config.shape.decoys, out));
        }
        extensions
    }

    /// The identities, the true one last, and binders of zeros, of which the last is still to be made.
    fn emit_psk(&self, psk: Psk<'_>, decoys: u8, out: &mut Vec<u8>) {
        let obfuscated_ticket_age = psk.obfuscated_age(self.now);
        let decoyed: Vec<_> = (0..decoys).map(|index| decoy(self.random, index, psk.identity().len())).collect();
        let identities = decoyed.iter().map(|decoy| &decoy[..]).chain([psk.identity()]);
        let identities = identities.map(|identity| PskIdentity { identity, obfuscated_ticket_age });
        let binder = vec![0; psk.hash().output_len()];
        let binders = std::iter::repeat_n(PskBinder(&binder), usize::from(decoys) + 1);
        OfferedPsks::encode(identities, binders, out);
    }
}

/// Where in a ClientHello with a PSK behind so many decoys the binders begin, their length prefix included: what stands before
/// is what every binder covers (RFC 9846 §4.3.11.2).
pub(crate) fn binder_start(hello: &[u8], psk: Psk<'_>, decoys: u8) -> usize {
    hello.len().saturating_sub(2 + (usize::from(decoys) + 1) * (1 + psk.hash().output_len()))
}

/// The suites that go into a ClientHello.
fn offered_suites(config: &Config, offer: &Offer) -> Vec<CipherSuite> {
    let spoken = config
        .cipher_suites
        .iter()
        .copied()
        .filter(|&id| suite::find(id).is_some_and(|suite| config.versions.contains(&suite.version)));
    let mut suites: Vec<CipherSuite> = spoken.collect();
    // A session is of no use without its suite: a server resumes a TLS 1.2 session with that alone (RFC 5246 §7.4.1.3),
    // and a ticket with one of the same hash (RFC 9846 §4.3.11).
    let session_suite = match offer {
        Offer::Full { .. } | Offer::External(_) => None,
        Offer::SessionId(session) | Offer::SessionTicket(session) => Some(session.suite.id),
        Offer::Ticket(ticket) | Offer::Early(ticket) => Some(ticket.suite.id),
    };
    suites.extend(session_suite.filter(|id| config.shape.session_suite && !suites.contains(id)));
    if config.survey {
        let unspoken = CipherSuite::NAMED.iter().copied().filter(|&id| suite::find(id).is_none() && !is_signalling(id));
        suites.extend(unspoken);
    }
    suites
}

/// The groups that go into supported_groups.
fn offered_groups(config: &Config) -> Vec<NamedGroup> {
    let mut groups = config.groups.clone();
    if config.survey {
        let known = GROUPS.iter().copied();
        let unspoken = [NamedGroup::X448, NamedGroup::FFDHE2048, NamedGroup::FFDHE3072];
        for group in known.chain(unspoken) {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    if !config.versions.contains(&Version::Tls13) {
        groups.retain(|&group| is_of_tls12(group));
    }
    groups
}

fn offered_versions(config: &Config) -> Vec<ProtocolVersion> {
    let mut versions = config.versions.clone();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let mut versions: Vec<_> = versions.into_iter().map(wire_version).collect();
    if config.survey {
        versions.extend([ProtocolVersion::TLS_1_1, ProtocolVersion::TLS_1_0]);
    }
    versions
}

/// The number of a version on the wire.
fn wire_version(version: Version) -> ProtocolVersion {
    match version {
        Version::Tls12 => ProtocolVersion::TLS_1_2,
        Version::Tls13 => ProtocolVersion::TLS_1_3,
    }
}

fn wire_mode(mode: PskMode) -> PskKeyExchangeMode {
    match mode {
        PskMode::PskDheKe => PskKeyExchangeMode::PSK_DHE_KE,
        PskMode::PskKe => PskKeyExchangeMode::PSK_KE,
    }
}

/// Numbers in the place of a suite that are none: a server that "chose" one would be broken.
fn is_signalling(id: CipherSuite) -> bool {
    id == CipherSuite::TLS_EMPTY_RENEGOTIATION_INFO_SCSV || id == CipherSuite::TLS_FALLBACK_SCSV
}
