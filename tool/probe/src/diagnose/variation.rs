//! What an experiment changes on one connection, and nothing else.

use reprise_engine::suite::{self, SUITES};
use reprise_engine::{Config, HelloShape};
use reprise_model::{Facts, PskMode, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::connection_plan::{CloseBehavior, CloseMethod};
use crate::series::sharing;

/// What one connection does differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Nothing.
    Plain,
    /// No server_name.
    WithoutSni,
    /// No ALPN.
    WithoutAlpn,
    /// No extended_master_secret.
    WithoutExtendedMasterSecret,
    /// Neither the suite that the server chooses nor, under TLS 1.3, another of its hash.
    WithoutChosenSuite,
    /// The same of the session that is offered.
    WithoutSessionSuite,
    /// No client certificate.
    WithoutCertificate,
    /// psk_ke alone.
    PskKe,
    /// psk_ke beside psk_dhe_ke.
    BothPskModes,
    /// A ClientHello as large as those with post-quantum key shares, padded.
    LargeHello,
    /// A ClientHello at least as large as one that offers the session that was given last.
    AsLargeAsAnOffer,
    /// A ClientHello with so many bytes of padding.
    Padded(u16),
    /// A ClientHello in several records.
    SplitOverRecords,
    /// A ClientHello in two TCP segments.
    SplitOverSegments,
    /// So many PSK identities, the true one last.
    Identities(u8),
    /// No key share, so that the server asks for one with a HelloRetryRequest.
    WithoutKeyShare,
    /// An encrypted_client_hello that holds nothing.
    GreasesEch,
    /// The first key share is of the group that the server asks for otherwise.
    SharesWantedGroup,
    /// What the server sends is acknowledged at once, and the same request follows once more, where the server lets it.
    AcknowledgesAtOnce,
    /// The same request once more, where the server lets it.
    AsksAgain,
    /// A FIN without a close_notify at the end.
    EndsWithFin,
    /// A reset at the end, after the same request once more.
    EndsWithReset,
    /// No request and no end: it is still open when the next begins.
    StaysOpen,
}

/// As long as an X25519MLKEM768 key share makes it, and some more than one segment of Ethernet.
const LARGE: u16 = 1600;
/// No client offers more bytes of sessions.
const OFFERED: usize = 16_000;
/// Lengths, the age and the binder of an identity (RFC 9846 §4.3.11).
const BESIDE_IDENTITY: usize = 2 + 4 + 1 + 48;
/// Beside the identities and binders: headers, psk_key_exchange_modes, rounded up.
const BESIDE_EXTENSION: usize = 32;
/// Small enough for several records, and for server_name to lie behind the first, session ID or not: else a router that reads one record
/// alone would know the name of who offers nothing, and not of who offers an ID of 32 bytes before it.
const RECORD: u16 = 48;
/// Where a ClientHello is cut in two: behind the record's header and the first fields.
const SEGMENT: usize = 60;

impl Variation {
    /// The same configuration with this one thing changed; `chosen` is what the server negotiates otherwise. `None` where there is
    /// nothing to change.
    pub(super) fn of(self, config: &Config, chosen: Option<&Facts>) -> Option<Config> {
        let mut varied = config.clone();
        let shape = config.shape;
        match self {
            Self::Plain
            | Self::SplitOverSegments
            | Self::AcknowledgesAtOnce
            | Self::AsksAgain
            | Self::EndsWithFin
            | Self::EndsWithReset
            | Self::StaysOpen => {}
            Self::WithoutSni => varied.sni.take().map(drop)?,
            Self::WithoutAlpn => {
                varied.alpn.first()?;
                varied.alpn.clear();
            }
            Self::WithoutCertificate => varied.identity.take().map(drop)?,
            Self::WithoutChosenSuite => varied.cipher_suites = others(&config.cipher_suites, chosen?)?,
            Self::WithoutSessionSuite => {
                varied.cipher_suites = others(&config.cipher_suites, chosen?)?;
                varied.shape = HelloShape { session_suite: false, ..shape };
            }
            Self::PskKe => varied.tls13.psk_modes = vec![PskMode::PskKe],
            Self::BothPskModes => varied.tls13.psk_modes = vec![PskMode::PskDheKe, PskMode::PskKe],
            Self::WithoutExtendedMasterSecret => varied.shape = HelloShape { extended_master_secret: false, ..shape },
            Self::AsLargeAsAnOffer => {}
            Self::Padded(padding) => varied.shape = HelloShape { padding, ..shape },
            Self::LargeHello => varied.shape = HelloShape { padding: LARGE, ..shape },
            Self::SplitOverRecords => varied.shape = HelloShape { record_size: RECORD, ..shape },
            Self::Identities(count) => varied.shape = HelloShape { decoys: count.saturating_sub(1), ..shape },
            Self::SharesWantedGroup => varied = sharing(config, NamedGroup(chosen?.hello_retry?.wanted?)),
            Self::WithoutKeyShare => varied.shape = HelloShape { key_share: false, ..shape },
            Self::GreasesEch if config.greases_ech() => return None,
            Self::GreasesEch => varied.shape = HelloShape { ech_grease: true, ..shape },
        }
        Some(varied)
    }

    /// The same with no more identities of so many bytes than a client would offer, or as large as one of them makes a ClientHello.
    pub(super) fn offering(self, identity: usize) -> Self {
        match self {
            Self::Identities(count) => {
                let most = OFFERED / (identity + BESIDE_IDENTITY);
                Self::Identities(count.min(u8::try_from(most).unwrap_or(u8::MAX)).max(1))
            }
            Self::AsLargeAsAnOffer => Self::padded(identity + BESIDE_IDENTITY + BESIDE_EXTENSION),
            other => other,
        }
    }

    /// The same where no session is offered: what is of the session alone, its size, is padding.
    pub(super) fn without_session(self, identity: usize) -> Self {
        match self.offering(identity) {
            Self::Identities(count) => Self::padded(usize::from(count) * (identity + BESIDE_IDENTITY) + BESIDE_EXTENSION),
            other => other,
        }
    }

    fn padded(bytes: usize) -> Self {
        Self::Padded(u16::try_from(bytes.min(OFFERED)).unwrap_or(u16::MAX))
    }

    pub(super) fn behavior(self) -> CloseBehavior {
        match self {
            Self::EndsWithFin => CloseBehavior { close: CloseMethod::Fin, ..CloseBehavior::default() },
            Self::EndsWithReset => CloseBehavior { close: CloseMethod::Reset, asks_again: true, ..CloseBehavior::default() },
            Self::StaysOpen => CloseBehavior { close: CloseMethod::StaysOpen, ..CloseBehavior::default() },
            Self::SplitOverSegments => CloseBehavior { first_segment: Some(SEGMENT), ..CloseBehavior::default() },
            Self::AsksAgain => CloseBehavior { asks_again: true, ..CloseBehavior::default() },
            Self::AcknowledgesAtOnce => {
                CloseBehavior { acknowledges_at_once: true, asks_again: true, ..CloseBehavior::default() }
            }
            _ => CloseBehavior::default(),
        }
    }
}

/// The suites that are left; `None` where none of the version is.
fn others(suites: &[CipherSuite], chosen: &Facts) -> Option<Vec<CipherSuite>> {
    let hash = suite::find(CipherSuite(chosen.cipher))?.hash;
    let stays = |id: &CipherSuite| match SUITES.iter().find(|suite| suite.id == *id) {
        Some(suite) if suite.version == Version::Tls13 => suite.hash != hash,
        Some(suite) => suite.id.0 != chosen.cipher,
        None => false,
    };
    let left: Vec<CipherSuite> = suites.iter().copied().filter(stays).collect();
    let is_of_version = |id: &CipherSuite| suite::find(*id).is_some_and(|suite| suite.version == chosen.version);
    left.iter().any(is_of_version).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_of_any_length_stay_within_what_a_client_offers() {
        for (identity, most) in [(32, 40), (200, 40), (1_100, 13), (4_000, 3), (15_900, 1), (60_000, 1)] {
            assert_eq!(Variation::Identities(40).offering(identity), Variation::Identities(most), "{identity}");
            assert!(most == 1 || usize::from(most) * (identity + BESIDE_IDENTITY) <= OFFERED, "{identity}");
        }
        assert_eq!(Variation::LargeHello.offering(60_000), Variation::LargeHello);
    }
}
