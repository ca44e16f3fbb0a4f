//! What is compared: a scenario is a list of handshakes, which flags narrow. Each is a file below and a line in the list.

use reprise_model::document::CompareDocument;
use reprise_model::{Kind, Version};
use reprise_pairs::{Bulk, Case, Key};
use reprise_wire::{CipherSuite, NamedGroup};

/// A question, and the handshakes that answer it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name on the command line and in documents.
    pub name: &'static str,
    /// What it is, for the help of the command line.
    pub help: &'static str,
    versions: &'static [Version],
    keys: &'static [Key],
    groups: fn(Key) -> &'static [NamedGroup],
    /// Kinds, and whether the client is authenticated.
    kinds: &'static [(Kind, bool)],
    /// Further handshakes of each version, key and group; those of several keys are there once.
    beside: fn(Version, Key, NamedGroup) -> Vec<Case>,
    /// Whether the first handshake of a pair of stacks is shown as a multiple of the second.
    pub(crate) compares: fn(&Case, &Case) -> bool,
    /// What its figures answer, the most important first.
    pub(crate) concludes: fn(&CompareDocument) -> Vec<String>,
}

/// Declares the module of each scenario and lists the scenarios.
macro_rules! scenarios {
    ($($name:ident,)*) => {
        $(mod $name;)*

        impl Scenario {
            /// Every scenario.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$($name::SCENARIO),*];
        }
    };
}

// In the order of the help.
scenarios! {
    resumption,
    full,
    mutual,
    psk,
    post_quantum,
    pregenerate,
    throughput,
    memory,
    stacks,
}

const BOTH: &[Version] = &[Version::Tls12, Version::Tls13];

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
    /// Bytes of data in a record, of data in bulk and where records are to be small.
    pub records: Vec<u16>,
}

impl Scenario {
    /// Whether memory is measured in place of time.
    pub fn weighs(&self) -> bool {
        self.name == memory::SCENARIO.name
    }

    /// Whether it can be measured in several threads.
    pub fn scales(&self) -> bool {
        self.name == resumption::SCENARIO.name
    }

    /// Its handshakes. None where the selection leaves nothing that the protocol has.
    pub fn cases(&self, selection: &Selection) -> Vec<Case> {
        let versions = if selection.versions.is_empty() { self.versions } else { &selection.versions };
        let keys = if selection.keys.is_empty() { self.keys } else { &selection.keys };
        let mut cases = Vec::new();
        for &key in keys {
            let groups = if selection.groups.is_empty() { (self.groups)(key) } else { &selection.groups };
            for &version in versions {
                for &group in groups {
                    cases.extend(
                        self.kinds.iter().filter_map(|&(kind, mutual)| Case::new(version, kind, key, group, mutual)),
                    );
                    let beside = (self.beside)(version, key, group).into_iter();
                    cases.extend(beside.filter(|case| !cases.contains(case)).collect::<Vec<_>>());
                }
            }
        }
        let cases = each(cases, &selection.suites, |case, suite| case.with_suite(suite));
        each(cases, &selection.records, |case, record| {
            let of_bulk = case.bulk.map(|bulk| case.with_bulk(Bulk { record, ..bulk }));
            let small = case.max_fragment.map(|_| case.with_max_fragment(record));
            Some(of_bulk.or(small).unwrap_or(*case))
        })
    }
}

/// Each case with each of these in its place, where it fits; as they are, where there are none.
fn each<T: Copy>(cases: Vec<Case>, chosen: &[T], with: impl Fn(&Case, T) -> Option<Case>) -> Vec<Case> {
    if chosen.is_empty() {
        return cases;
    }
    let mut changed = Vec::new();
    for case in cases.iter().flat_map(|case| chosen.iter().filter_map(|&it| with(case, it))) {
        if !changed.contains(&case) {
            changed.push(case);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_narrow_a_scenario_and_never_widen_it() {
        let all = full::SCENARIO.cases(&Selection::default());
        assert!(all.iter().any(|case| case.group() == NamedGroup::X25519MLKEM768 && case.version == Version::Tls13));
        let one = Selection {
            versions: vec![Version::Tls13],
            keys: vec![Key::P256],
            groups: vec![NamedGroup::X25519],
            ..Selection::default()
        };
        assert_eq!(full::SCENARIO.cases(&one).len(), 1);
        let none = Selection { suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256], ..one.clone() };
        assert_eq!(full::SCENARIO.cases(&none).len(), 1);
        let other = Selection { suites: vec![CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256], ..one };
        assert!(full::SCENARIO.cases(&other).is_empty(), "a suite of TLS 1.2 under 1.3");
    }

    #[test]
    fn a_certificates_key_leaves_the_psk_to_compare_with() {
        let of = |keys, groups| psk::SCENARIO.cases(&Selection { keys, groups, ..Selection::default() });
        let cases = of(vec![Key::P256], vec![NamedGroup::SECP256R1]);
        let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
        assert_eq!(count(|case| case.kind == Kind::Full), 2);
        assert_eq!(count(|case| case.kind == Kind::Psk && case.version == Version::Tls12), 3, "ECDHE twice, and plain");
        assert_eq!(count(|case| case.kind == Kind::Psk && case.version == Version::Tls13), 2, "psk_dhe_ke, psk_ke");
        assert!(of(vec![], vec![]).iter().all(|case| (case.kind == Kind::Psk) == (case.key == Key::None)));
    }

    #[test]
    fn every_handshake_of_a_scenario_is_there_once() {
        for scenario in Scenario::ALL {
            let mut cases = scenario.cases(&Selection::default());
            let count = cases.len();
            cases.sort();
            cases.dedup();
            assert_eq!(cases.len(), count, "{}", scenario.name);
        }
    }
}
