//! `hidden-nodes`: tickets are accepted now and then, as by nodes behind one address that do not share their keys.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::accepted_sometimes::{accepted_sometimes, explained};
use crate::nodes::{Sharing, sharing};
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    accepted_sometimes(case, Kind::Ticket).iter().filter_map(|tickets| finding(case, tickets)).collect()
}

fn finding(case: &Case<'_>, tickets: &Series<'_>) -> Option<Finding> {
    let sharing = sharing(case, tickets);
    let confidence = match sharing {
        Sharing::KeyNames(_) => Confidence::Certain,
        Sharing::InTurn(_) => Confidence::Likely,
        // Another finding says so.
        Sharing::ByOrigin(_) => return None,
        Sharing::Unknown => Confidence::Possible,
    };
    let title = format!("{} tickets are accepted only sometimes", tickets.asked.tls);
    let finding = case.found("hidden-nodes", Severity::Risk, confidence, title);
    Some(explained(finding, case, tickets, sharing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::Nanos;

    fn tickets(refused: u64) -> Finding {
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).of_which_full(refused);
        only(findings, example).unwrap()
    }

    #[test]
    fn what_nothing_tells_apart_is_one_reading_of_several() {
        let finding = tickets(52);
        assert_eq!((finding.id.as_str(), finding.confidence), ("hidden-nodes", Confidence::Possible));
        assert_eq!(finding.evidence[0], "48 of 100 connections that offered one resumed");
        assert!(finding.evidence[1].starts_with("Neither distance"), "{:?}", finding.evidence);
        assert_eq!(finding.cost_ns, Some(Nanos(312_000)));
    }

    #[test]
    fn of_a_few_resumptions_nothing_is_concluded() {
        assert!(tickets(95).evidence[1].starts_with("Fewer than 6"));
        assert!(tickets(2).evidence[1].starts_with("Fewer than 6"));
    }

    #[test]
    fn an_error_page_is_no_refusal() {
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).of_which_full(50);
        assert_eq!(only(findings, example.first(50, |it| it.http_status = Some(503))), None);
    }
}
