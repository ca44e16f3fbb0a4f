//! A result against an earlier one: what changed beyond its interval, and what is no longer the same.

mod comparable;
mod differences;

use reprise_stats::{Ratio, ratio_of_estimates};
use reprise_trace::document::{Change, Comparison, MeasureDocument, PhaseChange, RatioChange, Run, Statistics};
use reprise_trace::{Asked, Kind, Phase, Version};

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

/// Holds `now` against `earlier`, which was read from `file`. The intervals follow from `seed`.
pub fn compare(now: &MeasureDocument, earlier: &MeasureDocument, file: &str, scope: &Scope, seed: u64) -> Comparison {
    let in_both = || earlier.runs.iter().filter_map(|before| Some((before, now.run(before.asked.tls, before.asked.kind)?)));
    let phases: Vec<PhaseChange> =
        in_both().flat_map(|(before, after)| phase_changes((earlier, before), (now, after), seed)).collect();
    let mut warnings = comparable::warnings(now, earlier);
    if in_both().any(|(before, _)| before.n > 0 && samples(earlier, before.asked, Phase::Total).len() as u64 != before.n) {
        warnings.push("The baseline has no samples: intervals are made from its intervals".to_owned());
    }
    Comparison {
        file: file.to_owned(),
        provenance: Some(earlier.provenance.clone()),
        phases,
        ratios: ratio_changes(now, earlier),
        differences: differences::between(earlier, now, scope),
        warnings,
    }
}

/// Where the earlier file has no result of this label.
pub fn no_such_result(now: &MeasureDocument, file: &str) -> Comparison {
    Comparison {
        file: file.to_owned(),
        provenance: None,
        phases: Vec::new(),
        ratios: Vec::new(),
        differences: Vec::new(),
        warnings: vec![format!("The baseline has no result of {}", now.label)],
    }
}

fn phase_changes(
    (earlier, before): (&MeasureDocument, &Run),
    (now, after): (&MeasureDocument, &Run),
    seed: u64,
) -> Vec<PhaseChange> {
    let change = |phase: Phase| {
        let (old, new) = (*before.phases.get(&phase)?, *after.phases.get(&phase)?);
        let old_samples = samples(earlier, before.asked, phase);
        let new_samples = samples(now, after.asked, phase);
        let ratio = match (old_samples.len() as u64 == before.n, new_samples.len() as u64 == after.n) {
            (true, true) => reprise_stats::ratio(&new_samples, &old_samples, seed),
            _ => ratio_of_estimates(estimate(&new), estimate(&old)),
        };
        let ci95 = ratio.and_then(|ratio| ratio.ci95).map(|(low, high)| [low, high]);
        Some(PhaseChange {
            tls: after.asked.tls,
            kind: after.asked.kind,
            phase,
            before: old,
            n_before: before.n,
            after: new,
            n_after: after.n,
            ratio: ratio.map(|ratio| ratio.median),
            ci95,
            change: Change::of(ci95),
        })
    };
    Phase::ALL.into_iter().filter_map(change).collect()
}

/// One phase of the samples that came out as asked.
fn samples(document: &MeasureDocument, asked: Asked, phase: Phase) -> Vec<u64> {
    let of_run = document.samples.iter().filter(|sample| sample.asked == asked && sample.kind == asked.kind);
    of_run.filter_map(|sample| sample.phases.of(phase)).map(|nanos| nanos.0).collect()
}

fn estimate(statistics: &Statistics) -> Ratio {
    let ci95 = statistics.ci95_ns.map(|[low, high]| (low as f64, high as f64));
    Ratio { median: statistics.median_ns as f64, ci95 }
}

fn ratio_changes(now: &MeasureDocument, earlier: &MeasureDocument) -> Vec<RatioChange> {
    let change = |after: &reprise_trace::document::Ratio| {
        let same = |it: &&reprise_trace::document::Ratio| {
            (it.phase, it.tls, it.from, it.to) == (after.phase, after.tls, after.from, after.to)
        };
        let before = earlier.ratios.iter().find(same)?;
        let of =
            |it: &reprise_trace::document::Ratio| Ratio { median: it.median, ci95: it.ci95.map(|[low, high]| (low, high)) };
        let ratio = ratio_of_estimates(of(after), of(before));
        let ci95 = ratio.and_then(|ratio| ratio.ci95).map(|(low, high)| [low, high]);
        Some(RatioChange {
            tls: after.tls,
            kind: after.to,
            phase: after.phase,
            before: before.median,
            after: after.median,
            ratio: ratio.map(|ratio| ratio.median),
            ci95,
            change: Change::of(ci95).reversed(),
        })
    };
    now.ratios.iter().filter_map(change).collect()
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
        compare(now, earlier, "earlier.json", &Scope::default(), 1)
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
