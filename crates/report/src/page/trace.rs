//! A full and a resumed handshake: what was negotiated, message by message, what was skipped, what it means.

mod explained;
pub(crate) mod ladder;
mod purpose;
mod words;

use reprise_model::document::{Trace, TraceDocument, TracedConnection};
use reprise_model::{Kind, Nanos, Outcome};

use super::measure::{title, use_of_psk};
use super::{Block, Fact, Page, source};
use crate::document::Shown;
use crate::figures::{Figure, Unit};
use crate::table::{Column, Draft, Table, Tone};
use ladder::Ladder;

/// What is shown of one trace; in full also what each message is for and says.
pub(crate) fn trace(document: &TraceDocument, shown: Shown) -> Page {
    let mut blocks = Vec::new();
    let mut said = Vec::new();
    for trace in &document.traces {
        let unit = unit(trace);
        blocks.push(Block::Facts(vec![Fact::new(trace.asked.tls.to_string(), negotiated(trace))]));
        blocks.push(Block::Ladder(Ladder::of(trace, unit)));
        blocks.push(Block::Table(figures(trace, unit)));
        // What holds for one version as for the other is said once.
        let words: Vec<String> = words::about(document, trace).into_iter().filter(|words| !said.contains(words)).collect();
        blocks.extend(words.iter().cloned().map(Block::Paragraph));
        said.extend(words);
        if shown.in_full {
            blocks.extend(explained::messages(trace));
        }
    }
    if !document.traces.is_empty() {
        blocks.push(Block::Aside(LEGEND.to_owned()));
    }
    if document.interrupted {
        blocks.push(Block::warning("Incomplete: these are the connections made until then"));
    }
    blocks.extend(document.warnings.iter().map(Block::warning));
    blocks.extend(document.failures.iter().map(|failure| Block::Item(failure.into())));
    blocks.push(source(&document.provenance));
    Page::new("trace", title(&document.target), blocks)
}

const LEGEND: &str = "→ sent, ← received; ⇒ ⇐ under encryption. Times count from the first handshake byte, sizes are those of \
    the messages. One connection each, the first of a new process: reprise measure has the statistics.";

fn connections(trace: &Trace) -> impl Iterator<Item = &TracedConnection> {
    trace.full.iter().chain(&trace.resumed)
}

/// One unit for all the times of a trace.
fn unit(trace: &Trace) -> Unit {
    let events = connections(trace).flat_map(|connection| &connection.events).map(|event| event.at);
    let phases = connections(trace).filter_map(|connection| connection.phases.total);
    Unit::of_all(events.chain(phases).map(|Nanos(ns)| ns))
}

/// What the connections agreed on; each name from the first that observed it, since a resumed handshake shows no key and
/// a full one no PSK.
fn negotiated(trace: &Trace) -> String {
    let outcomes: Vec<&Outcome> = connections(trace).map(|connection| &connection.outcome).collect();
    let first = |name: fn(&Outcome) -> Option<&str>| outcomes.iter().find_map(|outcome| name(outcome)).map(str::to_owned);
    let names = [
        first(|outcome| Some(&outcome.cipher)),
        first(|outcome| outcome.group.as_deref()),
        first(|outcome| outcome.peer_key.as_deref()),
        first(|outcome| outcome.signature.as_deref()),
        outcomes.iter().find_map(|outcome| Some(use_of_psk(outcome.psk_mode?, outcome.kind == Kind::Psk))),
        first(|outcome| outcome.alpn.as_deref()).map(|protocol| format!("ALPN {protocol}")),
    ];
    names.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A row for each connection, and what lies between them where the second resumed.
fn figures(trace: &Trace, unit: Unit) -> Table {
    let columns = vec![
        Column::words(""),
        Column::figures("messages", ""),
        Column::figures("round", "trips"),
        // What lies before TLS is shown where there is such.
        Column::figures("proxy", unit.symbol()),
        Column::figures("starttls", unit.symbol()),
        Column::figures("tls", unit.symbol()),
        Column::figures("total", unit.symbol()),
        Column::figures("sent", "bytes"),
        Column::figures("received", "bytes"),
    ];
    let full = trace.full.as_ref().map(|full| row(full, "full", unit));
    let second = trace.resumed.as_ref().map(|second| row(second, &words::name_of_second(trace), unit));
    let both = trace.full.as_ref().zip(trace.resumed.as_ref()).filter(|_| trace.has_resumed());
    let savings = both.map(|(full, second)| savings(full, second, unit));
    Table::of_drafts(columns, [full, second, savings].into_iter().flatten().map(Some).collect())
}

fn row(connection: &TracedConnection, name: &str, unit: Unit) -> Draft {
    let time = |time: Option<Nanos>| time.map(|Nanos(ns)| Figure::time(unit, signed(ns)));
    let figures = vec![
        Some(Figure::count(connection.handshake_messages())),
        Some(Figure::count(connection.round_trips)),
        time(connection.phases.proxy),
        time(connection.phases.starttls),
        time(connection.phases.tls),
        time(connection.phases.total),
        Some(Figure::count(connection.sent.0)),
        Some(Figure::count(connection.received.0)),
    ];
    Draft::new(vec![name.to_owned()], figures, Tone::Plain)
}

/// One connection of each is no proof of a gain: it is told in passing.
fn savings(full: &TracedConnection, resumed: &TracedConnection, unit: Unit) -> Draft {
    let difference = |full: u64, resumed: u64| signed(full).saturating_sub(signed(resumed));
    let time = |full: Option<Nanos>, resumed: Option<Nanos>| Some(Figure::time(unit, difference(full?.0, resumed?.0)));
    let count = |full: u64, resumed: u64| Some(Figure::difference(difference(full, resumed)));
    let figures = vec![
        count(full.handshake_messages(), resumed.handshake_messages()),
        count(full.round_trips, resumed.round_trips),
        time(full.phases.proxy, resumed.phases.proxy),
        time(full.phases.starttls, resumed.phases.starttls),
        time(full.phases.tls, resumed.phases.tls),
        time(full.phases.total, resumed.phases.total),
        count(full.sent.0, resumed.sent.0),
        count(full.received.0, resumed.received.0),
    ];
    Draft::new(vec!["  saves".to_owned()], figures, Tone::Quiet)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
