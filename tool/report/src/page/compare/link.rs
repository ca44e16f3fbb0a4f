//! Handshakes over links in virtual time: until the server has the client's request, against the round-trip time.

use itertools::Itertools;
use reprise_model::document::{CompareLink, CompareLinkRow, CompareLinks, stack_pair};
use reprise_page::chart::{Axis, Chart, Lines, Plot, Series};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table};
use reprise_page::{Block, grouped, section};

use super::words::words;

/// A line for each handshake; of more no chart can be read.
const MOST_LINES: usize = 8;

/// The tables, a chart for each pair over the first bandwidth and initial window, and who is ahead of whom.
pub(super) fn blocks(links: &CompareLinks) -> Vec<Block> {
    if links.rows.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Over a link: until the server has the request".to_owned())];
    blocks.extend(charts(links).into_iter().map(Block::Chart));
    for (conditions, rows) in grouped(&links.rows, |row| Conditions::of(&row.link)) {
        let loses = rows.iter().any(|row| row.link.loss > 0.0);
        let table = if loses { with_losses(&rows) } else { by_round_trip(&rows) };
        blocks.extend(section(&conditions.words(), table, None));
    }
    let mut below = LEGEND.to_owned();
    if links.rows.iter().any(|row| row.link.loss > 0.0) {
        below.push_str(&format!(" Of {} replays with packets lost at random.", links.trials));
    }
    if links.rows.iter().any(|row| row.unended > 0) {
        below.push_str(" Replays that had not ended after two minutes are left out.");
    }
    blocks.push(Block::Aside(below));
    blocks.extend(section("Who is ahead, by round-trip time", crossings(links), None));
    blocks
}

/// Who is the first and who the last at the longest round-trip time.
pub(super) fn answer(links: &CompareLinks) -> Option<String> {
    let longest = links.rows.iter().max_by_key(|row| row.link.rtt_ns)?;
    let rows = links.rows.iter().filter(|row| row.link == longest.link);
    let words = |row: &CompareLinkRow| {
        let time = row.request.median_ns as f64 / 1e6;
        format!("{time:.1} ms ({}, {})", words(&row.case), stack_pair(&row.client, &row.server))
    };
    let first = rows.clone().min_by_key(|row| row.request.median_ns).map(words)?;
    let last = rows.max_by_key(|row| row.request.median_ns).map(words)?;
    let rest = if first == last { String::new() } else { format!(", and {last} at the latest") };
    let at = round_trip(longest.link.rtt_ns);
    Some(format!(
        "Over a link with a round trip of {at}, the server has the client's request after {first} at the soonest{rest}."
    ))
}

const LEGEND: &str = "Virtual time from the client's SYN, TCP's handshake included: what each side did over memory, turn by turn, is replayed over TCP as \
    Linux has it. An answer takes half a round trip more in every row. The round-trip time is that of programs: the kernels' part is in it.";

/// What tables are told apart by.
#[derive(Clone, Copy, PartialEq)]
struct Conditions {
    bandwidth: Option<u64>,
    loss: f64,
    initcwnd: u64,
}

impl Conditions {
    fn of(link: &CompareLink) -> Self {
        Self { bandwidth: link.bandwidth, loss: link.loss, initcwnd: link.initcwnd }
    }

    fn words(self) -> String {
        let rate = self.bandwidth.map_or_else(|| "no limit of bandwidth".to_owned(), bandwidth);
        let loss = if self.loss > 0.0 { format!(", {} % of packets lost", self.loss * 100.0) } else { String::new() };
        format!("{rate}, initial window of {} segments{loss}", self.initcwnd)
    }
}

fn bandwidth(bits: u64) -> String {
    match bits as f64 {
        bits if bits >= 1e9 => format!("{} Gbit/s", bits / 1e9),
        bits if bits >= 1e6 => format!("{} Mbit/s", bits / 1e6),
        bits => format!("{} kbit/s", bits / 1e3),
    }
}

/// A round-trip time.
fn round_trip(ns: u64) -> String {
    format!("{} ms", ns as f64 / 1e6)
}

fn milliseconds(ns: u64) -> Figure {
    Figure::plain(format!("{:.2}", ns as f64 / 1e6))
}

/// A column for each round-trip time.
fn by_round_trip(rows: &[&CompareLinkRow]) -> Table {
    let handshakes = grouped(rows.iter().copied(), |row| (&row.client, &row.server, &row.case));
    let mut table = Rows::of(&handshakes)
        .words("stack", |((client, server, _), _)| stack_pair(client, server))
        .words("handshake", |((.., case), _)| words(case));
    for rtt in rows.iter().map(|row| row.link.rtt_ns).sorted_unstable().dedup() {
        table = table.figures(&round_trip(rtt), "", move |(_, rows)| {
            rows.iter().find(|row| row.link.rtt_ns == rtt).map(|row| milliseconds(row.request.median_ns))
        });
    }
    table.table()
}

/// A row for each round-trip time.
fn with_losses(rows: &[&CompareLinkRow]) -> Table {
    Rows::of(rows.iter().copied())
        .words("stack", |row| stack_pair(&row.client, &row.server))
        .words("handshake", |row| words(&row.case))
        .words("RTT", |row| round_trip(row.link.rtt_ns))
        .figures("median", "ms", |row| Some(milliseconds(row.request.median_ns)))
        .figures("mean", "ms", |row| Some(milliseconds(row.request.mean_ns)))
        .figures("p95", "ms", |row| Some(milliseconds(row.request.p95_ns)))
        .figures("p99", "ms", |row| Some(milliseconds(row.request.p99_ns)))
        .table()
}

fn crossings(links: &CompareLinks) -> Table {
    Rows::of(&links.crossings)
        .words("stack", |it| stack_pair(&it.client, &it.server))
        .words("below", |it| words(&it.below))
        .figures("from", "", |it| Some(Figure::plain(format!("{:.3} ms", it.rtt_ns as f64 / 1e6))))
        .words("on", |it| words(&it.above))
        .table()
}

/// A chart for each pair.
fn charts(links: &CompareLinks) -> Vec<Chart> {
    let first = links.rows.first().map(|row| Conditions::of(&row.link));
    let rows = links.rows.iter().filter(|row| Some(Conditions::of(&row.link)) == first && row.link.rtt_ns > 0);
    let pairs = grouped(rows, |row| stack_pair(&row.client, &row.server));
    pairs.iter().filter_map(|(pair, rows)| chart(pair, rows)).collect()
}

fn chart(pair: &str, rows: &[&CompareLinkRow]) -> Option<Chart> {
    let mut handshakes = grouped(rows.iter().copied(), |row| &row.case);
    handshakes.truncate(MOST_LINES);
    let point = |row: &&CompareLinkRow| (row.link.rtt_ns as f64 / 1e6, row.request.median_ns as f64 / 1e6);
    let series: Vec<Series> = handshakes
        .iter()
        .map(|(case, rows)| Series { name: words(case), points: rows.iter().map(point).collect() })
        .filter(|series| series.points.len() > 1)
        .collect();
    let points = || series.iter().flat_map(|series| series.points.iter());
    let x = Axis::of_values("round-trip time, ms".to_owned(), points().map(|point| point.0));
    let y = Axis::of_values("until the server has the request, ms".to_owned(), points().map(|point| point.1));
    let sentence = |series: &Series| {
        let ends = series.points.first().zip(series.points.last());
        ends.map(|(first, last)| {
            format!("{}: {:.2} ms at {} ms, {:.2} ms at {} ms", series.name, first.1, first.0, last.1, last.0)
        })
    };
    let sentences: Vec<String> = series.iter().filter_map(sentence).collect();
    let description = format!("{}.", sentences.join("; "));
    (!series.is_empty()).then(|| Chart {
        title: format!("{pair}: a connection against the round-trip time"),
        description,
        plot: Plot::Lines(Lines { x, y, series, is_stepped: false }),
    })
}
