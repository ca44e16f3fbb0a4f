//! What was found: the items, and what is left out of them.

use reprise_diagnosis::{ResponsibleSide, cause};
use reprise_model::document::{Finding, Remedy};
use reprise_page::{Block, Item, Shown};

/// A line of an item has so many characters, about.
const LINE: usize = 90;

/// So many lines say why, and so many what to do, where not all is shown.
const EVIDENCE_LINES: usize = 3;
const REMEDY_LINES: usize = 4;

/// So many lines have the items of one page, where not all is shown. The first is always one of them.
const ALL_LINES: usize = 22;

/// The findings as items, the worst first: a saved file may hold them in any order. A remedy that the finding before has too is not said twice. `software` is what the server or
/// client says that it is, or what somebody says of it. Unless all is to be shown, the evidence is what decides, the remedies are
/// those of this software, and what goes beyond a screen is named alone.
pub(super) fn items<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    software: Option<&str>,
    shown: Shown,
) -> Vec<Block> {
    let mut findings: Vec<&Finding> = findings.into_iter().filter(|finding| shown.shows(finding)).collect();
    findings.sort_by_key(|finding| finding.weight());
    let mut previous = Vec::new();
    let items = findings.iter().map(|finding| {
        let mut item = Item::from(*finding);
        if !shown.in_full {
            item.evidence = deciding(finding);
        }
        item.remedy = steps(finding, software, shown);
        let is_said = !item.remedy.is_empty() && item.remedy == previous;
        previous.clone_from(&item.remedy);
        if is_said {
            item.remedy = vec!["as above".to_owned()];
        }
        item
    });
    let items: Vec<Item> = items.collect();
    let fitting = if shown.in_full { items.len() } else { fitting(&items, ALL_LINES, length) };
    let others: Vec<String> = findings.iter().skip(fitting).map(|finding| named(finding)).collect();
    let others = (!others.is_empty()).then(|| Block::Aside(format!("Also found: {}. -v shows all", others.join("; "))));
    items.into_iter().take(fitting).map(Block::Item).chain(others).collect()
}

/// `fault tickets-run-out (likely)`.
fn named(finding: &Finding) -> String {
    format!("{} {} ({})", finding.severity.name(), finding.id, finding.confidence.name())
}

/// The findings that ask for nothing, where not all is shown.
pub(super) fn left_out<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    software: Option<&str>,
    shown: Shown,
) -> Option<Block> {
    let findings: Vec<&Finding> = findings.filter(|finding| !shown.shows(finding)).collect();
    if findings.is_empty() {
        return None;
    }
    let heading = Block::Heading(format!(
        "{} for nothing",
        match findings.len() {
            1 => "1 note that asks".to_owned(),
            count => format!("{count} notes that ask"),
        }
    ));
    let items = items(findings, software, Shown { in_full: true, ..shown });
    Some(Block::Secondary(std::iter::once(heading).chain(items).collect()))
}

/// The first of what says so, and what it costs: the processor's time only where the server's was measured.
fn deciding(finding: &Finding) -> Vec<String> {
    let whole: Vec<String> = finding.evidence.iter().map(|text| cut(text, EVIDENCE_LINES * LINE)).collect();
    let evidence = whole.iter().take(fitting(&whole, EVIDENCE_LINES, |text| lines_of(text))).cloned();
    let cost_cpu = finding.cost_cpu.filter(|cost| cost.server_ns.is_some());
    let costs = Finding { cost_cpu, ..finding.clone() };
    evidence.chain(costs.costs()).collect()
}

/// A text of at most so many characters, cut between two words.
fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    format!("{} …", kept.rsplit_once(' ').map_or(kept, |(kept, _)| kept))
}

/// How many of these, the first always among them, take no more than so many lines.
fn fitting<T>(all: &[T], most: usize, length: impl Fn(&T) -> usize) -> usize {
    let ends = all.iter().scan(0, |lines, one| {
        *lines += length(one);
        Some(*lines)
    });
    ends.take_while(|lines| *lines <= most).count().max(1).min(all.len())
}

fn lines_of(text: &str) -> usize {
    text.chars().count().div_ceil(LINE).max(1)
}

/// How many lines an item takes, the empty one before it included.
fn length(item: &Item) -> usize {
    let slug = item.slug.as_ref().map_or(0, |slug| slug.chars().count() + 12);
    let title = (item.text.chars().count() + slug).div_ceil(LINE);
    1 + title + item.evidence.iter().chain(&item.remedy).map(|text| lines_of(text)).sum::<usize>()
}

/// What to do: in full the remedies of every software where the finding has those of its cause.
fn steps(finding: &Finding, software: Option<&str>, shown: Shown) -> Vec<String> {
    if !shown.in_full {
        return steps_of(finding, software);
    }
    let of_all = cause(&finding.id)
        .into_iter()
        .flat_map(|cause| [ResponsibleSide::Server, ResponsibleSide::Client].map(|side| cause.every_remedy(side)));
    // What holds for all ends otherwise where nothing follows it.
    let is_one = |one: &Remedy, other: &Remedy| {
        one.software == other.software && one.text.trim_end_matches([':', '.']) == other.text.trim_end_matches([':', '.'])
    };
    let wider = of_all.filter(|all| finding.remedies.iter().all(|remedy| all.iter().any(|other| is_one(remedy, other))));
    match wider.max_by_key(Vec::len).filter(|all| all.len() > finding.remedies.len()) {
        Some(all) if !finding.remedies.is_empty() => finding.clone().fixed_by(all).steps(None),
        _ => finding.steps(None),
    }
}

/// What to do in this software; where it is not known, in the most common ones.
fn steps_of(finding: &Finding, software: Option<&str>) -> Vec<String> {
    let named = software.and_then(reprise_diagnosis::software);
    let has_own = finding.remedies.iter().any(|remedy| remedy.software.as_deref() == named);
    let steps = finding.steps(named.filter(|_| has_own));
    let fitting = fitting(&steps, REMEDY_LINES, |step| lines_of(step));
    // A single one takes no more than the line that would stand for it.
    let fitting = if fitting + 1 == steps.len() { steps.len() } else { fitting };
    let others = steps.len() - fitting;
    let rest = (others > 0).then(|| format!("and {others} more: -v, or reprise explain {}", finding.id));
    steps.into_iter().take(fitting).chain(rest).collect()
}
