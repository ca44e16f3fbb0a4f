//! What does a connection take of memory, at most and once its handshake is complete?

use reprise_model::document::{CompareBytes, CompareCase, CompareDocument, CompareMemory, CompareSide};
use reprise_model::{Kind, Version};
use reprise_pairs::{Case, Key};
use reprise_wire::NamedGroup;

use super::{BOTH, Scenario};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "memory",
    help: "Memory of a connection and of a context, of each side",
    versions: BOTH,
    keys: &[Key::P256],
    groups: |_| &[NamedGroup::SECP256R1],
    kinds: &[(Kind::Full, false)],
    beside: |version, key, group| {
        let Some(full) = Case::new(version, Kind::Full, key, group, false) else { return Vec::new() };
        let small = SMALL.map(|most| full.with_max_fragment(most));
        small.into_iter().chain([full.with_released_buffers()]).collect()
    },
    compares: |_, _| false,
    concludes: |document| {
        let of = |side| [Version::Tls13, Version::Tls12].map(|tls| least_and_most(document, side, tls));
        let usual = [CompareSide::Server, CompareSide::Client].into_iter().flat_map(of);
        let small = format!("With records of at most {} bytes", SMALL[1]);
        let less = [
            saves_most(document, &small, |case| case.max_fragment == Some(SMALL[1].into())),
            saves_most(document, "With its buffers released", |case| case.releases_buffers),
        ];
        usual.chain(less).flatten().collect()
    },
};

/// The largest that RFC 6066 has, and the smallest.
const SMALL: [u16; 2] = [4096, 512];

/// The first key and group of the document, by what a connection holds.
fn least_and_most(document: &CompareDocument, side: CompareSide, tls: Version) -> Option<String> {
    let first = CompareCase { tls, ..document.memory.first()?.case.clone() };
    let mut rows: Vec<&CompareMemory> = document.memory.iter().filter(|row| row.side == side && row.case == first).collect();
    rows.sort_by_key(|row| row.held.median);
    let shown =
        |row: &CompareMemory| format!("{} with {} (at its peak {})", kilobytes(&row.held), row.stack, kilobytes(&row.peak));
    let which = format!("After its handshake a {} connection of {tls} holds", side.name());
    match rows.as_slice() {
        [] => None,
        [only] => Some(format!("{which} {}.", shown(only))),
        [least, .., most] => Some(format!("{which} {}, to {}.", shown(least), shown(most))),
    }
}

/// The idle server whose connection these buffers make the smallest, as a part of what it is without them.
fn saves_most(document: &CompareDocument, how: &str, is_such: impl Fn(&CompareCase) -> bool) -> Option<String> {
    let usual = |row: &CompareMemory| {
        let case = CompareCase { max_fragment: None, releases_buffers: false, ..row.case.clone() };
        let is_it =
            |it: &&CompareMemory| (&it.stack, &it.peer, it.side, &it.case) == (&row.stack, &row.peer, row.side, &case);
        document.memory.iter().find(is_it)?.idle.as_ref()
    };
    let servers = document.memory.iter().filter(|row| row.side == CompareSide::Server && is_such(&row.case));
    let known = servers.filter_map(|row| Some((row, row.idle.as_ref()?, usual(row)?)));
    let part = |now: &CompareBytes, before: &CompareBytes| now.median as f64 / before.median.max(1) as f64;
    let (row, now, before) = known.min_by(|(_, a, b), (_, c, d)| part(a, b).total_cmp(&part(c, d)))?;
    let (tls, stack) = (row.case.tls, &row.stack);
    let [now, before] = [now, before].map(kilobytes);
    Some(format!(
        "{how} an idle server connection of {tls} holds {now} with {stack} in place of {before}, the most saved of all."
    ))
}

/// `47.3 kB`, with half its interval where that does not read as nothing.
fn kilobytes(bytes: &CompareBytes) -> String {
    let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1000.0);
    let half = bytes.ci95.map_or(0, |[low, high]| high.saturating_sub(low) / 2);
    let spread = if half < 50 { String::new() } else { format!(" ±{}", kb(half)) };
    format!("{}{spread} kB", kb(bytes.median))
}
