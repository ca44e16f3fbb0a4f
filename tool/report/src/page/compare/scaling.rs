//! What more threads over one context make.

use reprise_model::document::{CompareScaling, CompareScalingRow, stack_pair};
use reprise_page::figures::{Figure, Unit};
use reprise_page::table::Rows;
use reprise_page::{Block, grouped};

use super::words::words;

/// A table of all handshakes, and what its figures mean.
pub(super) fn blocks(scaling: &CompareScaling) -> Vec<Block> {
    if scaling.rows.is_empty() {
        return Vec::new();
    }
    let by_case = grouped(&scaling.rows, |row| &row.case).into_iter().flat_map(|(_, mut rows)| {
        rows.sort_by_key(|row| (&row.client, &row.server, row.threads));
        rows
    });
    let others = |row: &CompareScalingRow| row.kinds.total().saturating_sub(row.kinds.of(row.case.kind));
    let stack = |row: &CompareScalingRow| stack_pair(&row.client, &row.server);
    let table = Rows::of(by_case)
        .words("handshake", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("stack", stack)
        .once(stack)
        .figures("threads", "", |row| Figure::count(row.threads))
        .figures("n", "", |row| Figure::count(row.n))
        .dispensable(0)
        .secondary()
        .medians("client", Unit::Micros, |row| Some(&row.client_ns))
        .medians("server", Unit::Micros, |row| Some(&row.server_ns))
        .figures("in all", "/s", |row| Figure::count(row.rate.round() as u64))
        .figures("per thread", "/s", |row| Figure::count((row.rate / row.threads.max(1) as f64).round() as u64))
        .dispensable(1)
        .figures("scaling", "×", |row| row.scaling.map(|times| Figure::ratio(times.median, times.ci95)))
        .noted(|row| (others(row) > 0).then(|| format!("{} of another kind", others(row))))
        .table();
    let heading =
        Block::Heading("Threads over one context: CPU time of one connection, and connections a second".to_owned());
    let most = scaling.rows.iter().map(|row| row.threads).max().unwrap_or_default();
    let few = (most > scaling.processors).then(|| Block::warning(too_few(scaling.processors, most)));
    [heading, Block::Table(table)].into_iter().chain(few).chain([Block::Aside(LEGEND.to_owned())]).collect()
}

fn too_few(processors: u64, threads: u64) -> String {
    let has = if processors == 1 { "one processor is".to_owned() } else { format!("{processors} processors are") };
    format!(
        "{has} available and up to {threads} threads were asked for: rows of more threads than processors show how these are shared, \
         not how a library scales"
    )
}

const LEGEND: &str = "Medians, ± half their 95 % interval. Each thread makes connections between a client and a server, one after the other, both in \
    it; all threads use one context of the client's library and one of the server's, with its session cache and ticket keys. client, server: CPU \
    time of one connection; where it grows with the threads, they compete for memory or spin at locks. in all: connections a second on a clock, \
    Reprise's own work included. scaling: how many times as many as with one thread; what falls short of the threads, and is not in the CPU time, \
    is waiting for locks or for a processor.";
