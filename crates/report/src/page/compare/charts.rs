//! What stacks look like side by side: what a handshake costs, in time or in memory, and what resuming gains.

use reprise_model::document::{CompareDocument, CompareMemory, CompareRow, CompareSide, stack_pair};

use super::grouped;
use super::memory::{buffers, handshakes, stack};
use super::words::{change, words};
use crate::chart::{Chart, Interval, Intervals, Points};

/// A page with more would be read by nobody.
const MOST_CHARTS: usize = 12;

/// CPU time of both sides, one chart for each handshake, the cheapest stack first. Of bulk data it is the rate at which it is sent, the
/// fastest first. The table has the sides, and the handshakes beyond the first few.
pub(super) fn costs(document: &CompareDocument) -> impl Iterator<Item = Chart> {
    let is_of_bulk = super::is_of_bulk(document);
    let interval = |row: &CompareRow| {
        let micros = |ns: u64| ns as f64 / 1e3;
        let time = || (micros(row.both_ns.median_ns), row.both_ns.ci95_ns.map(|ends| ends.map(micros)));
        let (at, interval) = row.rates().map_or_else(time, |[sent, _]| (sent.median, sent.ci95));
        Interval { name: stack_pair(&row.client, &row.server), at, interval }
    };
    let groups = grouped(&document.rows, |row| &row.case).into_iter();
    let charts = groups.map(|(case, rows)| (words(case), rows.into_iter().map(interval).collect())).collect();
    let (label, unit) =
        if is_of_bulk { ("sent by CPU time, MB/s", " MB/s") } else { ("CPU time of both sides, µs", " µs") };
    on_one_scale(charts, is_of_bulk, label, unit)
}

/// What one connection holds, one chart for each handshake and side.
pub(super) fn memory(document: &CompareDocument) -> impl Iterator<Item = Chart> {
    let kilobytes = |bytes: u64| bytes as f64 / 1e3;
    let interval = |row: &CompareMemory| Interval {
        name: format!("{} {}", stack(row), buffers(&row.case)).trim_end().to_owned(),
        at: kilobytes(row.held.median),
        interval: row.held.ci95.map(|ends| ends.map(kilobytes)),
    };
    let charts = handshakes(document).into_iter().map(|((case, side), rows)| {
        (format!("{}, {}", words(&case), side.name()), rows.into_iter().map(interval).collect())
    });
    let charts = charts.collect();
    on_one_scale(charts, false, "held by one connection, kB", " kB")
}

/// What the second handshake is cheaper than the first, both sides together.
pub(super) fn ratios(document: &CompareDocument) -> Option<Chart> {
    let of_both = document.ratios.iter().filter(|ratio| ratio.side == CompareSide::Both);
    let rows = of_both.map(|ratio| Interval {
        name: format!("{}: {}", stack_pair(&ratio.client, &ratio.server), change(&ratio.from, &ratio.to)),
        at: ratio.median,
        interval: ratio.ci95,
    });
    let label = "times as cheap, CPU time of both sides".to_owned();
    let ratios = Intervals { label, points: Points::Ratios, rows: rows.collect() };
    ratios.into_chart("What the second handshake gains on the first, with 95 % intervals")
}

/// The first few, each sorted, from the least value of all to the greatest: so that one can be held against the other.
fn on_one_scale(
    mut charts: Vec<(String, Vec<Interval>)>,
    is_more_better: bool,
    label: &'static str,
    unit: &'static str,
) -> impl Iterator<Item = Chart> {
    charts.truncate(MOST_CHARTS);
    let drawn = charts.iter().flat_map(|(_, rows)| rows).flat_map(|row| row.interval.unwrap_or([row.at; 2]));
    let ends = drawn.fold([f64::INFINITY, 0.0], |[low, high], value| [value.min(low), value.max(high)]);
    charts.into_iter().filter_map(move |(title, mut rows)| {
        rows.sort_by(|one, other| if is_more_better { other.at.total_cmp(&one.at) } else { one.at.total_cmp(&other.at) });
        Intervals { label: label.to_owned(), points: Points::Values { unit, ends }, rows }.into_chart(&title)
    })
}
