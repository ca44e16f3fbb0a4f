//! What stacks look like side by side: each side's share of a handshake, and what resuming gains.

use reprise_model::document::{CompareCase, CompareDocument, CompareRow, CompareSide};

use super::grouped;
use super::words::{stack, words};
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
    let bar = |row: &CompareRow| Bar { name: stack(&row.client, &row.server), parts: micros(row).to_vec() };
    let groups = vec![BarGroup { name: String::new(), bars: rows.into_iter().map(bar).collect() }];
    let parts = vec!["client".to_owned(), "server".to_owned()];
    Bars { label: "CPU time, µs".to_owned(), parts, groups }.into_chart(&words(case))
}

/// What the second handshake is cheaper than the first, both sides together.
pub(super) fn ratios(document: &CompareDocument) -> Option<Chart> {
    let of_both = document.ratios.iter().filter(|ratio| ratio.side == CompareSide::Both);
    let rows = of_both.map(|ratio| Interval {
        name: format!("{}: {}", stack(&ratio.client, &ratio.server), change(&words(&ratio.from), &words(&ratio.to))),
        at: ratio.median,
        interval: ratio.ci95,
    });
    let label = "times as cheap, CPU time of both sides".to_owned();
    Intervals { label, rows: rows.collect() }.into_chart("What the second handshake gains on the first, with 95 % intervals")
}

/// "1.3 full to ticket p-256": the words that both have at their ends are said once, so that a narrow page has room for the rest.
fn change(from: &str, to: &str) -> String {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (from, mut to) = (words(from), words(to));
    let same = |one: &mut dyn Iterator<Item = &String>, other: &mut dyn Iterator<Item = &String>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let ahead = same(&mut from.iter(), &mut to.iter());
    let behind = same(&mut from.iter().skip(ahead).rev(), &mut to.iter().skip(ahead).rev());
    let from = from.get(..from.len() - behind).unwrap_or_default().join(" ");
    to.drain(..ahead);
    format!("{from} to {}", to.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_handshakes_share_is_said_once() {
        assert_eq!(change("1.3 full p-256 secp256r1", "1.3 ticket p-256 secp256r1"), "1.3 full to ticket p-256 secp256r1");
        assert_eq!(change("1.2 full rsa-2048", "1.3 full rsa-2048"), "1.2 to 1.3 full rsa-2048");
        assert_eq!(change("1.3 ticket p-256 + request", "1.3 early p-256"), "1.3 ticket p-256 + request to early p-256");
    }
}
