//! `lifetime-invalid`: a TLS 1.3 ticket states a lifetime that the RFC does not allow.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::Examined;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain],
    examined: Some(Rule { rank: 7, find: ExaminedRule::Once(of_experiments) }),
    ..page!("lifetime-invalid")
};

/// RFC 9846 §4.7.1: the most that a ticket may say, in seconds.
const MOST_S: u32 = 604_800;

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let ([_, longest], evidence) = stated_lifetimes(examined, Version::Tls13)?;
    let (severity, title) = match longest {
        0 => (Severity::Fault, "TLS 1.3 tickets have a lifetime of 0 s: clients must discard them immediately".to_owned()),
        1..=MOST_S => return None,
        _ => (
            Severity::Risk,
            format!("TLS 1.3 tickets have a lifetime of {longest} s, more than the seven days that RFC 9846 allows"),
        ),
    };
    Some(CAUSE.finding(severity, Confidence::Certain, title).because([evidence]))
}

/// The shortest and the longest lifetime that tickets of this version state, in seconds, and what is said of all; `None` where no ticket
/// came.
pub(crate) fn stated_lifetimes(examined: &Examined<'_>, version: Version) -> Option<([u32; 2], String)> {
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|facts| facts.version == version);
    let lifetimes: Vec<u32> =
        facts.flat_map(|facts| facts.tickets.iter().map(|it| it.lifetime_s).collect::<Vec<_>>()).collect();
    let (shortest, longest) = (*lifetimes.iter().min()?, *lifetimes.iter().max()?);
    let span = if shortest == longest {
        format!("a lifetime of {longest} s")
    } else {
        format!("lifetimes from {shortest} to {longest} s")
    };
    Some(([shortest, longest], format!("{} tickets, with {span}", lifetimes.len())))
}
