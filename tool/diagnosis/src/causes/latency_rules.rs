//! `latency-rules`: the network's round trips make up most of a connection, and a TLS 1.3 resumption saves none of them.
//!
//! Said only where the samples bear it: they are enough and of one mode, and even the ends of their intervals that speak most against it
//! leave the network most of the connection.

use reprise_model::document::{Confidence, Finding, Run, Severity};
use reprise_model::{Kind, Phase, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::{from_to, percent, span};
use crate::savings::{bears_a_sentence, interval_ns, median_ns};
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely],
    measured: Some(Rule { rank: 10, find: MeasuredRule::Once(of_measurement) }),
    ..page!("latency-rules")
};

/// The share of the whole connection from which waiting for the network is most of it.
const MOST: f64 = 0.5;

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let full = case.conclusive_run(Version::Tls13, Kind::Full)?;
    let saves_no_round_trip = |run: &&Run| {
        bears_a_sentence(case.figures, run, Phase::Total)
            && matches!((run.round_trips, full.round_trips), (Some(resumed), Some(full)) if resumed >= full)
    };
    let kinds = [Kind::Ticket, Kind::Psk, Kind::Early];
    let resumed = kinds.iter().filter_map(|kind| case.conclusive_run(Version::Tls13, *kind)).find(saves_no_round_trip);
    let bears = bears_a_sentence(case.figures, full, Phase::Total);
    let waiting = Waiting::in_run(full).filter(|waiting| bears && waiting.least_share >= MOST);
    Some(finding(case, full, resumed?, waiting?))
}

/// How much of a connection passes with waiting for the network. Connecting is one round trip and nothing else.
struct Waiting {
    round_trip_ns: u64,
    round_trips: u64,
    total_ns: u64,
    /// The share of the connection that it is at least, as far as the intervals tell.
    least_share: f64,
}

impl Waiting {
    fn in_run(run: &Run) -> Option<Self> {
        let request = u64::from(run.phases.contains_key(&Phase::Wait));
        let round_trips = run.round_trips?.saturating_add(1 + request);
        let ([shortest, _], [_, longest]) = (interval_ns(run, Phase::Connect)?, interval_ns(run, Phase::Total)?);
        Some(Self {
            round_trip_ns: median_ns(run, Phase::Connect)?,
            round_trips,
            total_ns: median_ns(run, Phase::Total)?,
            least_share: share(shortest.saturating_mul(round_trips), longest),
        })
    }

    fn ns(&self) -> u64 {
        self.round_trip_ns.saturating_mul(self.round_trips)
    }

    fn share(&self) -> f64 {
        share(self.ns(), self.total_ns)
    }
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 { 0.0 } else { part_ns as f64 / whole_ns as f64 }
}

fn finding(case: &MeasuredCase<'_>, full: &Run, resumed: &Run, waiting: Waiting) -> Finding {
    let (waited, total) = from_to(waiting.ns(), waiting.total_ns);
    let mut evidence = vec![
        format!(
            "A round trip takes {} (connect); a full connection waits for {}: {waited} of {total}, {}",
            span(waiting.round_trip_ns),
            waiting.round_trips,
            percent(waiting.share().min(1.0))
        ),
        format!(
            "Round trips before data may be sent: full {}, {} {}",
            full.round_trips.unwrap_or_default(),
            resumed.asked.kind,
            resumed.round_trips.unwrap_or_default()
        ),
    ];
    if let Some(next) = resumed.next_request.or(full.next_request) {
        evidence.push(format!("The next request on a kept-alive connection takes {}", span(next.wait.median_ns)));
    }
    let title = "Latency dominates, not computing: resuming TLS 1.3 saves no round trip";
    case.found(&CAUSE, Severity::Note, Confidence::Likely, title).because(evidence).by_design()
}
