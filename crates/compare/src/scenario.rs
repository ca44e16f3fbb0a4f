//! What is compared: a scenario is a list of handshakes, which flags narrow.

use reprise_model::{Kind, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::case::{Case, Key};

/// A question, and the handshakes that answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// What does resuming save, by ID, by ticket with a key exchange and without, with early data?
    Resumption,
    /// What does a full handshake cost under TLS 1.2 and 1.3, by key and group?
    Full,
    /// What does authenticating the client cost?
    Mutual,
    /// Which library is the cheapest, by key?
    Stacks,
}

/// What flags leave of a scenario; an empty list leaves all of it.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The versions.
    pub versions: Vec<Version>,
    /// The keys.
    pub keys: Vec<Key>,
    /// The groups.
    pub groups: Vec<NamedGroup>,
    /// The suites, each for the handshakes that it fits.
    pub suites: Vec<CipherSuite>,
}

impl Scenario {
    /// Every scenario.
    pub const ALL: [Self; 4] = [Self::Resumption, Self::Full, Self::Mutual, Self::Stacks];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resumption => "resumption",
            Self::Full => "full",
            Self::Mutual => "mutual",
            Self::Stacks => "stacks",
        }
    }

    /// Its handshakes. None where the selection leaves nothing that the protocol has.
    pub fn cases(self, selection: &Selection) -> Vec<Case> {
        let or = |chosen: &[Key], usual: &[Key]| if chosen.is_empty() { usual.to_vec() } else { chosen.to_vec() };
        let versions = match (selection.versions.as_slice(), self) {
            ([], Self::Stacks) => vec![Version::Tls12],
            ([], _) => vec![Version::Tls12, Version::Tls13],
            (chosen, _) => chosen.to_vec(),
        };
        let keys = or(
            &selection.keys,
            match self {
                Self::Resumption => &[Key::P256],
                Self::Full | Self::Mutual => &[Key::RSA_2048, Key::P256],
                Self::Stacks => &[Key::Rsa1024, Key::RSA_2048, Key::P256, Key::P384],
            },
        );
        let mut cases = Vec::new();
        for &key in &keys {
            let groups = if selection.groups.is_empty() { self.groups(key) } else { selection.groups.clone() };
            for &version in &versions {
                for &group in &groups {
                    for (kind, mutual) in self.kinds() {
                        cases.extend(Case::new(version, kind, key, group, mutual));
                    }
                    if self == Self::Resumption {
                        cases.extend(beside_early_data(version, key, group));
                    }
                }
            }
        }
        if selection.suites.is_empty() {
            return cases;
        }
        let with_suites = |case: &Case| {
            let fitting = selection.suites.iter().filter_map(|&suite| case.with_suite(suite));
            fitting.collect::<Vec<_>>()
        };
        cases.iter().flat_map(with_suites).collect()
    }

    fn groups(self, key: Key) -> Vec<NamedGroup> {
        match self {
            Self::Resumption => vec![NamedGroup::SECP256R1, NamedGroup::FFDHE2048],
            Self::Full => {
                vec![NamedGroup::FFDHE2048, NamedGroup::SECP256R1, NamedGroup::X25519, NamedGroup::X25519MLKEM768]
            }
            Self::Mutual => vec![NamedGroup::SECP256R1],
            // The curve of the key, as servers with such a key choose it.
            Self::Stacks if key == Key::P384 => vec![NamedGroup::SECP384R1],
            Self::Stacks => vec![NamedGroup::SECP256R1],
        }
    }

    /// Kinds, and whether the client is authenticated.
    fn kinds(self) -> Vec<(Kind, bool)> {
        match self {
            Self::Resumption => {
                vec![(Kind::Full, false), (Kind::Id, false), (Kind::Ticket, false), (Kind::Early, false)]
            }
            Self::Full => vec![(Kind::Full, false)],
            Self::Mutual => vec![(Kind::Full, false), (Kind::Full, true), (Kind::Ticket, true)],
            Self::Stacks => vec![(Kind::Full, false), (Kind::Id, false)],
        }
    }
}

/// A ticket without a key exchange; and one with a request after the handshake, which early data has in it.
fn beside_early_data(version: Version, key: Key, group: NamedGroup) -> Vec<Case> {
    let ticket = Case::new(version, Kind::Ticket, key, group, false).filter(|_| version == Version::Tls13);
    ticket.into_iter().flat_map(|ticket| ticket.without_key_exchange().into_iter().chain([ticket.with_request()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_narrow_a_scenario_and_never_widen_it() {
        let all = Scenario::Full.cases(&Selection::default());
        assert!(all.iter().any(|case| case.group() == NamedGroup::X25519MLKEM768 && case.version == Version::Tls13));
        let one = Selection {
            versions: vec![Version::Tls13],
            keys: vec![Key::P256],
            groups: vec![NamedGroup::X25519],
            ..Selection::default()
        };
        assert_eq!(Scenario::Full.cases(&one).len(), 1);
        let none = Selection { suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256], ..one.clone() };
        assert_eq!(Scenario::Full.cases(&none).len(), 1);
        let other = Selection { suites: vec![CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256], ..one };
        assert!(Scenario::Full.cases(&other).is_empty(), "a suite of TLS 1.2 under 1.3");
    }

    #[test]
    fn every_handshake_of_a_scenario_is_there_once() {
        for scenario in Scenario::ALL {
            let mut cases = scenario.cases(&Selection::default());
            let count = cases.len();
            cases.sort();
            cases.dedup();
            assert_eq!(cases.len(), count, "{scenario:?}");
        }
    }
}
