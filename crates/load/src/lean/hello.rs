//! Prepared ClientHellos: everything but the random, and what a session adds, is made once.
//!
//! ```text
//! record header │ handshake header │ 0x0303 │ random │ session ID │ suites, compression │ extensions …
//!   each time       each time        fixed     fresh    fresh/ID          └── `tail`, prepared ──┘ + ticket
//! ```

use reprise_engine::suite::Hash;
use reprise_model::{Nanos, Version};
use reprise_wire::extensions::{
    EcPointFormats, KeyShareClientHello, KeyShareEntry, OfferedPsks, ProtocolNameList, PskBinder, PskIdentity,
    PskKeyExchangeModes, RenegotiationInfo, ServerName, ServerNameList, SignatureAlgorithms, SupportedGroups,
    SupportedVersions,
};
use reprise_wire::{
    CipherSuite, ExtensionType, ExtensionsBuilder, HEADER_LEN, Handshake, HandshakeType, List16, NamedGroup,
    ProtocolVersion, PskKeyExchangeMode, SignatureScheme, codec,
};
use ring::digest;

use super::hkdf::digest_of;
use super::key_exchange::KeyExchanges;
use super::schedule13::Schedule;
use super::session::{Session, SessionForm};
use reprise_model::FaultName;

/// A ClientHello but for what differs from connection to connection.
pub(crate) struct Hello {
    /// Suites, compression, the extensions' length (to be adjusted) and the extensions.
    tail: Vec<u8>,
    /// Where in `tail` the extensions' length stands.
    extensions_at: usize,
    /// Where in `tail` the key share's public value begins, under TLS 1.3.
    share_at: Option<usize>,
}

/// What differs.
pub(crate) struct Fresh<'a> {
    pub(crate) random: &'a [u8; 32],
    pub(crate) session_id: &'a [u8],
    /// Replaces the prepared public value.
    pub(crate) share: Option<&'a [u8]>,
    /// What is offered for resumption.
    pub(crate) session: Option<&'a Session>,
    /// TLS 1.2: whether a ticket is asked for where none is offered.
    pub(crate) asks_ticket: bool,
    pub(crate) now: Nanos,
}

/// What all hellos of a run have in common.
pub(crate) struct HelloSpec<'a> {
    pub(crate) version: Version,
    pub(crate) suites: &'a [CipherSuite],
    /// The first gets the key share under TLS 1.3.
    pub(crate) groups: &'a [NamedGroup],
    pub(crate) sni: Option<&'a str>,
    pub(crate) alpn: &'a [Vec<u8>],
}

impl Hello {
    pub(crate) fn prepare(spec: &HelloSpec<'_>, exchange: &KeyExchanges) -> Result<Self, FaultName> {
        let mut tail = Vec::new();
        codec::vec16(&mut tail, |out| List16::encode(spec.suites, out));
        tail.extend_from_slice(&[1, 0]);

        let mut extensions = ExtensionsBuilder::new();
        if let Some(name) = spec.sni {
            extensions.push(ExtensionType::SERVER_NAME, |out| {
                ServerNameList::encode([ServerName::host_name(name.as_bytes())], out);
            });
        }
        extensions.push(ExtensionType::SUPPORTED_GROUPS, |out| SupportedGroups::encode(spec.groups, out));
        extensions.push(ExtensionType::SIGNATURE_ALGORITHMS, |out| SignatureAlgorithms::encode(&SCHEMES, out));
        if !spec.alpn.is_empty() {
            extensions.push(ExtensionType::ALPN, |out| {
                ProtocolNameList::encode(spec.alpn.iter().map(Vec::as_slice), out);
            });
        }
        match spec.version {
            Version::Tls12 => {
                extensions.push(ExtensionType::EXTENDED_MASTER_SECRET, |_| ());
                extensions.push(ExtensionType::RENEGOTIATION_INFO, |out| {
                    RenegotiationInfo { renegotiated_connection: &[] }.emit(out)
                });
                extensions.push(ExtensionType::EC_POINT_FORMATS, |out| {
                    EcPointFormats { formats: &[EcPointFormats::UNCOMPRESSED] }.emit(out)
                });
            }
            Version::Tls13 => {
                let group = *spec.groups.first().ok_or(FaultName::Unspoken)?;
                let public = exchange.public(group)?;
                extensions.push(ExtensionType::SUPPORTED_VERSIONS, |out| {
                    SupportedVersions::encode(&[ProtocolVersion::TLS_1_3], out);
                });
                extensions.push(ExtensionType::PSK_KEY_EXCHANGE_MODES, |out| {
                    PskKeyExchangeModes::encode([PskKeyExchangeMode::PSK_DHE_KE], out);
                });
                // Last, so that its public value ends the prepared bytes.
                extensions.push(ExtensionType::KEY_SHARE, |out| {
                    KeyShareClientHello::encode([KeyShareEntry { group, key_exchange: &public }], out);
                });
            }
        }
        let extensions_at = tail.len();
        extensions.view().emit(&mut tail);
        let share_at = match spec.version {
            Version::Tls13 => {
                let group = *spec.groups.first().ok_or(FaultName::Unspoken)?;
                Some(tail.len() - exchange.public(group)?.len())
            }
            Version::Tls12 => None,
        };
        Ok(Self { tail, extensions_at, share_at })
    }

    /// Writes a record with a ClientHello over `out`.
    pub(crate) fn write(&self, fresh: &Fresh<'_>, schedule: &Schedule, out: &mut Vec<u8>) -> Result<(), FaultName> {
        out.clear();
        out.extend_from_slice(&[22, 3, 1, 0, 0, HandshakeType::CLIENT_HELLO.0, 0, 0, 0, 3, 3]);
        out.extend_from_slice(fresh.random);
        codec::u8(out, fresh.session_id.len() as u8);
        out.extend_from_slice(fresh.session_id);
        let tail_at = out.len();
        out.extend_from_slice(&self.tail);
        if let (Some(share), Some(share_at)) = (fresh.share, self.share_at) {
            let place = out.get_mut(tail_at + share_at..).filter(|place| place.len() == share.len());
            place.ok_or(FaultName::Crypto)?.copy_from_slice(share);
        }
        let before = out.len();
        match fresh.session {
            Some(session) if session.form == SessionForm::Ticket13 => append_psk(session, fresh.now, out),
            Some(session) if session.form == SessionForm::Ticket12 => append_ticket(&session.name, out),
            None if fresh.asks_ticket => append_ticket(&[], out),
            _ => {}
        }
        let added = out.len() - before;
        let whole = out.len();
        set_u16(out, 3, whole - HEADER_LEN)?;
        set_u16(out, HEADER_LEN + 2, whole - HEADER_LEN - Handshake::HEADER_LEN)?;
        let prepared = self.tail.len() - self.extensions_at - 2;
        set_u16(out, tail_at + self.extensions_at, prepared + added)?;
        match fresh.session {
            Some(session) if session.form == SessionForm::Ticket13 => set_binder(session, schedule, out),
            _ => Ok(()),
        }
    }
}

/// The schemes of every key that a server may have: nothing is verified, but nothing else is sent to be chosen.
const SCHEMES: [SignatureScheme; 9] = [
    SignatureScheme::ECDSA_SECP256R1_SHA256,
    SignatureScheme::ECDSA_SECP384R1_SHA384,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PSS_RSAE_SHA256,
    SignatureScheme::RSA_PSS_RSAE_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

fn append_ticket(ticket: &[u8], out: &mut Vec<u8>) {
    codec::u16(out, ExtensionType::SESSION_TICKET.0);
    codec::vec16(out, |out| out.extend_from_slice(ticket));
}

/// The offer of one PSK, its binder still zeros.
fn append_psk(session: &Session, now: Nanos, out: &mut Vec<u8>) {
    let binder = [0; 48];
    let binder = binder.get(..session.suite.hash.output_len()).unwrap_or(&binder);
    codec::u16(out, ExtensionType::PRE_SHARED_KEY.0);
    let identity = PskIdentity { identity: &session.name, obfuscated_ticket_age: session.obfuscated_age(now) };
    codec::vec16(out, |out| OfferedPsks::encode([identity], [PskBinder(binder)], out));
}

/// RFC 8446 §4.2.11.2: the binder covers the ClientHello up to the list of binders, lengths as if it were there.
fn set_binder(session: &Session, schedule: &Schedule, out: &mut [u8]) -> Result<(), FaultName> {
    let hash: Hash = session.suite.hash;
    let length = hash.output_len();
    let list_at = out.len().checked_sub(2 + 1 + length).ok_or(FaultName::Crypto)?;
    let (covered, list) = out.split_at_mut_checked(list_at).ok_or(FaultName::Crypto)?;
    let transcript = digest::digest(digest_of(hash), covered.get(HEADER_LEN..).ok_or(FaultName::Crypto)?);
    let binder = schedule.binder(hash, session.secret.as_ref(), transcript.as_ref());
    list.get_mut(3..).ok_or(FaultName::Crypto)?.copy_from_slice(binder.as_ref());
    Ok(())
}

fn set_u16(out: &mut [u8], at: usize, value: usize) -> Result<(), FaultName> {
    let value = u16::try_from(value).map_err(|_| FaultName::TooLarge)?;
    out.get_mut(at..at + 2).ok_or(FaultName::Crypto)?.copy_from_slice(&value.to_be_bytes());
    Ok(())
}
