//! A full and a resumed handshake: what was negotiated, message by message, what was skipped, what it means.

mod explained;
mod ladder;
mod sentences;
mod steps;

use reprise_model::document::{Ratio, Run, Trace, TraceDocument, TracedConnection};
use reprise_model::{Kind, Nanos, Outcome, Phase};

use super::fingerprints;
use super::measure::{certificate, use_of_psk};
use crate::paged_document::PagedDocument;
use ladder::ladder;
use reprise_page::figures::{Figure, Scale, Unit, signed};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, offered_as, source, title};

impl PagedDocument for TraceDocument {
    /// In full also what each message is for and says.
    fn page(&self, shown: Shown) -> Page {
        let mut blocks: Vec<Block> = offered_as(self.target.like.as_ref(), self.target.ech_grease)
            .map(|fact| Block::Facts(vec![fact]))
            .into_iter()
            .collect();
        let mut said = Vec::new();
        for trace in &self.traces {
            let unit = unit(trace);
            let negotiated = Fact::new(trace.asked.tls.to_string(), negotiated(trace));
            blocks.push(Block::Facts(std::iter::once(negotiated).chain(fingerprints::of_trace(trace)).collect()));
            blocks.push(Block::Ladder(ladder(trace, unit)));
            blocks.push(Block::Table(figures(self, trace, unit)));
            // What holds for one version as for the other is said once.
            let words: Vec<String> =
                sentences::about(self, trace).into_iter().filter(|words| !said.contains(words)).collect();
            blocks.extend(words.iter().cloned().map(Block::Paragraph));
            said.extend(words);
            if shown.in_full {
                blocks.extend(explained::messages(trace));
            }
        }
        if !self.traces.is_empty() {
            let most = self.counted.iter().map(|run| run.n).max();
            let times = most.map_or(SINGLE.to_owned(), |most| {
                format!("One connection each; tls and total are medians of {most} more, ± half their 95 % interval.")
            });
            blocks.push(Block::Aside(format!("{LEGEND} {times}")));
        }
        if self.interrupted {
            blocks.push(Block::warning("Incomplete: these are the connections made until then"));
        }
        blocks.extend(self.warnings.iter().map(Block::warning));
        blocks.extend(self.failures.iter().map(|failure| Block::Item(failure.into())));
        blocks.push(source(&self.provenance));
        Page::new("trace", title(&self.target), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.traces.is_empty()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

const LEGEND: &str =
    "→ sent, ← received; ⇒ ⇐ under encryption. Times count from the first handshake byte, sizes are those of the messages.";

/// Without further connections.
const SINGLE: &str = "One connection each, the first of a new process: --count, or reprise measure, has statistics.";

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
        outcomes.iter().find_map(|it| certificate(it.peer_key.as_deref(), it.certificates.zip(it.chain_bytes))),
        first(|outcome| outcome.signature.as_deref()),
        outcomes.iter().find_map(|outcome| Some(use_of_psk(outcome.psk_mode?, outcome.kind == Kind::Psk))),
        first(|outcome| outcome.alpn.as_deref()).map(|protocol| format!("ALPN {protocol}")),
    ];
    names.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A row for each connection, and what lies between them where the second resumed. Times are medians of the counted connections where there
/// are any; of a pair alone no time is called saved.
fn figures(document: &TraceDocument, trace: &Trace, unit: Unit) -> Table {
    let tls = trace.asked.tls;
    let counted = |kind: Kind| document.counted(tls, kind);
    let [of_full, of_second] = [counted(Kind::Full), counted(trace.asked.kind).filter(|_| trace.has_resumed())];
    let full = trace.full.iter().map(|full| Line { name: "full".to_owned(), of: full, less: None, counted: of_full });
    let name = sentences::name_of_second(trace);
    let second = trace.resumed.iter().map(|second| Line { name: name.clone(), of: second, less: None, counted: of_second });
    let both = trace.full.iter().zip(&trace.resumed).filter(|_| trace.has_resumed());
    let saves = both.map(|(full, second)| Line { name: "  saves".to_owned(), of: full, less: Some(second), counted: None });
    let lines: Vec<Line<'_>> = full.chain(second).chain(saves).collect();
    let single = |line: &Line<'_>, of: fn(&TracedConnection) -> Option<Nanos>| {
        let shown = line.less.is_none();
        of(line.of).filter(|_| shown).map(|Nanos(ns)| Figure::time(unit, signed(ns)))
    };
    let saved = |phase: Phase| {
        let is_it = |it: &&Ratio| (it.tls, it.to, it.phase) == (tls, trace.asked.kind, phase);
        let ratio = document.ratios.iter().find(is_it)?;
        let is_shown = ratio.ci95.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
        is_shown.then(|| Figure::time(unit, ratio.saved_ns))
    };
    let scale = |phase: Phase| {
        let medians = lines.iter().filter_map(|line| line.counted?.phases.get(&phase));
        Scale::of_column(unit, medians)
    };
    let time = |line: &Line<'_>, phase: Phase, of: fn(&TracedConnection) -> Option<Nanos>| match line
        .counted
        .and_then(|run| run.phases.get(&phase))
    {
        Some(statistics) => Some(scale(phase).median(statistics)),
        None if line.less.is_some() => saved(phase),
        None => single(line, of),
    };
    let count = |line: &Line<'_>, of: fn(&TracedConnection) -> u64| line.value(|it| Some(of(it))).map(Figure::difference);
    Rows::of(&lines)
        .words("", |line| &line.name)
        .figures("messages", "", |line| count(line, TracedConnection::handshake_messages))
        .figures("round", "trips", |line| count(line, |it| it.round_trips))
        // What lies before TLS is shown where there is such.
        .figures("proxy", unit.symbol(), |line| single(line, |it| it.phases.proxy))
        .figures("starttls", unit.symbol(), |line| single(line, |it| it.phases.starttls))
        .figures("tls", unit.symbol(), |line| time(line, Phase::Tls, |it| it.phases.tls))
        .figures("total", unit.symbol(), |line| time(line, Phase::Total, |it| it.phases.total))
        .figures("sent", "bytes", |line| count(line, |it| it.sent.0))
        .figures("received", "bytes", |line| count(line, |it| it.received.0))
        .toned(|line| if line.less.is_some() { Tone::Quiet } else { Tone::Plain })
        .table()
}

/// A connection, or what it has more than another.
struct Line<'t> {
    name: String,
    of: &'t TracedConnection,
    less: Option<&'t TracedConnection>,
    /// The counted connections of its kind.
    counted: Option<&'t Run>,
}

impl Line<'_> {
    fn value(&self, of: impl Fn(&TracedConnection) -> Option<u64>) -> Option<i64> {
        let less = self.less.map_or(Some(0), &of)?;
        Some(signed(of(self.of)?).saturating_sub(signed(less)))
    }
}
