//! `early-data-too-early`: TLS accepts early data, and the service behind it answers 425.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Kind, Observation};

use crate::figures::connections;
use crate::series::{Case, Series};

/// RFC 8470 §5.2: the server will not risk to process a request that might be replayed.
const TOO_EARLY: u16 = 425;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    case.every_series()
        .iter()
        .filter(|series| series.asked.kind == Kind::Early)
        .filter_map(|early| finding(case, early))
        .collect()
}

fn finding(case: &Case<'_>, early: &Series<'_>) -> Option<Finding> {
    let is_too_early = |(observation, facts): &&(&Observation, &Facts)| {
        observation.http_status == Some(TOO_EARLY) && facts.early_data == Some(EarlyData::Accepted)
    };
    let count = early.completed.iter().filter(is_too_early).count();
    let all = connections(early.count());
    let evidence = format!(
        "Status 425 on {count} of {all}: TLS accepted the request, the service behind it did not (RFC 8470, section 5.2)"
    );
    let title = "The service answers early data with 425 Too Early";
    (count > 0).then(|| case.found("early-data-too-early", Severity::Risk, Confidence::Certain, title).because([evidence]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    #[test]
    fn a_service_that_says_too_early_is_quoted() {
        let early = || Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20);
        let answered = |early_data| {
            let answered = early().facts(|it| it.early_data = Some(early_data));
            only(findings, answered.all(|it| it.http_status = Some(425)))
        };
        let finding = answered(EarlyData::Accepted).unwrap();
        assert!(finding.evidence[0].starts_with("Status 425 on 100 of 100 connections"));
        assert_eq!(answered(EarlyData::Rejected), None);
        assert_eq!(only(findings, early()), None);
    }
}
