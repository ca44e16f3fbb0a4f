//! Before anything is measured: which change would be seen beside these baselines.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase};
use reprise_stats::{PARTS, Ratio, RunSpread, Z95, deviations_of_chance, ratio_to_earlier};

use super::controls::{Controls, Figures};
use super::{EarlierResult, median_of_run, samples_of_run, seconds};
use crate::estimates::of_statistics;
use reprise_diagnosis::figures::percent_to;

/// Which change of full handshakes a measurement with so many connections of each kind would miss, and what more of them would find,
/// in a sentence: of several servers, whose baselines are `of_servers`, the one that varies most. `None` where the baselines have too
/// few samples to tell.
pub fn foresight(of_servers: &[Vec<EarlierResult<'_>>], count: u64) -> Option<String> {
    let least = |count: u64| {
        let of_server =
            |earlier: &Vec<EarlierResult<'_>>| least_change(&earlier.iter().map(|it| it.result).collect::<Vec<_>>(), count);
        of_servers.iter().filter_map(of_server).max_by(f64::total_cmp)
    };
    let (missed, four_times) = (least(count)?, least(4 * count)?);
    let more = match four_times < 0.9 * missed {
        true => format!("-n {} finds {}", 4 * count, percent_to(0, four_times)),
        false => "more connections find little more, three baselines and more may".to_owned(),
    };
    Some(format!(
        "with -n {count} a change of full handshakes under {} will be missed; {more} (by the variation within the baseline)",
        percent_to(0, missed)
    ))
}

/// Of the versions, the one that varies most.
fn least_change(results: &[&MeasureDocument], count: u64) -> Option<f64> {
    let (newest, before) = results.split_last()?;
    let controls = Controls::of(newest, before, 1);
    let comparisons = newest.runs.iter().filter(|run| run.phases.contains_key(&Phase::Tls)).count();
    let of_run = |run: &Run| {
        let runs: Vec<&Run> = results.iter().map(|it| it.run(run.asked.tls, run.asked.kind)).collect::<Option<_>>()?;
        let median = |(document, run): (&&MeasureDocument, &&Run)| {
            Some(median_of_run(document, run, Phase::Tls, run.phases.get(&Phase::Tls)?))
        };
        let mut medians: Vec<Ratio> = results.iter().zip(&runs).map(median).collect::<Option<_>>()?;
        let newest_median = medians.pop()?;
        let figures = Figures { now: newest_median, earlier: medians };
        // The newest comes first, as in Controls.
        let left = controls.left_by_calibration(run.asked, Phase::Tls, &figures);
        let samples = match left {
            Some(left) => left,
            None => {
                let newest_first = results.iter().zip(&runs).rev();
                newest_first.map(|(document, run)| samples_of_run(document, run, Phase::Tls)).collect::<Option<_>>()?
            }
        };
        let spread = RunSpread::of(samples.first()?, seconds(newest))?;
        let expected = expected_spread(run, spread, seconds(newest)?, count as f64 / run.n as f64)?;
        let of_samples = |(samples, document): (&Vec<u64>, &&MeasureDocument)| {
            let spread = RunSpread::of(samples, seconds(document))?;
            Some(Ratio { median: reprise_stats::median(samples)? as f64, ci95: None }.spread_by(spread.total()))
        };
        let newest_first = std::iter::once(newest).chain(before);
        let earlier: Vec<Ratio> = samples.iter().zip(newest_first).map(of_samples).collect::<Option<_>>()?;
        let now = Ratio { median: 1.0, ci95: None }.spread_by(expected);
        let change = ratio_to_earlier(now, &earlier)?;
        let [_, high] = change.ci95?;
        let deviation = (high / change.median).ln() / Z95;
        Some((deviation * deviations_of_chance(comparisons)).exp() - 1.0)
    };
    let full = newest.runs.iter().filter(|run| run.asked.kind == Kind::Full);
    full.filter_map(of_run).max_by(f64::total_cmp)
}

/// What a run like this one, of so many `times` as many connections, would differ by from the next: what its parts differ by beyond
/// chance stays, and chance falls with the number.
fn expected_spread(run: &Run, spread: RunSpread, seconds: f64, times: f64) -> Option<f64> {
    let [low, high] = of_statistics(run.phases.get(&Phase::Tls)?).ci95?;
    let by_chance = ((high / low).ln() / 2.0 / Z95).powi(2) * PARTS as f64;
    let lasting = (spread.of_parts.powi(2) - by_chance).max(0.0);
    Some((lasting + by_chance / times).sqrt().hypot(RunSpread::least(Some(seconds * times))))
}
