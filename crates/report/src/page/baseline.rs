//! What is other than in an earlier result.

use reprise_model::Phase;
use reprise_model::document::{Change, ChangeCause, Comparison, Difference, PhaseChange};

use super::{Block, Item};
use crate::figures::{Figure, Scale, Unit};
use crate::table::{Draft, Table, Tone, columns};

/// One comparison, and the label of the result that it belongs to: empty where there is only one.
pub(super) type Labelled<'a> = (&'a str, &'a Comparison);

/// The part of a page that compares.
pub(super) fn baseline(comparisons: &[Labelled<'_>]) -> Vec<Block> {
    let Some((_, first)) = comparisons.first() else { return Vec::new() };
    let mut blocks = vec![Block::Heading(heading(first))];
    let shown: Vec<(&str, &PhaseChange)> = comparisons
        .iter()
        .flat_map(|(label, comparison)| comparison.phases.iter().map(move |change| (*label, change)))
        .filter(|(label, change)| is_shown(label, change))
        .collect();
    if !shown.is_empty() {
        blocks.push(Block::Table(table(&shown)));
        blocks.push(Block::Aside(
            "change: of the median, with a 95 % interval that covers what unchanged runs differ by. own: what remains \
                after subtracting the change of connect and of the machine's calibration."
                .to_owned(),
        ));
        let all = comparisons.iter().flat_map(|(_, comparison)| &comparison.phases);
        blocks.push(Block::Paragraph(count(all.map(|it| it.change))));
        blocks.extend(verdicts(comparisons));
    }
    for (label, comparison) in comparisons {
        blocks.extend(comparison.differences.iter().map(|difference| Block::Item(item(label, difference))));
    }
    let mut warnings: Vec<String> = Vec::new();
    for (_, comparison) in comparisons {
        warnings
            .extend(comparison.warnings.iter().filter(|warning| !warnings.contains(warning)).cloned().collect::<Vec<_>>());
    }
    blocks.extend(warnings.into_iter().map(Block::warning));
    blocks
}

fn heading(comparison: &Comparison) -> String {
    if let (Some(provenance), [_, _, ..]) = (&comparison.provenance, comparison.files.as_slice()) {
        return format!(
            "Against {} results, the last of them {} of {}",
            comparison.files.len(),
            comparison.file,
            provenance.time
        );
    }
    match &comparison.provenance {
        Some(provenance) => format!("Against {} of {}", comparison.file, provenance.time),
        None => format!("Against {}", comparison.file),
    }
}

/// The handshake and, of a single target, the whole are always of interest; the rest where it changed.
fn is_shown(label: &str, change: &PhaseChange) -> bool {
    let changed = matches!(change.change, Change::Slower | Change::Faster);
    changed || change.phase == Phase::Tls || (change.phase == Phase::Total && label.is_empty())
}

fn table(changes: &[(&str, &PhaseChange)]) -> Table {
    let all = || changes.iter().flat_map(|(_, it)| [&it.before, &it.after]);
    let unit = Unit::of_all(all().map(|statistics| statistics.median_ns));
    let scale = Scale::of_column(unit, all());
    let columns = columns(
        &["server", "TLS", "kind", "phase", "is"],
        &[("before", unit.symbol()), ("now", unit.symbol()), ("change", "%"), ("own", "%")],
    );
    let mut drafts = Vec::new();
    let mut previous = None;
    for (label, change) in changes {
        let place = (*label, change.tls, change.kind);
        let (same_label, same_version) = match previous {
            Some((before, tls, _)) => (before == *label, before == *label && tls == change.tls),
            None => (false, false),
        };
        let once = |text: &str, again: bool| if again { String::new() } else { text.to_owned() };
        if previous.is_some() && !same_version {
            drafts.push(None);
        }
        let is_others = change.own.is_some_and(|own| own.cause != ChangeCause::Tls);
        let (is, tone) = match change.change {
            Change::Slower if is_others => ("slower", Tone::Quiet),
            Change::Faster if is_others => ("faster", Tone::Quiet),
            Change::Slower => ("slower", Tone::Warning),
            Change::Faster => ("faster", Tone::Gain),
            Change::None => ("", Tone::Plain),
            Change::Unknown => ("unknown", Tone::Quiet),
        };
        let words = vec![
            once(label, same_label),
            once(change.tls.number(), same_version),
            once(change.kind.name(), previous == Some(place)),
            change.phase.name().to_owned(),
            is.to_owned(),
        ];
        let figures = vec![
            Some(scale.median(&change.before)),
            Some(scale.median(&change.after)),
            change.ratio.map(|ratio| Figure::change(ratio, change.ci95)),
            change.own.map(|own| Figure::change(own.ratio, own.ci95)),
        ];
        drafts.push(Some(Draft::new(words, figures, tone)));
        previous = Some(place);
    }
    Table::of_drafts(columns, drafts)
}

/// Whether TLS changed, or the machine or the network: of each server where there is something to say, or once of all.
fn verdicts(comparisons: &[Labelled<'_>]) -> Vec<Block> {
    let all = || comparisons.iter().filter_map(|(label, comparison)| Some((label, comparison.verdict.as_ref()?)));
    let worth_saying: Vec<Block> = all()
        .filter(|(_, verdict)| verdict.cause != ChangeCause::None)
        .map(|(label, verdict)| match label.is_empty() {
            true => Block::Paragraph(verdict.text.clone()),
            false => Block::Paragraph(format!("{label}: {}", verdict.text)),
        })
        .collect();
    match all().next() {
        Some((_, verdict)) if worth_saying.is_empty() => vec![Block::Paragraph(verdict.text.clone())],
        _ => worth_saying,
    }
}

/// How many figures changed, and how many would by chance alone: each interval misses the truth in 5 of 100 cases.
pub(super) fn count(changes: impl Iterator<Item = Change> + Clone) -> String {
    let of = |wanted: Change| changes.clone().filter(|change| *change == wanted).count();
    let (slower, faster, same) = (of(Change::Slower), of(Change::Faster), of(Change::None));
    let compared = slower + faster + same;
    if compared == 0 {
        return "Too few samples to tell a change from chance: at least six are needed on each side.".to_owned();
    }
    let chance = (compared as f64 * 0.05).round().max(1.0);
    let changed = match (slower, faster) {
        (0, 0) => return format!("None of {compared} medians changed beyond its interval."),
        (slower, 0) => format!("{slower} slower"),
        (0, faster) => format!("{faster} faster"),
        (slower, faster) => format!("{slower} slower and {faster} faster"),
    };
    format!("{changed} of {compared} medians changed beyond their intervals; about {chance} would by chance alone.")
}

fn item(label: &str, difference: &Difference) -> Item {
    let server = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let tls = difference.tls.map(|tls| format!("TLS {} ", tls.number())).unwrap_or_default();
    let kind = difference.kind.map(|kind| format!("{kind}: ")).unwrap_or_default();
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let (before, after) = (told(&difference.before), told(&difference.after));
    let text = match (difference.what.as_str(), after.as_str()) {
        ("measured", "no") => "was measured before, is not now".to_owned(),
        ("measured", _) => "is measured now, was not before".to_owned(),
        ("kinds", _) => format!("observed in {before} before, in {after} now"),
        ("failed", _) => format!("{before} failed before, {after} now"),
        (what, _) => format!("{} was {before}, is {after}", name_of(what)),
    };
    Item::new("changed", Tone::Warning, format!("{server}{tls}{kind}{text}"))
}

fn name_of(what: &str) -> &str {
    match what {
        "peer_key" => "the server's key",
        "psk_mode" => "the PSK mode",
        "alpn" => "ALPN's protocol",
        "sent" => "sent by the client",
        "received" => "received from the server",
        "round_trips" => "the number of round trips",
        "client_certificate" => "the client's certificate",
        _ => what,
    }
}
