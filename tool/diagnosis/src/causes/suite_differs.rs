//! `suite-differs`: a session is refused where the server would prefer another suite now than the one that it was made with:
//! under TLS 1.3 of another hash (RFC 9846 §4.3.11), under TLS 1.2 any other (RFC 5246 §7.4.1.3).
//!
//! A client that offers a session without such a suite is told too.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule};
use crate::client::case::{self, ClientCase, Offered, outcome};
use crate::diagnose::examined::{Examined, ResumptionOutcome, came, evidence, mechanism, named};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["other-suite", "no-suite-of-its-hash"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 19, find: ExaminedRule::Several(of_experiments) }),
    watched: Some(Rule { rank: 11, find: of_client }),
    ..page!("suite-differs")
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let refused = examined.runs("other-suite").filter_map(|run| of_refusal(examined, run));
    refused.chain(examined.runs("no-suite-of-its-hash").filter_map(|run| of_failure(examined, run))).collect()
}

fn of_refusal(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let confidence = examined.loses(run)?;
    let title = format!("{}: a session is refused when the server now prefers another suite", mechanism(run.asked));
    Some(CAUSE.finding(Severity::Note, confidence, title).because(evidence(run)).by_design().under([run.asked]))
}

/// The server ends the connection where a session is offered and no suite of its hash, though the same suites complete without one.
fn of_failure(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let is_served = examined
        .runs("other-suite")
        .any(|other| other.asked == run.asked && other.seen.first().is_some_and(|seen| seen.observation.facts().is_some()));
    let failure = |seen: &[ProbeRecord]| seen.iter().filter_map(came).find_map(ended_by_server);
    let confidence = Examined::each_time(run, |seen| failure(seen).is_some())?;
    let title = format!(
        "{}: the connection fails ({}) where no suite has the hash of the session that is offered",
        mechanism(run.asked),
        named(failure(&run.seen)?)
    );
    // RFC 9846 §4.7.1: a client that offers the session should have such a suite.
    let finding = CAUSE.finding(Severity::Note, confidence, title).under([run.asked]);
    let evidence = [OF_THE_SAME_SUITES.to_owned()].into_iter().chain(evidence(run));
    (is_served && examined.always_resumes(run.asked)).then(|| finding.because(evidence))
}

fn ended_by_server(came: ResumptionOutcome) -> Option<FaultName> {
    match came {
        ResumptionOutcome::Failed(name @ (FaultName::Alert(_) | FaultName::ClosedEarly | FaultName::ConnectionReset)) => {
            Some(name)
        }
        _ => None,
    }
}

const OF_THE_SAME_SUITES: &str =
    "The same suites complete where no session is offered; RFC 9846 §4.3.11 asks for a full handshake here";

/// The only suite of TLS 1.3 with SHA-384.
const AES_256_GCM_SHA384: u16 = 0x1302;
const TLS13_SUITES: std::ops::RangeInclusive<u16> = 0x1301..=0x1305;

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let lines = case.offered().filter(is_unusable).map(|it| line(&it));
    let title = "The client offers sessions without their cipher suite";
    case.found_in(&CAUSE, Severity::Risk, Confidence::Certain, title, lines)
}

fn is_unusable(offered: &Offered<'_>) -> bool {
    let Some(agreed) = offered.source.agreed() else { return false };
    let hash = |suite: u16| suite == AES_256_GCM_SHA384;
    match agreed.version {
        Version::Tls12 => !offered.offer.suites.contains(&agreed.suite),
        Version::Tls13 => {
            let mut suites = offered.offer.suites.iter().filter(|suite| TLS13_SUITES.contains(suite));
            !suites.any(|suite| hash(*suite) == hash(agreed.suite))
        }
    }
}

fn line(offered: &Offered<'_>) -> String {
    let suite = offered.source.agreed().map_or(0, |agreed| agreed.suite);
    let suite = reprise_wire::CipherSuite(suite);
    format!(
        "{}: offers a session of {suite} and not this suite; {}",
        case::named(offered.connection),
        outcome(offered.connection)
    )
}
