//! One target: what was negotiated, the table, what it means.

mod charts;

use std::collections::BTreeMap;

use reprise_model::document::{
    CertificateCompressionRecord, Finding, MeasureDocument, Observed, Ratio, Run, Severity, Statistic, Statistics,
    TicketRequestRecord,
};
use reprise_model::{ClientCpu, Kind, Nanos, Phase, PskMode, Version};
use reprise_page::conditions::conditions;
use reprise_page::figures::{Figure, Scale, Unit, signed};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, offered_as, responses, source, stated_lifetime, title};
use reprise_results::sentences;

use super::baseline::baseline;
use super::findings::{items, left_out};
use crate::paged_document::PagedDocument;

impl PagedDocument for MeasureDocument {
    fn page(&self, shown: Shown) -> Page {
        let mut blocks = vec![Block::Facts(facts(self))];
        // What is broken comes before what it costs.
        let (broken, notes): (Vec<&Finding>, Vec<_>) = self.findings.iter().partition(|it| it.severity != Severity::Note);
        let mut summary = items(broken, self.software.as_deref(), shown);
        summary.extend(sentences(self).into_iter().map(Block::Paragraph));
        if self.interrupted {
            summary.push(Block::warning("Incomplete: these are the connections made until then"));
        }
        summary.extend(self.warnings.iter().map(Block::warning));
        summary.extend(self.failures.iter().map(|failure| Block::Item(failure.into())));
        summary.extend(items(notes, self.software.as_deref(), shown));
        blocks.push(Block::Summary(summary));
        blocks.extend(charts::charts(self).into_iter().map(Block::Chart));
        if !self.runs.is_empty() {
            blocks.extend([Block::Table(table(self)), Block::Aside(legend(self))]);
        }
        let comparisons: Vec<_> = self.baseline.iter().map(|comparison| ("", &**comparison)).collect();
        blocks.extend(baseline(&comparisons));
        blocks.extend(conditions(&self.conditions));
        blocks.extend(left_out(self.findings.iter(), self.software.as_deref(), shown));
        blocks.push(source(&self.provenance));
        Page::new("measure", title(&self.target), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.samples.is_empty()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

fn facts(document: &MeasureDocument) -> Vec<Fact> {
    let mut facts: Vec<Fact> = offered_as(document.target.like.as_ref(), document.target.ech_grease).into_iter().collect();
    for version in [Version::Tls12, Version::Tls13] {
        facts.extend(negotiated(document, version).map(|value| Fact::new(version.to_string(), value)));
    }
    facts.extend(tickets(document).map(|value| Fact::new("tickets", value)));
    facts.push(Fact::new("samples", connections(document)));
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for (status, count) in document.runs.iter().flat_map(|run| &run.http_status) {
        let sum = statuses.entry(*status).or_default();
        *sum = sum.saturating_add(*count);
    }
    facts.extend(responses(&statuses));
    let of_server =
        document.server_cpu.map(|cpu| format!("{} of processor time for a connection", Nanos(cpu.per_connection_ns)));
    facts.extend(of_server.map(|value| Fact::new("server", value)));
    facts.extend(client_cpu(document).map(|value| Fact::new("client", value).secondary()));
    facts
}

/// What one connection takes of this client's processor, of each kind: "1.2 full 412 + 95, id 190 + 96".
fn client_cpu(document: &MeasureDocument) -> Option<String> {
    let mut runs: Vec<&Run> = document.runs.iter().filter(|run| run.client_cpu_ns.is_some()).collect();
    runs.sort_by_key(|run| run.asked);
    let of_version = |version: Version| {
        let of_kind = |run: &&Run| {
            let ClientCpu { user, system } = run.client_cpu_ns?;
            let [user, system] = [user, system].map(|ns| ns as f64 / 1e3);
            Some(format!("{} {user:.0} + {system:.0}", run.asked.kind))
        };
        let kinds: Vec<String> = runs.iter().filter(|run| run.asked.tls == version).filter_map(of_kind).collect();
        (!kinds.is_empty()).then(|| format!("{} {}", version.number(), kinds.join(", ")))
    };
    let versions: Vec<String> = [Version::Tls12, Version::Tls13].into_iter().filter_map(of_version).collect();
    (!versions.is_empty()).then(|| format!("µs of processor time for a connection, user + system: {}", versions.join(" · ")))
}

/// What a version's connections agreed on; each name from the first run that observed it, since a resumed handshake shows
/// no key and a full one no PSK.
fn negotiated(document: &MeasureDocument, version: Version) -> Option<String> {
    let runs: Vec<&Observed> =
        document.runs.iter().filter(|run| run.asked.tls == version).map(|run| &run.observed).collect();
    let first = |name: fn(&Observed) -> Option<&str>| runs.iter().find_map(|observed| name(observed)).map(str::to_owned);
    let names = [
        first(|observed| observed.cipher.as_deref()),
        first(|observed| observed.group.as_deref()),
        runs.iter().find_map(|it| certificate(it.peer_key.as_deref(), it.certificates.zip(it.certificate_bytes))),
        runs.iter().find_map(|it| it.certificate_compression.as_ref()).map(compressed),
        first(|observed| observed.signature.as_deref()),
        runs.iter().find_map(|observed| Some(use_of_psk(observed.psk_mode?, observed.kinds.of(Kind::Psk) > 0))),
        first(|observed| observed.alpn.as_deref()).map(|protocol| format!("ALPN {protocol}")),
        runs.iter().find_map(|observed| observed.ticket_lifetime_s).map(stated_lifetime),
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();
    (!names.is_empty()).then(|| names.join(" · "))
}

/// The server's key and what it sends with it: "p-256, 2 certificates of 1104 bytes".
pub(super) fn certificate(key: Option<&str>, chain: Option<(u8, u32)>) -> Option<String> {
    let key = key?;
    Some(match chain {
        Some((1, bytes)) => format!("{key}, 1 certificate of {bytes} bytes"),
        Some((count, bytes)) => format!("{key}, {count} certificates of {bytes} bytes"),
        None => key.to_owned(),
    })
}

/// "sent by brotli as 2105 of 4310 bytes".
fn compressed(compression: &CertificateCompressionRecord) -> String {
    let CertificateCompressionRecord { algorithm, bytes, uncompressed_bytes } = compression;
    format!("sent by {algorithm} as {bytes} of {uncompressed_bytes} bytes")
}

/// "resumed with psk_dhe_ke": what an external PSK does is no resumption.
pub(super) fn use_of_psk(mode: PskMode, is_external: bool) -> String {
    format!("{} with {}", if is_external { "external PSK" } else { "resumed" }, mode.name())
}

fn connections(document: &MeasureDocument) -> String {
    let each: Vec<u64> = document.runs.iter().map(Run::made).collect();
    let most = each.iter().copied().max().unwrap_or_default();
    let up_to = if each.iter().all(|count| *count == most) { "" } else { "up to " };
    let all = document.all_connections;
    let total = all.total();
    format!(
        "{up_to}{most} connection{} for each row, interleaved; {total} in all with discovery and priming",
        if most == 1 { "" } else { "s" }
    )
}

/// What came of asking for a number of tickets: "asked for 4, and 1 on resumption; given 4.0 (full), 1.0 (ticket)".
fn tickets(document: &MeasureDocument) -> Option<String> {
    let TicketRequestRecord { new_session, resumption } = document.ticket_request?;
    let runs = document.runs.iter().filter(|run| run.asked.tls == Version::Tls13 && run.observed.kinds.total() > 0);
    let (mut given, mut promised) = (Vec::new(), Vec::new());
    for Run { asked, observed, .. } in runs {
        given.push(format!("{:.1} ({})", observed.tickets_received as f64 / observed.kinds.total() as f64, asked.kind));
        promised.extend(observed.tickets_promised.map(|count| format!("{count} ({})", asked.kind)));
    }
    let promised = match promised.as_slice() {
        [] => "the server did not answer the request (RFC 9149)".to_owned(),
        promised => format!("promised {}", promised.join(", ")),
    };
    let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
    Some(format!("requested {new_session}, and {resumption} on resumption; {promised}; received per connection: {given}"))
}

fn legend(document: &MeasureDocument) -> String {
    let has_interval = |run: &Run| run.phases.values().any(|statistics| statistics.ci95_ns.is_some());
    let mut legend = match document.runs.iter().any(has_interval) {
        true => "Medians, ± half their 95 % interval.".to_owned(),
        false => "Medians; too few samples for intervals.".to_owned(),
    };
    if !document.ratios.is_empty() {
        legend.push_str(" saves, ratio: against a full handshake of the same version.");
    }
    if document.runs.iter().any(|run| run.next_request.is_some()) {
        legend.push_str(" next request: another one on the same connection.");
    }
    legend
}

fn table(document: &MeasureDocument) -> Table {
    let layout = Layout::of(document);
    let mut runs: Vec<&Run> = document.runs.iter().collect();
    runs.sort_by_key(|run| run.asked);
    let lines: Vec<Line> = runs.into_iter().flat_map(|run| layout.lines(document, run)).collect();
    let mut rows = Rows::of(&lines)
        .words("TLS", |line| line.version.number())
        .grouped(|line| line.version)
        .words("kind", |line| &line.name)
        .figures("n", "", |line| line.n.map(Figure::count));
    for phase in Phase::ALL {
        let rank = match phase {
            Phase::Receive => Some(0),
            Phase::Resolve => Some(1),
            Phase::Wait => Some(3),
            Phase::Connect | Phase::Proxy | Phase::Starttls => Some(5),
            Phase::Tls | Phase::Total => None,
        };
        rows = rows.figures(phase.name(), layout.unit.symbol(), |line| line.times.get(&phase).cloned()).dispensable(rank);
    }
    let count = |line: &Line, count: Option<i64>| Some(Figure::difference(count?).gained(line.saves && count? > 0));
    rows.figures("round", "trips", |line| count(line, line.round_trips))
        .dispensable(4)
        .figures("sent", "bytes", |line| count(line, line.sent))
        .dispensable(2)
        .figures("received", "bytes", |line| count(line, line.received))
        .dispensable(2)
        .noted(|line| line.note.clone())
        .toned(|line| line.tone)
        .secondary_rows(|line| line.is_secondary)
        .table()
}

/// A p95 is shown of no fewer samples.
const FEWEST_FOR_P95: u64 = 20;

/// A tail so many times as long as the median, and longer by so many nanoseconds, is far from it: some connections waited for something.
const FAR: (u64, u64) = (3, 25_000_000);

fn is_far(median_ns: u64, tail_ns: Option<u64>) -> bool {
    let (times, by) = FAR;
    tail_ns.is_some_and(|tail| tail >= median_ns.saturating_mul(times) && tail >= median_ns.saturating_add(by))
}

/// A line of the table.
struct Line {
    version: Version,
    name: String,
    n: Option<u64>,
    times: BTreeMap<Phase, Figure>,
    round_trips: Option<i64>,
    sent: Option<i64>,
    received: Option<i64>,
    note: Option<String>,
    tone: Tone,
    /// Whether its figures are what is saved: more is better.
    saves: bool,
    /// Whether it can wait.
    is_secondary: bool,
}

/// How times are shown.
struct Layout {
    unit: Unit,
    scales: BTreeMap<Phase, Scale>,
}

impl Layout {
    fn of(document: &MeasureDocument) -> Self {
        let of_phase = |phase: Phase| document.runs.iter().flat_map(move |run| statistics(run, phase));
        let unit = Unit::of_all(Phase::ALL.into_iter().flat_map(of_phase).map(|statistics| statistics.median_ns));
        let scales = Phase::ALL.into_iter().map(|phase| (phase, Scale::of_column(unit, of_phase(phase)))).collect();
        Self { unit, scales }
    }

    /// A run's own line, and below it what it saves, what came out otherwise, what failed, and the next request.
    fn lines(&self, document: &MeasureDocument, run: &Run) -> Vec<Line> {
        let mut lines = vec![self.own(run)];
        lines.extend(self.tail(run));
        if run.n > 0 && run.n < run.observed.kinds.total() {
            lines.push(Line { note: Some(otherwise(run)), tone: Tone::Warning, ..Line::of(run, "  others") });
        }
        if run.failed > 0 {
            let note = Some(format!("{} of {}", run.failed, run.made()));
            lines.push(Line { note, tone: Tone::Fault, ..Line::of(run, "  failed") });
        }
        lines.extend(self.savings(document, run).into_iter().flatten());
        lines.extend(self.next_request(run));
        lines
    }

    /// The time of each phase that has one, as it is shown in the column of the phase.
    fn times(&self, of: impl Fn(Phase, Scale) -> Option<Figure>) -> BTreeMap<Phase, Figure> {
        self.scales.iter().filter_map(|(phase, scale)| Some((*phase, of(*phase, *scale)?))).collect()
    }

    fn own(&self, run: &Run) -> Line {
        let none_as_asked = run.n == 0;
        Line {
            n: Some(run.n),
            times: self.times(|phase, scale| Some(scale.median(run.phases.get(&phase)?))),
            round_trips: run.round_trips.map(signed),
            sent: run.bytes.map(|bytes| signed(bytes.sent.0)),
            received: run.bytes.map(|bytes| signed(bytes.received.0)),
            note: none_as_asked.then(|| otherwise(run)),
            tone: if none_as_asked { Tone::Warning } else { Tone::Plain },
            ..Line::of(run, run.asked.kind.name())
        }
    }

    /// What ninety-five in a hundred are below, or where that is near the median and the largest is not, the largest. Far from the median
    /// it stands in the first table; otherwise it can wait, and of fewer than a score of samples it is left out.
    fn tail(&self, run: &Run) -> Option<Line> {
        let is_far = |tail: Statistic| run.phases.values().any(|it| is_far(it.median_ns, tail.of(it)));
        let has_p95 = run.n >= FEWEST_FOR_P95;
        let (tail, is_secondary) = match (has_p95, is_far(Statistic::P95), is_far(Statistic::Max)) {
            (true, true, _) => (Statistic::P95, false),
            (_, _, true) => (Statistic::Max, false),
            (true, ..) => (Statistic::P95, true),
            (false, ..) => return None,
        };
        let time = |phase: Phase, scale: Scale| {
            let time = tail.of(run.phases.get(&phase)?)?;
            Some(scale.difference(i64::try_from(time).ok()?))
        };
        let line = Line {
            times: self.times(time),
            tone: Tone::Quiet,
            is_secondary,
            ..Line::of(run, &format!("  {}", tail.name()))
        };
        (!line.times.is_empty()).then_some(line)
    }

    fn savings(&self, document: &MeasureDocument, run: &Run) -> Option<[Line; 2]> {
        let full = document.run(run.asked.tls, Kind::Full).filter(|_| run.asked.kind != Kind::Full)?;
        let ratio = |phase: Phase| document.ratio(run.asked, phase);
        let less = |full: Option<u64>, run: Option<u64>| Some(signed(full?).saturating_sub(signed(run?)));
        let tone = tone_of_saving(ratio(Phase::Tls));
        let is_gain = |ratio: &Ratio| tone_of_saving(Some(ratio)) == Tone::Gain;
        let saves = Line {
            times: self.times(|phase, scale| ratio(phase).map(|it| scale.difference(it.saved_ns).gained(is_gain(it)))),
            round_trips: less(full.round_trips, run.round_trips),
            sent: less(full.bytes.map(|it| it.sent.0), run.bytes.map(|it| it.sent.0)),
            received: less(full.bytes.map(|it| it.received.0), run.bytes.map(|it| it.received.0)),
            tone,
            saves: true,
            ..Line::of(run, "  saves")
        };
        let times = self.times(|phase, _| ratio(phase).map(|it| Figure::ratio(it.median, it.ci95).gained(is_gain(it))));
        let ratios = Line { times, tone, ..Line::of(run, "  ratio") };
        (!ratios.times.is_empty()).then_some([saves, ratios])
    }

    fn next_request(&self, run: &Run) -> Option<Line> {
        let n = run.next_request.as_ref()?.n;
        let times = self.times(|phase, scale| next_statistics(run, phase).map(|it| scale.median(it)));
        Some(Line { n: Some(n), times, ..Line::of(run, "  next request") })
    }
}

impl Line {
    /// A line with nothing in it yet.
    fn of(run: &Run, name: &str) -> Self {
        Self {
            version: run.asked.tls,
            name: name.to_owned(),
            n: None,
            times: BTreeMap::new(),
            round_trips: None,
            sent: None,
            received: None,
            note: None,
            tone: Tone::Plain,
            saves: false,
            is_secondary: false,
        }
    }
}

/// The times of one phase that a run's lines show.
fn statistics(run: &Run, phase: Phase) -> impl Iterator<Item = &Statistics> {
    run.phases.get(&phase).into_iter().chain(next_statistics(run, phase))
}

fn next_statistics(run: &Run, phase: Phase) -> Option<&Statistics> {
    let next = run.next_request.as_ref()?;
    match phase {
        Phase::Wait => Some(&next.wait),
        Phase::Receive => Some(&next.receive),
        _ => None,
    }
}

/// What the connections were that did not come out as asked: "refused: 100 of 100 were full".
fn otherwise(run: &Run) -> String {
    let all = run.observed.kinds.total();
    if all == 0 {
        return "none completed".to_owned();
    }
    let others = run.observed.kinds.0.iter().filter(|(kind, count)| **kind != run.asked.kind && **count > 0);
    let counts: Vec<String> = others.map(|(kind, count)| format!("{count} of {all} were {kind}")).collect();
    let resumed = all.saturating_sub(run.observed.kinds.of(Kind::Full));
    let refused = run.asked.kind != Kind::Full && run.observed.sessions_offered > resumed;
    format!("{}{}", if refused { "refused: " } else { "" }, counts.join(", "))
}

/// Green is earned: by a handshake that is faster beyond its interval.
fn tone_of_saving(ratio: Option<&Ratio>) -> Tone {
    match ratio {
        Some(ratio) if ratio.ci95.map_or(ratio.median, |[low, _]| low) > 1.0 => Tone::Gain,
        _ => Tone::Quiet,
    }
}
