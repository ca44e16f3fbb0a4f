//! What it costs to start again at each level.

use reprise_model::document::{LayersDifference, LayersDocument, LayersRow};
use reprise_model::{Kind, Level};
use reprise_page::chart::{Bar, Bars, Chart, Group};
use reprise_page::figures::{Figure, Scale, Unit, signed};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Item, Page, Shown, grouped, section, source, stacks};

use crate::paged_document::PagedDocument;

impl PagedDocument for LayersDocument {
    fn page(&self, _shown: Shown) -> Page {
        let mut blocks = vec![Block::Facts(facts(self))];
        blocks.extend(self.warnings.iter().map(Block::warning));
        for ((stack, tls), rows) in grouped(&self.rows, |row| (&row.stack, row.tls)) {
            blocks.push(Block::Heading(format!("{stack}, {tls}: one request, started again at each level")));
            blocks.extend(chart(&rows, &self.rows).map(Block::Chart));
            blocks.push(Block::Table(costs(&rows)));
        }
        if !self.rows.is_empty() {
            blocks.push(Block::Aside(LEGEND.to_owned()));
        }
        blocks.extend(negative(self).map(Block::warning));
        blocks.extend(Block::secondary(section("What a level costs more than the next", differences(self), None)));
        let generators = section("The random generator's share of a new process", generators(self), None);
        blocks.extend(Block::secondary(generators));
        if !self.advice.is_empty() {
            let heading = Block::Heading("What to change".to_owned());
            let advice = self.advice.iter().cloned().map(Block::Paragraph);
            blocks.push(Block::Summary(std::iter::once(heading).chain(advice).collect()));
        }
        if !self.claims.is_empty() {
            let heading = Block::Heading("Against what was published".to_owned());
            let claims = std::iter::once(heading).chain(claims(self)).chain([Block::Aside(SOURCE.to_owned())]);
            blocks.push(Block::Secondary(claims.collect()));
        }
        blocks.extend(Block::secondary(section("Skipped", skipped(self), None)));
        if self.interrupted {
            blocks.push(Block::warning("Incomplete: these are the requests made until then"));
        }
        blocks.push(source(&self.provenance));
        Page::new("layers", format!("Starting again at each level: {}", self.target), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.rows.is_empty()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

const LEGEND: &str = "Medians, ± half their 95 % interval, of one request. Each row recreates its level and all levels \
    below it; the levels above are kept. CPU is the client's, including the kernel. 'sum' is the total of the row's \
    requests.";

const SOURCE: &str =
    "The findings are those of J. G. Jensen, Enhancing SSL Performance, CCLRC Rutherford Appleton Laboratory, 2006.";

fn facts(document: &LayersDocument) -> Vec<Fact> {
    let context = &document.context;
    let roots = match (context.trusted, context.files) {
        (1, _) => "1 trusted certificate".to_owned(),
        (trusted, 1) => format!("{trusted} trusted certificates in one file"),
        (trusted, files) => format!("{trusted} trusted certificates in {files} files"),
    };
    let key = match (&context.client_key, context.encrypted) {
        (None, _) => "no client key".to_owned(),
        (Some(key), false) => format!("client key {key}"),
        (Some(key), true) => format!("client key {key}, encrypted"),
    };
    let mut facts = vec![
        stacks(&document.stacks),
        Fact::new("server", document.address.clone()),
        Fact::new("request", format!("{}, {} times a row", document.method, document.count)),
        Fact::new("context", format!("{roots}, {key}")),
    ];
    if let Some(delay) = document.delay_ns {
        facts.push(Fact::new("delay", format!("{delay} each way")));
    }
    facts
}

/// The time of a request at each level: what the client computes, and the rest. All stacks are drawn to one scale.
fn chart(rows: &[&LayersRow], all: &[LayersRow]) -> Option<Chart> {
    let unit = Unit::of_all(rows.iter().map(|row| row.wall_ns.median_ns));
    let scale = Scale::of_column(unit, rows.iter().map(|row| &row.wall_ns));
    let reach = all.iter().map(|row| row.wall_ns.median_ns.max(row.cpu_ns.median_ns)).max().unwrap_or_default() as f64;
    let bar = |row: &LayersRow| {
        let [cpu, wall] = [row.cpu_ns.median_ns, row.wall_ns.median_ns].map(|ns| ns as f64 / unit.nanos());
        let name = format!("{} {} sessions", row.level.name(), with(row.sessions));
        Bar { name, begin: 0.0, parts: vec![cpu.min(wall), (wall - cpu).max(0.0)], shown: scale.median(&row.wall_ns) }
    };
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| Level::ALL.iter().position(|level| *level == row.level));
    let groups = vec![Group { name: String::new(), rows: rows.into_iter().map(bar).collect() }];
    let parts = vec!["the client's CPU time".to_owned(), "the rest: server, network, waiting".to_owned()];
    Bars { label: format!("time of one request, {}", unit.symbol()), parts, groups, reach: reach / unit.nanos() }
        .into_chart("One request, started again at each level")
}

fn costs(rows: &[&LayersRow]) -> Table {
    let unit = Unit::of_all(rows.iter().map(|row| row.wall_ns.median_ns));
    Rows::of(Level::ALL.into_iter().flat_map(|level| rows.iter().copied().filter(move |row| row.level == level)))
        .words("level", |row| row.level.name())
        .words("sessions", |row| with(row.sessions))
        .words("observed", kinds)
        .figures("n", "", |row| Figure::count(row.requests))
        .dispensable(0)
        .medians("CPU", unit, |row| Some(&row.cpu_ns))
        .medians("time", unit, |row| Some(&row.wall_ns))
        .figures("sum", "ms", |row| {
            let sum = row.wall_ns.mean_ns.saturating_mul(row.requests);
            Figure::time(Unit::Millis, signed(sum))
        })
        .dispensable(1)
        .noted(note)
        .toned(|row| if note(row).is_some() { Tone::Warning } else { Tone::Plain })
        .table()
}

fn with(sessions: bool) -> &'static str {
    if sessions { "with" } else { "without" }
}

/// `1000 full`, `998 ticket, 2 full`.
fn kinds(row: &LayersRow) -> String {
    let counted: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|kind| row.kinds.of(*kind) > 0)
        .map(|kind| format!("{} {kind}", row.kinds.of(kind)))
        .collect();
    match (counted.is_empty(), row.level) {
        (true, _) => "no connection".to_owned(),
        (false, Level::Msg) => format!("on {}", counted.join(", ")),
        (false, _) => counted.join(", "),
    }
}

fn note(row: &LayersRow) -> Option<String> {
    match (row.refused, row.not_offered) {
        (0, 0) => None,
        (refused, 0) => Some(format!("{refused} sessions refused")),
        (0, absent) => Some(format!("no session offered {absent} times")),
        (refused, absent) => Some(format!("{refused} sessions refused, none offered {absent} times")),
    }
}

fn differences(document: &LayersDocument) -> Table {
    let unit = Unit::of_all(document.differences.iter().map(|it| it.wall_ns.median_ns.unsigned_abs()));
    let interval = |[low, high]: [i64; 2]| format!("{} to {}", unit.shown(low), unit.shown(high));
    Rows::of(&document.differences)
        .words("stack", |it| format!("{} {}", it.stack, it.tls.number()))
        .grouped(|it| (&it.stack, it.tls, it.sessions))
        .words("sessions", |it| with(it.sessions))
        .once(|it| it.sessions)
        .words("from", |it| it.from.name())
        .words("to", |it| it.to.name())
        .figures("CPU", unit.symbol(), |it| Figure::time(unit, it.cpu_ns.median_ns))
        .figures("time", unit.symbol(), |it| Figure::time(unit, it.wall_ns.median_ns))
        .words("95 % interval of the time", |it| it.wall_ns.ci95_ns.map(interval).unwrap_or_default())
        .toned(|it| if is_negative(it) { Tone::Warning } else { Tone::Plain })
        .table()
}

/// A level contains the next, and so cannot cost less, unless something else differs.
fn negative(document: &LayersDocument) -> impl Iterator<Item = String> + '_ {
    document.differences.iter().filter(|it| is_negative(it)).map(|it| {
        format!(
            "{} {}, {} sessions: {} took less time than {}, which it contains. The server or the machine caused the \
                difference, or keeping the object costs more than recreating it.",
            it.stack,
            it.tls.number(),
            with(it.sessions),
            it.from,
            it.to
        )
    })
}

fn is_negative(difference: &LayersDifference) -> bool {
    difference.wall_ns.ci95_ns.is_some_and(|[_, high]| high < 0)
}

fn generators(document: &LayersDocument) -> Table {
    Rows::of(&document.generators)
        .words("stack", |it| &it.stack)
        .medians("initialisation", Unit::Micros, |it| Some(&it.init_ns))
        .medians("first 32 bytes", Unit::Micros, |it| Some(&it.first_ns))
        .medians("next 32 bytes", Unit::Micros, |it| Some(&it.next_ns))
        .table()
}

fn claims(document: &LayersDocument) -> impl Iterator<Item = Block> + '_ {
    document.claims.iter().map(|claim| {
        let tone = if claim.verdict == "refuted" { Tone::Warning } else { Tone::Plain };
        let text = format!("{}: {} ({} {})", claim.claim, claim.verdict, claim.stack, claim.tls.number());
        Block::Item(Item { evidence: vec![claim.because.clone()], ..Item::new("finding", tone, text) })
    })
}

/// What is skipped without and with sessions for one reason is said once.
fn skipped(document: &LayersDocument) -> Table {
    let groups = grouped(&document.skipped, |it| (&it.stack, it.tls, &it.outcome, &it.reason));
    Rows::of(&groups)
        .words("stack", |((stack, tls, ..), _)| {
            format!("{stack}{}", tls.map(|tls| format!(" {}", tls.number())).unwrap_or_default())
        })
        .words("level", |(_, group)| {
            let levels = grouped(group.iter().copied(), |it| it.level.map_or("all", Level::name));
            levels.into_iter().map(|(level, _)| level).collect::<Vec<_>>().join(", ")
        })
        .words("outcome", |((.., outcome, _), _)| *outcome)
        .words("reason", |((.., reason), _)| *reason)
        .toned(|((.., outcome, _), _)| if *outcome == "unsupported" { Tone::Quiet } else { Tone::Warning })
        .table()
}
