//! A result against an earlier one: what changed beyond its interval, and what is no longer the same.

pub(crate) mod comparable;
mod controls;
mod differences;
mod foresight;
mod verdict;

pub use foresight::foresight;
pub(crate) use verdict::beyond_chance;

use itertools::Itertools;
use reprise_model::document::{
    Change, Comparison, CpuChange, MeasureDocument, PhaseChange, RatioChange, Run, SampleRecord, Statistics,
};
use reprise_model::{Asked, Kind, Phase, Version};
use reprise_stats::{Ratio, RunSpread, ratio_to_earlier, summarize};

use self::controls::{Controls, Figures};
use crate::estimates::of_statistics;

/// What was to be measured: of an earlier result, nothing else is missed.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The versions; empty for all.
    pub versions: Vec<Version>,
    /// The kinds; empty for all.
    pub kinds: Vec<Kind>,
}

impl Scope {
    /// Whether this would have been measured, had the target offered it.
    pub fn covers(&self, asked: Asked) -> bool {
        (self.versions.is_empty() || self.versions.contains(&asked.tls))
            && (self.kinds.is_empty() || self.kinds.contains(&asked.kind))
    }
}

/// An earlier result, and the file that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct EarlierResult<'a> {
    /// The result.
    pub result: &'a MeasureDocument,
    /// Its file, as it was named.
    pub file: &'a str,
}

/// Holds `now` against earlier results, the newest last; `None` without any. The intervals follow from `seed`.
pub fn compare(now: &MeasureDocument, earlier: &[EarlierResult<'_>], scope: &Scope, seed: u64) -> Option<Comparison> {
    let newest = earlier.last()?;
    let results: Vec<&MeasureDocument> = earlier.iter().map(|it| it.result).collect();
    let controls = Controls::of(now, &results, seed);
    let phases: Vec<PhaseChange> =
        now.runs.iter().flat_map(|after| phase_changes((now, after), &results, &controls, seed)).collect();
    // What several baselines have in common is said once.
    let mut warnings: Vec<String> = results.iter().flat_map(|result| comparable::warnings(now, result)).unique().collect();
    let is_without_samples = |result: &&MeasureDocument| {
        let in_both = result.runs.iter().filter(|run| now.run(run.asked.tls, run.asked.kind).is_some());
        in_both.into_iter().any(|run| run.n > 0 && samples_of_run(result, run, Phase::Total).is_none())
    };
    if results.iter().any(is_without_samples) {
        warnings.push("The baseline has no samples: its own intervals are used".to_owned());
    }
    warnings.extend(comparable::too_few(results.len()));
    let controls = controls.changes();
    Some(Comparison {
        file: newest.file.to_owned(),
        files: if earlier.len() > 1 { earlier.iter().map(|it| it.file.to_owned()).collect() } else { Vec::new() },
        provenance: Some(newest.result.provenance.clone()),
        verdict: verdict::verdict(&phases, &controls),
        controls,
        phases,
        ratios: ratio_changes(now, &results),
        server_cpu: cpu_change(now, &results),
        differences: differences::between(newest.result, now, scope),
        warnings,
    })
}

/// Where the earlier file has no result of this label.
pub fn no_such_result(now: &MeasureDocument, file: &str) -> Comparison {
    Comparison {
        file: file.to_owned(),
        files: Vec::new(),
        provenance: None,
        verdict: None,
        controls: Vec::new(),
        phases: Vec::new(),
        ratios: Vec::new(),
        server_cpu: None,
        differences: Vec::new(),
        warnings: vec![format!("The baseline has no result of {}", now.label)],
    }
}

fn phase_changes(
    (now, after): (&MeasureDocument, &Run),
    earlier: &[&MeasureDocument],
    controls: &Controls<'_>,
    seed: u64,
) -> Vec<PhaseChange> {
    let asked = after.asked;
    let runs: Option<Vec<&Run>> = earlier.iter().map(|it| it.run(asked.tls, asked.kind)).collect();
    let Some(runs) = runs else { return Vec::new() };
    let change = |phase: Phase| {
        let new = *after.phases.get(&phase)?;
        let old: Vec<Statistics> = runs.iter().map(|run| run.phases.get(&phase).copied()).collect::<Option<_>>()?;
        let before = runs.iter().zip(earlier).zip(&old);
        let figures = Figures {
            now: median_of_run(now, after, phase, &new),
            earlier: before.map(|((run, document), old)| median_of_run(document, run, phase, old)).collect(),
        };
        let ratio = figures.ratio();
        let before = match old.as_slice() {
            [only] => *only,
            _ => pooled(earlier, &runs, phase, seed).or(old.last().copied())?,
        };
        let ci95 = ratio.and_then(|it| it.ci95);
        Some(PhaseChange {
            tls: asked.tls,
            kind: asked.kind,
            phase,
            before,
            n_before: runs.iter().map(|run| run.n).sum(),
            after: new,
            n_after: after.n,
            ratio: ratio.map(|ratio| ratio.median),
            ci95,
            change: Change::of(ci95),
            own: ratio.filter(|_| phase.is_after_connecting()).and_then(|raw| controls.own(asked, phase, raw, &figures)),
        })
    };
    Phase::ALL.into_iter().filter_map(change).collect()
}

/// The statistics of all runs' samples together; `None` where a run is without its samples.
fn pooled(documents: &[&MeasureDocument], runs: &[&Run], phase: Phase, seed: u64) -> Option<Statistics> {
    let all: Vec<Vec<u64>> =
        documents.iter().zip(runs).map(|(document, run)| samples_of_run(document, run, phase)).collect::<Option<_>>()?;
    summarize(&all.concat(), seed).map(reprise_probe::statistics)
}

/// A median, with an interval of what runs differ by.
fn median_of_run(document: &MeasureDocument, run: &Run, phase: Phase, statistics: &Statistics) -> Ratio {
    let seconds = seconds(document);
    let spread = samples_of_run(document, run, phase).and_then(|samples| RunSpread::of(&samples, seconds));
    let median = of_statistics(statistics);
    match (spread, median.ci95) {
        (Some(spread), Some(_)) => median.spread_by(spread.total()),
        _ => median.widened_by(RunSpread::least(seconds)),
    }
}

/// One phase of the samples of a run; `None` where some are missing.
fn samples_of_run(document: &MeasureDocument, run: &Run, phase: Phase) -> Option<Vec<u64>> {
    Some(samples(document, run.asked, phase)).filter(|samples| samples.len() as u64 == run.n)
}

/// How long the samples took to take.
fn seconds(document: &MeasureDocument) -> Option<f64> {
    let starts = || document.samples.iter().filter_map(|sample| sample.start_ns);
    Some((starts().max()? - starts().min()?) as f64 / 1e9)
}

/// One phase of the samples that came out as asked, in the order in which they were taken.
pub(crate) fn samples(document: &MeasureDocument, asked: Asked, phase: Phase) -> Vec<u64> {
    let of_run = in_order(document).into_iter().filter(|sample| sample.asked == asked && sample.kind == asked.kind);
    of_run.filter_map(|sample| sample.phases.of(phase)).map(|nanos| nanos.0).collect()
}

/// All samples in the order in which they were taken.
fn in_order(document: &MeasureDocument) -> Vec<&SampleRecord> {
    let mut samples: Vec<&SampleRecord> = document.samples.iter().collect();
    samples.sort_by_key(|sample| sample.index);
    samples
}

fn ratio_changes(now: &MeasureDocument, earlier: &[&MeasureDocument]) -> Vec<RatioChange> {
    type Shown = reprise_model::document::Ratio;
    let change = |after: &Shown| {
        let same = |it: &&Shown| (it.phase, it.tls, it.from, it.to) == (after.phase, after.tls, after.from, after.to);
        let of = |it: &Shown| Ratio { median: it.median, ci95: it.ci95 };
        let before: Vec<Ratio> = earlier.iter().map(|it| it.ratios.iter().find(same).map(of)).collect::<Option<_>>()?;
        let ratio = ratio_to_earlier(of(after), &before);
        let ci95 = ratio.and_then(|it| it.ci95);
        Some(RatioChange {
            tls: after.tls,
            kind: after.to,
            phase: after.phase,
            before: ratio.map_or(before.last()?.median, |ratio| after.median / ratio.median),
            after: after.median,
            ratio: ratio.map(|ratio| ratio.median),
            ci95,
            change: Change::of(ci95).reversed(),
        })
    };
    now.ratios.iter().filter_map(change).collect()
}

/// One figure a result: what it varies by is only known from several.
fn cpu_change(now: &MeasureDocument, earlier: &[&MeasureDocument]) -> Option<CpuChange> {
    let exact = |document: &MeasureDocument| {
        let median = document.server_cpu?.per_connection_ns as f64;
        Some(Ratio { median, ci95: Some([median; 2]) })
    };
    let earlier: Vec<Ratio> = earlier.iter().map(|it| exact(it)).collect::<Option<_>>()?;
    let after = exact(now)?;
    let ratio = ratio_to_earlier(after, &earlier)?;
    let ci95 = ratio.ci95.filter(|_| earlier.len() > 1);
    let before_ns = (after.median / ratio.median).round() as u64;
    Some(CpuChange { before_ns, after_ns: after.median as u64, ratio: ratio.median, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::Example;
    use reprise_model::document::{CalibrationSample, ChangeCause};
    use reprise_model::{Nanos, Phases};

    fn measured(full_us: u64, ticket_us: u64) -> MeasureDocument {
        Example::new().run("1.3", Kind::Full, full_us).run("1.3", Kind::Ticket, ticket_us).document()
    }

    fn compared(now: &MeasureDocument, earlier: &MeasureDocument) -> Comparison {
        compare(now, &[EarlierResult { result: earlier, file: "earlier.json" }], &Scope::default(), 1).unwrap()
    }

    fn change_of(comparison: &Comparison, kind: Kind, phase: Phase) -> PhaseChange {
        *comparison.phases.iter().find(|it| it.kind == kind && it.phase == phase).unwrap()
    }

    #[test]
    fn a_result_against_itself_is_no_change() {
        let document = measured(1000, 300);
        let comparison = compared(&document, &document);
        assert!(comparison.phases.iter().all(|it| it.change == Change::None && it.ratio == Some(1.0)));
        assert!(comparison.ratios.iter().all(|it| it.change == Change::None));
        assert_eq!(comparison.differences, []);
        assert_eq!(comparison.phases.len(), 8);
    }

    #[test]
    fn what_is_slower_beyond_its_interval_says_so() {
        let comparison = compared(&measured(1000, 600), &measured(1000, 300));
        let ticket = change_of(&comparison, Kind::Ticket, Phase::Tls);
        assert_eq!((ticket.change, ticket.ratio), (Change::Slower, Some(2.0)));
        assert_eq!(change_of(&comparison, Kind::Full, Phase::Tls).change, Change::None);
        let saved = comparison.ratios.iter().find(|it| it.phase == Phase::Tls).unwrap();
        assert_eq!(saved.change, Change::Slower, "resuming saves less: {saved:?}");
        let back = compared(&measured(1000, 300), &measured(1000, 600));
        assert_eq!(change_of(&back, Kind::Ticket, Phase::Tls).change, Change::Faster);
    }

    /// A run of two seconds, of 200 full handshakes: what each took, and what the calibration after it took, in microseconds.
    fn sampled(took: impl Fn(u64) -> (u64, u64)) -> MeasureDocument {
        let mut document = Example::new().run("1.3", Kind::Full, 1000).calibration(500).document();
        let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
        let jitter = |i: u64| 40 * (i * 7919 % 101);
        let phases = |tls_us: u64, i: u64| {
            let tls = Some(Nanos(tls_us * 1000 + jitter(i)));
            Phases { connect: Some(Nanos(50_000)), tls, total: Some(Nanos(1)), ..Phases::default() }
        };
        let sample = |i: u64| SampleRecord {
            local_port: 1,
            asked,
            kind: Kind::Full,
            phases: phases(took(i).0, i),
            index: Some(i as u32),
            start_ns: Some(i * 10_000_000),
            address: None,
            offered: None,
            http_status: None,
            hello_retry: None,
        };
        document.samples = (0..200).map(sample).collect();
        let of_tls = |samples: Vec<u64>| reprise_probe::statistics(summarize(&samples, 1).unwrap());
        let run = &mut document.runs[0];
        run.n = 200;
        run.phases.insert(Phase::Tls, of_tls((0..200).map(|i| took(i).0 * 1000 + jitter(i)).collect()));
        let calibration = document.calibration.as_mut().unwrap();
        let of_full = calibration.runs.iter_mut().find(|run| run.kind == Kind::Full).unwrap();
        of_full.phases.insert(Phase::Tls, of_tls((0..200).map(|i| took(i).1 * 1000).collect()));
        let beside = |i: u64| CalibrationSample { after: i + 1, kind: Kind::Full, phases: phases(took(i).1, i) };
        calibration.samples = (0..200).map(beside).collect();
        document
    }

    fn verdict_of(now: &MeasureDocument, earlier: &MeasureDocument) -> (ChangeCause, String) {
        let verdict = compared(now, earlier).verdict.unwrap();
        (verdict.cause, verdict.text)
    }

    #[test]
    fn steady_runs_show_a_change_of_a_fifth() {
        let (cause, text) = verdict_of(&sampled(|_| (1200, 500)), &sampled(|_| (1000, 500)));
        assert_eq!(cause, ChangeCause::Tls, "{text}");
        assert_eq!(verdict_of(&sampled(|_| (1040, 500)), &sampled(|_| (1000, 500))).0, ChangeCause::None);
    }

    /// Half of a run on a busy machine, and a quarter of the other.
    #[test]
    fn runs_that_vary_by_as_much_within_show_none() {
        let now = sampled(|i| (if i % 100 < 60 { 1250 } else { 1000 }, 500));
        let earlier = sampled(|i| (if i % 100 < 25 { 1250 } else { 1000 }, 500));
        let change = change_of(&compared(&now, &earlier), Kind::Full, Phase::Tls);
        assert!(change.ratio > Some(1.2) && change.change == Change::None, "{change:?}");
        assert_eq!(verdict_of(&now, &earlier).0, ChangeCause::None);
    }

    /// The scheduler puts the calibration's two ends on one processor or on two, which concerns no other server.
    #[test]
    fn a_calibration_that_moves_alone_changes_nothing() {
        let flickers = |fast: u64| move |i: u64| (1000, if (i / 25).is_multiple_of(2) { fast } else { fast + 60 });
        let (cause, text) = verdict_of(&sampled(flickers(560)), &sampled(flickers(500)));
        assert_eq!(cause, ChangeCause::None, "{text}");
    }

    #[test]
    fn what_the_calibration_shares_is_the_machine() {
        let waves = |slower: u64| {
            move |i: u64| {
                let slow = slower + if (i / 25).is_multiple_of(2) { 0 } else { 6 };
                (10 * slow, 5 * slow)
            }
        };
        let (cause, text) = verdict_of(&sampled(waves(130)), &sampled(waves(100)));
        assert_eq!(cause, ChangeCause::Machine, "{text}");
    }

    #[test]
    fn what_would_be_missed_is_told_before() {
        let told = |document: &MeasureDocument, count| {
            foresight(&[vec![EarlierResult { result: document, file: "earlier.json" }]], count).unwrap()
        };
        let steady = told(&sampled(|_| (1000, 500)), 200);
        assert!(steady.starts_with("with -n 200 a change of full handshakes under 7 % will be missed; -n 800"), "{steady}");
        let unsteady = told(&sampled(|i| (if i % 100 < 25 { 1250 } else { 1000 }, 500)), 200);
        assert!(unsteady.contains("more connections find little more"), "{unsteady}");
        assert_eq!(foresight(&[vec![EarlierResult { result: &measured(1000, 300), file: "" }]], 200), None);
    }

    #[test]
    fn without_samples_it_says_so() {
        let comparison = compared(&measured(1000, 300), &measured(1000, 300));
        assert!(comparison.warnings.iter().any(|warning| warning.contains("no samples")));
    }

    #[test]
    fn without_intervals_nothing_is_claimed() {
        let mut earlier = measured(1000, 300);
        for run in &mut earlier.runs {
            run.phases.values_mut().for_each(|statistics| statistics.ci95_ns = None);
        }
        let comparison = compared(&measured(2000, 300), &earlier);
        assert!(comparison.phases.iter().all(|it| it.change == Change::Unknown));
    }
}
