//! `early-data-hrr`: a HelloRetryRequest rejects early data, whatever the server would have done with it (RFC 8446 §4.2.10).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Kind};

use super::early_data_rejected::SENT_TWICE;
use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let is_retried = |early: &&Series<'_>| early.asked.kind == Kind::Early && early.with(is_retried) > 0;
    case.every_series().iter().filter(is_retried).map(|early| finding(case, early)).collect()
}

fn is_retried(facts: &Facts) -> bool {
    facts.early_data == Some(EarlyData::Rejected) && facts.hello_retry_request
}

fn finding(case: &Case<'_>, early: &Series<'_>) -> Finding {
    let retried = early.with(is_retried);
    let sent = connections(early.with(|facts| facts.early_data.is_some()));
    let title = "The server requests another group, and its HelloRetryRequest rejects early data";
    case.found("early-data-hrr", Severity::Risk, Confidence::Certain, title).because([
        format!("Rejected on {retried} of {sent} that sent it"),
        format!("A HelloRetryRequest came on {}, which rejects early data (RFC 8446, section 4.2.10)", connections(retried)),
        SENT_TWICE.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    #[test]
    fn a_retry_is_told_from_replay_protection() {
        let rejected = || {
            let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20);
            example.facts(|it| it.early_data = Some(EarlyData::Rejected))
        };
        let finding = only(findings, rejected().facts(|it| it.hello_retry_request = true)).unwrap();
        assert!(finding.evidence[1].starts_with("A HelloRetryRequest came on 100 connections"), "{finding:?}");
        assert!(finding.remedy.unwrap().text.contains("--groups"));
        assert_eq!(only(findings, rejected()), None);
    }
}
