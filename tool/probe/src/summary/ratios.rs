//! What one kind costs against another.

use reprise_model::document::Ratio;
use reprise_model::{Asked, Kind, Phase};
use reprise_stats::{paired_ratio, ratio};

use crate::series::Series;

/// What each kind of resumption saves against a full handshake of its version, phase by phase.
pub fn ratios(runs: &[Series], seed: u64) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for to in runs.iter().filter(|run| run.asked.kind != Kind::Full) {
        let full = Asked { kind: Kind::Full, ..to.asked };
        let Some(from) = runs.iter().find(|run| run.asked == full) else { continue };
        ratios.extend(Phase::ALL.into_iter().filter_map(|phase| compare(from, to, phase, seed)));
    }
    ratios
}

/// Of the medians that stand in the runs. Where a connection failed or was of another kind, its round has no pair, and the
/// rest of the pairs have medians of their own: the interval then forgoes the rounds, not the samples.
fn compare(from: &Series, to: &Series, phase: Phase, seed: u64) -> Option<Ratio> {
    let rounds = from.observations.len().min(to.observations.len());
    let pairs: Vec<(u64, u64)> = (0..rounds)
        .filter_map(|round| Some((from.phase_in_round(round, phase)?, to.phase_in_round(round, phase)?)))
        .collect();
    let (from_values, to_values) = (from.phase(phase), to.phase(phase));
    let every_sample_has_its_pair = pairs.len() == from_values.len() && pairs.len() == to_values.len();
    let ratio = match every_sample_has_its_pair {
        true => paired_ratio(&pairs, seed)?,
        false => ratio(&from_values, &to_values, seed)?,
    };
    let median = |values: &[u64]| reprise_stats::median(values).and_then(|median| i64::try_from(median).ok());
    Some(Ratio {
        phase,
        tls: to.asked.tls,
        from: from.asked.kind,
        to: to.asked.kind,
        median: ratio.median,
        ci95: ratio.ci95,
        saved_ns: median(&from_values)? - median(&to_values)?,
    })
}

impl Series {
    /// One phase of one round, if that came out as asked.
    fn phase_in_round(&self, round: usize, phase: Phase) -> Option<u64> {
        let seen = self.observations.get(round).filter(|seen| seen.is_as_asked())?;
        seen.phases.of(phase).map(|nanos| nanos.0)
    }
}

#[cfg(test)]
mod tests {
    use reprise_model::{Facts, FaultName, Nanos, Observation, Phases, Purpose, Version};

    use super::*;
    use crate::summary::run;

    fn seen(asked: Kind, tls_us: Option<u64>) -> Observation {
        let outcome = match tls_us {
            Some(_) => Ok(Facts { kind: asked, ..Facts::of_choice(Version::Tls13, 0x1301) }),
            None => Err(FaultName::Unconfirmed),
        };
        let phases = Phases { tls: tls_us.map(|us| Nanos(us * 1_000)), ..Phases::default() };
        let asked = Asked { tls: Version::Tls13, kind: asked };
        Observation { outcome, phases, ..Observation::begun(0, Nanos(0), Purpose::Sample, asked) }
    }

    fn only_ratio(full: &[Option<u64>], ticket: &[Option<u64>]) -> (Ratio, [u64; 2]) {
        let series = |kind, times: &[Option<u64>]| {
            let observations: Vec<Observation> = times.iter().map(|us| seen(kind, *us)).collect();
            Series { asked: observations[0].asked, observations }
        };
        let runs = [series(Kind::Full, full), series(Kind::Ticket, ticket)];
        let [ratio] = ratios(&runs, 1).try_into().unwrap();
        (ratio, runs.map(|it| run(&it, 1).phases[&Phase::Tls].median_ns))
    }

    /// Rounds in which the ticket was refused, or the full handshake failed, are those in which the server was slow.
    #[test]
    fn a_ratio_is_that_of_the_medians_beside_it() {
        let full = [100, 100, 100, 900, 900, 900, 900].map(Some);
        let full = [&full[..], &[None, None]].concat();
        let ticket = [50, 50, 50].map(Some);
        let ticket = [&ticket[..], &[None; 4], &[Some(400), Some(50)]].concat();
        let (ratio, [full_ns, resumed_ns]) = only_ratio(&full, &ticket);
        assert_eq!((full_ns, resumed_ns), (900_000, 50_000));
        assert_eq!((ratio.median, ratio.saved_ns), (18.0, 850_000));
    }

    #[test]
    fn paired_rounds_narrow_the_interval() {
        let resumed_us: Vec<u64> = (0..20).map(|round| 100 + round * 37 % 100).collect();
        let full_us: Vec<u64> = resumed_us.iter().map(|us| 2 * us).collect();
        let all = |times: &[u64]| times.iter().copied().map(Some).collect::<Vec<_>>();
        let (ratio, _) = only_ratio(&all(&full_us), &all(&resumed_us));
        let [low, high] = ratio.ci95.unwrap();
        let unpaired = reprise_stats::ratio(&full_us, &resumed_us, 1).unwrap().ci95.unwrap();
        assert_eq!(ratio.median, 2.0);
        assert!(high - low < unpaired[1] - unpaired[0], "{low}..{high} is no narrower than {unpaired:?}");
    }
}
