//! The critical path of a handshake: what both sides do in the order of time, and what a change would bring.

use reprise_diagnosis::figures::{percent, span};
use reprise_model::document::{ExplainDocument, ExplainPath, ExplainSide, ExplainStep};

use super::{Block, Fact, Page, source};
use crate::chart::{Chart, Interval, Intervals, Points};
use crate::figures::Figure;
use crate::table::{Rows, Table, Tone};

/// All that is shown of paths.
pub(crate) fn explain(document: &ExplainDocument) -> Page {
    let assumed = if document.server_assumed { ", assumed: --server-stack names another" } else { "" };
    let mut blocks = vec![Block::Facts(vec![
        Fact::new("client", format!("operations as in {}", document.client_stack)),
        Fact::new("server", format!("operations as in {}{assumed}", document.server_stack)),
    ])];
    blocks.push(Block::Summary(document.paths.iter().map(|path| Block::Paragraph(answer(path, &document.paths))).collect()));
    blocks.extend(document.warnings.iter().map(Block::warning));
    if document.interrupted {
        blocks.push(Block::warning("Incomplete: operations were measured until then"));
    }
    let longest = document.paths.iter().map(end).fold(0.0, f64::max);
    for path in &document.paths {
        blocks.push(Block::Heading(title(path)));
        blocks.extend(chart(path, longest).map(Block::Chart));
        blocks.push(Block::Table(steps(path)));
    }
    blocks.push(Block::Aside(LEGEND.to_owned()));
    blocks.push(source(&document.provenance));
    Page::new("explain", format!("The critical path: {}", document.target), blocks)
}

const LEGEND: &str = "Each operation takes what it took on this machine, alone and repeated; a round trip is the median of connect. What is \
    not explained is the rest: reading keys and certificates, records, hashing of messages, allocation, the kernel, waiting. A change keeps \
    that rest as it was.";

/// Columns that a bar may have.
const WIDTH: f64 = 28.0;

fn title(path: &ExplainPath) -> String {
    let parts = [Some(path.tls.to_string()), Some(path.kind.to_string()), path.key.clone(), path.group.clone()];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let changes = if path.changes.is_empty() { String::new() } else { format!(" — with {}", path.changes.join(", ")) };
    format!("{}{changes}", parts.join(" · "))
}

/// Where the time of a handshake goes, or what a change of it would bring.
fn answer(path: &ExplainPath, all: &[ExplainPath]) -> String {
    let shown = |ns: f64| span(ns.max(0.0).round() as u64);
    if let Some(predicted) = path.predicted_ns {
        let interval =
            path.predicted_ci95_ns.map(|[low, high]| format!(" (95 % interval {} to {})", shown(low), shown(high)));
        let is_same = |it: &&ExplainPath| it.measured_ns.is_some() && (it.tls, it.kind) == (path.tls, path.kind);
        let instead = all.iter().find(is_same).and_then(|it| it.measured_ns).map(|ns| format!(" instead of {}", span(ns)));
        return format!(
            "With {}, {} {} would take {}{}{}.",
            path.changes.join(", "),
            path.tls,
            path.kind,
            shown(predicted),
            interval.unwrap_or_default(),
            instead.unwrap_or_default()
        );
    }
    let measured = path.measured_ns.unwrap_or_default();
    let part = |ns: f64| format!("{} ({})", shown(ns), percent(ns / measured.max(1) as f64));
    let [network, server, client] =
        [ExplainSide::Network, ExplainSide::Server, ExplainSide::Client].map(|side| part(path.share_of(side)));
    let largest = path.steps.iter().filter(|it| it.on_path && it.operation.is_some());
    let largest = largest.max_by(|one, other| one.took_ns.total_cmp(&other.took_ns)).filter(|it| it.took_ns > 0.0);
    let largest =
        largest.map(|it| format!(" The longest operation is the {}'s {}, {}.", it.side, what(it), shown(it.took_ns)));
    let rest = if path.unexplained_ns < 0.0 {
        format!("together {} more than was measured", shown(-path.unexplained_ns))
    } else {
        format!("{} are explained by none of them", part(path.unexplained_ns))
    };
    format!(
        "{} {} takes {}: the network {network}, the server's operations {server}, the client's {client}; {rest}.{}",
        path.tls,
        path.kind,
        span(measured),
        largest.unwrap_or_default()
    )
}

/// `verify p-256, 2 times`.
fn what(step: &ExplainStep) -> String {
    let (Some(operation), Some(algorithm)) = (step.operation, &step.algorithm) else { return step.message.clone() };
    let times = if step.times == 1 { String::new() } else { format!(", {} times", step.times) };
    format!("{operation} {algorithm}{times}")
}

/// When everything that is shown has ended.
fn end(path: &ExplainPath) -> f64 {
    path.steps.iter().map(|step| step.begin_ns + step.took_ns).fold(0.0, f64::max)
}

fn steps(path: &ExplainPath) -> Table {
    let micros = |ns: f64| Figure::plain(format!("{:.1}", ns / 1e3));
    let scale = WIDTH / end(path).max(1.0);
    let bar = |it: &ExplainStep| {
        let begin = (it.begin_ns * scale).floor() as usize;
        let length = ((it.took_ns * scale).round() as usize).max(1);
        let mark = match (it.side, it.on_path) {
            (ExplainSide::Network, _) => "┄",
            (_, true) => "█",
            (_, false) => "░",
        };
        format!("{}{}", " ".repeat(begin.min(WIDTH as usize - 1)), mark.repeat(length))
    };
    Rows::of(&path.steps)
        .words("side", |it| it.side.name())
        .words("step", what)
        .figures("begins", "µs", |it| micros(it.begin_ns))
        .figures("takes", "µs", |it| micros(it.took_ns))
        .words("", bar)
        .words("waits for", |it| if it.operation.is_some() { it.message.as_str() } else { "" })
        .dispensable(0)
        .toned(|it| match (it.side, it.on_path) {
            (ExplainSide::Network, _) | (_, false) => Tone::Quiet,
            _ => Tone::Plain,
        })
        .table()
}

/// Each step from where it begins to where it ends; all paths of a page on one scale.
fn chart(path: &ExplainPath, longest: f64) -> Option<Chart> {
    let micros = |ns: f64| ns / 1e3;
    let row = |step: &ExplainStep| {
        let ends = [step.begin_ns, step.begin_ns + step.took_ns].map(micros);
        let meanwhile = if step.on_path { "" } else { ", meanwhile" };
        Interval {
            name: format!("{}: {}{meanwhile}", step.side, what(step)),
            at: (ends[0] + ends[1]) / 2.0,
            interval: Some(ends),
        }
    };
    let points = Points::Values { unit: "µs", ends: [0.0, micros(longest)] };
    let rows = path.steps.iter().map(row).collect();
    Intervals { label: "from the first byte, µs".to_owned(), points, rows }.into_chart(&title(path))
}
