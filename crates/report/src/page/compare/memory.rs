//! What connections and contexts take of memory.

use reprise_model::document::{CompareBytes, CompareDocument, CompareMemory, CompareSide};

use super::super::grouped;
use super::words::words;
use crate::figures::Figure;
use crate::table::{Rows, Table};

pub(super) fn heading(document: &CompareDocument) -> String {
    let alive = document.memory.first().map(|row| row.connections).unwrap_or_default();
    format!("Memory of one connection, of {alive} that are alive at once")
}

pub(super) const LEGEND: &str = "Medians, ± half their 95 % interval, in kB (1000 bytes) of heap as the library asks for them, without what \
    malloc adds. held: by one connection once both handshakes are complete, no data under way, its buffers as the library leaves them. \
    peak: the most until then. context: with its certificates and key, after the first of the process. A peer's memory is not in them, \
    nor Reprise's. code: code and constants of the plugin and of the libraries that it loads, zlib and the like among them; built-in \
    stacks are not apart from Reprise.";

/// One group of rows for each handshake and side, what holds the least first.
pub(super) fn weights(document: &CompareDocument) -> Table {
    let rows = grouped(&document.memory, |row| (&row.case, row.side)).into_iter().flat_map(|(_, mut of_case)| {
        of_case.sort_by_key(|row| row.held.median);
        of_case
    });
    Rows::of(rows)
        .words("handshake", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("side", |row| row.side.name())
        .grouped(|row| row.side)
        .words("stack", stack)
        .figures("held", "kB", |row| kilobytes(&row.held))
        .figures("peak", "kB", |row| kilobytes(&row.peak))
        .figures("context", "kB", |row| kilobytes(&row.context))
        .figures("code", "kB", |row| row.code.map(|bytes| Figure::count(bytes.div_ceil(1000))))
        .table()
}

/// With its peer, where that is another.
pub(super) fn stack(row: &CompareMemory) -> String {
    match row.side {
        _ if row.stack == row.peer => row.stack.clone(),
        CompareSide::Server => format!("{} ← {}", row.stack, row.peer),
        _ => format!("{} → {}", row.stack, row.peer),
    }
}

fn kilobytes(bytes: &CompareBytes) -> Figure {
    let spread = bytes.ci95.map(|[low, high]| format!(" ±{:.1}", (high - low) as f64 / 2000.0)).unwrap_or_default();
    Figure::plain(format!("{:.1}{spread}", bytes.median as f64 / 1000.0))
}
