//! Statistics as comma-separated values (RFC 4180): one row for each label, version, kind and phase.

use std::io::{self, Write};

use reprise_board::document::{BoardDocument, BoardHandshake};
use reprise_model::document::{
    CompareCase, CompareDocument, CompareSide, DiagnoseDocument, LayersDocument, LoadDocument, LoadLatency, MeasureDocument,
    Run, SideBySideDocument, Statistics, TraceDocument,
};
use reprise_model::{Direction, Kind, Phase};
use serde::Serialize;

use crate::document::{Document, Report, SCHEMAS};
use crate::format::Format;

/// `--csv`.
pub static FORMAT: Format = Format { name: "csv", help: "Write the figures as CSV", schemas: SCHEMAS, write };

fn write(report: &Report<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    match report.document {
        Document::Measure(document) => measure(std::slice::from_ref(document), out),
        Document::Lab(document) => measure(&document.results, out),
        Document::Diagnose(document) => diagnose(document, out),
        Document::Trace(document) => trace(document, out),
        Document::Load(document) => load(document, out),
        Document::Compare(document) => compare(document, out),
        Document::Layers(document) => layers(document, out),
        Document::SideBySide(document) => side_by_side(document, out),
        Document::Board(document) => board(document, out),
    }
}

/// A load: one row for each second and kind, with the header.
fn load(document: &LoadDocument, out: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    let mut header = vec!["second", "kind", "completed", "phase"];
    header.extend(["p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns"]);
    writer.write_record(header)?;
    let record = |second: String, kind: Kind, completed: u64, phase: &str, latency: Option<&LoadLatency>| {
        let times = latency.map(|it| [Some(it.p50), Some(it.p90), it.p95, Some(it.p99), Some(it.p999), Some(it.max)]);
        let times = times.unwrap_or_default().map(|time| time.map(|ns| ns.to_string()).unwrap_or_default());
        [second, kind.name().to_owned(), completed.to_string(), phase.to_owned()].into_iter().chain(times)
    };
    for second in 0..document.rate.per_second.len() {
        for (kind, series) in &document.rate.per_second_by_kind {
            let completed = series.get(second).copied().unwrap_or_default();
            let latency = document.rate.latency_per_second.get(kind).and_then(|series| series.get(second)?.as_ref());
            let phase = if latency.is_some() { Phase::Total.name() } else { "" };
            writer.write_record(record(second.to_string(), *kind, completed, phase, latency))?;
        }
    }
    for (kind, phases) in &document.latency_ns {
        let completed = document.completed.get(kind).copied().unwrap_or_default();
        let intended = document.latency_from_intended_ns.get(kind).map(|latency| ("from_intended", latency));
        for (name, latency) in phases.iter().map(|(phase, latency)| (phase.name(), latency)).chain(intended) {
            writer.write_record(record(String::new(), *kind, completed, name, Some(latency)))?;
        }
    }
    writer.flush()
}

/// Results side by side: one row for each figure of each result.
fn side_by_side(document: &SideBySideDocument, out: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    let mut header = vec!["tls", "kind", "phase", "figure", "unit", "result", "value", "ci95_low", "ci95_high"];
    header.extend(["ratio", "ratio_ci95_low", "ratio_ci95_high"]);
    writer.write_record(header)?;
    for row in &document.rows {
        for (result, value) in document.results.iter().zip(&row.values) {
            let Some(value) = value else { continue };
            let ends = |ci95: Option<[f64; 2]>| ci95.map_or([None; 2], |ends| ends.map(Some));
            let figures =
                [[Some(value.value)].as_slice(), &ends(value.ci95), &[value.ratio], &ends(value.ratio_ci95)].concat();
            let shown = figures.into_iter().map(|figure| figure.map(|it| it.to_string()).unwrap_or_default());
            let (kind, phase) = (row.kind.map_or("", Kind::name), row.phase.map_or("", Phase::name));
            let names = [row.tls.number(), kind, phase, &row.figure, row.unit.name(), &result.label];
            writer.write_record(names.into_iter().map(str::to_owned).chain(shown))?;
        }
    }
    writer.flush()
}

/// A trace: one row for each message, with the header.
fn trace(document: &TraceDocument, out: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(["tls", "connection", "kind", "at_ns", "direction", "message", "size", "encrypted", "skipped"])?;
    for trace in &document.traces {
        let connections = [("first", trace.full.as_ref()), ("second", trace.resumed.as_ref())];
        for (name, connection) in connections.into_iter().filter_map(|(name, it)| Some((name, it?))) {
            for (index, event) in connection.events.iter().enumerate() {
                let skipped = name == "first" && trace.skipped.iter().any(|skipped| skipped.index == index);
                let direction = match event.direction {
                    Direction::Sent => "sent",
                    Direction::Received => "received",
                };
                writer.write_record([
                    trace.asked.tls.number(),
                    name,
                    connection.outcome.kind.name(),
                    &event.at.0.to_string(),
                    direction,
                    event.what.name(),
                    &event.size.0.to_string(),
                    &event.encrypted.to_string(),
                    &skipped.to_string(),
                ])?;
            }
        }
    }
    writer.flush()
}

/// A comparison: one row for each pair, handshake and side, with the header. What was skipped has its outcome, and no figures.
fn compare(document: &CompareDocument, out: &mut Vec<u8>) -> io::Result<()> {
    const HEADER: &str = "scenario,client,server,tls,kind,key,group,cipher,mutual,outcome,side,n,median_ns,\
        ci95_low_ns,ci95_high_ns,mean_ns,p99_ns,instructions,over,psk_mode,request";
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(HEADER.split(','))?;
    let end = |case: &CompareCase| {
        [case.psk_mode.map(|mode| mode.name().to_owned()).unwrap_or_default(), case.request.to_string()]
    };
    let begin = |client: &str, server: &str, case: &CompareCase, outcome: &str| {
        let (mutual, scenario) = (case.mutual.to_string(), document.scenario.clone());
        let (tls, kind) = (case.tls.number().to_owned(), case.kind.name().to_owned());
        let [key, group, cipher] = [&case.key, &case.group, &case.cipher].map(String::clone);
        vec![scenario, client.to_owned(), server.to_owned(), tls, kind, key, group, cipher, mutual, outcome.to_owned()]
    };
    for row in &document.rows {
        for (side, it) in CompareSide::ALL.into_iter().filter_map(|side| Some((side, row.of(side)?))) {
            let mut record = begin(&row.client, &row.server, &row.case, "measured");
            let bound = |place: usize| it.ci95_ns.map(|ci95| ci95[place].to_string()).unwrap_or_default();
            record.extend([side.name().to_owned(), row.n.to_string(), it.median_ns.to_string(), bound(0), bound(1)]);
            let instructions = row.instructions.and_then(|it| it.of(side)).map(|it| it.to_string()).unwrap_or_default();
            record.extend([it.mean_ns.to_string(), it.p99_ns.to_string(), instructions, document.over.name().to_owned()]);
            record.extend(end(&row.case));
            writer.write_record(record)?;
        }
    }
    for skipped in &document.skipped {
        let mut record = begin(&skipped.client, &skipped.server, &skipped.case, &skipped.outcome);
        let end = end(&skipped.case);
        record.resize(HEADER.split(',').count() - end.len(), String::new());
        record.extend(end);
        writer.write_record(record)?;
    }
    writer.flush()
}

/// Levels: one row for each stack, version, level, without and with sessions, and clock. What was skipped has its outcome, and
/// no figures.
fn layers(document: &LayersDocument, out: &mut Vec<u8>) -> io::Result<()> {
    const HEADER: &str = "stack,tls,level,sessions,outcome,requests,handshakes,refused,clock,n,median_ns,\
        ci95_low_ns,ci95_high_ns,mean_ns,p99_ns";
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(HEADER.split(','))?;
    for row in &document.rows {
        for (clock, it) in [("cpu", &row.cpu_ns), ("wall", &row.wall_ns)] {
            let bound = |place: usize| it.ci95_ns.map(|ci95| ci95[place].to_string()).unwrap_or_default();
            writer.write_record([
                row.stack.as_str(),
                row.tls.number(),
                row.level.name(),
                &row.sessions.to_string(),
                "measured",
                &row.requests.to_string(),
                &row.handshakes.to_string(),
                &row.refused.to_string(),
                clock,
                &row.n.to_string(),
                &it.median_ns.to_string(),
                &bound(0),
                &bound(1),
                &it.mean_ns.to_string(),
                &it.p99_ns.to_string(),
            ])?;
        }
    }
    for skipped in &document.skipped {
        let mut record = vec![
            skipped.stack.clone(),
            skipped.tls.map(|tls| tls.number().to_owned()).unwrap_or_default(),
            skipped.level.map(|level| level.name().to_owned()).unwrap_or_default(),
            skipped.sessions.to_string(),
            skipped.outcome.clone(),
        ];
        record.resize(HEADER.split(',').count(), String::new());
        writer.write_record(record)?;
    }
    writer.flush()
}

/// A diagnosis: one row for each finding, with the header.
fn diagnose(document: &DiagnoseDocument, out: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(["target", "id", "severity", "confidence", "title", "cost_ns"])?;
    for target in &document.targets {
        for finding in &target.findings {
            let cost = finding.cost_ns.map(|cost| cost.0.to_string()).unwrap_or_default();
            let (severity, confidence) = (finding.severity.name(), finding.confidence.name());
            writer.write_record([&*target.target, &*finding.id, severity, confidence, &*finding.title, &*cost])?;
        }
    }
    writer.flush()
}

/// One row. Its fields are the header: their names and order are fixed, empty is unknown.
#[derive(Default, Serialize)]
struct Record<'a> {
    label: &'a str,
    tls: &'static str,
    kind: &'static str,
    /// A phase, or `next_wait` and `next_receive` of one more request on the same connection.
    phase: &'static str,
    n: u64,
    failed: u64,
    observed_full: u64,
    observed_id: u64,
    observed_ticket: u64,
    observed_psk: u64,
    observed_early: u64,
    median_ns: Option<u64>,
    ci95_low_ns: Option<u64>,
    ci95_high_ns: Option<u64>,
    mean_ns: Option<u64>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    p90_ns: Option<u64>,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    saved_ns: Option<i64>,
    ratio: Option<f64>,
    ratio_ci95_low: Option<f64>,
    ratio_ci95_high: Option<f64>,
    round_trips: Option<u64>,
    bytes_sent: Option<u64>,
    bytes_received: Option<u64>,
}

fn measure(documents: &[MeasureDocument], out: &mut Vec<u8>) -> io::Result<()> {
    out.write_all(header()?.as_bytes())?;
    let mut writer = ::csv::WriterBuilder::new().has_headers(false).from_writer(out);
    for document in documents {
        for run in &document.runs {
            for record in records(document, run) {
                writer.serialize(record)?;
            }
        }
    }
    writer.flush()
}

/// The line of names: a table without a row, of a target that could not be measured, has it too.
fn header() -> io::Result<String> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.serialize(Record::default())?;
    let table = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&table).split_inclusive('\n').take(1).collect())
}

/// A run's rows. One whose samples were all of another kind has no statistics, and still one row, for its counts.
fn records<'a>(document: &'a MeasureDocument, run: &Run) -> Vec<Record<'a>> {
    let phases = run.phases.iter().map(|(phase, statistics)| (phase.name(), Some(*phase), statistics));
    let next = run.next_request.iter().flat_map(|it| [("next_wait", None, &it.wait), ("next_receive", None, &it.receive)]);
    let mut records: Vec<Record<'a>> =
        phases.chain(next).map(|(name, phase, it)| record(document, run, name, phase, Some(it))).collect();
    if records.is_empty() {
        records.push(record(document, run, Phase::Total.name(), None, None));
    }
    records
}

fn record<'a>(
    document: &'a MeasureDocument,
    run: &Run,
    name: &'static str,
    phase: Option<Phase>,
    statistics: Option<&Statistics>,
) -> Record<'a> {
    let kinds = &run.observed.kinds;
    let ci95 = statistics.and_then(|it| it.ci95_ns);
    let ratio = document
        .ratios
        .iter()
        .find(|it| Some(it.phase) == phase && it.tls == run.asked.tls && it.from == Kind::Full && it.to == run.asked.kind);
    let ratio_ci95 = ratio.and_then(|it| it.ci95);
    Record {
        label: &document.label,
        tls: run.asked.tls.number(),
        kind: run.asked.kind.name(),
        phase: name,
        n: if name.starts_with("next_") { run.next_request.map_or(0, |it| it.n) } else { run.n },
        failed: run.failed,
        observed_full: kinds.of(Kind::Full),
        observed_id: kinds.of(Kind::Id),
        observed_ticket: kinds.of(Kind::Ticket),
        observed_psk: kinds.of(Kind::Psk),
        observed_early: kinds.of(Kind::Early),
        median_ns: statistics.map(|it| it.median_ns),
        ci95_low_ns: ci95.map(|[low, _]| low),
        ci95_high_ns: ci95.map(|[_, high]| high),
        mean_ns: statistics.map(|it| it.mean_ns),
        min_ns: statistics.map(|it| it.min_ns),
        max_ns: statistics.map(|it| it.max_ns),
        p90_ns: statistics.map(|it| it.p90_ns),
        p95_ns: statistics.and_then(|it| it.p95_ns),
        p99_ns: statistics.map(|it| it.p99_ns),
        saved_ns: ratio.map(|it| it.saved_ns),
        ratio: ratio.map(|it| it.median),
        ratio_ci95_low: ratio_ci95.map(|[low, _]| low),
        ratio_ci95_high: ratio_ci95.map(|[_, high]| high),
        round_trips: run.round_trips,
        bytes_sent: run.bytes.map(|it| it.sent.0),
        bytes_received: run.bytes.map(|it| it.received.0),
    }
}
/// The handshakes on microcontrollers, a row for each.
fn board(document: &BoardDocument, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(
        out,
        "image,tls_stack,key,kind,cipher,group,instructions,cycles,modelled_ns,application_instructions,stack,connection,heap_of_connection"
    )?;
    for row in &document.handshakes {
        let known = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let BoardHandshake { image, key, kind, cipher, group, handshake, application, memory, .. } = row;
        writeln!(
            out,
            "{image},{},{},{kind},{cipher},{},{},{},{},{},{},{},{}",
            row.stack,
            key.name(),
            group.as_deref().unwrap_or_default(),
            handshake.instructions,
            known(handshake.cycles),
            known(row.modelled_ns),
            application.instructions,
            memory.stack,
            memory.connection,
            memory.heap_of_connection,
        )?;
    }
    Ok(())
}
