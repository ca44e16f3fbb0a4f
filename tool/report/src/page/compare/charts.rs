//! What stacks look like side by side: what a handshake costs, in time or in memory, and what resuming gains.

use reprise_model::document::{CompareDocument, CompareMemory, CompareRatio, CompareRow, CompareSide, Rate, stack_pair};
use reprise_page::chart::{Chart, Group, Interval, Intervals, Points};
use reprise_page::figures::{Figure, Scale, Unit};
use reprise_page::grouped;

use super::bulk::rate;
use super::memory::{buffers, handshakes, kilobytes, stack};
use super::words::{change, words};

/// CPU time of both sides, one group for each handshake, the cheapest stack first. Of bulk data it is the rate at which it is sent, the
/// fastest first. The table has the sides.
pub(super) fn costs(document: &CompareDocument) -> Option<Chart> {
    let is_of_bulk = super::is_of_bulk(document);
    let scale = Scale::of_column(Unit::Micros, document.rows.iter().map(|row| &row.both_ns));
    let interval = |row: &CompareRow| {
        let micros = |ns: u64| ns as f64 / 1e3;
        let time =
            || (micros(row.both_ns.median_ns), row.both_ns.ci95_ns.map(|ends| ends.map(micros)), scale.median(&row.both_ns));
        let rate = |sent: Rate| (sent.median, sent.ci95, rate(sent));
        let (at, interval, shown) = row.rates().map_or_else(time, |[sent, _]| rate(sent));
        Interval { name: stack_pair(&row.client, &row.server), at, interval, shown }
    };
    let groups = grouped(&document.rows, |row| &row.case).into_iter();
    let groups = groups.map(|(case, rows)| sorted(words(case), rows.into_iter().map(interval).collect(), is_of_bulk));
    let (label, unit, title) = match is_of_bulk {
        true => ("sent by CPU time, MB/s", " MB/s", "How fast data is sent, with 95 % intervals"),
        false => ("CPU time of both sides, µs", " µs", "What a handshake costs, with 95 % intervals"),
    };
    Intervals { label: label.to_owned(), points: Points::Values(unit), groups: groups.collect() }.into_chart(title)
}

/// What one connection holds, one group for each handshake and side.
pub(super) fn memory(document: &CompareDocument) -> Option<Chart> {
    let in_kilobytes = |bytes: u64| bytes as f64 / 1e3;
    let interval = |row: &CompareMemory| Interval {
        name: format!("{} {}", stack(row), buffers(&row.case)).trim_end().to_owned(),
        at: in_kilobytes(row.held.median),
        interval: row.held.ci95.map(|ends| ends.map(in_kilobytes)),
        shown: kilobytes(&row.held),
    };
    let groups = handshakes(document).into_iter().map(|((case, side), rows)| {
        sorted(format!("{}, {}", words(&case), side.name()), rows.into_iter().map(interval).collect(), false)
    });
    let label = "held by one connection, kB".to_owned();
    Intervals { label, points: Points::Values(" kB"), groups: groups.collect() }.into_chart("What one connection holds")
}

/// What the second handshake is cheaper than the first, both sides together, one group for each stack.
pub(super) fn ratios(document: &CompareDocument) -> Option<Chart> {
    let of_both = document.ratios.iter().filter(|ratio| ratio.side == CompareSide::Both);
    let row = |ratio: &CompareRatio| Interval {
        name: change(&ratio.from, &ratio.to),
        at: ratio.median,
        interval: ratio.ci95,
        shown: Figure::ratio(ratio.median, ratio.ci95),
    };
    let groups = grouped(of_both, |ratio| stack_pair(&ratio.client, &ratio.server)).into_iter();
    let groups = groups.map(|(name, rows)| Group { name, rows: rows.into_iter().map(row).collect() }).collect();
    let label = "times as cheap, CPU time of both sides".to_owned();
    let ratios = Intervals { label, points: Points::Ratios, groups };
    ratios.into_chart("What the second handshake gains on the first, with 95 % intervals")
}

/// The best first.
fn sorted(name: String, mut rows: Vec<Interval>, is_more_better: bool) -> Group<Interval> {
    rows.sort_by(|one, other| if is_more_better { other.at.total_cmp(&one.at) } else { one.at.total_cmp(&other.at) });
    Group { name, rows }
}
