//! `rate-limited`: connections fail after too many in a short time.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Observation;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(
        JudgedRule::of(
            Concluded::RateLimit,
            |_| Severity::Note,
            |_| "Connections fail after too many in a short time".to_owned(),
        )
        .if_it(has_recovered),
    ),
    ..page!("rate-limited")
};

/// A limit lets connections through again; a server that died does not.
fn has_recovered(judgement: &Judgement) -> bool {
    let completes = |seen: &Observation| seen.facts().is_some();
    judgement.observations.iter().skip_while(|seen| completes(seen)).any(completes)
}
