//! What connections and contexts take of memory.

use reprise_model::document::{CompareBytes, CompareCase, CompareDocument, CompareMemory, CompareSide};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table};
use reprise_page::{Block, grouped};

use super::words::words;

/// A table for each handshake and side; below the last what the figures mean.
pub(super) fn weights(document: &CompareDocument) -> Vec<Block> {
    let Some(row) = document.memory.first() else { return Vec::new() };
    let heading = format!("Memory of one connection, of {} that are alive at once", row.connections);
    let tables = handshakes(document).into_iter().flat_map(|((case, side), rows)| {
        let title = format!("{}, {}", words(&case), side.name());
        [Block::Heading(title), Block::Table(of_handshake(rows))]
    });
    std::iter::once(Block::Heading(heading)).chain(tables).chain([Block::Aside(LEGEND.to_owned())]).collect()
}

const LEGEND: &str = "Medians, ± half their 95 % interval where that is no 0.0, in kB (1000 bytes) of heap as the library asks for them, \
    without what malloc adds. held: by one connection once both handshakes are complete. idle: once each side has sent 64 bytes of data \
    then, and received as many. peak: the most until both are complete. session: what is kept of a connection that has ended, by ID under \
    TLS 1.2, by a ticket under TLS 1.3: the client's, and what a server's cache grows by; blank where it does not. context: with its \
    certificates and key, after the first of the process. A peer's memory is not in them, nor Reprise's. code: code and constants of the \
    plugin and of the libraries that it loads, zlib and the like among them; built-in stacks are not apart from Reprise. buffers: records \
    of at most so many bytes of data, by max_fragment_length (RFC 6066) or record_size_limit (RFC 8449); released: whatever the library \
    has a mode or a call to give back while a connection is idle; else as the library has them.";

/// The rows of each handshake and side, small and released buffers among them.
pub(super) fn handshakes(document: &CompareDocument) -> Vec<((CompareCase, CompareSide), Vec<&CompareMemory>)> {
    let usual = |case: &CompareCase| CompareCase { max_fragment: None, releases_buffers: false, ..case.clone() };
    grouped(&document.memory, |row| (usual(&row.case), row.side))
}

/// What holds the least first, each with its small and released buffers.
fn of_handshake(rows: Vec<&CompareMemory>) -> Table {
    let mut stacks = grouped(rows, stack);
    stacks.sort_by_key(|(_, rows)| rows.first().map(|row| row.held.median));
    Rows::of(stacks.into_iter().flat_map(|(_, rows)| rows))
        .words("stack", stack)
        .once(stack)
        .words("buffers", |row| buffers(&row.case))
        .figures("held", "kB", |row| kilobytes(&row.held))
        .figures("idle", "kB", |row| row.idle.as_ref().map(kilobytes))
        .figures("peak", "kB", |row| kilobytes(&row.peak))
        .figures("session", "kB", |row| row.session.as_ref().map(kilobytes))
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

/// `4096 B`, `released`; nothing where they are as the library has them.
pub(super) fn buffers(case: &CompareCase) -> String {
    let small = case.max_fragment.map(|most| format!("{most} B"));
    let released = case.releases_buffers.then(|| "released".to_owned());
    small.into_iter().chain(released).collect::<Vec<_>>().join(" ")
}

pub(super) fn kilobytes(bytes: &CompareBytes) -> Figure {
    Figure::kilobytes(bytes.median, bytes.ci95)
}
