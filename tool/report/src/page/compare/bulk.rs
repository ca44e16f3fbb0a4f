//! At what rate stacks send and receive bulk data.

use reprise_model::document::{CompareDocument, CompareRow, Rate, stack_pair};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table};

use super::words::words;
use super::{by_case, harness};

pub(super) const LEGEND: &str = "MB/s: 10\u{2076} bytes of data by a second of CPU time of the side's thread, over memory: of the medians, ± half their \
    95 % interval. A transfer is one turn of the sender, which makes all of its records, and one of the receiver. The handshake is not in \
    it. overhead: bytes on the wire beside the data, for each record. harness: as in the other scenarios; * above 5 %.";

pub(super) const OF_CLAIMS: &str = "Ratios of both sides' CPU time, without AES instructions by with them: above 1, they help. What was published is \
    the cipher alone, without records, on an ARMv8 board.";

/// One group of rows for each suite, size and direction, the fastest sender first.
pub(super) fn rates(document: &CompareDocument) -> Table {
    let sends = |row: &CompareRow| row.rates().map_or(0, |[sent, _]| sent.median as u64);
    Rows::of(by_case(&document.rows, |row| std::cmp::Reverse(sends(row))))
        .words("data", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("stack", |row| stack_pair(&row.client, &row.server))
        .figures("n", "", |row| Figure::count(row.n))
        .dispensable(0)
        .secondary()
        .figures("sends", "MB/s", |row| row.rates().map(|[sent, _]| rate(sent)))
        .figures("receives", "MB/s", |row| row.rates().map(|[_, received]| rate(received)))
        .figures("overhead", "B", overhead)
        .dispensable(1)
        .figures("harness", "µs", |row| harness(document, row))
        .dispensable(0)
        .secondary()
        .table()
}

pub(super) fn rate(rate: Rate) -> Figure {
    Figure::rounded(rate.median, rate.ci95)
}

/// Bytes of each record that are not data.
fn overhead(row: &CompareRow) -> Option<Figure> {
    let bulk = row.case.bulk.as_ref()?;
    let records = bulk.bytes.checked_div(bulk.record)?;
    let wire = row.bytes.sent.0.saturating_add(row.bytes.received.0);
    wire.saturating_sub(bulk.bytes).checked_div(records).map(Figure::count)
}
