//! One kind of handshake that stacks are compared by.

use std::fmt;

use reprise_model::document::CompareCase;
use reprise_model::{KeyPairs, Kind, PskMode, ServerChain, Version};
use reprise_wire::{CipherSuite, NamedGroup};
use serde::{Deserialize, Serialize};

use crate::bulk::Bulk;
use crate::key::Key;

/// One kind of handshake that stacks are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// The version.
    pub version: Version,
    /// Full, by an external PSK, or how it is resumed.
    pub kind: Kind,
    /// The key of the server's certificate, and of the client's.
    pub key: Key,
    /// IANA's number of the only group; [`NO_GROUP`] where the suite has no key exchange.
    pub group: u16,
    /// IANA's number of the only suite.
    pub suite: u16,
    /// Whether the client is authenticated too.
    pub mutual: bool,
    /// TLS 1.3: whether a ticket or an external PSK is used without a key exchange (psk_ke).
    pub psk_ke: bool,
    /// Whether the client says 64 bytes in the span that is measured: as early data, or once its handshake is complete.
    pub request: bool,
    /// The data whose transfer is measured in place of the handshake.
    pub bulk: Option<Bulk>,
    /// Where the server's ephemeral key pair comes from.
    pub key_pairs: KeyPairs,
    /// The server's certificates, and what the client knows of them before.
    pub chain: ServerChain,
    /// Whether the client has no key share for the server's group: the server answers with a HelloRetryRequest.
    pub retried: bool,
    /// The most bytes of data in a record of either side, which the client asks for; `None`: what TLS allows.
    pub max_fragment: Option<u16>,
    /// Whether idle connections give back what the library has a mode or a call to give back.
    pub releases_buffers: bool,
    /// Whether the client has a key share of X25519MLKEM768 too, which it prefers and the server has not.
    pub hybrid_share: bool,
}

/// In place of a group, where TLS 1.2 has no key exchange but the PSK (RFC 4279 §2).
pub const NO_GROUP: NamedGroup = NamedGroup(0);

/// What a client says in a case with a request: as long as a short GET.
pub const REQUEST: [u8; 64] = *b"GET /a-short-request-that-a-client-may-send-at-once HTTP/1.1\r\n\r\n";

impl Case {
    /// This handshake, in the suite that is most common for it; `None` where the protocol has no such handshake.
    pub fn new(version: Version, kind: Kind, key: Key, group: NamedGroup, mutual: bool) -> Option<Self> {
        let suite = match version {
            Version::Tls13 => CipherSuite::TLS_AES_128_GCM_SHA256,
            Version::Tls12 if is_finite_field(group) => CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256,
            Version::Tls12 if key.is_rsa() => CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            Version::Tls12 => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        };
        let request = kind == Kind::Early;
        Self { mutual, request, ..Self::plain(version, kind, key, group, suite) }.with_suite(suite)
    }

    /// A handshake by an external PSK, in the suite that most libraries have for it; `None` where the protocol has no such handshake.
    pub fn by_psk(version: Version, group: NamedGroup) -> Option<Self> {
        let suite = match version {
            Version::Tls13 => CipherSuite::TLS_AES_128_GCM_SHA256,
            Version::Tls12 if group == NO_GROUP => CipherSuite::TLS_PSK_WITH_AES_128_GCM_SHA256,
            Version::Tls12 if is_finite_field(group) => CipherSuite::TLS_DHE_PSK_WITH_AES_128_GCM_SHA256,
            Version::Tls12 => CipherSuite::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256,
        };
        Self::plain(version, Kind::Psk, Key::None, group, suite).with_suite(suite)
    }

    /// Nothing but a handshake of one side that is authenticated.
    fn plain(version: Version, kind: Kind, key: Key, group: NamedGroup, suite: CipherSuite) -> Self {
        let (group, suite) = (group.0, suite.0);
        Self {
            version,
            kind,
            key,
            group,
            suite,
            mutual: false,
            psk_ke: false,
            request: false,
            bulk: None,
            retried: false,
            key_pairs: KeyPairs::Fresh,
            chain: ServerChain::One,
            max_fragment: None,
            releases_buffers: false,
            hybrid_share: false,
        }
    }

    /// The same with a ticket or an external PSK that is used without a key exchange; `None` where the protocol has no such handshake.
    pub fn without_key_exchange(self) -> Option<Self> {
        let has_modes = self.version == Version::Tls13 && matches!(self.kind, Kind::Ticket | Kind::Psk);
        has_modes.then_some(Self { psk_ke: true, ..self })
    }

    /// The same with key pairs of the server that come from elsewhere.
    pub fn with_key_pairs(self, key_pairs: KeyPairs) -> Self {
        Self { key_pairs, ..self }
    }

    /// The same with other certificates of the server.
    pub fn with_chain(self, chain: ServerChain) -> Self {
        Self { chain, ..self }
    }

    /// The same with records of at most so many bytes of data.
    pub fn with_max_fragment(self, max_fragment: u16) -> Self {
        Self { max_fragment: Some(max_fragment), ..self }
    }

    /// The same with buffers that are released while a connection is idle.
    pub fn with_released_buffers(self) -> Self {
        Self { releases_buffers: true, ..self }
    }

    /// Whether it has a key exchange; a session that is resumed under TLS 1.2 has none.
    pub fn has_key_exchange(&self) -> bool {
        match self.version {
            Version::Tls13 => !self.psk_ke,
            Version::Tls12 => !self.kind.is_resumption() && self.group() != NO_GROUP,
        }
    }

    /// The same where the client's only key share is of another group; `None` where the protocol has no such handshake.
    pub fn with_retry(self) -> Option<Self> {
        (self.version == Version::Tls13 && !self.psk_ke).then_some(Self { retried: true, ..self })
    }

    /// The same where the client has a further key share, in vain; `None` where the protocol has no such handshake.
    pub fn with_hybrid_share(self) -> Option<Self> {
        (self.version == Version::Tls13 && self.group() == NamedGroup::X25519).then_some(Self { hybrid_share: true, ..self })
    }

    /// What a client that is told to retry has a key share of.
    pub(crate) fn shared_in_vain(&self) -> Option<NamedGroup> {
        let other = if self.group() == NamedGroup::X25519 { NamedGroup::SECP256R1 } else { NamedGroup::X25519 };
        self.retried.then_some(other)
    }

    /// The same with a request of the client.
    pub fn with_request(self) -> Self {
        Self { request: true, ..self }
    }

    /// The same with the transfer of data after it.
    pub fn with_bulk(self, bulk: Bulk) -> Self {
        Self { bulk: Some(bulk), ..self }
    }

    /// How a PSK of TLS 1.3 is used.
    pub fn psk_mode(&self) -> Option<PskMode> {
        let by_psk = self.version == Version::Tls13 && self.kind != Kind::Full;
        by_psk.then_some(if self.psk_ke { PskMode::PskKe } else { PskMode::PskDheKe })
    }

    /// The same in another suite; `None` where the protocol has no such handshake.
    pub fn with_suite(self, suite: CipherSuite) -> Option<Self> {
        let group = self.group();
        let named = suite.to_string();
        let is_psk = self.kind == Kind::Psk;
        let fits = match self.version {
            Version::Tls13 => suite.0 >> 8 == 0x13,
            // RFC 4279 §1, RFC 5489 §2.
            Version::Tls12 if is_psk && group == NO_GROUP => named.starts_with("TLS_PSK_WITH_"),
            Version::Tls12 if is_psk && is_finite_field(group) => named.starts_with("TLS_DHE_PSK_WITH_"),
            Version::Tls12 if is_psk => named.starts_with("TLS_ECDHE_PSK_WITH_"),
            // RFC 5246 §7.4.2, RFC 8422 §5.1: the suite names the key, and the key exchange.
            Version::Tls12 if is_finite_field(group) => self.key.is_rsa() && named.starts_with("TLS_DHE_RSA_WITH_"),
            Version::Tls12 if self.key.is_rsa() => named.starts_with("TLS_ECDHE_RSA_WITH_"),
            Version::Tls12 => named.starts_with("TLS_ECDHE_ECDSA_WITH_"),
        };
        let has_group = match self.version {
            Version::Tls13 => group != NO_GROUP,
            Version::Tls12 => group.0 < NamedGroup::MLKEM512.0,
        };
        // TLS 1.2 has PSKs of another kind, which is compared too.
        let has_signatures = self.version == Version::Tls13 || !self.key.has_ml_dsa();
        let exists = has_signatures && is_psk == (self.key == Key::None) && (is_psk || self.kind.exists_under(self.version));
        (fits && has_group && exists).then_some(Self { suite: suite.0, ..self })
    }

    /// The group.
    pub fn group(&self) -> NamedGroup {
        NamedGroup(self.group)
    }

    /// Whether its key exchange is in a finite field.
    pub fn is_of_finite_field(&self) -> bool {
        is_finite_field(self.group())
    }

    /// The group as documents name it.
    pub(crate) fn group_name(&self) -> String {
        if self.group() == NO_GROUP { "none".to_owned() } else { self.group().to_string() }
    }

    /// The suite.
    pub fn suite(&self) -> CipherSuite {
        CipherSuite(self.suite)
    }

    /// It as documents have it.
    pub fn document(&self) -> CompareCase {
        CompareCase {
            tls: self.version,
            kind: self.kind,
            key: self.key.name().to_owned(),
            group: self.group_name(),
            cipher: self.suite().to_string(),
            mutual: self.mutual,
            psk_mode: self.psk_mode(),
            bulk: self.bulk.map(Bulk::document),
            request: if self.request { REQUEST.len() as u64 } else { 0 },
            key_pairs: self.key_pairs,
            chain: self.chain,
            retried: self.retried,
            max_fragment: self.max_fragment.map(u64::from),
            releases_buffers: self.releases_buffers,
            hybrid_share: self.hybrid_share,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mutual = if self.mutual { ", mutual" } else { "" };
        let psk_ke = if self.psk_ke { " psk_ke" } else { "" };
        let request = if self.request && self.kind != Kind::Early { ", request" } else { "" };
        if let Some(bulk) = self.bulk {
            return write!(f, "{} {}, {bulk}", self.version, self.suite());
        }
        let retried = if self.retried { ", retried" } else { "" };
        let shares = if self.hybrid_share { ", hybrid share too" } else { "" };
        let pairs = if self.key_pairs == KeyPairs::Fresh { String::new() } else { format!(", keys {}", self.key_pairs) };
        let chain = if self.chain == ServerChain::One { String::new() } else { format!(", chain {}", self.chain) };
        let fragments = self.max_fragment.map(|most| format!(", fragments of {most}")).unwrap_or_default();
        let released = if self.releases_buffers { ", buffers released" } else { "" };
        if self.kind == Kind::Psk {
            return write!(f, "{} psk{psk_ke}, {}, {}{pairs}", self.version, self.group_name(), self.suite());
        }
        write!(
            f,
            "{} {}{psk_ke}, {}, {}{mutual}{request}{retried}{shares}{pairs}{chain}{fragments}{released}",
            self.version,
            self.kind,
            self.key,
            self.group()
        )
    }
}

fn is_finite_field(group: NamedGroup) -> bool {
    (NamedGroup::FFDHE2048.0..=NamedGroup::FFDHE8192.0).contains(&group.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_protocol_has_not_is_no_case() {
        let case = |version, kind, key, group| Case::new(version, kind, key, group, false);
        assert!(case(Version::Tls13, Kind::Id, Key::P256, NamedGroup::X25519).is_none(), "no IDs under TLS 1.3");
        assert!(case(Version::Tls12, Kind::Full, Key::P256, NamedGroup::FFDHE2048).is_none(), "no DHE-ECDSA");
        assert!(case(Version::Tls12, Kind::Full, Key::RSA_2048, NamedGroup::X25519MLKEM768).is_none());
        let dhe = case(Version::Tls12, Kind::Full, Key::RSA_2048, NamedGroup::FFDHE2048).unwrap();
        assert_eq!(dhe.suite(), CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256);
        assert!(dhe.with_suite(CipherSuite::TLS_AES_128_GCM_SHA256).is_none());
    }

    #[test]
    fn only_a_tls13_ticket_is_used_without_a_key_exchange() {
        let case = |version, kind| Case::new(version, kind, Key::P256, NamedGroup::X25519, false).unwrap();
        let without = case(Version::Tls13, Kind::Ticket).without_key_exchange().unwrap();
        assert_eq!(without.psk_mode(), Some(PskMode::PskKe));
        assert_eq!(case(Version::Tls13, Kind::Early).psk_mode(), Some(PskMode::PskDheKe));
        assert!(case(Version::Tls12, Kind::Ticket).without_key_exchange().is_none());
        assert!(case(Version::Tls13, Kind::Full).without_key_exchange().is_none());
        assert_eq!(case(Version::Tls12, Kind::Ticket).psk_mode(), None);
    }

    #[test]
    fn a_psk_suite_of_tls12_has_the_key_exchange_of_its_group() {
        let suites = |group| {
            let case = Case::by_psk(Version::Tls12, group).unwrap();
            (case.suite(), case.has_key_exchange())
        };
        assert_eq!(suites(NO_GROUP), (CipherSuite::TLS_PSK_WITH_AES_128_GCM_SHA256, false));
        assert_eq!(suites(NamedGroup::FFDHE2048), (CipherSuite::TLS_DHE_PSK_WITH_AES_128_GCM_SHA256, true));
        assert_eq!(suites(NamedGroup::SECP256R1), (CipherSuite::TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256, true));
        let ecdhe = Case::by_psk(Version::Tls12, NamedGroup::SECP256R1).unwrap();
        assert!(ecdhe.with_suite(CipherSuite::TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256).is_some());
        assert!(ecdhe.with_suite(CipherSuite::TLS_PSK_WITH_AES_128_GCM_SHA256).is_none());
        assert!(Case::by_psk(Version::Tls12, NamedGroup::X25519MLKEM768).is_none());
        assert!(Case::by_psk(Version::Tls13, NO_GROUP).is_none(), "psk_ke has a key share, which the server may ignore");
    }

    #[test]
    fn a_psk_has_no_certificate_and_a_full_handshake_has_one() {
        let case = |kind, key| Case::new(Version::Tls13, kind, key, NamedGroup::SECP256R1, false);
        assert!(case(Kind::Psk, Key::P256).is_none() && case(Kind::Full, Key::None).is_none());
        let psk = Case::by_psk(Version::Tls13, NamedGroup::SECP256R1).unwrap();
        assert_eq!(psk.without_key_exchange().unwrap().psk_mode(), Some(PskMode::PskKe));
        let sent = serde_json::to_string(&psk).unwrap();
        assert_eq!(serde_json::from_str::<Case>(&sent).unwrap(), psk);
        assert!("none".parse::<Key>().is_err(), "a flag names certificates");
    }
}
