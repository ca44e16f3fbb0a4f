//! `id-never-accepted`: session IDs are given and none is ever accepted. nginx's default cache `none` does just that.

use reprise_model::document::{Finding, Severity};
use reprise_model::{Kind, Phase, Version};

use crate::savings::{Saving, saving};
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    // TLS 1.3 has none to accept.
    let series = case.conclusive_series();
    let refused = series.iter().find(|series| series.asked.kind == Kind::Id && series.is_all_refused());
    let is_resuming =
        |it: &&Series<'_>| (it.asked.tls, it.asked.kind) == (Version::Tls12, Kind::Ticket) && it.as_asked() > 0;
    let tickets_resume = series.iter().any(|it| is_resuming(&it));
    refused.map(|refused| finding(case, refused, tickets_resume)).into_iter().collect()
}

fn finding(case: &Case<'_>, refused: &Series<'_>, tickets_resume: bool) -> Finding {
    // A ticket that resumes under the same version tells what an accepted ID would have saved.
    let ticket = case.conclusive_run(Version::Tls12, Kind::Ticket);
    let ticket = ticket.and_then(|ticket| saving(case.figures, ticket, Phase::Tls));
    let mut evidence = vec![refused.refusal()];
    if tickets_resume {
        evidence.push("Tickets of the same server resume: only clients without ticket support pay".to_owned());
    }
    let severity = if tickets_resume { Severity::Risk } else { Severity::Fault };
    let title = "TLS 1.2 session IDs are given and never accepted";
    let finding = case.found("id-never-accepted", severity, refused.confidence_of_refusal(), title).because(evidence);
    let cost_ns = ticket.filter(Saving::is_shown).map(|saving| saving.saved());
    finding.costing(cost_ns).costing_cpu(case.cpu_cost(Version::Tls12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::Nanos;
    use reprise_model::document::Confidence;

    #[test]
    fn ids_that_are_never_accepted_are_a_fault_of_unknown_cost() {
        let finding = only(findings, Example::new().run("1.2", Kind::Full, 900).refused("1.2", Kind::Id, 20)).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Fault, None));
        assert_eq!(finding.evidence, ["20 of 20 connections that offered one ended in a full handshake"]);
    }

    #[test]
    fn a_few_refusals_may_be_chance() {
        let confidence = |refused| {
            let example = Example::new().run("1.2", Kind::Full, 900).refused("1.2", Kind::Id, refused);
            only(findings, example).unwrap().confidence
        };
        let expected = (Confidence::Possible, Confidence::Possible, Confidence::Likely);
        assert_eq!((confidence(1), confidence(5), confidence(6)), expected);
    }

    #[test]
    fn a_ticket_that_resumes_tells_the_cost() {
        let example = Example::new().run("1.2", Kind::Full, 900).refused("1.2", Kind::Id, 100).run("1.2", Kind::Ticket, 200);
        let finding = only(findings, example).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, Some(Nanos(700_000))));
    }

    #[test]
    fn tickets_resume_whether_full_handshakes_were_measured_or_not() {
        let finding = only(findings, Example::new().refused("1.2", Kind::Id, 100).run("1.2", Kind::Ticket, 200)).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, None));
    }

    #[test]
    fn ids_that_are_sometimes_accepted_are_another_matter() {
        let example = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 200).of_which_full(50);
        assert_eq!(only(findings, example), None);
    }
}
