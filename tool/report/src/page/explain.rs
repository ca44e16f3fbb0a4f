//! The critical path of a handshake: what both sides do in the order of time, and what a change would bring.

use reprise_diagnosis::figures::{percent, span};
use reprise_model::Kind;
use reprise_model::document::{ExplainDocument, ExplainPath, ExplainServer, ExplainSide, ExplainStep};
use reprise_page::chart::{Bar, Bars, Chart, Group};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, source};

use crate::paged_document::PagedDocument;

impl PagedDocument for ExplainDocument {
    fn page(&self, _shown: Shown) -> Page {
        let assumed = if self.server_assumed { ", assumed: --server-stack names another" } else { "" };
        let sides = [
            Fact::new("client", format!("operations as in {}", self.client_stack)),
            Fact::new("server", format!("operations as in {}{assumed}", self.server_stack)),
        ];
        let mut blocks: Vec<Block> = if self.paths.is_empty() { Vec::new() } else { vec![Block::Facts(sides.into())] };
        // What was asked comes before what was measured.
        let (asked, measured): (Vec<_>, Vec<_>) = self.paths.iter().partition(|path| path.predicted_ns.is_some());
        let answers = asked.into_iter().chain(measured).map(|path| Block::Paragraph(answer(path, &self.paths)));
        blocks.push(Block::Summary(answers.chain(self.server.iter().map(|it| Block::Paragraph(floor(it)))).collect()));
        blocks.extend(self.warnings.iter().map(Block::warning));
        if self.interrupted {
            blocks.push(Block::warning("Incomplete: operations were measured until then"));
        }
        let part = |path: &ExplainPath| {
            let chart = chart(path, &self.paths).map(Block::Chart);
            [Block::Heading(title(path))].into_iter().chain(chart).chain([Block::Table(steps(path))]).collect::<Vec<_>>()
        };
        let first = first(&self.paths);
        blocks.extend(first.map(part).into_iter().flatten());
        let others = self.paths.iter().filter(|path| first.is_none_or(|first| !std::ptr::eq(first, *path)));
        blocks.extend(others.map(|path| Block::Secondary(part(path))));
        // Of a load there is none.
        let what = if self.paths.is_empty() { "Above the floor" } else { "The critical path" };
        if !self.paths.is_empty() {
            blocks.push(Block::Secondary(vec![Block::Heading("Legend".to_owned()), Block::Aside(LEGEND.to_owned())]));
        }
        blocks.push(source(&self.provenance));
        Page::new("explain", format!("{what}: {}", self.target), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.paths.is_empty()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

/// The path that is not folded: of a change that was asked for, else of the newest version's full handshake.
fn first(paths: &[ExplainPath]) -> Option<&ExplainPath> {
    let asked = paths.iter().find(|path| path.predicted_ns.is_some());
    asked.or_else(|| paths.iter().rfind(|path| path.kind == Kind::Full)).or(paths.first())
}

const LEGEND: &str = "Each operation takes what it took on this machine, alone: a key exchange from nothing, a verification with \
    the certificate's key read first. A round trip is the median of connect. What is not explained is the rest: \
    certificates, records, hashing of messages, allocation, the kernel, waiting. A change keeps that rest as it was. Its interval has the model's error in it: the same change is made in memory between the two stacks, and what its \
    operations are off by there counts here.";

/// No format takes it away.
const BLANK: &str = "\u{a0}";

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
        let of = if path.model_error_ns.is_some() { "95 % interval" } else { "95 % interval of the measurements alone" };
        let interval = path.predicted_ci95_ns.map(|[low, high]| format!(" ({} to {}, {of})", shown(low), shown(high)));
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

fn floor(server: &ExplainServer) -> String {
    let [operations, tcp] = [server.operations_ns, server.tcp_ns].map(|ns| span(ns.round() as u64));
    let stacks = if server.stacks == 1 { "one stack".to_owned() } else { format!("{} stacks", server.stacks) };
    format!(
        "A connection cost the server's processes {} of processor time, {:.1} times the floor: {operations} for the operations of its \
         handshakes, each at the best of {stacks} here, and {tcp} for TCP.",
        span(server.cpu_ns),
        server.ratio
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
    let scale = WIDTH / end(path).max(1.0);
    let bar = |it: &ExplainStep| {
        let begin = (it.begin_ns * scale).floor() as usize;
        let length = ((it.took_ns * scale).round() as usize).max(1);
        let mark = match (it.side, it.on_path) {
            (ExplainSide::Network, _) => "┄",
            (_, true) => "█",
            (_, false) => "░",
        };
        let drawn = format!("{}{}", BLANK.repeat(begin.min(WIDTH as usize - 1)), mark.repeat(length));
        let rest = (WIDTH as usize + 1).saturating_sub(drawn.chars().count());
        Figure::plain(format!("{drawn}{}", BLANK.repeat(rest)))
    };
    Rows::of(&path.steps)
        .words("side", |it| it.side.name())
        .words("step", what)
        .figures("begins", "µs", |it| micros(it.begin_ns))
        .figures("takes", "µs", |it| micros(it.took_ns))
        .figures("", "", bar)
        .words("waits for", |it| if it.operation.is_some() { it.message.as_str() } else { "" })
        .dispensable(0)
        .toned(|it| match (it.side, it.on_path) {
            (ExplainSide::Network, _) | (_, false) => Tone::Quiet,
            _ => Tone::Plain,
        })
        .table()
}

fn micros(ns: f64) -> Figure {
    Figure::plain(format!("{:.1}", ns / 1e3))
}

/// Each step from where it begins to where it ends. All measured paths are drawn to one scale, and so are all that were asked for.
fn chart(path: &ExplainPath, all: &[ExplainPath]) -> Option<Chart> {
    let bar = |step: &ExplainStep| {
        let place = match (step.side, step.on_path) {
            (ExplainSide::Client, true) => 0,
            (ExplainSide::Server, true) => 1,
            (ExplainSide::Network, _) => 2,
            (_, false) => 3,
        };
        let parts = (0..4).map(|part| if part == place { step.took_ns / 1e3 } else { 0.0 }).collect();
        Bar {
            name: format!("{}: {}", step.side, what(step)),
            begin: step.begin_ns / 1e3,
            parts,
            shown: micros(step.took_ns),
        }
    };
    let bars = path.steps.iter().map(bar).collect();
    let parts = ["the client", "the server", "the network", "meanwhile, not on the path"].map(str::to_owned).to_vec();
    let groups = vec![Group { name: String::new(), rows: bars }];
    let alike = all.iter().filter(|it| it.predicted_ns.is_some() == path.predicted_ns.is_some());
    let reach = alike.map(end).fold(0.0, f64::max) / 1e3;
    Bars { label: "from the first byte, µs".to_owned(), parts, groups, reach }
        .into_chart(&format!("{}, in the order of time", title(path)))
}
