//! A comparison of stacks against earlier ones: what changed, and what is left of it beside a stack that did not.

use itertools::Itertools;
use reprise_model::Kind;
use reprise_model::document::{
    Change, CompareBaseline, CompareCase, CompareChange, CompareDocument, CompareInstructionsChange, CompareOwn,
    CompareRatio, CompareRatioChange, CompareRow, CompareSide, ComparedStack, StackChange,
};
use reprise_stats::{Ratio, ratio_of_estimates, ratio_to_earlier};

use crate::baseline::comparable::{cut_short, of_provenance, other, too_few};
use crate::estimates::of_statistics;

/// An earlier comparison, and the file that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct EarlierComparison<'a> {
    /// The comparison.
    pub result: &'a CompareDocument,
    /// Its file, as it was named.
    pub file: &'a str,
}

/// Holds `now` against earlier results, the newest last; `None` without any. The intervals follow from `seed`.
pub fn compare_stacks(now: &CompareDocument, earlier: &[EarlierComparison<'_>], seed: u64) -> Option<CompareBaseline> {
    let newest = earlier.last()?;
    let results: Vec<&CompareDocument> = earlier.iter().map(|it| it.result).collect();
    let changed =
        |row: &CompareRow, side| raw(row, side, &results, seed).map(|raw| change(now, row, side, raw, &results, seed));
    let figures = now.rows.iter().flat_map(|row| CompareSide::ALL.map(|side| (row, side)));
    let of_result = |result: &&CompareDocument| {
        let of_one = of_provenance(&result.provenance, &now.provenance);
        let of_over = other("way of connecting", &over(result), &over(now));
        of_one.into_iter().chain(of_over).chain(cut_short(result.interrupted))
    };
    let mut warnings: Vec<String> = results.iter().flat_map(of_result).unique().collect();
    let changes: Vec<CompareChange> = figures.filter_map(|(row, side)| changed(row, side)).collect();
    if changes.iter().all(|it| it.own.is_none()) {
        warnings.push(
            "No stack is the same in all results, so the machine's change is unknown: measure one more stack, such as \
                rustls-ring"
                .to_owned(),
        );
    }
    warnings.extend(too_few(results.len()));
    let stacks = now.stacks.iter().filter_map(|stack| {
        let before = newest.result.stacks.iter().find(|it| it.name == stack.name)?;
        (!is_same(before, stack)).then(|| StackChange {
            name: stack.name.clone(),
            before: identity(before),
            after: identity(stack),
        })
    });
    let is_gone = |row: &&CompareRow| row_of(now, &row.client, &row.server, &row.case).is_none();
    Some(CompareBaseline {
        files: earlier.iter().map(|it| it.file.to_owned()).collect(),
        provenance: newest.result.provenance.clone(),
        stacks: stacks.collect(),
        changes,
        ratios: ratios(now, &results),
        instructions: instructions(now, newest.result),
        missing: newest.result.rows.iter().filter(is_gone).map(|it| words(&it.client, &it.server, &it.case)).collect(),
        warnings,
    })
}

fn over(document: &CompareDocument) -> Option<String> {
    Some(document.over.name().to_owned())
}

/// "mine with openssl-3 1.3 ticket p-256 x25519 mutual".
pub(crate) fn words(client: &str, server: &str, case: &CompareCase) -> String {
    let pair = if client == server { client.to_owned() } else { format!("{client} with {server}") };
    let mutual = if case.mutual { " mutual" } else { "" };
    if case.kind == Kind::Psk {
        let mode = case.psk_mode.map(|mode| format!(" {}", mode.name())).unwrap_or_default();
        return format!("{pair} {} {}{mode} {} {}", case.tls.number(), case.kind, case.group, case.cipher);
    }
    format!("{pair} {} {} {} {}{mutual}", case.tls.number(), case.kind, case.key, case.group)
}

fn is_same(before: &ComparedStack, after: &ComparedStack) -> bool {
    (&before.version, &before.flags, &before.sha256) == (&after.version, &after.flags, &after.sha256)
}

fn identity(stack: &ComparedStack) -> String {
    let hash = stack.sha256.as_deref().and_then(|hash| hash.get(..12)).map(|hash| format!(", sha256 {hash}"));
    format!("{} {}{}", stack.library, stack.version, hash.unwrap_or_default())
}

fn row_of<'d>(document: &'d CompareDocument, client: &str, server: &str, case: &CompareCase) -> Option<&'d CompareRow> {
    document.rows.iter().find(|row| (row.client.as_str(), row.server.as_str(), &row.case) == (client, server, case))
}

/// A figure after by before, whatever else changed meanwhile; and the medians before. `None` where one of them has no such figure.
fn raw(row: &CompareRow, side: CompareSide, earlier: &[&CompareDocument], seed: u64) -> Option<(Ratio, u64)> {
    let now = of_statistics(row.of(side)?);
    let rows: Vec<&CompareRow> =
        earlier.iter().map(|it| row_of(it, &row.client, &row.server, &row.case)).collect::<Option<_>>()?;
    let before: Vec<Ratio> = rows.iter().map(|row| row.of(side).map(of_statistics)).collect::<Option<_>>()?;
    let by_estimates = ratio_to_earlier(now, &before)?;
    let ratio = match rows.as_slice() {
        // By the samples themselves where both have them.
        [only] if !only.samples.of(side).is_empty() => {
            reprise_stats::ratio(&row.samples.of(side), &only.samples.of(side), seed).unwrap_or(by_estimates)
        }
        _ => by_estimates,
    };
    Some((ratio, (now.median / by_estimates.median).round() as u64))
}

fn change(
    now: &CompareDocument,
    row: &CompareRow,
    side: CompareSide,
    (raw_change, before_ns): (Ratio, u64),
    earlier: &[&CompareDocument],
    seed: u64,
) -> CompareChange {
    let own = now.stacks.iter().find_map(|reference| {
        let is_same_in = |result: &&CompareDocument| {
            result.stacks.iter().any(|before| before.name == reference.name && is_same(before, reference))
        };
        let is_own = reference.name == row.client || reference.name == row.server;
        if is_own || !earlier.iter().all(is_same_in) {
            return None;
        }
        let (of_reference, _) = raw(row_of(now, &reference.name, &reference.name, &row.case)?, side, earlier, seed)?;
        let left = ratio_of_estimates(raw_change, of_reference)?;
        let Ratio { median: ratio, ci95 } = left;
        Some(CompareOwn { beside: reference.name.clone(), ratio, ci95, change: Change::of(ci95) })
    });
    let ci95 = raw_change.ci95;
    CompareChange {
        client: row.client.clone(),
        server: row.server.clone(),
        case: row.case.clone(),
        side,
        before_ns,
        after: row.of(side).copied().unwrap_or(row.both_ns),
        ratio: raw_change.median,
        ci95,
        change: Change::of(ci95),
        own,
    }
}

fn ratios(now: &CompareDocument, earlier: &[&CompareDocument]) -> Vec<CompareRatioChange> {
    let change = |after: &CompareRatio| {
        let same = |it: &&CompareRatio| {
            (&it.client, &it.server, it.side, &it.from, &it.to)
                == (&after.client, &after.server, after.side, &after.from, &after.to)
        };
        let of = |it: &CompareRatio| Ratio { median: it.median, ci95: it.ci95 };
        let before: Vec<Ratio> = earlier.iter().map(|it| it.ratios.iter().find(same).map(of)).collect::<Option<_>>()?;
        let ratio = ratio_to_earlier(of(after), &before)?;
        Some(CompareRatioChange {
            now: after.clone(),
            before: after.median / ratio.median,
            ratio: ratio.median,
            ci95: ratio.ci95,
        })
    };
    now.ratios.iter().filter_map(change).collect()
}

fn instructions(now: &CompareDocument, newest: &CompareDocument) -> Vec<CompareInstructionsChange> {
    let change = |row: &CompareRow| {
        let before = row_of(newest, &row.client, &row.server, &row.case)?.instructions?;
        Some(CompareInstructionsChange {
            client: row.client.clone(),
            server: row.server.clone(),
            case: row.case.clone(),
            before,
            after: row.instructions?,
        })
    };
    now.rows.iter().filter_map(change).collect()
}
