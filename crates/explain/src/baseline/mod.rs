//! A result against an earlier one: what changed beyond its interval, and what is no longer the same.

pub(crate) mod comparable;
mod controls;
mod differences;
mod verdict;

use reprise_stats::{Ratio, ratio_to_earlier, summarize};
use reprise_trace::document::{Change, Comparison, CpuChange, MeasureDocument, PhaseChange, RatioChange, Run, Statistics};
use reprise_trace::{Asked, Kind, Phase, Version};

use self::controls::{Controls, Figures};
use crate::estimates::{ends, estimate, of_statistics};

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
pub struct Earlier<'a> {
    /// The result.
    pub result: &'a MeasureDocument,
    /// Its file, as it was named.
    pub file: &'a str,
}

/// Holds `now` against earlier results, the newest last; `None` without any. The intervals follow from `seed`.
pub fn compare(now: &MeasureDocument, earlier: &[Earlier<'_>], scope: &Scope, seed: u64) -> Option<Comparison> {
    let newest = earlier.last()?;
    let results: Vec<&MeasureDocument> = earlier.iter().map(|it| it.result).collect();
    let controls = Controls::of(now, &results, seed);
    let phases: Vec<PhaseChange> =
        now.runs.iter().flat_map(|after| phase_changes((now, after), &results, &controls, seed)).collect();
    let mut warnings = comparable::each_once(results.iter().flat_map(|result| comparable::warnings(now, result)));
    let is_without_samples = |result: &&MeasureDocument| {
        let in_both = result.runs.iter().filter(|run| now.run(run.asked.tls, run.asked.kind).is_some());
        in_both.into_iter().any(|run| run.n > 0 && samples(result, run.asked, Phase::Total).len() as u64 != run.n)
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
        let old_samples: Vec<Vec<u64>> = earlier.iter().map(|it| samples(it, asked, phase)).collect();
        let new_samples = samples(now, asked, phase);
        let is_complete = |(samples, run): (&Vec<u64>, &&Run)| samples.len() as u64 == run.n;
        let with_samples = new_samples.len() as u64 == after.n && old_samples.iter().zip(&runs).all(is_complete);
        let estimate_of = |samples: &[u64], statistics: &Statistics| match with_samples {
            true => of_statistics(&pooled(samples, seed).unwrap_or(*statistics)),
            false => of_statistics(statistics),
        };
        let figures = Figures {
            now: estimate_of(&new_samples, &new),
            earlier: old_samples.iter().zip(&old).map(|(samples, old)| estimate_of(samples, old)).collect(),
        };
        let ratio = match old_samples.as_slice() {
            [only] if with_samples => reprise_stats::ratio(&new_samples, only, seed),
            _ => figures.ratio(),
        };
        let before = match old.as_slice() {
            [only] => *only,
            _ => pooled(&old_samples.concat(), seed).filter(|_| with_samples).or(old.last().copied())?,
        };
        let ci95 = ratio.as_ref().and_then(ends);
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

/// The statistics of all runs' samples together.
fn pooled(samples: &[u64], seed: u64) -> Option<Statistics> {
    summarize(samples, seed).map(reprise_probe::statistics)
}

/// One phase of the samples that came out as asked.
pub(crate) fn samples(document: &MeasureDocument, asked: Asked, phase: Phase) -> Vec<u64> {
    let of_run = document.samples.iter().filter(|sample| sample.asked == asked && sample.kind == asked.kind);
    of_run.filter_map(|sample| sample.phases.of(phase)).map(|nanos| nanos.0).collect()
}

fn ratio_changes(now: &MeasureDocument, earlier: &[&MeasureDocument]) -> Vec<RatioChange> {
    type Shown = reprise_trace::document::Ratio;
    let change = |after: &Shown| {
        let same = |it: &&Shown| (it.phase, it.tls, it.from, it.to) == (after.phase, after.tls, after.from, after.to);
        let of = |it: &Shown| estimate(it.median, it.ci95);
        let before: Vec<Ratio> = earlier.iter().map(|it| it.ratios.iter().find(same).map(of)).collect::<Option<_>>()?;
        let ratio = ratio_to_earlier(of(after), &before);
        let ci95 = ratio.as_ref().and_then(ends);
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
        Some(Ratio { median, ci95: Some((median, median)) })
    };
    let earlier: Vec<Ratio> = earlier.iter().map(|it| exact(it)).collect::<Option<_>>()?;
    let after = exact(now)?;
    let ratio = ratio_to_earlier(after, &earlier)?;
    let ci95 = ends(&ratio).filter(|_| earlier.len() > 1);
    let before_ns = (after.median / ratio.median).round() as u64;
    Some(CpuChange { before_ns, after_ns: after.median as u64, ratio: ratio.median, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_trace::document::SampleRecord;
    use reprise_trace::{Nanos, Phases};

    fn measured(full_us: u64, ticket_us: u64) -> MeasureDocument {
        Example::new().run("1.3", Kind::Full, full_us).run("1.3", Kind::Ticket, ticket_us).document()
    }

    fn compared(now: &MeasureDocument, earlier: &MeasureDocument) -> Comparison {
        compare(now, &[Earlier { result: earlier, file: "earlier.json" }], &Scope::default(), 1).unwrap()
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

    #[test]
    fn samples_are_used_where_both_have_them() {
        let with_samples = |tls_us: u64| {
            let mut document = measured(tls_us, 300);
            let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
            let sample = |i: u64| SampleRecord {
                local_port: 1,
                asked,
                kind: Kind::Full,
                phases: Phases { tls: Some(Nanos(tls_us * 1000 + 40 * i)), total: Some(Nanos(1)), ..Phases::default() },
                index: None,
                start_ns: None,
                address: None,
                offered: None,
                http_status: None,
            };
            document.samples = (0..100).map(sample).collect();
            document
        };
        let comparison = compared(&with_samples(1010), &with_samples(1000));
        let full = change_of(&comparison, Kind::Full, Phase::Tls);
        let [low, high] = full.ci95.unwrap();
        assert!(low > 1.008 && high < 1.012, "narrower than from the intervals: {low}..{high}");
        assert_eq!(full.change, Change::Slower);
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
