//! From observations to the figures of a document.

mod observed;
mod ratios;
mod records;

use std::collections::BTreeMap;

use reprise_model::document::{NextRequestStatistics, Run, Statistics, Traffic};
use reprise_model::{Asked, Bytes, ClientCpu, Facts, Nanos, NextRequest, Observation, Phase, Phases};
use reprise_stats::{Summary, summarize, unequal_pairs};

use self::observed::observed;
pub use self::ratios::ratios;
pub use self::records::records;
use crate::series::Series;

impl Series {
    fn completed(&self) -> impl Iterator<Item = (&Observation, &Facts)> {
        self.observations.iter().filter_map(|seen| Some((seen, seen.facts()?)))
    }

    /// The observations that are of the kind that was asked.
    fn of_asked_kind(&self) -> impl Iterator<Item = &Observation> + Clone {
        self.observations.iter().filter(|seen| seen.is_as_asked())
    }

    /// One phase of every connection that came out as asked.
    fn phase(&self, phase: Phase) -> Vec<u64> {
        times(self.of_asked_kind().map(|seen| &seen.phases), phase)
    }
}

/// The figures of one series.
pub fn run(series: &Series, seed: u64) -> Run {
    let asked: Vec<&Observation> = series.of_asked_kind().collect();
    let mut http_status = BTreeMap::new();
    for status in series.completed().filter_map(|(seen, _)| seen.http_status) {
        *http_status.entry(status).or_default() += 1;
    }
    Run {
        asked: series.asked,
        observed: observed(series),
        n: asked.len() as u64,
        failed: (series.observations.len() - series.completed().count()) as u64,
        phases: phase_statistics(series.of_asked_kind().map(|seen| &seen.phases), seed),
        bytes: traffic(&asked),
        round_trips: median(asked.iter().map(|seen| seen.round_trips)),
        next_request: next_request(&asked, seed),
        http_status,
        client_cpu_ns: ClientCpu::mean_of(asked.iter().filter_map(|seen| seen.client_cpu)),
    }
}

/// The spread of each phase that these connections have.
pub(crate) fn phase_statistics<'a>(
    connections: impl Iterator<Item = &'a Phases> + Clone,
    seed: u64,
) -> BTreeMap<Phase, Statistics> {
    let of = |phase| Some((phase, statistics(summarize(&times(connections.clone(), phase), seed)?)));
    Phase::ALL.into_iter().filter_map(of).collect()
}

fn times<'a>(connections: impl Iterator<Item = &'a Phases>, phase: Phase) -> Vec<u64> {
    connections.filter_map(|phases| phases.of(phase)).map(|nanos| nanos.0).collect()
}

/// How far two kinds' times to connect may lie apart, which cannot depend on the kind.
const EQUAL_CONNECTS: (f64, f64) = (0.97, 1.03);

/// The pairs of series whose connections took times to connect that differ: then something is measured along, the order above
/// all, and may be in the other phases too.
pub fn unequal_connects(runs: &[Series], seed: u64) -> Vec<[Asked; 2]> {
    let connects: Vec<Vec<u64>> = runs.iter().map(|series| series.phase(Phase::Connect)).collect();
    let (low, high) = EQUAL_CONNECTS;
    let pairs = unequal_pairs(&connects, low, high, seed);
    pairs.into_iter().filter_map(|(from, to)| Some([runs.get(from)?.asked, runs.get(to)?.asked])).collect()
}

/// As documents tell it, in nanoseconds.
pub fn statistics(summary: Summary) -> Statistics {
    Statistics {
        median_ns: summary.median,
        ci95_ns: summary.ci95,
        mean_ns: summary.mean,
        min_ns: summary.min,
        max_ns: summary.max,
        p90_ns: summary.p90,
        p95_ns: Some(summary.p95),
        p99_ns: summary.p99,
    }
}

fn traffic(samples: &[&Observation]) -> Option<Traffic> {
    Some(Traffic {
        sent: Bytes(median(samples.iter().map(|sample| sample.sent.0))?),
        received: Bytes(median(samples.iter().map(|sample| sample.received.0))?),
        first_flight: median(samples.iter().map(|sample| sample.first_flight.0)).map(Bytes),
    })
}

fn next_request(samples: &[&Observation], seed: u64) -> Option<NextRequestStatistics> {
    let requests: Vec<NextRequest> = samples.iter().filter_map(|sample| sample.next_request).collect();
    let of = |phase: fn(&NextRequest) -> Nanos| {
        let values: Vec<u64> = requests.iter().map(|request| phase(request).0).collect();
        summarize(&values, seed).map(statistics)
    };
    Some(NextRequestStatistics {
        n: requests.len() as u64,
        wait: of(|request| request.wait)?,
        receive: of(|request| request.receive)?,
    })
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    reprise_stats::median(&values.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::{Kind, Purpose, Version};

    fn series(kind: Kind, connect_us: u64) -> Series {
        let asked = Asked { tls: Version::Tls13, kind };
        let seen = |index: u32| Observation {
            outcome: Ok(Facts { kind, ..Facts::of_choice(asked.tls, 0x1301) }),
            phases: Phases { connect: Some(Nanos(connect_us * 1_000 + u64::from(index))), ..Phases::default() },
            ..Observation::begun(index, Nanos(0), Purpose::Sample, asked)
        };
        Series { asked, observations: (0..100).map(seen).collect() }
    }

    #[test]
    fn connecting_that_depends_on_the_kind_is_suspect() {
        let pair = |connect_us| unequal_connects(&[series(Kind::Full, 100), series(Kind::Ticket, connect_us)], 1);
        assert!(pair(102).is_empty() && pair(98).is_empty());
        assert_eq!(pair(119).concat().iter().map(|asked| asked.kind).collect::<Vec<_>>(), [Kind::Full, Kind::Ticket]);
        assert_eq!(pair(84).len(), 1);
    }
}
