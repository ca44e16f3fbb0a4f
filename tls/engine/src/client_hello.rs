//! The ClientHello: everything that is offered.

use reprise_model::{Nanos, PskMode, Version};
use reprise_wire::extensions::{
    Cookie, EcPointFormats, KeyShareClientHello, KeyShareEntry, OfferedPsks, ProtocolNameList, PskBinder, PskIdentity,
    PskKeyExchangeModes, RenegotiationInfo, ServerNameEntry, ServerNameList, SignatureAlgorithms, SupportedGroups,
    SupportedVersions,
};
use reprise_wire::{
    CipherSuite, ClientHello, ExtensionType, ExtensionsBuilder, HandshakeType, List16, NamedGroup, ProtocolVersion,
    PskKeyExchangeMode, SignatureScheme, frame,
};

use crate::config::Config;
use crate::error::Error;
use crate::hello_form::{Derived, GREASE, GreasePlace, HelloExtension, HelloForm, derive, ech_grease, greased, is_of_tls12};
use crate::key_share::{GROUPS, KeyShare};
use crate::offer::{Offer, Psk};
use crate::suite;

/// Room for a ClientHello with a ticket of ordinary length.
const ORDINARY_LEN: usize = 512;

/// The lengths of payloads that hold nothing, as BoringSSL has them.
const ECH_GREASE_LENGTHS: [u16; 4] = [144, 176, 208, 240];

/// What the 16-bit length before them can express.
const MAX_EXTENSIONS: usize = 0xffff;

/// Choices that differ from ClientHello to ClientHello.
pub(crate) struct Hello<'a> {
    pub(crate) random: &'a [u8; 32],
    pub(crate) session_id: &'a [u8],
    pub(crate) key_shares: &'a [Box<dyn KeyShare>],
    /// Whether it answers a HelloRetryRequest.
    pub(crate) is_second: bool,
    /// From a HelloRetryRequest.
    pub(crate) cookie: Option<&'a [u8]>,
    pub(crate) offer: &'a Offer,
    pub(crate) now: Nanos,
}

/// The order of the engine's own ClientHello.
const OWN_ORDER: [ExtensionType; 14] = [
    ExtensionType::SERVER_NAME,
    ExtensionType::SUPPORTED_GROUPS,
    ExtensionType::SIGNATURE_ALGORITHMS,
    ExtensionType::ALPN,
    ExtensionType::EXTENDED_MASTER_SECRET,
    ExtensionType::RENEGOTIATION_INFO,
    ExtensionType::EC_POINT_FORMATS,
    ExtensionType::SESSION_TICKET,
    ExtensionType::SUPPORTED_VERSIONS,
    ExtensionType::PSK_KEY_EXCHANGE_MODES,
    ExtensionType::KEY_SHARE,
    ExtensionType::COOKIE,
    ExtensionType::TICKET_REQUEST,
    ExtensionType::EARLY_DATA,
];

impl Hello<'_> {
    /// The message, framed. Where a PSK is offered, its binder is still zero and ends the message: see [`binder_start`].
    pub(crate) fn emit(&self, config: &Config) -> Result<Vec<u8>, Error> {
        let suites = offered_suites(config, self.offer, self.random);
        if suites.is_empty() {
            return Err(Error::NothingToOffer("no cipher suite of an offered version"));
        }
        let mut suite_bytes = Vec::with_capacity(2 * suites.len());
        List16::encode(&suites, &mut suite_bytes);

        if config.alpn.iter().any(|protocol| protocol.is_empty() || protocol.len() > 255) {
            return Err(Error::NothingToOffer("a protocol of ALPN has 1 to 255 bytes"));
        }
        let mut extensions = self.extensions(config);
        if config.form.as_ref().is_some_and(|form| form.extensions.contains(&HelloExtension::PaddingTo512)) {
            pad_to_512(&mut extensions, self.session_id.len() + suite_bytes.len());
        }
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
        let mut extensions = ExtensionsBuilder::with_capacity(ORDINARY_LEN);
        match &config.form {
            None => OWN_ORDER.iter().for_each(|&extension| self.fill(extension, config, &mut extensions)),
            Some(form) => self.extend_in_form(form, config, &mut extensions),
        }
        if config.shape.ech_grease && config.versions.contains(&Version::Tls13) && !config.form_greases_ech() {
            extensions.push(ExtensionType::ENCRYPTED_CLIENT_HELLO, |out| {
                ech_grease(self.random, &ECH_GREASE_LENGTHS, out);
            });
        }
        if config.shape.padding > 0 {
            let padding = usize::from(config.shape.padding);
            extensions.push(ExtensionType::PADDING, |out| out.resize(out.len() + padding, 0));
        }
        if config.versions.contains(&Version::Tls13)
            && let Some(psk) = self.offer.psk()
        {
            // RFC 9846 §4.3.11: it must be the last.
            extensions.push(ExtensionType::PRE_SHARED_KEY, |out| self.emit_psk(psk, config.shape.decoys, out));
        }
        extensions
    }

    /// The extensions of another client's form, and behind them what it has no place for.
    fn extend_in_form(&self, form: &HelloForm, config: &Config, extensions: &mut ExtensionsBuilder) {
        let tls13 = config.versions.contains(&Version::Tls13);
        let mut greased_extensions = 0;
        let ordered = form.extensions_of(self.random);
        for extension in &ordered {
            match extension {
                HelloExtension::Filled(extension) => self.fill(*extension, config, extensions),
                HelloExtension::Fixed(extension, bytes) if tls13 || !is_of_tls13_alone(*extension) => {
                    extensions.push(*extension, |out| out.extend_from_slice(bytes));
                }
                HelloExtension::EchGrease(lengths) if tls13 => {
                    extensions.push(ExtensionType::ENCRYPTED_CLIENT_HELLO, |out| ech_grease(self.random, lengths, out));
                }
                HelloExtension::Grease(body) => {
                    let number = greased(GREASE, GreasePlace::Extension(greased_extensions), self.random);
                    extensions.push(ExtensionType(number), |out| out.extend_from_slice(body));
                    greased_extensions += 1;
                }
                // Its length follows from all others.
                HelloExtension::PaddingTo512 | HelloExtension::Fixed(..) | HelloExtension::EchGrease(_) => {}
            }
        }
        for extension in [ExtensionType::COOKIE, ExtensionType::TICKET_REQUEST, ExtensionType::EARLY_DATA] {
            if !form.extensions.contains(&HelloExtension::Filled(extension)) {
                self.fill(extension, config, extensions);
            }
        }
    }

    /// One extension that says what the connection offers; nothing, where it offers nothing of the kind.
    fn fill(&self, extension: ExtensionType, config: &Config, extensions: &mut ExtensionsBuilder) {
        let tls13 = config.versions.contains(&Version::Tls13);
        let tls12 = config.versions.contains(&Version::Tls12)
            || config.form.as_ref().is_some_and(|form| form.versions.contains(&ProtocolVersion::TLS_1_2));
        match extension {
            ExtensionType::SERVER_NAME => {
                if let Some(name) = &config.sni {
                    let name = ServerNameEntry::host_name(name.as_bytes());
                    extensions.push(extension, |out| ServerNameList::encode([name], out));
                }
            }
            ExtensionType::SUPPORTED_GROUPS => {
                let groups = self.offered_groups(config);
                if !groups.is_empty() {
                    extensions.push(extension, |out| SupportedGroups::encode(&groups, out));
                }
            }
            ExtensionType::SIGNATURE_ALGORITHMS => {
                extensions.push(extension, |out| match config.form {
                    None => SignatureAlgorithms::encode(&config.signature_schemes, out),
                    Some(_) => {
                        let greased =
                            |scheme: &SignatureScheme| SignatureScheme(greased(scheme.0, GreasePlace::Scheme, self.random));
                        SignatureAlgorithms::encode(&config.signature_schemes.iter().map(greased).collect::<Vec<_>>(), out);
                    }
                });
            }
            ExtensionType::ALPN if !config.alpn.is_empty() => {
                extensions.push(extension, |out| ProtocolNameList::encode(config.alpn.iter().map(Vec::as_slice), out));
            }
            ExtensionType::EXTENDED_MASTER_SECRET if tls12 && config.shape.extended_master_secret => {
                extensions.push(extension, |_| {});
            }
            ExtensionType::RENEGOTIATION_INFO if tls12 => {
                extensions.push(extension, |out| RenegotiationInfo { renegotiated_connection: &[] }.emit(out));
            }
            ExtensionType::EC_POINT_FORMATS if tls12 => {
                extensions.push(extension, |out| EcPointFormats { formats: &[EcPointFormats::UNCOMPRESSED] }.emit(out));
            }
            ExtensionType::SESSION_TICKET if tls12 => match self.offer {
                Offer::SessionTicket(session) => {
                    extensions.push(extension, |out| {
                        session.ticket.iter().for_each(|ticket| out.extend_from_slice(&ticket.ticket));
                    });
                }
                Offer::Full { session_ticket: true } => {
                    extensions.push(extension, |_| {});
                }
                // A client that knows both versions leaves it in place when it offers a ticket of TLS 1.3.
                Offer::Ticket(_) | Offer::Early(_) | Offer::External(_) if config.form.is_some() => {
                    extensions.push(extension, |_| {});
                }
                _ => {}
            },
            ExtensionType::SUPPORTED_VERSIONS if tls13 => {
                extensions.push(extension, |out| SupportedVersions::encode(&self.offered_versions(config), out));
            }
            ExtensionType::PSK_KEY_EXCHANGE_MODES if tls13 && !config.tls13.psk_modes.is_empty() => {
                extensions.push(extension, |out| {
                    PskKeyExchangeModes::encode(config.tls13.psk_modes.iter().copied().map(wire_mode), out);
                });
            }
            ExtensionType::KEY_SHARE if tls13 => {
                extensions.push(extension, |out| self.emit_key_shares(config, out));
            }
            ExtensionType::COOKIE if tls13 => {
                if let Some(cookie) = self.cookie {
                    extensions.push(extension, |out| Cookie { cookie }.emit(out));
                }
            }
            ExtensionType::TICKET_REQUEST if tls13 => {
                if let Some(request) = &config.tls13.ticket_request {
                    extensions.push(extension, |out| request.emit(out));
                }
            }
            ExtensionType::EARLY_DATA if tls13 && matches!(self.offer, Offer::Early(_)) => {
                extensions.push(extension, |_| {});
            }
            _ => {}
        }
    }

    fn emit_key_shares(&self, config: &Config, out: &mut Vec<u8>) {
        let reserved = config.shared_groups().iter().filter(|group| group.0 == GREASE && !self.is_second);
        let reserved = reserved.map(|group| KeyShareEntry {
            group: NamedGroup(greased(group.0, GreasePlace::Group, self.random)),
            key_exchange: &[0],
        });
        let shares =
            self.key_shares.iter().map(|share| KeyShareEntry { group: share.group(), key_exchange: share.public() });
        KeyShareClientHello::encode(reserved.chain(shares), out);
    }

    /// The groups that go into supported_groups.
    fn offered_groups(&self, config: &Config) -> Vec<NamedGroup> {
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
        groups.into_iter().map(|group| NamedGroup(greased(group.0, GreasePlace::Group, self.random))).collect()
    }

    fn offered_versions(&self, config: &Config) -> Vec<ProtocolVersion> {
        if let Some(form) = &config.form {
            let greased = |version: &ProtocolVersion| ProtocolVersion(greased(version.0, GreasePlace::Version, self.random));
            return form.versions.iter().map(greased).collect();
        }
        let mut versions = config.versions.clone();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        let mut versions: Vec<_> = versions.into_iter().map(wire_version).collect();
        if config.survey {
            versions.extend([ProtocolVersion::TLS_1_1, ProtocolVersion::TLS_1_0]);
        }
        versions
    }

    /// The identities, the true one last, and binders of zeros, of which the last is still to be made.
    fn emit_psk(&self, psk: Psk<'_>, decoys: u8, out: &mut Vec<u8>) {
        let obfuscated_ticket_age = psk.obfuscated_age(self.now);
        let decoyed: Vec<_> =
            (0..decoys).map(|place| derive(self.random, Derived::Decoy(place), psk.identity().len())).collect();
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
fn offered_suites(config: &Config, offer: &Offer, client_random: &[u8; 32]) -> Vec<CipherSuite> {
    let mut suites: Vec<CipherSuite> = match config.form {
        None => {
            let is_of_offered =
                |id: &CipherSuite| suite::find(*id).is_some_and(|suite| config.versions.contains(&suite.version));
            config.cipher_suites.iter().copied().filter(is_of_offered).collect()
        }
        Some(_) => {
            let tls13 = config.versions.contains(&Version::Tls13);
            let listed = config.cipher_suites.iter().filter(|id| tls13 || !is_of_tls13(**id));
            listed.map(|id| CipherSuite(greased(id.0, GreasePlace::Suite, client_random))).collect()
        }
    };
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

/// The suites of TLS 1.3 alone (RFC 9846 §B.4).
fn is_of_tls13(id: CipherSuite) -> bool {
    id.0 >> 8 == 0x13
}

/// The extensions that clients send as they are, and that say something under TLS 1.3 alone.
fn is_of_tls13_alone(extension: ExtensionType) -> bool {
    [ExtensionType::POST_HANDSHAKE_AUTH, ExtensionType::COMPRESS_CERTIFICATE].contains(&extension)
}

/// Pads a ClientHello of 256 to 511 bytes to 512 (RFC 7685 §4), before pre_shared_key, which stays the last. `others` are the bytes
/// of its session ID and its suites.
fn pad_to_512(extensions: &mut ExtensionsBuilder, others: usize) {
    /// Header, version, random, the lengths of ID, suites and extensions, the compression methods.
    const AROUND: usize = 4 + 2 + 32 + 1 + 2 + 2 + 2;
    /// Type and length of the extension itself.
    const HEADER: usize = 4;
    let length = AROUND + others + extensions.as_bytes().len();
    if (256..512).contains(&length) {
        let padding = (512 - length).saturating_sub(HEADER);
        extensions.insert_before(ExtensionType::PRE_SHARED_KEY, ExtensionType::PADDING, &vec![0; padding]);
    }
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
