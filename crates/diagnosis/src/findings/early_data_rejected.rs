//! `early-data-rejected`: tickets allow early data, and the server rejects it though it retries nothing. RFC 8446 §4.2.10 has
//! the reasons.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Kind};

use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let is_rejected = |early: &&Series<'_>| early.asked.kind == Kind::Early && early.with(is_rejected) > 0;
    case.conclusive_series().iter().filter(is_rejected).map(|early| finding(case, early)).collect()
}

/// A HelloRetryRequest rejects early data whatever the server would have done with it: that is `early-data-hrr`.
fn is_rejected(facts: &Facts) -> bool {
    facts.early_data == Some(EarlyData::Rejected) && !facts.hello_retry_request
}

fn finding(case: &Case<'_>, early: &Series<'_>) -> Finding {
    let sent = connections(early.with(|facts| facts.early_data.is_some()));
    let title = match early.with(|facts| facts.early_data == Some(EarlyData::Accepted)) {
        0 => "Tickets allow early data, and the server rejects it",
        _ => "Tickets allow early data, and the server sometimes rejects it",
    };
    case.found("early-data-rejected", Severity::Risk, Confidence::Certain, title)
        .because([format!("Rejected on {} of {sent} that sent it", early.with(is_rejected)), SENT_TWICE.to_owned()])
}

pub(super) const SENT_TWICE: &str = "Each time the request was sent again after the handshake, so its bytes were sent twice";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    fn early(fate: EarlyData) -> Example {
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20);
        example.facts(|it| it.early_data = Some(fate))
    }

    #[test]
    fn replay_protection_is_told_with_its_count() {
        let finding = only(findings, early(EarlyData::Rejected)).unwrap();
        assert_eq!(finding.evidence[0], "Rejected on 100 of 100 connections that sent it");
        assert!(finding.remedy.unwrap().text.contains("replay protection"));
        assert!(finding.title.ends_with("rejects it"));
    }

    #[test]
    fn some_rejections_are_now_and_then() {
        let reject =
            |it: &mut reprise_model::Observation| it.outcome.as_mut().unwrap().early_data = Some(EarlyData::Rejected);
        let finding = only(findings, early(EarlyData::Accepted).first(60, reject)).unwrap();
        assert!(finding.title.ends_with("sometimes rejects it") && finding.evidence[0].starts_with("Rejected on 60 of 100"));
        assert_eq!(only(findings, early(EarlyData::Accepted)), None);
    }

    #[test]
    fn a_retry_is_another_cause() {
        assert_eq!(only(findings, early(EarlyData::Rejected).facts(|it| it.hello_retry_request = true)), None);
    }
}
