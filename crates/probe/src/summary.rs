//! From observations to the figures of a document.

use std::collections::BTreeMap;

use reprise_engine::outcome_of;
use reprise_stats::{Summary, paired_ratio, ratio, summarize};
use reprise_trace::document::{
    NextRequestStatistics, Observed, OfferedRecord, Ratio, Run, SampleRecord, Statistics, Traffic,
};
use reprise_trace::{Asked, Bytes, ClientAuthentication, EarlyData, Facts, Kind, Nanos, NextRequest, Observation, Phase};

use crate::series::Series;

impl Series {
    fn completed(&self) -> impl Iterator<Item = (&Observation, &Facts)> {
        self.observations.iter().filter_map(|seen| Some((seen, seen.facts()?)))
    }

    /// The observations that are of the kind that was asked.
    fn of_asked_kind(&self) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(|seen| seen.is_as_asked())
    }

    /// One phase of every connection that came out as asked.
    fn phase(&self, phase: Phase) -> Vec<u64> {
        self.of_asked_kind().filter_map(|seen| seen.phases.of(phase)).map(|nanos| nanos.0).collect()
    }

    /// One phase of one round, if that came out as asked.
    fn phase_in_round(&self, round: usize, phase: Phase) -> Option<u64> {
        let seen = self.observations.get(round).filter(|seen| seen.is_as_asked())?;
        seen.phases.of(phase).map(|nanos| nanos.0)
    }
}

/// The figures of one series.
pub fn run(series: &Series, seed: u64) -> Run {
    let asked: Vec<&Observation> = series.of_asked_kind().collect();
    let phases =
        Phase::ALL.into_iter().filter_map(|phase| Some((phase, statistics(summarize(&series.phase(phase), seed)?))));
    let mut http_status = BTreeMap::new();
    for status in series.completed().filter_map(|(seen, _)| seen.http_status) {
        *http_status.entry(status).or_default() += 1;
    }
    Run {
        asked: series.asked,
        observed: observed(series),
        n: asked.len() as u64,
        failed: (series.observations.len() - series.completed().count()) as u64,
        phases: phases.collect(),
        bytes: traffic(&asked),
        round_trips: median(asked.iter().map(|seen| seen.round_trips)),
        next_request: next_request(&asked, seed),
        http_status,
    }
}

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

/// Every counted connection.
pub fn records(runs: &[Series]) -> Vec<SampleRecord> {
    runs.iter().flat_map(Series::completed).map(|(seen, facts)| record(seen, facts)).collect()
}

fn record(seen: &Observation, facts: &Facts) -> SampleRecord {
    let offered = seen.offered.map(|offered| OfferedRecord {
        age_ns: offered.age.0,
        distance: seen.distance(),
        origin: offered.origin.map(|origin| origin.index),
        key_name: offered.key_name.map(|name| name.to_string()),
    });
    SampleRecord {
        local_port: seen.local_port().unwrap_or_default(),
        asked: seen.asked,
        kind: facts.kind,
        phases: seen.phases,
        index: Some(seen.index),
        start_ns: Some(seen.start.0),
        address: seen.server.map(|server| server.ip().to_string()),
        offered,
        http_status: seen.http_status,
    }
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
        ci95: ratio.ci95.map(|(low, high)| [low, high]),
        saved_ns: median(&from_values)? - median(&to_values)?,
    })
}

fn observed(series: &Series) -> Observed {
    let mut observed = Observed::default();
    for (seen, facts) in series.completed() {
        observed.kinds.add(facts.kind);
        observed.client_certificate_requested +=
            u64::from(facts.client_authentication != ClientAuthentication::NotRequested);
        observed.client_certificate_sent += u64::from(facts.client_authentication == ClientAuthentication::Sent);
        observed.tickets_given += u64::from(facts.tickets.count > 0);
        observed.tickets_received += u64::from(facts.tickets.count);
        observed.session_ids_given += u64::from(facts.session_id_given);
        observed.sessions_offered += u64::from(facts.session_offered);
        observed.early_data_sent += u64::from(facts.early_data.is_some());
        observed.hello_retry_requests += u64::from(facts.hello_retry_request);
        observed.early_data_accepted += u64::from(facts.early_data == Some(EarlyData::Accepted));
        observed.early_data_allowed += u64::from(seen.max_early_data().is_some());
        observed.max_early_data = observed.max_early_data.max(seen.max_early_data());
    }
    // A kind that was asked and never seen is a count of zero, not an absent one.
    observed.kinds.0.entry(series.asked.kind).or_default();
    observed.kinds.0.entry(Kind::Full).or_default();
    let of_asked_kind = series.of_asked_kind().find_map(Observation::facts);
    if let Some(facts) = of_asked_kind.or_else(|| series.completed().map(|(_, facts)| facts).next()) {
        let outcome = outcome_of(facts);
        observed.version = Some(outcome.version.to_string());
        observed.cipher = Some(outcome.cipher);
        observed.group = outcome.group;
        observed.signature = outcome.signature;
        observed.peer_key = outcome.peer_key;
        observed.psk_mode = outcome.psk_mode;
        observed.tickets_promised = outcome.tickets_promised;
        observed.alpn = outcome.alpn;
    }
    observed
}

pub(crate) fn statistics(summary: Summary) -> Statistics {
    Statistics {
        median_ns: summary.median,
        ci95_ns: summary.ci95.map(|(low, high)| [low, high]),
        mean_ns: summary.mean,
        min_ns: summary.min,
        max_ns: summary.max,
        p90_ns: summary.p90,
        p99_ns: summary.p99,
    }
}

fn traffic(samples: &[&Observation]) -> Option<Traffic> {
    Some(Traffic {
        sent: Bytes(median(samples.iter().map(|sample| sample.sent.0))?),
        received: Bytes(median(samples.iter().map(|sample| sample.received.0))?),
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
    use reprise_trace::{FaultName, Phases, Purpose, Version};

    use super::*;

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
            Series::of_observations(times.iter().map(|us| seen(kind, *us)).collect::<Vec<_>>())
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
        assert!(high - low < unpaired.1 - unpaired.0, "{low}..{high} is no narrower than {unpaired:?}");
    }
}
