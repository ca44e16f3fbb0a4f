//! What of a comparison of stacks is other than before.

use reprise_model::document::{Change, CompareBaseline, CompareChange};

use super::baseline::count;
use super::compare::words::{stack, words};
use super::{Block, Item};
use crate::figures::{Figure, Unit};
use crate::table::{Draft, Table, Tone, columns};

/// The part of a page that compares with earlier results.
pub(super) fn blocks(baseline: &CompareBaseline) -> Vec<Block> {
    let file = baseline.files.last().map_or("", String::as_str);
    let heading = match baseline.files.len() {
        0 | 1 => format!("Against {file} of {}", baseline.provenance.time),
        several => format!("Against {several} results, the last of them {file} of {}", baseline.provenance.time),
    };
    let mut blocks = vec![Block::Heading(heading)];
    let changed: Vec<&CompareChange> = baseline.changes.iter().filter(|it| is_change(it)).collect();
    if !changed.is_empty() {
        blocks.push(Block::Table(changes(&changed)));
        blocks.push(Block::Aside(
            "change: of the median, with its 95 % interval, between measurements made at different times. own: what \
                remains relative to a stack that is the same in both. The JSON also has what did not change beyond its \
                interval."
                .to_owned(),
        ));
    }
    blocks.push(Block::Paragraph(count(baseline.changes.iter().map(|it| it.judged().2))));
    if !baseline.instructions.is_empty() {
        blocks.push(Block::Table(instructions(baseline)));
    }
    let of_stacks = baseline.stacks.iter().map(|it| format!("{} was {}, is {}", it.name, it.before, it.after));
    blocks.extend(of_stacks.map(|text| Block::Item(Item::new("changed", Tone::Plain, text))));
    let missing = baseline.missing.iter().map(|it| format!("{it} was measured before, is not now"));
    blocks.extend(missing.chain(baseline.warnings.iter().cloned()).map(Block::warning));
    blocks
}

fn is_change(change: &CompareChange) -> bool {
    let is = |change| matches!(change, Change::Slower | Change::Faster);
    is(change.change) || is(change.judged().2)
}

fn changes(changed: &[&CompareChange]) -> Table {
    let unit = Unit::Micros;
    let columns = columns(
        &["handshake", "stack", "of", "is"],
        &[("before", unit.symbol()), ("now", unit.symbol()), ("change", "%"), ("own", "%")],
    );
    let draft = |change: &&CompareChange| {
        let (is, tone) = match change.judged().2 {
            Change::Slower => ("slower", Tone::Warning),
            Change::Faster => ("faster", Tone::Gain),
            Change::None => ("", Tone::Quiet),
            Change::Unknown => ("unknown", Tone::Quiet),
        };
        Some(Draft {
            words: vec![
                words(&change.case),
                stack(&change.client, &change.server),
                change.side.name().to_owned(),
                is.to_owned(),
            ],
            figures: vec![
                Some(Figure::count(change.before_ns / 1000)),
                Some(Figure::count(change.after.median_ns / 1000)),
                Some(Figure::change(change.ratio, change.ci95)),
                change.own.as_ref().map(|own| Figure::change(own.ratio, own.ci95)),
            ],
            note: change.own.as_ref().map(|own| format!("beside {}", own.beside)),
            tone,
        })
    };
    Table::of_drafts(columns, changed.iter().map(draft).collect())
}

fn instructions(baseline: &CompareBaseline) -> Table {
    let columns = columns(&["instructions", "stack"], &[("client", "%"), ("server", "%")]);
    let drafts = baseline.instructions.iter().map(|it| {
        let change = |before: u64, after: u64| (before > 0).then(|| Figure::change(after as f64 / before as f64, None));
        let figures = vec![change(it.before.client, it.after.client), change(it.before.server, it.after.server)];
        Some(Draft::new(vec![words(&it.case), stack(&it.client, &it.server)], figures, Tone::Plain))
    });
    Table::of_drafts(columns, drafts.collect())
}
