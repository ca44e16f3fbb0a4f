//! `chain-cap`: sessions are refused after so many resumptions since the full handshake.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::resumed_ticket_refused::is_cap_of_one;
use super::{Cause, JudgedRule};
use crate::diagnose::examined::mechanism;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    // Where the cap is one resumption, it is a fault, and has a name of its own.
    judged: Some(
        JudgedRule::of(Concluded::ChainCap, |_| Severity::Note, title).if_it(|judgement| !is_cap_of_one(judgement)),
    ),
    ..page!("chain-cap")
};

fn title(judgement: &Judgement) -> String {
    format!("{}: sessions are refused after so many resumptions since the full handshake", mechanism(judgement.asked))
}
