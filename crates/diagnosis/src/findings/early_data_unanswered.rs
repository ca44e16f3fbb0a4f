//! `early-data-unanswered`: the server accepts early data, and what is asked by it is never answered.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Kind, Observation, Purpose};

use crate::figures::connections;
use crate::series::Case;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let samples = case.observations.iter().filter(|seen| seen.purpose == Purpose::Sample);
    let early: Vec<&Observation> = samples.filter(|seen| seen.asked.kind == Kind::Early).collect();
    let unanswered = early.iter().filter(|seen| seen.outcome == Err(FaultName::EarlyDataUnanswered)).count();
    if unanswered == 0 {
        return Vec::new();
    }
    let all = connections(early.len() as u64);
    let mut evidence = vec![format!("No response on {unanswered} of {all} that sent early data")];
    let answered = case.samples().filter(|(seen, _)| seen.asked.kind != Kind::Early).count() as u64;
    if answered > 0 {
        evidence.push(format!("The same request after the handshake was answered on {}", connections(answered)));
    }
    // Where nothing else is answered either, it may be the service.
    let confidence = if answered > 0 { Confidence::Likely } else { Confidence::Possible };
    let title = "The server accepts early data and does not answer it";
    vec![case.found("early-data-unanswered", Severity::Fault, confidence, title).because(evidence)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    fn early(name: FaultName) -> Example {
        Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Early, 3).all(|it| it.outcome = Err(name))
    }

    #[test]
    fn silence_after_accepted_early_data_is_named() {
        let finding = only(findings, early(FaultName::EarlyDataUnanswered)).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Likely));
        assert_eq!(
            finding.evidence,
            [
                "No response on 3 of 3 connections that sent early data",
                "The same request after the handshake was answered on 100 connections"
            ]
        );
    }

    #[test]
    fn where_nothing_is_answered_early_data_may_not_be_to_blame() {
        let alone = Example::new().refused("1.3", Kind::Early, 3).all(|it| it.outcome = Err(FaultName::EarlyDataUnanswered));
        assert_eq!(only(findings, alone).unwrap().confidence, Confidence::Possible);
    }

    #[test]
    fn another_failure_is_another_matter() {
        assert_eq!(only(findings, early(FaultName::Timeout)), None);
    }
}
