//! Statistics as comma-separated values (RFC 4180). The names and the order of columns are fixed; empty is unknown.

use std::fmt::Display;
use std::io;

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareCase, CompareDocument, CompareLinkRow, CompareMemory, CompareRow, CompareScalingRow, CompareSide,
    DiagnoseDocument, ExplainDocument, LayersDocument, LoadDocument, LoadLatency, LoadShare, LoadStage, MeasureDocument,
    Ratio, Run, SideBySideDocument, SpeedDocument, Statistic, Statistics, TraceDocument,
};
use reprise_model::{Direction, Kind, Phase};

use crate::document::{Document, Report, SCHEMAS};
use crate::format::Format;

/// `--csv`.
pub static FORMAT: Format = Format { name: "csv", help: "Write the figures as CSV", schemas: SCHEMAS, write };

fn write(report: &Report<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let records = match report.document {
        Document::Measure(document) => measure(std::slice::from_ref(document)),
        Document::Lab(document) => measure(&document.results),
        Document::Clients(document) => measure(&document.results),
        Document::Diagnose(document) => diagnose(document),
        Document::Trace(document) => trace(document),
        Document::Load(document) => load(document),
        Document::Compare(document) => compare(document),
        Document::Layers(document) => layers(document),
        Document::Speed(document) => speed(document),
        Document::Explain(document) => explain(document),
        Document::SideBySide(document) => side_by_side(document),
        Document::Board(document) => board(document),
    };
    let mut writer = ::csv::Writer::from_writer(out);
    records.iter().try_for_each(|record| writer.write_record(record))?;
    writer.flush()
}

/// What there is a record of each, and the header and the records as far as their fields are known.
struct Records<T> {
    items: Vec<T>,
    records: Vec<Vec<String>>,
}

impl<T: Copy> Records<T> {
    fn of(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        Self { records: vec![Vec::new(); items.len() + 1], items }
    }

    /// A field that every record has.
    fn field<V: Display>(self, name: &str, value: impl Fn(T) -> V) -> Self {
        self.known(name, |item| Some(value(item)))
    }

    /// A field that is empty where it is unknown.
    fn known<V: Display>(mut self, name: &str, value: impl Fn(T) -> Option<V>) -> Self {
        let values = self.items.iter().map(|item| value(*item).map(|value| value.to_string()).unwrap_or_default());
        for (record, field) in self.records.iter_mut().zip(std::iter::once(name.to_owned()).chain(values)) {
            record.push(field);
        }
        self
    }

    /// Some of a spread, each as `median_ns`, and the median's interval.
    fn statistics<'a>(self, which: &[Statistic], of: impl Fn(T) -> Option<&'a Statistics>) -> Self {
        which.iter().fold(self, |rows, statistic| {
            let rows = rows.known(&format!("{}_ns", statistic.name()), |item| statistic.of(of(item)?));
            if *statistic != Statistic::Median {
                return rows;
            }
            rows.interval("ci95_low_ns", "ci95_high_ns", |item| of(item)?.ci95_ns)
        })
    }

    /// The ends of an interval.
    fn interval<V: Display>(self, low: &str, high: &str, ends: impl Fn(T) -> Option<[V; 2]>) -> Self {
        let rows = self.known(low, |item| ends(item).map(|[low, _]| low));
        rows.known(high, |item| ends(item).map(|[_, high]| high))
    }
}

/// A row for each label, version, kind and phase. A run whose samples were all of another kind has no statistics, and still one row,
/// for its counts.
fn measure(documents: &[MeasureDocument]) -> Vec<Vec<String>> {
    let runs = documents.iter().flat_map(|document| document.runs.iter().map(move |run| (document, run)));
    let figures: Vec<Measured<'_>> = runs.flat_map(|(document, run)| measured(document, run)).collect();
    let observed = |kind: Kind| move |it: &Measured<'_>| it.run.observed.kinds.of(kind);
    // Of a ratio, 1 is 1.0.
    let float = |value: f64| format!("{value:?}");
    Records::of(&figures)
        .field("label", |it| &it.document.label)
        .field("tls", |it| it.run.asked.tls.number())
        .field("kind", |it| it.run.asked.kind.name())
        .field("phase", |it| it.name)
        .field("n", |it| it.n)
        .field("failed", |it| it.run.failed)
        .field("observed_full", observed(Kind::Full))
        .field("observed_id", observed(Kind::Id))
        .field("observed_ticket", observed(Kind::Ticket))
        .field("observed_psk", observed(Kind::Psk))
        .field("observed_early", observed(Kind::Early))
        .statistics(&Statistic::ALL, |it| it.statistics)
        .known("saved_ns", |it| Some(it.ratio?.saved_ns))
        .known("ratio", |it| Some(float(it.ratio?.median)))
        .interval("ratio_ci95_low", "ratio_ci95_high", |it| it.ratio?.ci95.map(|ends| ends.map(float)))
        .known("round_trips", |it| it.run.round_trips)
        .known("bytes_sent", |it| Some(it.run.bytes?.sent.0))
        .known("bytes_received", |it| Some(it.run.bytes?.received.0))
        .records
}

/// A phase of a run, or `next_wait` and `next_receive` of one more request on the same connection.
struct Measured<'a> {
    document: &'a MeasureDocument,
    run: &'a Run,
    name: &'static str,
    n: u64,
    statistics: Option<&'a Statistics>,
    ratio: Option<&'a Ratio>,
}

fn measured<'a>(document: &'a MeasureDocument, run: &'a Run) -> Vec<Measured<'a>> {
    let figure = |name, n, statistics| Measured { document, run, name, n, statistics, ratio: None };
    let phases = run.phases.iter().map(|(phase, statistics)| Measured {
        ratio: document.ratio(run.asked, *phase),
        ..figure(phase.name(), run.n, Some(statistics))
    });
    let next = run.next_request.iter().flat_map(|next| {
        [figure("next_wait", next.n, Some(&next.wait)), figure("next_receive", next.n, Some(&next.receive))]
    });
    let figures: Vec<Measured<'_>> = phases.chain(next).collect();
    if figures.is_empty() { vec![figure(Phase::Total.name(), run.n, None)] } else { figures }
}

/// Of a second and a kind, of a kind and a phase of the whole, of a stage, or of a share.
#[derive(Default)]
struct LoadRow<'a> {
    second: Option<usize>,
    kind: Option<Kind>,
    completed: u64,
    phase: &'a str,
    latency: Option<&'a LoadLatency>,
    stage: Option<(usize, &'a LoadStage)>,
    share: Option<&'a LoadShare>,
}

/// A row for each second and kind, for each kind and phase of the whole, and for each stage or share.
fn load(document: &LoadDocument) -> Vec<Vec<String>> {
    let mut rows: Vec<LoadRow<'_>> = Vec::new();
    for second in 0..document.rate.per_second.len() {
        for (kind, series) in &document.rate.per_second_by_kind {
            let completed = series.get(second).copied().unwrap_or_default();
            let latency = document.rate.latency_per_second.get(kind).and_then(|series| series.get(second)?.as_ref());
            let phase = if latency.is_some() { Phase::Total.name() } else { "" };
            rows.push(LoadRow { second: Some(second), kind: Some(*kind), completed, phase, latency, ..LoadRow::default() });
        }
    }
    for (kind, phases) in &document.latency_ns {
        let completed = document.completed.get(kind).copied().unwrap_or_default();
        let intended = document.latency_from_intended_ns.get(kind).map(|latency| ("from_intended", latency));
        let phases = phases.iter().map(|(phase, latency)| (phase.name(), latency)).chain(intended);
        rows.extend(phases.map(|(phase, latency)| LoadRow {
            kind: Some(*kind),
            completed,
            phase,
            latency: Some(latency),
            ..LoadRow::default()
        }));
    }
    rows.extend(document.stages.iter().enumerate().map(|(place, stage)| LoadRow {
        completed: stage.total_completed(),
        phase: "from_intended",
        latency: stage.latency_from_intended_ns.as_ref(),
        stage: Some((place + 1, stage)),
        ..LoadRow::default()
    }));
    rows.extend(document.sweep.iter().flat_map(|sweep| &sweep.shares).map(|share| LoadRow {
        completed: share.connections,
        share: Some(share),
        ..LoadRow::default()
    }));
    let records = Records::of(&rows)
        .known("second", |row| row.second)
        .known("kind", |row| row.kind.map(Kind::name))
        .field("completed", |row| row.completed)
        .field("phase", |row| row.phase)
        .known("p50_ns", |row| Some(row.latency?.p50))
        .known("p90_ns", |row| Some(row.latency?.p90))
        .known("p95_ns", |row| row.latency?.p95)
        .known("p99_ns", |row| Some(row.latency?.p99))
        .known("p999_ns", |row| Some(row.latency?.p999))
        .known("max_ns", |row| Some(row.latency?.max));
    if document.sweep.is_some() {
        let shares = records
            .known("offered", |row| row.share.map(|share| share.asked))
            .known("resumed", |row| row.share?.resumed)
            .known("rate", |row| row.share.map(|share| share.rate))
            .known("failed", |row| row.share.map(|share| share.failed))
            .known("server_cpu_ns", |row| row.share?.server_cpu_ns)
            .known("bottleneck", |row| row.share.map(|share| share.bottleneck.name()));
        return shares.records;
    }
    if document.stages.is_empty() {
        return records.records;
    }
    records
        .known("stage", |row| row.stage.map(|(place, _)| place))
        .known("rate", |row| row.stage.map(|(_, stage)| stage.rate))
        .known("seconds", |row| row.stage.map(|(_, stage)| stage.seconds))
        .known("offered", |row| row.stage.map(|(_, stage)| stage.offered))
        .known("failed", |row| row.stage.map(|(_, stage)| stage.failed))
        .known("not_started", |row| row.stage.map(|(_, stage)| stage.not_started))
        .known("resumed", |row| row.stage?.1.resumed)
        .known("server_cpu_ns", |row| row.stage?.1.server_cpu_ns)
        .records
}

/// A row for each figure of each result.
fn side_by_side(document: &SideBySideDocument) -> Vec<Vec<String>> {
    let values = document.rows.iter().flat_map(|row| {
        let of_row = document.results.iter().zip(&row.values);
        of_row.filter_map(move |(result, value)| Some((row, result, value.as_ref()?)))
    });
    Records::of(values)
        .field("tls", |(row, ..)| row.tls.number())
        .known("kind", |(row, ..)| row.kind.map(Kind::name))
        .known("phase", |(row, ..)| row.phase.map(Phase::name))
        .field("figure", |(row, ..)| &row.figure)
        .field("unit", |(row, ..)| row.unit.name())
        .field("result", |(_, result, _)| &result.label)
        .field("value", |(.., it)| it.value)
        .interval("ci95_low", "ci95_high", |(.., it)| it.ci95)
        .known("ratio", |(.., it)| it.ratio)
        .interval("ratio_ci95_low", "ratio_ci95_high", |(.., it)| it.ratio_ci95)
        .records
}

/// A row for each message.
fn trace(document: &TraceDocument) -> Vec<Vec<String>> {
    let connections = document.traces.iter().flat_map(|trace| {
        let first = trace.full.iter().map(move |connection| (trace, "first", connection));
        first.chain(trace.resumed.iter().map(move |connection| (trace, "second", connection)))
    });
    let events = connections.flat_map(|(trace, name, connection)| {
        connection.events.iter().enumerate().map(move |(index, event)| {
            let is_skipped = name == "first" && trace.skipped.iter().any(|skipped| skipped.index == index);
            (trace.asked.tls, name, connection.outcome.kind, event, is_skipped)
        })
    });
    Records::of(events)
        .field("tls", |(tls, ..)| tls.number())
        .field("connection", |(_, name, ..)| name)
        .field("kind", |(_, _, kind, ..)| kind.name())
        .field("at_ns", |(.., event, _)| event.at.0)
        .field("direction", |(.., event, _)| match event.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        })
        .field("message", |(.., event, _)| event.what.name())
        .field("size", |(.., event, _)| event.size.0)
        .field("encrypted", |(.., event, _)| event.encrypted)
        .field("skipped", |(.., is_skipped)| is_skipped)
        .records
}

/// A row for each pair, handshake and side. What was skipped has its outcome, and no figures.
fn compare(document: &CompareDocument) -> Vec<Vec<String>> {
    let skipped = document.skipped.iter().map(|it| Compared {
        client: &it.client,
        server: &it.server,
        case: &it.case,
        outcome: &it.outcome,
        measured: None,
        memory: None,
        link: None,
        scaling: None,
    });
    let replayed = document.links.iter().flat_map(|links| &links.rows).map(|row| Compared {
        client: &row.client,
        server: &row.server,
        case: &row.case,
        outcome: "replayed",
        measured: None,
        memory: None,
        link: Some(row),
        scaling: None,
    });
    let weighed = document.memory.iter().map(weighed);
    let scaled = document.scaling.iter().flat_map(|scaling| &scaling.rows).flat_map(scaled);
    let rows: Vec<Compared<'_>> =
        document.rows.iter().flat_map(compared).chain(weighed).chain(replayed).chain(scaled).chain(skipped).collect();
    Records::of(&rows)
        .field("scenario", |_| &document.scenario)
        .field("client", |it| it.client)
        .field("server", |it| it.server)
        .field("tls", |it| it.case.tls.number())
        .field("kind", |it| it.case.kind.name())
        .field("key", |it| &it.case.key)
        .field("group", |it| &it.case.group)
        .field("cipher", |it| &it.case.cipher)
        .field("mutual", |it| it.case.mutual)
        .field("outcome", |it| it.outcome)
        .known("side", |it| it.measured.map(|(side, ..)| side).or(it.memory.map(|row| row.side)).map(|side| side.name()))
        .known("n", |it| it.measured.map(|(_, _, n, _)| n))
        .statistics(&[Statistic::Median, Statistic::Mean, Statistic::P99], |it| Some(it.measured?.1))
        .known("instructions", |it| it.measured?.3)
        .known("over", |it| it.measured.map(|_| document.over.name()))
        .known("psk_mode", |it| it.case.psk_mode.map(|mode| mode.name()))
        .field("request", |it| it.case.request)
        .field("key_pairs", |it| it.case.key_pairs.name())
        .field("chain", |it| it.case.chain.name())
        .known("connections", |it| it.memory.map(|row| row.connections))
        .known("held_bytes", |it| it.memory.map(|row| row.held.median))
        .interval("held_ci95_low_bytes", "held_ci95_high_bytes", |it| it.memory?.held.ci95)
        .known("peak_bytes", |it| it.memory.map(|row| row.peak.median))
        .known("context_bytes", |it| it.memory.map(|row| row.context.median))
        .known("code_bytes", |it| it.memory?.code)
        .field("retried", |it| it.case.retried)
        .known("sender", |it| Some(it.case.bulk.as_ref()?.sender.name()))
        .known("transfer_bytes", |it| Some(it.case.bulk.as_ref()?.bytes))
        .known("record_bytes", |it| Some(it.case.bulk.as_ref()?.record))
        .known("hardware", |it| Some(it.case.bulk.as_ref()?.hardware))
        .known("max_fragment", |it| it.case.max_fragment)
        .field("releases_buffers", |it| it.case.releases_buffers)
        .known("idle_bytes", |it| Some(it.memory?.idle.as_ref()?.median))
        .interval("idle_ci95_low_bytes", "idle_ci95_high_bytes", |it| it.memory?.idle.as_ref()?.ci95)
        .known("session_bytes", |it| Some(it.memory?.session.as_ref()?.median))
        .known("rtt_ns", |it| Some(it.link?.link.rtt_ns))
        .known("bandwidth", |it| it.link?.link.bandwidth)
        .known("loss", |it| Some(it.link?.link.loss))
        .known("initcwnd", |it| Some(it.link?.link.initcwnd))
        .known("ready_median_ns", |it| Some(it.link?.ready.median_ns))
        .known("request_median_ns", |it| Some(it.link?.request.median_ns))
        .known("request_mean_ns", |it| Some(it.link?.request.mean_ns))
        .known("request_p95_ns", |it| Some(it.link?.request.p95_ns))
        .known("request_p99_ns", |it| Some(it.link?.request.p99_ns))
        .known("threads", |it| Some(it.scaling?.threads))
        .known("connections_per_second", |it| Some(it.scaling?.rate.round() as u64))
        .known("scaling", |it| Some(it.scaling?.scaling?.median))
        .interval("scaling_ci95_low", "scaling_ci95_high", |it| it.scaling?.scaling?.ci95)
        .field("hybrid_share", |it| it.case.hybrid_share)
        .records
}

/// A pair and a handshake; of what was measured a side, its statistics, how many samples there are, and the instructions.
struct Compared<'a> {
    client: &'a str,
    server: &'a str,
    case: &'a CompareCase,
    outcome: &'a str,
    measured: Option<(CompareSide, &'a Statistics, u64, Option<u64>)>,
    memory: Option<&'a CompareMemory>,
    link: Option<&'a CompareLinkRow>,
    scaling: Option<&'a CompareScalingRow>,
}

/// Each side's CPU time, and time on a clock.
fn scaled(row: &CompareScalingRow) -> [Compared<'_>; 3] {
    let CompareScalingRow { client, server, case, n, .. } = row;
    let sides =
        [(CompareSide::Client, &row.client_ns), (CompareSide::Server, &row.server_ns), (CompareSide::Wall, &row.wall_ns)];
    sides.map(|(side, statistics)| {
        let measured = Some((side, statistics, *n, None));
        Compared { client, server, case, outcome: "measured", measured, memory: None, link: None, scaling: Some(row) }
    })
}

fn weighed(row: &CompareMemory) -> Compared<'_> {
    let (client, server) = if row.side == CompareSide::Client { (&row.stack, &row.peer) } else { (&row.peer, &row.stack) };
    Compared {
        client,
        server,
        case: &row.case,
        outcome: "measured",
        measured: None,
        memory: Some(row),
        link: None,
        scaling: None,
    }
}

fn compared(row: &CompareRow) -> impl Iterator<Item = Compared<'_>> {
    let CompareRow { client, server, case, n, .. } = row;
    let sides = CompareSide::ALL
        .into_iter()
        .filter_map(|side| Some((side, row.of(side)?, *n, row.instructions.and_then(|count| count.of(side)))));
    sides.map(|it| {
        let measured = Some(it);
        Compared { client, server, case, outcome: "measured", measured, memory: None, link: None, scaling: None }
    })
}

/// A row for each stack, version, level, without and with sessions, and clock. What was skipped has its outcome, and no figures.
fn layers(document: &LayersDocument) -> Vec<Vec<String>> {
    let measured = document.rows.iter().flat_map(|row| {
        let clocks = [("cpu", &row.cpu_ns), ("wall", &row.wall_ns)];
        let place = (row.stack.as_str(), Some(row.tls), Some(row.level), row.sessions, "measured");
        clocks.map(|(clock, statistics)| (place, Some((row, clock, statistics))))
    });
    let skipped = document.skipped.iter().map(|it| ((it.stack.as_str(), it.tls, it.level, it.sessions, &*it.outcome), None));
    Records::of(measured.chain(skipped))
        .field("stack", |((stack, ..), _)| stack)
        .known("tls", |((_, tls, ..), _)| tls.map(|tls| tls.number()))
        .known("level", |((_, _, level, ..), _)| level.map(|level| level.name()))
        .field("sessions", |((.., sessions, _), _)| sessions)
        .field("outcome", |((.., outcome), _)| outcome)
        .known("requests", |(_, it)| Some(it?.0.requests))
        .known("handshakes", |(_, it)| Some(it?.0.handshakes))
        .known("refused", |(_, it)| Some(it?.0.refused))
        .known("clock", |(_, it)| Some(it?.1))
        .known("n", |(_, it)| Some(it?.0.n))
        .statistics(&[Statistic::Median, Statistic::Mean, Statistic::P99], |(_, it)| Some(it?.2))
        .records
}

/// A row for each step of each path.
fn explain(document: &ExplainDocument) -> Vec<Vec<String>> {
    let steps = document.paths.iter().flat_map(|path| path.steps.iter().map(move |step| (path, step)));
    Records::of(steps)
        .field("tls", |(path, _)| path.tls)
        .field("kind", |(path, _)| path.kind)
        .field("changes", |(path, _)| path.changes.join(" "))
        .known("measured_ns", |(path, _)| path.measured_ns)
        .known("predicted_ns", |(path, _)| path.predicted_ns)
        .field("path_ns", |(path, _)| path.path_ns)
        .field("unexplained_ns", |(path, _)| path.unexplained_ns)
        .field("side", |(_, step)| step.side)
        .known("operation", |(_, step)| step.operation)
        .known("algorithm", |(_, step)| step.algorithm.as_deref())
        .field("times", |(_, step)| step.times)
        .field("message", |(_, step)| &step.message)
        .field("begin_ns", |(_, step)| step.begin_ns)
        .field("took_ns", |(_, step)| step.took_ns)
        .field("on_path", |(_, step)| step.on_path)
        .records
}

/// A row for each stack and operation, with the CPU's instructions and without. What was skipped has its outcome, and no figures.
fn speed(document: &SpeedDocument) -> Vec<Vec<String>> {
    let measured = document.rows.iter().map(|row| {
        ((row.stack.as_str(), Some(row.operation), Some(row.algorithm.as_str()), row.instructions, "measured"), Some(row))
    });
    let skipped = document
        .skipped
        .iter()
        .map(|it| ((it.stack.as_str(), it.operation, it.algorithm.as_deref(), it.instructions, it.outcome.as_str()), None));
    Records::of(measured.chain(skipped))
        .field("stack", |((stack, ..), _)| stack)
        .known("operation", |((_, operation, ..), _)| operation)
        .known("algorithm", |((_, _, algorithm, ..), _)| algorithm)
        .field("instructions", |((.., instructions, _), _)| instructions)
        .field("outcome", |((.., outcome), _)| outcome)
        .known("bytes", |(_, row)| row?.bytes)
        .known("n", |(_, row)| Some(row?.n))
        .known("batch", |(_, row)| Some(row?.batch))
        .known("median_ns", |(_, row)| Some(row?.once.median_ns))
        .interval("ci95_low_ns", "ci95_high_ns", |(_, row)| row?.once.ci95_ns)
        .known("min_ns", |(_, row)| Some(row?.once.min_ns))
        .records
}

/// A row for each finding; of a fleet a row for each pair of nodes, version and mechanism.
fn diagnose(document: &DiagnoseDocument) -> Vec<Vec<String>> {
    if let Some(fleet) = &document.fleet {
        let name = |node: usize| fleet.nodes.get(node).map(|node| node.target.as_str()).unwrap_or_default();
        return Records::of(&fleet.matrix)
            .field("from", |cell| name(cell.from))
            .field("to", |cell| name(cell.to))
            .field("tls", |cell| cell.tls)
            .field("kind", |cell| cell.kind)
            .field("offered", |cell| cell.offered)
            .field("accepted", |cell| cell.accepted)
            .records;
    }
    Records::of(document.findings())
        .field("target", |(target, _)| target)
        .field("id", |(_, finding)| &finding.id)
        .field("severity", |(_, finding)| finding.severity.name())
        .field("confidence", |(_, finding)| finding.confidence.name())
        .field("title", |(_, finding)| &finding.title)
        .known("cost_ns", |(_, finding)| finding.cost_ns.map(|cost| cost.0))
        .records
}

/// A row for each handshake on a microcontroller.
fn board(document: &BoardDocument) -> Vec<Vec<String>> {
    Records::of(&document.handshakes)
        .field("image", |it| &it.image)
        .field("tls_stack", |it| &it.stack)
        .field("key", |it| it.key.name())
        .field("kind", |it| it.kind)
        .field("cipher", |it| &it.cipher)
        .known("group", |it| it.group.as_ref())
        .field("instructions", |it| it.handshake.instructions)
        .known("cycles", |it| it.handshake.cycles)
        .known("modelled_ns", |it| it.modelled_ns)
        .field("application_instructions", |it| it.application.instructions)
        .field("stack", |it| it.memory.stack)
        .field("connection", |it| it.memory.connection)
        .field("heap_of_connection", |it| it.memory.heap_of_connection)
        .records
}
