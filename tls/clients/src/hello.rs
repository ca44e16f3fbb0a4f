//! A ClientHello as data: what stays the same from connection to connection, by IANA's names.

use std::collections::BTreeMap;
use std::sync::Arc;

use reprise_engine::{GREASE, HelloExtension, HelloForm, is_grease};
use reprise_model::PskMode;
use reprise_wire::extensions::{
    CompressCertificate, KeyShareClientHello, ProtocolNameList, PskKeyExchangeModes, SignatureAlgorithms, SupportedGroups,
    SupportedVersions,
};
use reprise_wire::{
    CertificateCompressionAlgorithm, CipherSuite, ClientHello, ExtensionType, NamedGroup, ProtocolVersion,
    PskKeyExchangeMode, SignatureScheme,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a number that means nothing stands in a list (RFC 8701).
const GREASE_NAME: &str = "GREASE";

/// What a client's ClientHello always says. Randoms, keys, the server's name and sessions are left out; numbers without a name are
/// hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloRecord {
    /// The version in the header of the record.
    pub record_version: String,
    /// Whether there is a session ID, though no TLS 1.2 session is offered.
    pub session_id: bool,
    /// Whether each connection has its extensions in another order.
    pub permutes: bool,
    /// The suites, in order of preference.
    pub cipher_suites: Vec<String>,
    /// The extensions in their order; of a client that permutes them, in that of one connection.
    pub extensions: Vec<ExtensionRecord>,
}

/// One extension: its name alone where the connection fills it in or where it is empty, else with what it says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExtensionRecord {
    /// Filled in, or empty.
    Name(String),
    /// By its name, what it says.
    Said(BTreeMap<String, Said>),
}

/// What an extension says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Said {
    /// Its bytes, hexadecimal.
    Bytes(String),
    /// A list of names.
    Names(Vec<String>),
    /// Of a GREASE ECH, the lengths that its payload may have.
    Lengths(Vec<u16>),
}

/// What the engine offers in a client's place, by number; [`GREASE`] stands where a connection draws one.
#[derive(Clone, Debug)]
pub struct ClientOffer {
    /// The suites, in order of preference.
    pub(crate) suites: Vec<u16>,
    /// The groups, in order of preference.
    pub(crate) groups: Vec<u16>,
    /// The groups of the key shares.
    pub(crate) key_share_groups: Vec<u16>,
    /// The schemes in which the server may sign.
    pub(crate) signature_schemes: Vec<u16>,
    /// How a PSK may be used.
    pub(crate) psk_modes: Vec<PskMode>,
    /// The form of the ClientHello.
    pub(crate) form: Arc<HelloForm>,
}

/// Why a ClientHello is no row.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HelloError {
    /// It is no whole ClientHello.
    #[error("no ClientHello: {0}")]
    Unreadable(#[from] reprise_wire::Error),
    /// A name that nothing has.
    #[error("{what} has no number: {name}")]
    Unknown {
        /// What of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An extension that says something else than a row of its name can.
    #[error("{0} does not say what it should")]
    Unfit(String),
}

impl HelloRecord {
    /// What the ClientHello `body`, without its header, in a record of this version says.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(record_version: ProtocolVersion, body: &[u8]) -> Result<Self, HelloError> {
        let hello = ClientHello::parse(body)?;
        let extensions = hello.extensions.unwrap_or_default();
        let records = extensions.iter().map(|(extension, data)| record_of(extension, data));
        let records = records.collect::<Result<Vec<Option<_>>, _>>()?;
        Ok(Self {
            record_version: record_version.to_string(),
            session_id: !hello.session_id.is_empty(),
            permutes: false,
            cipher_suites: names(hello.cipher_suites.iter().map(|suite| (suite.0, suite.to_string()))),
            extensions: records.into_iter().flatten().collect(),
        })
    }

    /// The same client as it looks over two connections: whether the order of extensions differs between them, and all lengths of
    /// an ECH payload that were seen.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        let mut merged = self.clone();
        let order = |it: &Self| it.extensions.iter().map(ExtensionRecord::name).map(str::to_owned).collect::<Vec<_>>();
        merged.permutes = self.permutes || other.permutes || order(self) != order(other);
        for record in &mut merged.extensions {
            let ExtensionRecord::Said(said) = record else { continue };
            for (name, said) in said {
                let theirs = other.extensions.iter().filter_map(|it| it.said(name));
                let theirs = theirs.filter_map(|said| if let Said::Lengths(lengths) = said { Some(lengths) } else { None });
                if let Said::Lengths(lengths) = said {
                    lengths.extend(theirs.flatten());
                    lengths.sort_unstable();
                    lengths.dedup();
                }
            }
        }
        merged
    }

    /// What differs from another in what a server sees, the order left out where both permute: one line for each.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut differ = |what: &str, ours: String, theirs: String| {
            if ours != theirs {
                found.push(format!("{what}: {ours}, not {theirs}"));
            }
        };
        differ("record version", self.record_version.clone(), other.record_version.clone());
        differ("session ID", self.session_id.to_string(), other.session_id.to_string());
        differ("permutes", self.permutes.to_string(), other.permutes.to_string());
        differ("cipher suites", self.cipher_suites.join(" "), other.cipher_suites.join(" "));
        let order = |it: &Self| {
            let mut names: Vec<&str> = it.extensions.iter().map(ExtensionRecord::name).collect();
            if self.permutes {
                names.sort_unstable();
            }
            names.join(" ")
        };
        differ("extensions", order(self), order(other));
        for record in &self.extensions {
            let ExtensionRecord::Said(said) = record else { continue };
            for (name, ours) in said {
                let theirs = other.extensions.iter().find_map(|it| it.said(name));
                let is_same = match (ours, theirs) {
                    // Every connection draws one, of which a few connections show not all.
                    (Said::Lengths(_), Some(Said::Lengths(_))) => true,
                    (ours, theirs) => name == GREASE_NAME || Some(ours) == theirs,
                };
                if !is_same {
                    found.push(format!("{name}: {ours:?}, not {theirs:?}"));
                }
            }
        }
        found
    }

    /// What the engine offers in this client's place.
    ///
    /// # Errors
    /// If a name has no number, or an extension says what it cannot.
    pub fn offer(&self) -> Result<ClientOffer, HelloError> {
        let version = |name: &str| ProtocolVersion::from_name(name).map(|it| it.0);
        let group = |name: &str| NamedGroup::from_name(name).map(|it| it.0);
        let suite = |name: &str| CipherSuite::from_name(name).map(|it| it.0);
        let scheme = |name: &str| SignatureScheme::from_name(name).map(|it| it.0);
        let versions = self.listed(ExtensionType::SUPPORTED_VERSIONS, "version", version)?;
        Ok(ClientOffer {
            suites: self.cipher_suites.iter().map(|name| number("suite", name, suite)).collect::<Result<_, _>>()?,
            groups: self.listed(ExtensionType::SUPPORTED_GROUPS, "group", group)?,
            key_share_groups: self.listed(ExtensionType::KEY_SHARE, "group", group)?,
            signature_schemes: self.listed(ExtensionType::SIGNATURE_ALGORITHMS, "signature scheme", scheme)?,
            psk_modes: self.psk_modes(),
            form: Arc::new(HelloForm {
                versions: versions.into_iter().map(ProtocolVersion).collect(),
                extensions: self.extensions.iter().map(ExtensionRecord::form).collect::<Result<_, _>>()?,
                permutes: self.permutes,
                record_version: ProtocolVersion(number("version", &self.record_version, version)?),
                is_compatible: self.session_id,
            }),
        })
    }

    fn psk_modes(&self) -> Vec<PskMode> {
        let mode = |name: &String| match PskKeyExchangeMode::from_name(name)? {
            PskKeyExchangeMode::PSK_DHE_KE => Some(PskMode::PskDheKe),
            PskKeyExchangeMode::PSK_KE => Some(PskMode::PskKe),
            _ => None,
        };
        self.lists(ExtensionType::PSK_KEY_EXCHANGE_MODES).iter().filter_map(mode).collect()
    }

    /// What an extension lists, by name; nothing where it is not there or no list.
    pub fn lists(&self, extension: ExtensionType) -> &[String] {
        let name = extension.to_string();
        let said = self.extensions.iter().find_map(|record| record.said(&name));
        if let Some(Said::Names(names)) = said { names } else { &[] }
    }

    /// The protocols of ALPN.
    pub fn alpn(&self) -> Vec<Vec<u8>> {
        self.lists(ExtensionType::ALPN).iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    fn listed(
        &self,
        extension: ExtensionType,
        what: &'static str,
        find: impl Fn(&str) -> Option<u16>,
    ) -> Result<Vec<u16>, HelloError> {
        self.lists(extension).iter().map(|name| number(what, name, &find)).collect()
    }
}

impl ExtensionRecord {
    /// The extension's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Said(said) => said.keys().next().map_or("", String::as_str),
        }
    }

    fn said(&self, name: &str) -> Option<&Said> {
        match self {
            Self::Name(_) => None,
            Self::Said(said) => said.get(name),
        }
    }

    fn form(&self) -> Result<HelloExtension, HelloError> {
        let name = self.name();
        let said = self.said(name);
        if name == GREASE_NAME {
            return match said {
                Some(Said::Bytes(hex)) => Ok(HelloExtension::Grease(bytes(name, hex)?)),
                None => Ok(HelloExtension::Grease(Vec::new())),
                _ => Err(HelloError::Unfit(name.to_owned())),
            };
        }
        let extension = ExtensionType(number("extension", name, |it| ExtensionType::from_name(it).map(|it| it.0))?);
        match (extension, said) {
            (ExtensionType::PADDING, None) => Ok(HelloExtension::PaddingTo512),
            (ExtensionType::ENCRYPTED_CLIENT_HELLO, Some(Said::Lengths(lengths))) => {
                Ok(HelloExtension::EchGrease(lengths.clone()))
            }
            (_, Some(Said::Bytes(hex))) => Ok(HelloExtension::Fixed(extension, bytes(name, hex)?)),
            (ExtensionType::COMPRESS_CERTIFICATE, Some(Said::Names(names))) => {
                let find = |it: &str| CertificateCompressionAlgorithm::from_name(it).map(|it| it.0);
                let algorithms = names.iter().map(|name| number("compression", name, find));
                let algorithms: Vec<_> =
                    algorithms.map(|it| it.map(CertificateCompressionAlgorithm)).collect::<Result<_, _>>()?;
                let mut data = Vec::new();
                CompressCertificate::encode(&algorithms, &mut data);
                Ok(HelloExtension::Fixed(extension, data))
            }
            _ if FILLED.contains(&extension) => Ok(HelloExtension::Filled(extension)),
            (_, None) => Ok(HelloExtension::Fixed(extension, Vec::new())),
            _ => Err(HelloError::Unfit(name.to_owned())),
        }
    }
}

/// What the connection fills in. A row names what each of them lists, where it is a list.
const FILLED: [ExtensionType; 12] = [
    ExtensionType::SERVER_NAME,
    ExtensionType::SUPPORTED_GROUPS,
    ExtensionType::SIGNATURE_ALGORITHMS,
    ExtensionType::ALPN,
    ExtensionType::EXTENDED_MASTER_SECRET,
    ExtensionType::SESSION_TICKET,
    ExtensionType::SUPPORTED_VERSIONS,
    ExtensionType::PSK_KEY_EXCHANGE_MODES,
    ExtensionType::KEY_SHARE,
    ExtensionType::COOKIE,
    ExtensionType::EARLY_DATA,
    ExtensionType::RENEGOTIATION_INFO,
];

/// The record of one extension; none of a PSK, whose place is fixed.
fn record_of(extension: ExtensionType, data: &[u8]) -> Result<Option<ExtensionRecord>, HelloError> {
    let name = if is_grease(extension.0) { GREASE_NAME.to_owned() } else { extension.to_string() };
    let names = match extension {
        ExtensionType::PRE_SHARED_KEY | ExtensionType::EARLY_DATA | ExtensionType::COOKIE => return Ok(None),
        ExtensionType::SERVER_NAME | ExtensionType::SESSION_TICKET | ExtensionType::PADDING => {
            return Ok(Some(ExtensionRecord::Name(name)));
        }
        ExtensionType::RENEGOTIATION_INFO if data == [0] => return Ok(Some(ExtensionRecord::Name(name))),
        ExtensionType::ENCRYPTED_CLIENT_HELLO => {
            // Type, KDF, AEAD, configuration, a public value with its length, and the payload with its own (RFC 9849 §5).
            let encapsulated = data.get(6..8).map_or(0, |length| usize::from(length[0]) << 8 | usize::from(length[1]));
            let payload = data.len().saturating_sub(6 + 2 + encapsulated + 2);
            return Ok(Some(said(name, Said::Lengths(vec![u16::try_from(payload).unwrap_or(u16::MAX)]))));
        }
        ExtensionType::SUPPORTED_GROUPS => {
            names(SupportedGroups::parse(data)?.values.iter().map(|it| (it.0, it.to_string())))
        }
        ExtensionType::SIGNATURE_ALGORITHMS => {
            names(SignatureAlgorithms::parse(data)?.values.iter().map(|it| (it.0, it.to_string())))
        }
        ExtensionType::SUPPORTED_VERSIONS => {
            names(SupportedVersions::parse(data)?.values.iter().map(|it| (it.0, it.to_string())))
        }
        ExtensionType::COMPRESS_CERTIFICATE => {
            names(CompressCertificate::parse(data)?.values.iter().map(|it| (it.0, it.to_string())))
        }
        ExtensionType::KEY_SHARE => {
            let shares = KeyShareClientHello::parse(data)?.client_shares;
            names(shares.iter().map(|share| (share.group.0, share.group.to_string())))
        }
        ExtensionType::PSK_KEY_EXCHANGE_MODES => {
            PskKeyExchangeModes::parse(data)?.iter().map(|mode| mode.to_string()).collect()
        }
        ExtensionType::ALPN => {
            ProtocolNameList::parse(data)?.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        }
        _ if data.is_empty() => return Ok(Some(ExtensionRecord::Name(name))),
        _ => return Ok(Some(said(name, Said::Bytes(hex(data))))),
    };
    Ok(Some(said(name, Said::Names(names))))
}

fn said(name: String, said: Said) -> ExtensionRecord {
    ExtensionRecord::Said(BTreeMap::from([(name, said)]))
}

fn names(values: impl Iterator<Item = (u16, String)>) -> Vec<String> {
    values.map(|(number, name)| if is_grease(number) { GREASE_NAME.to_owned() } else { name }).collect()
}

fn number(what: &'static str, name: &str, find: impl Fn(&str) -> Option<u16>) -> Result<u16, HelloError> {
    if name == GREASE_NAME {
        return Ok(GREASE);
    }
    let by_number = || u16::from_str_radix(name.strip_prefix("0x")?, 16).ok();
    find(name).or_else(by_number).ok_or_else(|| HelloError::Unknown { what, name: name.to_owned() })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(name: &str, hex: &str) -> Result<Vec<u8>, HelloError> {
    let digits = hex.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    bytes.collect::<Option<_>>().ok_or_else(|| HelloError::Unfit(name.to_owned()))
}
