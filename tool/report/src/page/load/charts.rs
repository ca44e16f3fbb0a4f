//! What a load looks like: connections second by second, the latencies of most and of few, and the rates of a search.

use reprise_model::document::{LoadDocument, LoadLatency};
use reprise_model::{Kind, Phase};
use reprise_page::chart::{Axis, Chart, Lines, Plot, Series};

use super::p999;

pub(super) fn charts(document: &LoadDocument) -> Vec<Chart> {
    [rate(document), percentiles(document), search(document)].into_iter().flatten().collect()
}

/// Completed connections, second by second and by kind. The last second may be a part of one: it would look like a breakdown.
fn rate(document: &LoadDocument) -> Option<Chart> {
    let whole = document.seconds.floor().max(0.0) as usize;
    let all = [("all".to_owned(), &document.rate.per_second)];
    let by_kind = document.rate.per_second_by_kind.iter().map(|(kind, seconds)| (kind.to_string(), seconds));
    let lines: Vec<(String, &[u64])> = if document.rate.per_second_by_kind.len() > 1 {
        all.into_iter().chain(by_kind).map(|(name, seconds)| (name, whole_seconds(seconds, whole))).collect()
    } else {
        all.into_iter().map(|(_, seconds)| (only_kind(document), whole_seconds(seconds, whole))).collect()
    };
    // Two points at least make a line.
    if lines.iter().all(|(_, seconds)| seconds.len() < 2) {
        return None;
    }
    let described = |(name, seconds): &(String, &[u64])| {
        let (least, most) = (seconds.iter().min().copied().unwrap_or(0), seconds.iter().max().copied().unwrap_or(0));
        format!("{name}: {least} to {most} a second")
    };
    let description: Vec<String> = lines.iter().map(described).collect();
    Some(Chart {
        title: format!("Connections completed each second, {:.0} on average", document.rate.mean),
        description: format!("{}.", description.join("; ")),
        plot: Plot::Lines(Lines {
            x: Axis::from_zero("seconds"),
            y: Axis::from_zero("connections/s"),
            series: lines.into_iter().map(|(name, seconds)| Series::over_seconds(name, seconds)).collect(),
            is_stepped: false,
        }),
    })
}

fn whole_seconds(seconds: &[u64], whole: usize) -> &[u64] {
    seconds.get(..whole.min(seconds.len())).unwrap_or_default()
}

fn only_kind(document: &LoadDocument) -> String {
    let kind = document.rate.per_second_by_kind.keys().next();
    kind.map_or("all".to_owned(), Kind::to_string)
}

/// Latency by percentile: each step right is ten times as rare.
fn percentiles(document: &LoadDocument) -> Option<Chart> {
    let all = document.latency_ns.iter();
    let total = all.clone().filter_map(|(kind, phases)| Some((kind.to_string(), *kind, phases.get(&Phase::Total)?)));
    let handshake = all.filter_map(|(kind, phases)| Some((format!("{kind}, handshake"), *kind, phases.get(&Phase::Tls)?)));
    let intended = document.latency_from_intended_ns.iter();
    let intended = intended.map(|(kind, latency)| (format!("{kind}, from intended start"), *kind, latency));
    let latencies: Vec<(String, Kind, &LoadLatency)> = total.chain(handshake).chain(intended).collect();
    if latencies.is_empty() {
        return None;
    }
    let millis = |ns: u64| ns as f64 / 1e6;
    let names = ["p50", "p90", "p99", "p99.9", "max"];
    let places = |(_, kind, it): &(String, Kind, &LoadLatency)| {
        let values = [Some(it.p50), Some(it.p90), Some(it.p99), p999(document, *kind, it), Some(it.max)];
        values.into_iter().enumerate().filter_map(|(at, ns)| Some((at, millis(ns?)))).collect::<Vec<_>>()
    };
    let series = |latency: &(String, Kind, &LoadLatency)| Series {
        name: latency.0.clone(),
        points: places(latency).into_iter().map(|(at, ms)| (at as f64, ms)).collect(),
    };
    let described = |latency: &(String, Kind, &LoadLatency)| {
        let values = places(latency).into_iter().filter_map(|(at, ms)| Some(format!("{} {ms:.3}", names.get(at)?)));
        format!("{}: {}", latency.0, values.collect::<Vec<_>>().join(", "))
    };
    let description: Vec<String> = latencies.iter().map(described).collect();
    let series: Vec<Series> = latencies.iter().map(series).collect();
    let y = Axis::of_values("latency, ms".to_owned(), series.iter().flat_map(|series| series.points.iter().map(|it| it.1)));
    let ticks = names.into_iter().enumerate().map(|(at, name)| (at as f64, name.to_owned())).collect();
    Some(Chart {
        title: "Latency by percentile".to_owned(),
        description: format!("In milliseconds. {}.", description.join("; ")),
        plot: Plot::Lines(Lines {
            x: Axis { label: "share of connections within it".to_owned(), is_logarithmic: false, ticks },
            y,
            series,
            is_stepped: false,
        }),
    })
}

/// The rates of a search, against what was held.
fn search(document: &LoadDocument) -> Option<Chart> {
    let target = document.asked.step?;
    let mut steps: Vec<(f64, f64)> = document.steps.iter().map(|step| (step.rate, step.latency_ns as f64 / 1e6)).collect();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (first, last) = (steps.first()?.0, steps.last()?.0);
    if steps.len() < 2 {
        return None;
    }
    let limit = target.latency_ns as f64 / 1e6;
    let description: Vec<String> = steps.iter().map(|(rate, latency)| format!("{rate:.1}/s: {latency:.3} ms")).collect();
    let y = Axis::of_values("latency, ms".to_owned(), steps.iter().map(|step| step.1).chain([limit]));
    let series = vec![
        Series { name: super::quantile(target), points: steps },
        Series { name: "limit".to_owned(), points: vec![(first, limit), (last, limit)] },
    ];
    Some(Chart {
        title: "Latency at the rates tried".to_owned(),
        description: format!("The limit is {limit:.3} ms. {}.", description.join("; ")),
        plot: Plot::Lines(Lines { x: Axis::from_zero("connections/s"), y, series, is_stepped: false }),
    })
}
