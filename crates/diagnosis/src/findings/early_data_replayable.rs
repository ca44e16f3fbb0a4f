//! `early-data-replayable`: early data is accepted, and whoever records it can send it again.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Kind};

use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let is_accepted = |early: &&Series<'_>| early.asked.kind == Kind::Early && early.with(is_accepted) > 0;
    case.every_series().iter().filter(is_accepted).map(|early| finding(case, early)).collect()
}

fn is_accepted(facts: &Facts) -> bool {
    facts.early_data == Some(EarlyData::Accepted)
}

fn finding(case: &Case<'_>, early: &Series<'_>) -> Finding {
    let (accepted, sent) = (early.with(is_accepted), early.with(|facts| facts.early_data.is_some()));
    let title = "Early data is accepted: an attacker can replay such a request";
    case.found("early-data-replayable", Severity::Note, Confidence::Certain, title).because([
        format!("Accepted on {accepted} of {} that sent it", connections(sent)),
        "RFC 8446, section 8: nothing in TLS prevents a replay between connections, and section 2.3: early data has no \
             forward secrecy"
            .to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    #[test]
    fn what_was_accepted_can_be_replayed() {
        let early = |fate| Example::new().run("1.3", Kind::Early, 20).facts(|it| it.early_data = Some(fate));
        let finding = only(findings, early(EarlyData::Accepted)).unwrap();
        assert_eq!(finding.evidence[0], "Accepted on 100 of 100 connections that sent it");
        assert_eq!(only(findings, early(EarlyData::Rejected)), None);
    }
}
