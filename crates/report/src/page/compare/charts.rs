//! What stacks look like side by side: each side's share of a handshake, and what resuming gains.

use reprise_model::document::{CompareCase, CompareDocument, CompareRow, CompareSide, stack_pair};

use super::grouped;
use super::words::{change, words};
use crate::chart::{Bar, BarGroup, Bars, Chart, Interval, Intervals};

/// CPU time of client and server, one chart for each handshake, the cheapest stack first: a resumption would be invisible beside a
/// full handshake. The table has those beyond the first few.
pub(super) fn costs(document: &CompareDocument) -> impl Iterator<Item = Chart> {
    let cases = grouped(&document.rows, |row| &row.case).into_iter();
    cases.take(MOST_CHARTS).filter_map(|(case, rows)| of_case(case, rows))
}

/// A page with more would be read by nobody.
const MOST_CHARTS: usize = 12;

fn of_case(case: &CompareCase, mut rows: Vec<&CompareRow>) -> Option<Chart> {
    let micros = |row: &CompareRow| [row.client_ns.median_ns, row.server_ns.median_ns].map(|ns| ns as f64 / 1e3);
    // By what is drawn: the sum of two medians is not quite the median of the sums.
    rows.sort_by_key(|row| row.client_ns.median_ns.saturating_add(row.server_ns.median_ns));
    let bar = |row: &CompareRow| Bar { name: stack_pair(&row.client, &row.server), parts: micros(row).to_vec() };
    let groups = vec![BarGroup { name: String::new(), bars: rows.into_iter().map(bar).collect() }];
    let parts = vec!["client".to_owned(), "server".to_owned()];
    Bars { label: "CPU time, µs".to_owned(), parts, groups }.into_chart(&words(case))
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
    Intervals { label, rows: rows.collect() }.into_chart("What the second handshake gains on the first, with 95 % intervals")
}
