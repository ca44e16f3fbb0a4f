//! What was found out about each target: the verdict, the findings, what each mechanism came to, and on request what was tried.

use reprise_model::document::{
    BalancedNodes, BalancingPolicy, DiagnoseDocument, Diagnosis, ExperimentRecord, MechanismRecord, Severity,
};
use reprise_model::{Failure, FailureClass};
use reprise_page::chart::{Bar, Bars, Chart, Group};
use reprise_page::conditions::conditions;
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, counted, offered_as, source, stated_lifetime};

use super::findings::{items, left_out};
use super::fingerprints;
use super::fleet::fleet;
use super::isolation::isolation;
use crate::paged_document::PagedDocument;

impl PagedDocument for DiagnoseDocument {
    /// What it comes to, then the findings. Each experiment has its row only where it was asked for.
    fn page(&self, shown: Shown) -> Page {
        let mut blocks: Vec<Block> = self.fleet.iter().flat_map(|it| fleet(it, shown)).collect();
        if self.targets.len() > 1 {
            blocks.push(Block::Table(summary(&self.targets)));
        }
        blocks.extend(self.targets.iter().flat_map(|target| about(target, shown)));
        blocks.extend(isolation(&self.isolation, shown));
        let findings = || self.findings().map(|(_, finding)| finding);
        blocks.extend(left_out(findings(), None, shown));
        if findings().any(|finding| shown.shows(finding)) {
            blocks.push(Block::Aside(
                "reprise explain ID says more about a finding: how to confirm it, what fixes it in other software"
                    .to_owned(),
            ));
        }
        blocks.extend(conditions(&self.conditions));
        blocks.push(source(&self.provenance));
        let title = match self.targets.as_slice() {
            _ if let Some(fleet) = &self.fleet => format!("Diagnosis of {} nodes together", fleet.nodes.len()),
            [target] => format!("Diagnosis of {}", target.target),
            targets => format!("Diagnosis of {} targets", targets.len()),
        };
        Page::new("diagnose", title, blocks)
    }

    fn is_nothing(&self) -> bool {
        self.subjects().all(|target| !target.reached)
    }

    fn is_cut_short(&self) -> bool {
        let is_interruption = |failure: &Failure| failure.class == FailureClass::Interrupted;
        let is_cut = |it: &Diagnosis| it.failure.as_ref().is_some_and(|failure| it.reached || is_interruption(failure));
        self.targets.iter().any(is_cut) || self.fleet.iter().any(|fleet| fleet.interrupted)
    }
}

/// One row for each target, one that was not reached included.
fn summary(targets: &[Diagnosis]) -> Table {
    let mut rows = Rows::of(targets)
        .words("target", |target| &target.target)
        .words("address", |target| target.address.clone().unwrap_or_default())
        .dispensable(0);
    let severities = [("faults", Severity::Fault), ("risks", Severity::Risk), ("notes", Severity::Note)];
    for (name, severity) in severities {
        let count = |target: &Diagnosis| target.findings.iter().filter(|it| it.severity == severity).count() as u64;
        rows = rows.figures(name, "", |it| it.reached.then(|| Figure::count(count(it)))).dispensable(1);
    }
    rows.figures("connections", "", |it| it.reached.then(|| Figure::count(it.connections.into())))
        .dispensable(1)
        .noted(|target| (!target.reached).then(|| "not reached".to_owned()))
        .toned(|target| match target.findings.iter().map(|finding| finding.severity).min() {
            _ if !target.reached => Tone::Fault,
            Some(Severity::Fault) => Tone::Fault,
            Some(Severity::Risk) => Tone::Warning,
            Some(Severity::Note) | None => Tone::Plain,
        })
        .table()
}

fn about(target: &Diagnosis, shown: Shown) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!("{}: {}", target.target, target.verdict))];
    let address = target.address.as_ref().map(|address| Fact::new("address", asked(address, &target.other_addresses)));
    let software = target.software.as_ref().map(|software| Fact::new("software", software));
    let is_shown = target.reached && !target.matrix.is_empty();
    let resumed = is_shown.then(|| Fact::new("resumed", resumed(&target.matrix)));
    let lifetime = lifetime(&target.matrix).map(|lifetime| Fact::new("lifetime", lifetime));
    let offered = offered_as(target.like.as_ref(), target.ech_grease);
    let facts = address.into_iter().chain(software).chain(offered).chain(resumed).chain(lifetime);
    let facts: Vec<Fact> =
        facts.chain(target.nodes.map(behind)).chain(fingerprints::of_clients(&target.fingerprints)).collect();
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    if target.incomplete && target.reached {
        blocks.push(Block::warning("Incomplete: these are the experiments made until then"));
    }
    blocks.extend(target.failure.iter().map(|failure| Block::Item(failure.into())));
    blocks.extend(items(&target.findings, target.software.as_deref(), shown));
    blocks.extend(chart(target).map(Block::Chart));
    blocks.extend(target.figures.iter().cloned().map(Block::Paragraph));
    blocks.extend(fingerprints::about_rules(&target.fingerprints));
    blocks.extend(target.warnings.iter().map(Block::warning));
    if shown.experiments && !target.experiments.is_empty() {
        blocks.push(Block::Table(experiments(&target.experiments)));
    }
    let Diagnosis { connections, seconds, .. } = target;
    blocks.push(Block::Aside(format!("{} in {seconds:.1} s", counted((*connections).into(), "connection"))));
    blocks
}

/// "3 nodes or processes, taken in turn"; "2 to 4 nodes or processes, likely 3, taken at random": processes of one machine look the same.
fn behind(nodes: BalancedNodes) -> Fact {
    let BalancedNodes { low, likely, likely_percent, high, policy } = nodes;
    let is_named = likely_percent.is_none_or(|percent| percent >= NAMED_FROM);
    let count = match high {
        Some(high) if low == high => format!("{low} nodes or processes"),
        Some(high) if is_named => format!("{low} to {high} nodes or processes, likely {likely}"),
        Some(high) => format!("{low} to {high} nodes or processes"),
        None => format!("{low} nodes or processes, or more"),
    };
    let chosen = match policy {
        Some(BalancingPolicy::InTurn) => ", taken in turn",
        Some(BalancingPolicy::Random) => ", taken at random",
        Some(BalancingPolicy::Weighted) => ", some taken more often than others",
        Some(BalancingPolicy::Sticky) => ", taken at random and kept for a while",
        None => "",
    };
    Fact::new("behind it", count + chosen)
}

/// A number that is less probable than so many percent is not named: several that share beside one that does not look like fewer that do not.
const NAMED_FROM: u32 = 80;

/// Which address was asked, and how to ask the others of the name.
fn asked(address: &str, others: &[String]) -> String {
    match others {
        [] => address.to_owned(),
        _ => format!(
            "only {address} of {}: select another with --resolve ADDRESS ({})",
            others.len() + 1,
            others
                .iter()
                .take(NAMED)
                .cloned()
                .chain((others.len() > NAMED).then(|| "…".to_owned()))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

/// So many addresses are named.
const NAMED: usize = 4;

/// How many of the offered sessions resumed: of each mechanism, and below it of the experiments that came to something else.
fn chart(target: &Diagnosis) -> Option<Chart> {
    let offered = target.matrix.iter().filter(|record| record.offered > 0);
    let groups = offered.map(|record| {
        let plain = (PLAIN.to_owned(), record.resumed, record.offered);
        let differs = |it: &&ExperimentRecord| {
            let share = |resumed: u32, of: u32| u64::from(resumed) * u64::from(of);
            // These are in the mechanism's own bar already.
            let is_counted = it.varies.starts_with("nothing") || it.name == "history";
            it.asked == Some(record.asked)
                && !is_counted
                && it.offered > 0
                && share(it.resumed, record.offered) != share(record.resumed, it.offered)
        };
        let varied = target.experiments.iter().filter(differs);
        let varied = varied.map(|it| (it.name.clone(), it.resumed, it.offered));
        (record.asked.to_string(), std::iter::once(plain).chain(varied).collect::<Vec<_>>())
    });
    let groups: Vec<_> = groups.collect();
    let sentence = |(group, rows): &(String, Vec<(String, u32, u32)>)| {
        let rows = rows.iter().map(|(name, resumed, offered)| format!("{name} {resumed} of {offered}"));
        format!("{group}: {}", rows.collect::<Vec<_>>().join(", "))
    };
    let description = format!("Resumed of offered. {}.", groups.iter().map(sentence).collect::<Vec<_>>().join("; "));
    let bar = |(name, resumed, offered): (String, u32, u32)| Bar {
        begin: 0.0,
        name,
        parts: vec![f64::from(resumed), f64::from(offered.saturating_sub(resumed))],
        shown: Figure::plain(format!("{resumed} of {offered}")),
    };
    let group = |(name, rows): (String, Vec<_>)| Group { name, rows: rows.into_iter().map(bar).collect() };
    let bars = Bars {
        label: "connections that offered a session".to_owned(),
        parts: vec!["resumed".to_owned(), "not resumed".to_owned()],
        groups: groups.into_iter().map(group).collect(),
        reach: 0.0,
    };
    Some(Chart { description, ..bars.into_chart("Offered sessions that resumed")? })
}

/// Connections on which nothing was varied.
const PLAIN: &str = "nothing varied";

/// What each mechanism came to under each version, in one line.
fn resumed(records: &[MechanismRecord]) -> String {
    let of = |it: &MechanismRecord| {
        let came_to = match (it.offered, it.given) {
            (0, false) => "not given".to_owned(),
            (0, true) => "not tried".to_owned(),
            (offered, _) => format!("{} of {offered}", it.resumed),
        };
        format!("{} {came_to}", it.asked)
    };
    records.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// How long tickets say they are good, of each version in one line.
fn lifetime(records: &[MechanismRecord]) -> Option<String> {
    let of = |it: &MechanismRecord| Some(format!("{} {}", it.asked.tls, stated_lifetime(it.lifetime_s?)));
    let each: Vec<String> = records.iter().filter_map(of).collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// What was tried, what it took and what it came to, in the order of time.
fn experiments(records: &[ExperimentRecord]) -> Table {
    Rows::of(records)
        .words("experiment", |it| &it.name)
        .words("under", |it| it.asked.map(|asked| asked.to_string()).unwrap_or_default())
        .words("varies", |it| &it.varies)
        .dispensable(0)
        .figures("connections", "", |it| Figure::count(it.connections.into()))
        .dispensable(1)
        .figures("offered", "", |it| Figure::count(it.offered.into()))
        .dispensable(1)
        .figures("resumed", "", |it| Figure::count(it.resumed.into()))
        .dispensable(1)
        .figures("failed", "", |it| Figure::count(it.failed.into()))
        .dispensable(1)
        .noted(|it| Some(outcome(it)).filter(|outcome| !outcome.is_empty()))
        .table()
}

fn outcome(record: &ExperimentRecord) -> String {
    match record.repeats {
        0 => record.outcome.clone(),
        repeats => format!("{}, {} times", record.outcome, repeats + 1),
    }
}
