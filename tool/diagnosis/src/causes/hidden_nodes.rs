//! `hidden-nodes`: tickets are accepted now and then, as by nodes behind one address that do not share their keys.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::parted_title::parted_title;
use super::{Cause, JudgedRule, node_certificate_differs};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&node_certificate_differs::CAUSE],
    separated_by: &["resume", "history", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NotShared, |_| Severity::Risk, title).under(&[Kind::Ticket])),
    ..page!("hidden-nodes")
};

fn title(judgement: &Judgement) -> String {
    parted_title(judgement, "tickets")
}
