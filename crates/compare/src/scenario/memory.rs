//! What does a connection take of memory, at most and once its handshake is complete?

use reprise_model::document::{CompareBytes, CompareDocument, CompareMemory, CompareSide};
use reprise_model::{Kind, Version};
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};
use crate::case::Key;

pub(super) const MEMORY: Scenario = Scenario {
    name: "memory",
    help: "Memory of a connection and of a context, of each side",
    versions: BOTH,
    keys: &[Key::P256],
    groups: |_| &[NamedGroup::SECP256R1],
    kinds: &[(Kind::Full, false)],
    beside: |_, _, _| Vec::new(),
    compares: |_, _| false,
    concludes: |document| {
        let of = |side| [Version::Tls13, Version::Tls12].map(|tls| least_and_most(document, side, tls));
        [CompareSide::Server, CompareSide::Client].into_iter().flat_map(of).flatten().collect()
    },
};

/// The first key and group of the document, by what a connection holds.
fn least_and_most(document: &CompareDocument, side: CompareSide, tls: Version) -> Option<String> {
    let first = &document.memory.first()?.case;
    let is_such = |row: &&CompareMemory| {
        (row.side, row.case.tls, &row.case.key, &row.case.group) == (side, tls, &first.key, &first.group)
    };
    let mut rows: Vec<&CompareMemory> = document.memory.iter().filter(is_such).collect();
    rows.sort_by_key(|row| row.held.median);
    let shown = |row: &CompareMemory| {
        let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1000.0);
        let of = |bytes: &CompareBytes| {
            let spread = bytes.ci95.map(|[low, high]| format!(" ±{}", kb((high - low) / 2))).unwrap_or_default();
            format!("{}{spread} kB", kb(bytes.median))
        };
        format!("{} with {} (at its peak {})", of(&row.held), row.stack, of(&row.peak))
    };
    let which = format!("After its handshake a {} connection of {tls} holds", side.name());
    match rows.as_slice() {
        [] => None,
        [only] => Some(format!("{which} {}.", shown(only))),
        [least, .., most] => Some(format!("{which} {}, to {}.", shown(least), shown(most))),
    }
}
