//! What of a comparison of stacks is other than before.

use reprise_model::document::{Change, CompareBaseline, CompareChange, stack_pair};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Item};

use super::words::words;
use reprise_page::changes::{count, heading, word};

/// The part of a page that compares with earlier results.
pub(super) fn blocks(baseline: &CompareBaseline) -> Vec<Block> {
    let file = baseline.files.last().map_or("", String::as_str);
    let mut blocks = vec![heading(baseline.files.len(), file, Some(&baseline.provenance))];
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
    Rows::of(changed.iter().copied())
        .words("handshake", |it| words(&it.case))
        .words("stack", |it| stack_pair(&it.client, &it.server))
        .words("of", |it| it.side.name())
        .words("is", |it| word(it.judged().2))
        .figures("before", "µs", |it| Figure::count(it.before_ns / 1000))
        .figures("now", "µs", |it| Figure::count(it.after.median_ns / 1000))
        .figures("change", "%", |it| Figure::change(it.ratio, it.ci95))
        .figures("own", "%", |it| it.own.as_ref().map(|own| Figure::change(own.ratio, own.ci95)))
        .noted(|it| it.own.as_ref().map(|own| format!("beside {}", own.beside)))
        .toned(|it| match it.judged().2 {
            Change::Slower => Tone::Warning,
            Change::Faster => Tone::Gain,
            Change::None | Change::Unknown => Tone::Quiet,
        })
        .table()
}

fn instructions(baseline: &CompareBaseline) -> Table {
    let change = |before: u64, after: u64| (before > 0).then(|| Figure::change(after as f64 / before as f64, None));
    Rows::of(&baseline.instructions)
        .words("instructions", |it| words(&it.case))
        .words("stack", |it| stack_pair(&it.client, &it.server))
        .figures("client", "%", |it| change(it.before.client, it.after.client))
        .figures("server", "%", |it| change(it.before.server, it.after.server))
        .table()
}
