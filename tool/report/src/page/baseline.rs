//! What is other than in an earlier result.

use reprise_model::Phase;
use reprise_model::document::{Change, ChangeCause, Comparison, Difference, PhaseChange};
use reprise_page::changes::{count, heading, word};
use reprise_page::figures::{Figure, Scale, Unit};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Item, grouped};

/// One comparison, and the label of the result that it belongs to: empty where there is only one.
pub(super) type Labelled<'a> = (&'a str, &'a Comparison);

/// The part of a page that compares.
pub(super) fn baseline(comparisons: &[Labelled<'_>]) -> Vec<Block> {
    let Some((_, first)) = comparisons.first() else { return Vec::new() };
    let mut blocks = vec![heading(first.files.len(), &first.file, first.provenance.as_ref())];
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
    let warnings = comparisons.iter().flat_map(|(_, comparison)| &comparison.warnings);
    blocks.extend(grouped(warnings, |warning| warning.as_str()).into_iter().map(|(warning, _)| Block::warning(warning)));
    blocks
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
    Rows::of(changes)
        .words("server", |(label, _)| *label)
        .once(|(label, _)| *label)
        .words("TLS", |(_, it)| it.tls.number())
        .grouped(|(_, it)| it.tls)
        .words("kind", |(_, it)| it.kind.name())
        .once(|(_, it)| it.kind)
        .words("phase", |(_, it)| it.phase.name())
        .words("is", |(_, it)| word(it.change))
        .figures("before", unit.symbol(), |(_, it)| scale.median(&it.before))
        .figures("now", unit.symbol(), |(_, it)| scale.median(&it.after))
        .figures("change", "%", |(_, it)| it.ratio.map(|ratio| Figure::change(ratio, it.ci95)))
        .figures("own", "%", |(_, it)| it.own.map(|own| Figure::change(own.ratio, own.ci95)))
        .toned(|(_, it)| match it.change {
            Change::Slower | Change::Faster if it.own.is_some_and(|own| own.cause != ChangeCause::Tls) => Tone::Quiet,
            Change::Slower => Tone::Warning,
            Change::Faster => Tone::Gain,
            Change::None => Tone::Plain,
            Change::Unknown => Tone::Quiet,
        })
        .table()
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
