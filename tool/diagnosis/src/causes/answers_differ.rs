//! `answers-differ`: the application answers resumed connections otherwise than full ones.

use reprise_model::Kind;
use reprise_model::document::{AnswerDifference, AnswerPart, Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule};
use crate::answers::{answer, is_of_resumption};
use crate::figures::means;
use crate::series::MeasuredCase;

pub(crate) static CAUSE: Cause = Cause {
    separated_by: &["answers"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 42, find: MeasuredRule::Once(of_measurement) }),
    ..page!("answers-differ")
};

/// RFC 8470 §5.2: the server will not risk to process a request that might be replayed, and the client asks again.
const TOO_EARLY: u16 = 425;

/// What has a cause of its own, and is not meant here.
fn is_too_early(difference: &AnswerDifference) -> bool {
    difference.kind == Kind::Early && difference.resumed.status == Some(TOO_EARLY)
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let mut differences: Vec<&AnswerDifference> =
        case.figures.answers_differ.iter().filter(|difference| !is_too_early(difference)).collect();
    differences.sort_by_key(|difference| (severity(difference), difference.confidence, !is_of_resumption(difference)));
    let first = differences.first()?;
    let kinds = match is_of_resumption(first) {
        true => "Resumed connections are",
        false => "Early data is",
    };
    let title = format!(
        "{kinds} answered with {}, full handshakes with {}",
        answer(first, &first.resumed),
        answer(first, &first.full)
    );
    let evidence = differences.iter().map(|it| {
        format!(
            "{} by {}: {} on {} of {}; full handshakes, made in turn with them: {} on {} of {}",
            it.tls,
            means(it.kind),
            answer(it, &it.resumed),
            it.resumed.connections,
            it.resumed.of,
            answer(it, &it.full),
            it.full.connections,
            it.full.of
        )
    });
    Some(case.found(&CAUSE, severity(first), first.confidence, title).because(evidence))
}

fn severity(difference: &AnswerDifference) -> Severity {
    match difference.part {
        _ if difference.is_error() => Severity::Fault,
        AnswerPart::Status | AnswerPart::Location | AnswerPart::Size => Severity::Risk,
        AnswerPart::Close => Severity::Note,
    }
}
