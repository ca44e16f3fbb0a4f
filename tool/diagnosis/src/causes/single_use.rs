//! `single-use`: a session resumes once, and is refused when it is offered again. Under TLS 1.3 that is how tickets are meant to
//! be used (RFC 9846 §C.4); under TLS 1.2 it surprises.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use super::{Cause, JudgedRule};
use crate::diagnose::examined::{Examined, is_tls13, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(
        Concluded::SingleUse,
        |asked| if is_tls13(asked) { Severity::Note } else { Severity::Risk },
        |judgement| format!("A session of {} is accepted only once", mechanism(judgement.asked)),
    )),
    ..page!("single-use")
};

/// Whether the judge concludes it of TLS 1.3 tickets.
pub(super) fn is_shown(examined: &Examined<'_>) -> bool {
    let judgements = examined.case.judgements.iter();
    judgements.filter(|it| is_tls13(it.asked)).any(|it| it.of(Concluded::SingleUse).is_some())
}
