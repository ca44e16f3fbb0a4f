//! From samples to the figures of a document.

use std::collections::BTreeMap;

use reprise_stats::{Summary, paired_ratio, ratio, summarize};
use reprise_trace::document::{NextRequestStatistics, Observed, Ratio, Run, SampleRecord, Statistics, Traffic};
use reprise_trace::{Asked, Attempt, Bytes, ClientAuthentication, EarlyData, Kind, Nanos, NextRequest, Phase, Sample};

/// The attempts of one version and kind, in the order in which they were made; those of one index were made in turns.
pub(crate) struct Attempts {
    pub(crate) asked: Asked,
    pub(crate) rounds: Vec<Attempt>,
}

impl Attempts {
    fn completed(&self) -> impl Iterator<Item = &Sample> {
        self.rounds.iter().filter_map(|attempt| attempt.as_ref().ok())
    }

    /// The samples that are of the kind that was asked.
    fn of_asked_kind(&self) -> impl Iterator<Item = &Sample> {
        self.completed().filter(|sample| sample.outcome.kind == self.asked.kind)
    }

    /// One phase of every connection that came out as asked.
    fn phase(&self, phase: Phase) -> Vec<u64> {
        self.of_asked_kind().filter_map(|sample| sample.phases.of(phase)).map(|nanos| nanos.0).collect()
    }

    /// One phase of one round, if that came out as asked.
    fn phase_in_round(&self, round: usize, phase: Phase) -> Option<u64> {
        let sample = self.rounds.get(round)?.as_ref().ok()?;
        let phase = sample.phases.of(phase)?;
        (sample.outcome.kind == self.asked.kind).then_some(phase.0)
    }
}

/// The figures of one run.
pub(crate) fn run(attempts: &Attempts, seed: u64) -> Run {
    let asked: Vec<&Sample> = attempts.of_asked_kind().collect();
    let phases =
        Phase::ALL.into_iter().filter_map(|phase| Some((phase, statistics(summarize(&attempts.phase(phase), seed)?))));
    let mut http_status = BTreeMap::new();
    for status in attempts.completed().filter_map(|sample| sample.http_status) {
        *http_status.entry(status).or_default() += 1;
    }
    Run {
        asked: attempts.asked,
        observed: observed(attempts),
        n: asked.len() as u64,
        failed: (attempts.rounds.len() - attempts.completed().count()) as u64,
        phases: phases.collect(),
        bytes: traffic(&asked),
        round_trips: median(asked.iter().map(|sample| sample.round_trips)),
        next_request: next_request(&asked, seed),
        http_status,
    }
}

/// What each kind of resumption saves against a full handshake of its version, phase by phase.
pub(crate) fn ratios(runs: &[Attempts], seed: u64) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for to in runs.iter().filter(|run| run.asked.kind != Kind::Full) {
        let full = Asked { kind: Kind::Full, ..to.asked };
        let Some(from) = runs.iter().find(|run| run.asked == full) else { continue };
        ratios.extend(Phase::ALL.into_iter().filter_map(|phase| compare(from, to, phase, seed)));
    }
    ratios
}

/// Every counted connection.
pub(crate) fn records(runs: &[Attempts]) -> Vec<SampleRecord> {
    let samples = runs.iter().flat_map(Attempts::completed);
    let record = |sample: &Sample| SampleRecord {
        local_port: sample.local_port,
        asked: sample.asked,
        kind: sample.outcome.kind,
        phases: sample.phases,
    };
    samples.map(record).collect()
}

/// Of the medians that stand in the runs. Where a connection failed or was of another kind, its round has no pair, and the
/// rest of the pairs have medians of their own: the interval then forgoes the rounds, not the samples.
fn compare(from: &Attempts, to: &Attempts, phase: Phase, seed: u64) -> Option<Ratio> {
    let rounds = from.rounds.len().min(to.rounds.len());
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

fn observed(attempts: &Attempts) -> Observed {
    let mut observed = Observed::default();
    for outcome in attempts.completed().map(|sample| &sample.outcome) {
        observed.kinds.add(outcome.kind);
        observed.client_certificate_requested +=
            u64::from(outcome.client_authentication != ClientAuthentication::NotRequested);
        observed.client_certificate_sent += u64::from(outcome.client_authentication == ClientAuthentication::Sent);
        observed.tickets_given += u64::from(outcome.tickets > 0);
        observed.tickets_received += u64::from(outcome.tickets);
        observed.session_ids_given += u64::from(outcome.session_id_given);
        observed.sessions_offered += u64::from(outcome.session_offered);
        observed.early_data_sent += u64::from(outcome.early_data.is_some());
        observed.hello_retry_requests += u64::from(outcome.hello_retry_request);
        observed.early_data_accepted += u64::from(outcome.early_data == Some(EarlyData::Accepted));
    }
    observed.early_data_allowed = attempts.completed().filter(|sample| sample.max_early_data.is_some()).count() as u64;
    observed.max_early_data = attempts.completed().filter_map(|sample| sample.max_early_data).max();
    // A kind that was asked and never seen is a count of zero, not an absent one.
    observed.kinds.0.entry(attempts.asked.kind).or_default();
    observed.kinds.0.entry(Kind::Full).or_default();
    if let Some(sample) = attempts.of_asked_kind().next().or_else(|| attempts.completed().next()) {
        let outcome = sample.outcome.clone();
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

fn statistics(summary: Summary) -> Statistics {
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

fn traffic(samples: &[&Sample]) -> Option<Traffic> {
    Some(Traffic {
        sent: Bytes(median(samples.iter().map(|sample| sample.sent.0))?),
        received: Bytes(median(samples.iter().map(|sample| sample.received.0))?),
    })
}

fn next_request(samples: &[&Sample], seed: u64) -> Option<NextRequestStatistics> {
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
    use reprise_trace::Version;

    use super::*;
    use crate::example::sample;
    use crate::failure;

    fn attempts(asked: Kind, rounds: Vec<Attempt>) -> Attempts {
        Attempts { asked: Asked { tls: Version::Tls13, kind: asked }, rounds }
    }

    fn only_ratio(full: Vec<Attempt>, ticket: Vec<Attempt>) -> (Ratio, [u64; 2]) {
        let runs = [attempts(Kind::Full, full), attempts(Kind::Ticket, ticket)];
        let [ratio] = ratios(&runs, 1).try_into().unwrap();
        (ratio, runs.map(|it| run(&it, 1).phases[&Phase::Tls].median_ns))
    }

    /// Rounds in which the ticket was refused, or the full handshake failed, are those in which the server was slow.
    #[test]
    fn a_ratio_is_that_of_the_medians_beside_it_where_some_rounds_have_no_pair() {
        let full = |us| Ok(sample(Kind::Full, Kind::Full, us));
        let ticket = |us| Ok(sample(Kind::Ticket, Kind::Ticket, us));
        let broken = || Err(failure::unconfirmed());
        let full = vec![full(100), full(100), full(100), full(900), full(900), full(900), full(900), broken(), broken()];
        let resumed =
            vec![ticket(50), ticket(50), ticket(50), broken(), broken(), broken(), broken(), ticket(400), ticket(50)];
        let (ratio, [full_ns, resumed_ns]) = only_ratio(full, resumed);
        assert_eq!((full_ns, resumed_ns), (900_000, 50_000));
        assert_eq!((ratio.median, ratio.saved_ns), (18.0, 850_000));
    }

    #[test]
    fn where_every_round_has_its_pair_the_interval_knows_of_the_rounds() {
        let resumed_us: Vec<u64> = (0..20).map(|round| 100 + round * 37 % 100).collect();
        let full_us: Vec<u64> = resumed_us.iter().map(|us| 2 * us).collect();
        let full = full_us.iter().map(|&us| Ok(sample(Kind::Full, Kind::Full, us))).collect();
        let resumed = resumed_us.iter().map(|&us| Ok(sample(Kind::Ticket, Kind::Ticket, us))).collect();
        let (ratio, _) = only_ratio(full, resumed);
        let [low, high] = ratio.ci95.unwrap();
        let unpaired = reprise_stats::ratio(&full_us, &resumed_us, 1).unwrap().ci95.unwrap();
        assert_eq!(ratio.median, 2.0);
        assert!(high - low < unpaired.1 - unpaired.0, "{low}..{high} is no narrower than {unpaired:?}");
    }
}
