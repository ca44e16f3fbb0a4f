//! What is shown of results side by side.

use reprise_diagnosis::figures::ratio_and_interval;
use reprise_model::Phase;
use reprise_model::document::{SideBySideDocument, SideBySideRow, SideBySideUnit, SideBySideValue};
use reprise_page::chart::{Chart, Group, Interval, Intervals, Points};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, section, title};

use crate::paged_document::PagedDocument;

impl PagedDocument for SideBySideDocument {
    fn page(&self, _shown: Shown) -> Page {
        let labels: Vec<&str> = self.results.iter().map(|result| result.label.as_str()).collect();
        let fact = |result: &reprise_model::document::SideBySideResult| {
            Fact::new(
                result.label.clone(),
                format!("{} · {} · {}", title(&result.target), result.provenance.time, result.file),
            )
        };
        let mut blocks = vec![Block::Facts(self.results.iter().map(fact).collect())];
        blocks.extend(answer(self, &labels).map(|answer| Block::Summary(vec![Block::Paragraph(answer)])));
        blocks.extend(ratios(self, &labels).map(Block::Chart));
        blocks.push(Block::Table(figures(self, &labels)));
        blocks.push(Block::Aside(legend(&labels)));
        blocks.extend(section("What else is not the same", differences(self, &labels), None));
        blocks.extend(self.warnings.iter().map(Block::warning));
        Page::new("report", labels.join(" against "), blocks)
    }

    fn is_nothing(&self) -> bool {
        false
    }

    fn is_cut_short(&self) -> bool {
        false
    }
}

/// Which of two is faster: of measurements by handshake, of loads by rate. What the intervals leave open is said so.
fn answer(document: &SideBySideDocument, labels: &[&str]) -> Option<String> {
    let [first, other] = labels else { return None };
    let is_handshake = |row: &&SideBySideRow| row.phase == Some(Phase::Tls) && row.figure == "median";
    let is_rate = |row: &&SideBySideRow| row.kind.is_none() && row.figure == "rate";
    let rates: Vec<&SideBySideRow> = document.rows.iter().filter(is_rate).collect();
    let handshakes = document.rows.iter().filter(is_handshake).collect();
    let rows = if rates.is_empty() { handshakes } else { rates };
    let of_row = |row: &SideBySideRow| {
        let [_, Some(value)] = row.values.as_slice() else { return None };
        let of_phase = || format!("a TLS {} {} handshake takes", row.tls.number(), kind(row));
        let what = if row.phase.is_some() { of_phase() } else { "the rate is".to_owned() };
        let (ratio, [low, high]) = (value.ratio?, value.ratio_ci95?);
        let (shown, interval) = ratio_and_interval(ratio, [low, high]);
        let times = if row.phase.is_some() { "times as long" } else { "times as high" };
        let chance = if low <= 1.0 && high >= 1.0 { ", not different beyond chance" } else { "" };
        Some(format!("{what} {shown} {times} (95 % interval {interval}){chance}"))
    };
    let said: Vec<String> = resumed(document, first, other).chain(rows.into_iter().filter_map(of_row)).collect();
    (!said.is_empty()).then(|| format!("{other} against {first}: {}.", said.join("; ")))
}

/// The kinds that resume in one of two results alone.
fn resumed(document: &SideBySideDocument, first: &str, other: &str) -> impl Iterator<Item = String> {
    let is_count = |row: &&SideBySideRow| row.figure == "n" && row.phase.is_none();
    let (mut now, mut before) = (Vec::new(), Vec::new());
    for row in document.rows.iter().filter(is_count) {
        let Some(kind) = row.kind.filter(|kind| kind.is_resumption()) else { continue };
        let name = format!("TLS {} {kind}", row.tls.number());
        match row.values.iter().map(|value| value.is_some_and(|value| value.value > 0.0)).collect::<Vec<_>>()[..] {
            [false, true] => now.push(name),
            [true, false] => before.push(name),
            _ => {}
        }
    }
    let said = |names: Vec<String>, label: &str| {
        (!names.is_empty()).then(|| format!("{} resumed in {label} alone", names.join(", ")))
    };
    [said(now, other), said(before, first)].into_iter().flatten()
}

/// How many times the first result's figures the others' are, where there is an interval. The rest is in the table.
fn ratios(document: &SideBySideDocument, labels: &[&str]) -> Option<Chart> {
    let (first, others) = labels.split_first()?;
    let of_row = |row: &SideBySideRow| {
        let name = [format!("TLS {}", row.tls.number()), kind(row).to_owned(), named(row)].join(" ");
        let values = row.values.iter().skip(1).zip(others).filter_map(|(value, label)| Some((value.as_ref()?, label)));
        let interval = move |(value, label): (&SideBySideValue, &&str)| {
            let name = if others.len() > 1 { format!("{name}, {label}") } else { name.clone() };
            let (at, interval) = (value.ratio?, Some(value.ratio_ci95?));
            Some(Interval { name, at, interval, shown: Figure::ratio(at, interval) })
        };
        values.filter_map(interval).collect::<Vec<_>>()
    };
    let groups = vec![Group { name: String::new(), rows: document.rows.iter().flat_map(of_row).collect() }];
    let title = match others {
        [other] => format!("{other} by {first}"),
        _ => format!("The others by {first}"),
    };
    Intervals { label: format!("times the figure of {first}"), points: Points::Ratios, groups }.into_chart(&title)
}

/// `tls median`.
fn named(row: &SideBySideRow) -> String {
    let phase = row.phase.map(|phase| format!("{phase} ")).unwrap_or_default();
    format!("{phase}{}", row.figure.replace('_', " "))
}

fn legend(labels: &[&str]) -> String {
    format!(
        "Figures ± half their 95 % interval. ratio: how many times the figure of {} it is, with its interval, for samples that were \
         taken one run after the other: what differs from run to run is not in it.",
        labels.first().copied().unwrap_or_default()
    )
}

fn figures(document: &SideBySideDocument, labels: &[&str]) -> Table {
    let mut rows = Rows::of(&document.rows)
        .words("TLS", |row| row.tls.number())
        .once(|row| row.tls)
        .words("kind", kind)
        .grouped(|row| row.kind)
        .words("figure", named)
        .words("unit", |row| unit(row).0);
    let value = |row: &SideBySideRow, index: usize| row.values.get(index).copied().flatten();
    let or_none = |text: Option<String>| Figure::plain(text.unwrap_or_else(|| "–".to_owned()));
    for (index, label) in labels.iter().enumerate() {
        rows = rows.figures(label, "", |row| or_none(value(row, index).map(|it| shown(&it, row))));
    }
    for (index, label) in labels.iter().enumerate().skip(1) {
        let label = if labels.len() > 2 { label } else { "" };
        rows = rows.figures("ratio", label, |row| or_none(value(row, index).and_then(ratio)));
    }
    rows.toned(tone).secondary_rows(can_wait).table()
}

fn kind(row: &SideBySideRow) -> &'static str {
    row.kind.map_or("all", |kind| kind.name())
}

/// The unit of a row, and what a value is divided by.
fn unit(row: &SideBySideRow) -> (&'static str, f64) {
    match row.unit {
        SideBySideUnit::Ns if row.values.iter().flatten().all(|it| it.value < 10_000_000.0) => ("µs", 1e3),
        SideBySideUnit::Ns => ("ms", 1e6),
        SideBySideUnit::EachSecond => ("/s", 1.0),
        SideBySideUnit::Bytes => ("B", 1.0),
        SideBySideUnit::Count => ("", 1.0),
    }
}

fn shown(value: &SideBySideValue, row: &SideBySideRow) -> String {
    let (_, scale) = unit(row);
    let decimals = match row.unit {
        SideBySideUnit::Count | SideBySideUnit::Bytes => 0,
        _ if value.value / scale < 9.95 => 2,
        _ if value.value / scale < 999.5 => 1,
        _ => 0,
    };
    let half = value.ci95.map(|[low, high]| format!(" ±{:.decimals$}", (high - low) / 2.0 / scale));
    format!("{:.decimals$}{}", value.value / scale, half.unwrap_or_default())
}

fn ratio(value: SideBySideValue) -> Option<String> {
    Some(Figure::ratio(value.ratio?, value.ratio_ci95).text())
}

/// What is not compared, and of what is, all but the handshake and the whole connection.
fn can_wait(row: &SideBySideRow) -> bool {
    let is_compared = row.values.iter().skip(1).any(|value| value.is_some_and(|it| it.ratio.is_some()));
    let is_of_part = match row.phase {
        Some(Phase::Tls) => !["median", "p50"].contains(&row.figure.as_str()),
        phase => phase.is_some_and(|phase| phase != Phase::Total),
    };
    row.figure != "n" && (!is_compared || is_of_part || ["p90", "p95", "sent", "received"].contains(&row.figure.as_str()))
}

/// Coloured where the one other result is better or worse beyond its interval.
fn tone(row: &SideBySideRow) -> Tone {
    let [_, Some(SideBySideValue { ratio_ci95: Some([low, high]), .. })] = row.values.as_slice() else { return Tone::Plain };
    let is_more = match (*low > 1.0, *high < 1.0) {
        (true, _) => true,
        (_, true) => false,
        _ => return Tone::Plain,
    };
    match row.unit.more_is_better() {
        Some(better) if better == is_more => Tone::Gain,
        Some(_) => Tone::Warning,
        None => Tone::Plain,
    }
}

fn differences(document: &SideBySideDocument, labels: &[&str]) -> Table {
    let mut rows = Rows::of(&document.differences).words("what", |it| &it.what);
    for (index, label) in labels.iter().enumerate() {
        rows = rows.words(label, |it| it.values.get(index).cloned().flatten().unwrap_or_else(|| "not said".to_owned()));
    }
    rows.table()
}
