//! What was found out about each target: the verdict, the findings, what each mechanism came to, and on request what was tried.

use reprise_trace::document::{DiagnoseDocument, Diagnosis, ExperimentRecord, MechanismRecord, Severity};

use super::{Block, Fact, Item, Page, source};
use crate::figures::Figure;
use crate::table::{Column, Draft, Table, Tone};

/// All that is shown of a diagnosis. Each experiment has its row only where it was asked for.
pub(crate) fn diagnose(document: &DiagnoseDocument, shows_experiments: bool) -> Page {
    let mut blocks = Vec::new();
    if document.targets.len() > 1 {
        blocks.push(Block::Table(summary(&document.targets)));
    }
    blocks.extend(document.targets.iter().flat_map(|target| about(target, shows_experiments)));
    if document.targets.iter().any(|target| !target.findings.is_empty()) {
        blocks.push(Block::Aside("reprise explain ID says more of a finding: how to confirm it, what it costs".to_owned()));
    }
    blocks.push(source(&document.provenance));
    Page { title: "diagnose".to_owned(), blocks }
}

/// One row for each target, one that was not reached included.
fn summary(targets: &[Diagnosis]) -> Table {
    let columns = ["target", "address"].map(Column::words).into_iter().enumerate();
    let columns = columns.map(|(index, column)| if index == 0 { column } else { column.dispensable(0) });
    let counts = ["faults", "risks", "notes", "connections"].map(|name| Column::figures(name, "").dispensable(1));
    Table::of_drafts(columns.chain(counts).collect(), targets.iter().map(|target| Some(row(target))).collect())
}

fn row(target: &Diagnosis) -> Draft {
    let count = |severity| target.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let figures = [count(Severity::Fault), count(Severity::Risk), count(Severity::Note), target.connections.into()];
    let tone = match target.findings.iter().map(|finding| finding.severity).min() {
        _ if !target.reached => Tone::Fault,
        Some(Severity::Fault) => Tone::Fault,
        Some(Severity::Risk) => Tone::Warning,
        Some(Severity::Note) | None => Tone::Plain,
    };
    Draft {
        words: vec![target.target.clone(), target.address.clone().unwrap_or_default()],
        figures: figures.into_iter().map(|count| target.reached.then(|| Figure::count(count))).collect(),
        note: (!target.reached).then(|| "not reached".to_owned()),
        tone,
    }
}

fn about(target: &Diagnosis, shows_experiments: bool) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!("{}: {}", target.target, target.verdict))];
    let facts = [("address", &target.address), ("software", &target.software)];
    let facts: Vec<Fact> = facts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value.as_ref()?))).collect();
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    blocks.extend(target.failure.iter().map(|failure| Block::Item(failure.into())));
    blocks.extend(worst_first(target).map(Block::Item));
    if !target.matrix.is_empty() {
        blocks.push(Block::Table(matrix(&target.matrix)));
    }
    blocks.extend(target.figures.iter().cloned().map(Block::Paragraph));
    blocks.extend(target.warnings.iter().map(|warning| Block::Item(Item::warning(warning))));
    if shows_experiments && !target.experiments.is_empty() {
        blocks.push(Block::Table(experiments(&target.experiments)));
    }
    let Diagnosis { connections, seconds, .. } = target;
    blocks.push(Block::Aside(format!("{connections} connections in {seconds:.1} s")));
    blocks
}

/// The findings; a saved file may hold them in any order.
fn worst_first(target: &Diagnosis) -> impl Iterator<Item = Item> {
    let mut findings: Vec<_> = target.findings.iter().collect();
    findings.sort_by_key(|finding| (finding.severity, finding.confidence));
    findings.into_iter().map(Item::from)
}

/// What each mechanism came to under each version.
fn matrix(records: &[MechanismRecord]) -> Table {
    let row = |record: &MechanismRecord| {
        let MechanismRecord { asked, given, offered, resumed } = *record;
        let (resumed_of, tone) = match offered {
            0 => ("not tried".to_owned(), Tone::Quiet),
            _ if resumed < offered => (format!("{resumed} of {offered}"), Tone::Warning),
            _ => (format!("{resumed} of {offered}"), Tone::Plain),
        };
        let given = if given { "yes" } else { "no" };
        let words = vec![asked.tls.to_string(), asked.kind.name().to_owned(), given.to_owned(), resumed_of];
        Some(Draft { words, figures: Vec::new(), note: None, tone })
    };
    let columns = ["version", "mechanism", "given", "resumed"].map(Column::words);
    Table::of_drafts(columns.into(), records.iter().map(row).collect())
}

/// What was tried, what it took and what it came to, in the order of time.
fn experiments(records: &[ExperimentRecord]) -> Table {
    let row = |record: &ExperimentRecord| {
        let asked = record.asked.map(|asked| format!("{} {}", asked.tls, asked.kind)).unwrap_or_default();
        let counts = [record.connections, record.offered, record.resumed, record.failed];
        Some(Draft {
            words: vec![record.name.clone(), asked, record.varies.clone()],
            figures: counts.iter().map(|count| Some(Figure::count((*count).into()))).collect(),
            note: Some(outcome(record)).filter(|outcome| !outcome.is_empty()),
            tone: Tone::Plain,
        })
    };
    let words = [Column::words("experiment"), Column::words("under"), Column::words("varies").dispensable(0)];
    let counts = ["connections", "offered", "resumed", "failed"].map(|name| Column::figures(name, "").dispensable(1));
    Table::of_drafts(words.into_iter().chain(counts).collect(), records.iter().map(row).collect())
}

fn outcome(record: &ExperimentRecord) -> String {
    match record.repeats {
        0 => record.outcome.clone(),
        repeats => format!("{}, made {} times", record.outcome, repeats + 1),
    }
}
