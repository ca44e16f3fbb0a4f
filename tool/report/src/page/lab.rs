//! The lab: what resuming saves by key, version and way of resuming. The tables of the measurements that everybody quotes,
//! for this machine.

use reprise_model::document::{LabDocument, MeasureDocument, Ratio, Run, Statistics};
use reprise_model::{Kind, Phase, Version};
use reprise_page::chart::{Bar, Bars, Chart, Group, Interval, Intervals, Points};
use reprise_page::conditions::conditions;
use reprise_page::figures::{Figure, Scale, Unit};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, grouped, offered_as, source};
use reprise_results::lab_sentences;

use super::baseline::{Labelled, baseline};
use crate::paged_document::PagedDocument;

/// How many characters the longest bar has.
const BAR: usize = 20;

impl PagedDocument for LabDocument {
    fn page(&self, _shown: Shown) -> Page {
        let comparisons: Vec<Comparison<'_>> = self.results.iter().flat_map(comparisons).collect();
        let mut blocks = vec![Block::Facts(facts(self, &comparisons))];
        let mut summary: Vec<Block> = lab_sentences(self).into_iter().map(Block::Paragraph).collect();
        if self.results.iter().any(|result| result.interrupted) {
            summary.push(Block::warning("Incomplete: these are the connections made until then"));
        }
        for result in &self.results {
            let labelled = |warning: &String| Block::warning(format!("{}: {warning}", result.label));
            summary.extend(result.warnings.iter().map(labelled));
        }
        // What is wrong with the flags is wrong with every server, and said once.
        let failures = self.results.iter().flat_map(|result| &result.failures);
        let failures = grouped(failures, |failure| (&failure.name, &failure.message));
        let each_once = failures.into_iter().filter_map(|(_, same)| same.into_iter().next());
        summary.extend(each_once.map(|failure| Block::Item(failure.into())));
        blocks.push(Block::Summary(summary));
        // Where every server failed there is nothing to put under a heading.
        if !comparisons.is_empty() {
            blocks.extend(chart(&comparisons).map(Block::Chart));
            blocks.extend(ratios(&comparisons).map(Block::Chart));
            blocks.extend([
                Block::Heading("The handshake".to_owned()),
                Block::Table(table(&comparisons, Phase::Tls, true)),
                Block::Aside(
                    "Medians, ± half their 95 % interval. ratio, saved: a reused session against a new one.".to_owned(),
                ),
                Block::Secondary(vec![
                    Block::Heading("The whole connection: connect, handshake, request, response".to_owned()),
                    Block::Table(table(&comparisons, Phase::Total, false)),
                ]),
            ]);
        }
        blocks.extend(baseline(&self.results.iter().filter_map(compared).collect::<Vec<_>>()));
        blocks.extend(conditions(&self.conditions));
        blocks.push(source(&self.provenance));
        Page::new("measure", "What resuming a TLS session saves on this machine", blocks)
    }

    fn is_nothing(&self) -> bool {
        self.results.iter().all(|it| it.samples.is_empty())
    }

    fn is_cut_short(&self) -> bool {
        self.results.iter().any(|it| it.interrupted)
    }
}

fn compared(result: &MeasureDocument) -> Option<Labelled<'_>> {
    result.baseline.as_ref().map(|comparison| (result.label.as_str(), &**comparison))
}

fn facts(document: &LabDocument, comparisons: &[Comparison<'_>]) -> Vec<Fact> {
    let samples = match samples(comparisons) {
        Some(1) => "1 connection behind each figure".to_owned(),
        Some(count) => format!("{count} connections behind each figure, interleaved"),
        None if comparisons.is_empty() => "none: no connection completed".to_owned(),
        None => "interleaved; n says how many connections are behind a figure".to_owned(),
    };
    let target = document.results.first().map(|result| &result.target);
    let offered = target.and_then(|target| offered_as(target.like.as_ref(), target.ech_grease));
    let mut facts: Vec<Fact> = offered.into_iter().collect();
    facts.push(Fact::new("samples", samples));
    let libraries = &document.provenance.libraries;
    if !libraries.is_empty() {
        let shown: Vec<String> = libraries.iter().map(|(name, version)| format!("{name} {version}")).collect();
        facts.push(Fact::new("libraries", shown.join(" · ")));
    }
    facts
}

/// How many samples are behind every figure alike; `None` where the figures differ, and each row has to say.
fn samples(comparisons: &[Comparison<'_>]) -> Option<u64> {
    let mut counts = comparisons.iter().map(Comparison::samples);
    let first = counts.next()?;
    counts.all(|count| count == first).then_some(first)
}

/// New sessions of one server and version, and the same resumed in one way: one of them at least.
struct Comparison<'a> {
    result: &'a MeasureDocument,
    version: Version,
    new: Option<&'a Run>,
    reused: Option<&'a Run>,
}

/// A server with several ways of resuming gives several, one with none gives one.
fn comparisons(result: &MeasureDocument) -> Vec<Comparison<'_>> {
    let of_version = |version: Version| {
        let new = result.run(version, Kind::Full);
        let resumptions = result.runs.iter().filter(|run| run.asked.tls == version && run.asked.kind != Kind::Full);
        let mut reused: Vec<Option<&Run>> = resumptions.map(Some).collect();
        if reused.is_empty() && new.is_some() {
            reused.push(None);
        }
        reused.into_iter().map(move |reused| Comparison { result, version, new, reused })
    };
    [Version::Tls12, Version::Tls13].into_iter().flat_map(of_version).collect()
}

impl<'a> Comparison<'a> {
    /// `rsa-2048` of `rsa-2048/off`.
    fn key(&self) -> &'a str {
        self.label().0
    }

    /// `off` of `rsa-2048/off`.
    fn server(&self) -> &'a str {
        self.label().1
    }

    fn label(&self) -> (&'a str, &'a str) {
        self.result.label.split_once('/').unwrap_or((&self.result.label, ""))
    }

    fn samples(&self) -> u64 {
        self.reused.or(self.new).map_or(0, |run| run.n)
    }

    fn new_statistics(&self, phase: Phase) -> Option<&'a Statistics> {
        self.new?.phases.get(&phase)
    }

    fn reused_statistics(&self, phase: Phase) -> Option<&'a Statistics> {
        self.reused?.phases.get(&phase)
    }

    fn ratio(&self, phase: Phase) -> Option<&'a Ratio> {
        self.result.ratio(self.reused?.asked, phase)
    }

    /// Why nothing was reused.
    fn refused(&self) -> Option<&'static str> {
        self.reused.filter(|run| run.n == 0).map(|run| match &run.observed {
            observed if observed.kinds.total() == 0 => "none completed",
            observed if observed.sessions_offered == 0 => "not offered",
            _ => "refused",
        })
    }

    /// The share of a new session's time that is saved.
    fn saved(&self, phase: Phase) -> Option<f64> {
        let (new, reused) = (self.new_statistics(phase)?.median_ns, self.reused_statistics(phase)?.median_ns);
        (new > 0).then(|| 1.0 - reused as f64 / new as f64)
    }
}

/// The handshake of a new session and that of a reused one, key by key.
fn chart(comparisons: &[Comparison<'_>]) -> Option<Chart> {
    let all = || comparisons.iter().flat_map(|it| [it.new_statistics(Phase::Tls), it.reused_statistics(Phase::Tls)]);
    let unit = Unit::of_all(all().flatten().map(|statistics| statistics.median_ns));
    let new = Scale::of_column(unit, comparisons.iter().filter_map(|it| it.new_statistics(Phase::Tls)));
    let reused = Scale::of_column(unit, comparisons.iter().filter_map(|it| it.reused_statistics(Phase::Tls)));
    let mut groups: Vec<Group<Bar>> = Vec::new();
    for comparison in sorted(comparisons) {
        let name = format!("{}, {}", comparison.key(), comparison.version);
        let bar = |name: String, statistics: Option<&Statistics>, is_new: bool| {
            let time = statistics?.median_ns as f64 / unit.nanos();
            let shown = if is_new { new } else { reused }.median(statistics?);
            Some(Bar { name, begin: 0.0, parts: if is_new { vec![time] } else { vec![0.0, time] }, shown })
        };
        let server = comparison.server();
        let bars = [
            bar(format!("{server}: new session"), comparison.new_statistics(Phase::Tls), true),
            bar(format!("{server}: reused by {}", reused_by(comparison)), comparison.reused_statistics(Phase::Tls), false),
        ];
        match groups.last_mut().filter(|group| group.name == name) {
            Some(group) => group.rows.extend(bars.into_iter().flatten()),
            None => groups.push(Group { name, rows: bars.into_iter().flatten().collect() }),
        }
    }
    let parts = vec!["new session".to_owned(), "reused session".to_owned()];
    Bars { label: format!("handshake, {}", unit.symbol()), parts, groups, reach: 0.0 }
        .into_chart("What a handshake takes, new and reused")
}

/// How many times as fast reusing makes the handshake.
fn ratios(comparisons: &[Comparison<'_>]) -> Option<Chart> {
    let row = |comparison: &Comparison<'_>| {
        let ratio = comparison.ratio(Phase::Tls)?;
        // Two servers may be resumed in one way.
        let name = format!("{}: reused by {}", comparison.server(), reused_by(comparison));
        let shown = Figure::ratio(ratio.median, ratio.ci95);
        Some(Interval { name, at: ratio.median, interval: ratio.ci95, shown })
    };
    let of_key = |(name, rows): (String, Vec<&&Comparison<'_>>)| Group {
        name,
        rows: rows.into_iter().filter_map(|it| row(it)).collect(),
    };
    let groups =
        grouped(&sorted(comparisons), |it| format!("{}, {}", it.key(), it.version)).into_iter().map(of_key).collect();
    let label = "times as fast as a new session".to_owned();
    Intervals { label, points: Points::Ratios, groups }.into_chart("What reusing gains, with 95 % intervals")
}

fn table(comparisons: &[Comparison<'_>], phase: Phase, with_bars: bool) -> Table {
    let new = || comparisons.iter().filter_map(|it| it.new_statistics(phase));
    let reused = comparisons.iter().filter_map(|it| it.reused_statistics(phase));
    let unit = Unit::of_all(new().chain(reused).map(|statistics| statistics.median_ns));
    let longest = new().map(|statistics| statistics.median_ns).max().unwrap_or_default();
    let counted = samples(comparisons).is_none();
    let mut rows = Rows::of(sorted(comparisons))
        .words("key", |it| it.key())
        .once(|it| it.key())
        .words("TLS", |it| it.version.number())
        .grouped(|it| it.version)
        .words("server", |it| it.server())
        // Where space is short, what the ratio and the server say as well goes before the bars.
        .words("reused by", reused_by)
        .dispensable(2);
    if with_bars {
        rows = rows.words("taken █ saved ░", |it| bar(it, phase, longest)).dispensable(3);
    }
    rows.figures("n", "", |it| counted.then(|| Figure::count(it.samples())))
        .dispensable(0)
        .medians("new", unit, |it| it.new_statistics(phase))
        .medians("reused", unit, |it| it.reused_statistics(phase))
        .figures("ratio", "×", |it| it.ratio(phase).map(|it| Figure::ratio(it.median, it.ci95)))
        .figures("saved", "%", |it| it.saved(phase).map(Figure::percent))
        .dispensable(1)
        .noted(|it| it.refused().map(str::to_owned))
        .toned(|it| if it.refused().is_some() { Tone::Warning } else { Tone::Plain })
        .table()
}

/// By key in the order of the document, then by version, then by server in the order of the document.
fn sorted<'c, 'a>(comparisons: &'c [Comparison<'a>]) -> Vec<&'c Comparison<'a>> {
    let first_with_key = |key: &str| comparisons.iter().position(|it| it.key() == key);
    let mut sorted: Vec<&Comparison<'a>> = comparisons.iter().collect();
    sorted.sort_by_key(|it| (first_with_key(it.key()), it.version));
    sorted
}

fn reused_by(comparison: &Comparison<'_>) -> &'static str {
    match comparison.reused.map(|run| run.asked.kind) {
        None => "–",
        Some(Kind::Id) => "session ID",
        Some(kind) => kind.name(),
    }
}

/// A new session's time, on the scale of the longest: what a reused one takes of it, and what it saves.
fn bar(comparison: &Comparison<'_>, phase: Phase, longest_ns: u64) -> String {
    let Some(new) = comparison.new_statistics(phase).filter(|_| longest_ns > 0) else { return String::new() };
    let characters = |ns: u64| ((ns as f64 / longest_ns as f64 * BAR as f64).round() as usize).clamp(1, BAR);
    let whole = characters(new.median_ns);
    let taken = comparison.reused_statistics(phase).map_or(whole, |reused| characters(reused.median_ns)).min(whole);
    format!("{}{}", "█".repeat(taken), "░".repeat(whole - taken))
}
