//! Which sessions of one target are accepted at another: who may enter where, and what was accepted all the same.

use itertools::Itertools;
use reprise_model::document::{IsolationRecord, IsolationVerdict};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Shown, section};

/// What was offered elsewhere, a row for each combination that needs a look, or in full for all.
pub(super) fn isolation(records: &[IsolationRecord], shown: Shown) -> Vec<Block> {
    if records.is_empty() {
        return Vec::new();
    }
    let is_shown = |record: &&IsolationRecord| shown.in_full || !is_as_it_should_be(record.verdict);
    let offers: Vec<&IsolationRecord> = records.iter().filter(is_shown).collect();
    let mut blocks = section("Who may enter, by full handshakes", entries(records), []);
    let is_elsewhere = offers.iter().any(|record| record.from != record.to);
    let title = if is_elsewhere { "Sessions that were offered elsewhere" } else { "Sessions that were offered again" };
    blocks.extend(section(title, offered(&offers), []));
    blocks.extend((offers.len() < records.len()).then(|| Block::Aside(left_out(records, offers.len()))));
    blocks
}

fn is_as_it_should_be(verdict: IsolationVerdict) -> bool {
    matches!(verdict, IsolationVerdict::Refused | IsolationVerdict::ByDesign)
}

/// What the rows that are not shown come to.
fn left_out(records: &[IsolationRecord], shown: usize) -> String {
    let refused = records.iter().filter(|record| record.verdict == IsolationVerdict::Refused).count();
    let accepted = || records.iter().filter(|record| record.verdict == IsolationVerdict::ByDesign);
    let let_in = accepted().filter(|record| record.full.let_in > 0).count();
    let counts = [
        (refused, "refused"),
        (let_in, "accepted where their holder may enter"),
        (accepted().count() - let_in, "accepted, and the response refuses the request as it does after full handshakes"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    format!("{} other combinations: {}; -v shows them", records.len() - shown, counts.format(", "))
}

/// A row for each target, holder and version.
fn entries(records: &[IsolationRecord]) -> Table {
    let key = |record: &IsolationRecord| (record.to.clone(), record.holder.clone(), record.asked.tls);
    Rows::of(records.iter().unique_by(|record| key(record)).sorted_by_key(|record| key(record)))
        .words("target", |it| it.to.clone())
        .grouped(|it| it.to.clone())
        .words("certificate", holder)
        .once(|it| it.holder.clone())
        .words("version", |it| it.asked.tls.to_string())
        .figures("let in", "", |it| Figure::count(it.full.let_in.into()))
        .figures("of", "", |it| Figure::count(it.full.connections.into()))
        .words("came to", |it| it.full.came_to.join(", "))
        .table()
}

fn offered(records: &[&IsolationRecord]) -> Table {
    Rows::of(records)
        .words("from", |it| it.from.clone())
        .words("to", |it| it.to.clone())
        .words("certificate", |it| holder(it))
        .words("by", |it| match it.session_tls == it.asked.tls {
            true => it.asked.to_string(),
            false => format!("{}, of {}", it.asked, it.session_tls),
        })
        .figures("accepted", "", |it| Figure::count(it.accepted.into()))
        .figures("of", "", |it| Figure::count(it.offered.into()))
        .words("came to", |it| it.came_to.clone().unwrap_or_default())
        .words("", |it| it.verdict.name())
        .toned(|it| match it.verdict {
            IsolationVerdict::Broken => Tone::Fault,
            IsolationVerdict::Noticed => Tone::Warning,
            IsolationVerdict::Refused | IsolationVerdict::ByDesign => Tone::Plain,
            IsolationVerdict::Unclear => Tone::Quiet,
        })
        .table()
}

fn holder(record: &IsolationRecord) -> String {
    record.holder.clone().unwrap_or_else(|| "none".to_owned())
}
