//! The processor time that a full handshake takes beyond a resumed one, of each side that was measured.

use reprise_model::document::CpuCost;
use reprise_model::{Kind, Nanos, Version};
use reprise_probe::diagnose::{Examination, ExperimentRun, ProbeRecord, Spent, Step, Variation};

/// For each version of which both kinds were seen.
pub(super) fn of_versions(examination: &Examination) -> Vec<(Version, CpuCost)> {
    let cost = |version| Some((version, of_version(examination, version)?));
    [Version::Tls12, Version::Tls13].into_iter().filter_map(cost).collect()
}

fn of_version(examination: &Examination, version: Version) -> Option<CpuCost> {
    let seen = || examination.runs.iter().flat_map(ExperimentRun::all).filter(|seen| is_complete(seen, version));
    let is_full = |seen: &&ProbeRecord| matches!(seen.step, Step::Prime(Variation::Plain) | Step::Interpose);
    let is_resumed =
        |seen: &&ProbeRecord| seen.step == Step::Resume(Variation::Plain) && seen.observation.kind() != Some(Kind::Full);
    let full: Vec<Spent> = seen().filter(is_full).map(|seen| seen.spent).collect();
    let resumed: Vec<Spent> = seen().filter(is_resumed).map(|seen| seen.spent).collect();
    let cost = |side: fn(&Spent) -> Option<Nanos>| {
        let figures = |all: &[Spent]| all.iter().filter_map(side).map(|time| time.0).collect::<Vec<u64>>();
        difference(&figures(&full), &figures(&resumed))
    };
    let cost = CpuCost { client_ns: cost(|spent| spent.client), server_ns: cost(|spent| spent.server) };
    (cost.client_ns.is_some() || cost.server_ns.is_some()).then_some(cost)
}

fn is_complete(seen: &ProbeRecord, version: Version) -> bool {
    let observation = &seen.observation;
    observation.facts().is_some_and(|facts| facts.version == version) && observation.is_answered_well()
}

/// Of the medians, where the interval of their ratio leaves no doubt that the first is more.
fn difference(full: &[u64], resumed: &[u64]) -> Option<Nanos> {
    let [low, _] = reprise_stats::ratio(full, resumed, SEED)?.ci95?;
    let (full, resumed) = (reprise_stats::median(full)?, reprise_stats::median(resumed)?);
    (low > 1.0).then(|| Nanos(full) - Nanos(resumed))
}

/// The interval is the same for the same figures.
const SEED: u64 = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS13};

    const TIMES: [u64; 8] = [900, 910, 920, 930, 940, 950, 960, 970];

    fn spent(full: u64, resumed: u64) -> Vec<(Version, CpuCost)> {
        let scene = Scene::resuming(TLS13).and_resuming(TLS13).and_resuming(TLS13);
        of_versions(&scene.spending([full, resumed], [full * 2, resumed * 2]))
    }

    #[test]
    fn the_cost_is_the_difference_of_the_medians() {
        let cost = CpuCost { client_ns: Some(Nanos(500_000)), server_ns: Some(Nanos(1_000_000)) };
        assert_eq!(spent(800_000, 300_000), [(Version::Tls13, cost)]);
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_said() {
        assert_eq!(spent(300_000, 300_000), []);
        assert_eq!(of_versions(&Scene::resuming(TLS13).examination()), [], "was not measured");
        let later: Vec<u64> = TIMES.iter().map(|time| time + 5).collect();
        assert_eq!(difference(&later, &TIMES), None);
        assert_eq!(difference(&[9_000; 3], &TIMES), None, "too few");
    }
}
