//! What one target's samples look like: how their handshakes are distributed, and what resuming saves of them.

use reprise_model::document::{MeasureDocument, Ratio, Run};
use reprise_model::{Asked, Phase};
use reprise_page::chart::{Axis, Chart, Group, Interval, Intervals, Lines, Plot, Points, Series};
use reprise_page::figures::{Figure, Unit};

pub(super) fn charts(document: &MeasureDocument) -> Vec<Chart> {
    [distribution(document), ratios(document)].into_iter().flatten().collect()
}

/// The share of handshakes that took at most so long, one line for each version and kind.
fn distribution(document: &MeasureDocument) -> Option<Chart> {
    let mut runs: Vec<&Run> = document.runs.iter().filter(|run| run.n > 1).collect();
    runs.sort_by_key(|run| run.asked);
    let unit = Unit::of_all(runs.iter().filter_map(|run| Some(run.phases.get(&Phase::Tls)?.median_ns)));
    let samples = |run: &Run| -> Vec<f64> {
        let of_run = document.samples.iter().filter(|it| it.asked == run.asked && it.kind == run.asked.kind);
        of_run.filter_map(|sample| Some(sample.phases.tls?.0 as f64 / unit.nanos())).collect()
    };
    let series: Vec<Series> = runs.iter().map(|run| Series::distribution(run.asked.to_string(), samples(run))).collect();
    let series: Vec<Series> = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    if series.is_empty() {
        return None;
    }
    let times = series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
    let x = Axis::of_values(format!("handshake, {}", unit.symbol()), times);
    let described = |run: &&Run| {
        let statistics = run.phases.get(&Phase::Tls)?;
        let [least, median, nine_in_ten, most] =
            [statistics.min_ns, statistics.median_ns, statistics.p90_ns, statistics.max_ns]
                .map(|ns| format!("{:.3}", ns as f64 / unit.nanos()));
        Some(format!(
            "{}: {least} to {most} {}, median {median}, nine in ten within {nine_in_ten}",
            run.asked,
            unit.symbol()
        ))
    };
    let description: Vec<String> = runs.iter().filter_map(described).collect();
    Some(Chart {
        title: "How long handshakes take: the share that is complete after a time".to_owned(),
        description: format!("{}.", description.join("; ")),
        plot: Plot::Lines(Lines { x, y: Axis::from_zero("% of connections"), series, is_stepped: true }),
    })
}

/// How many times as fast a resumed connection is, with its interval.
fn ratios(document: &MeasureDocument) -> Option<Chart> {
    let shown = |ratio: &&Ratio| matches!(ratio.phase, Phase::Tls | Phase::Total);
    let mut ratios: Vec<&Ratio> = document.ratios.iter().filter(shown).collect();
    ratios.sort_by_key(|ratio| (ratio.tls, ratio.to, ratio.phase));
    let row = |ratio: &&Ratio| {
        let part = if ratio.phase == Phase::Tls { "handshake" } else { "whole connection" };
        let name = format!("{}, {part}", Asked { tls: ratio.tls, kind: ratio.to });
        Interval { name, at: ratio.median, interval: ratio.ci95, shown: Figure::ratio(ratio.median, ratio.ci95) }
    };
    let intervals = Intervals {
        label: "times as fast as a full handshake".to_owned(),
        points: Points::Ratios,
        groups: vec![Group { name: String::new(), rows: ratios.iter().map(row).collect() }],
    };
    intervals.into_chart("What resuming gains, with 95 % intervals")
}
