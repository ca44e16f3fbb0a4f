//! `resumed-ticket-refused`: what a full handshake gives is accepted, what a resumed one gives is not; or the last of each alone.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::accepted_sometimes::{accepted_sometimes, explained};
use crate::nodes::{Accepted, Sharing, sharing};
use crate::series::Case;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let tickets = accepted_sometimes(case, Kind::Ticket);
    let by_origin = tickets.iter().filter_map(|tickets| match sharing(case, tickets) {
        Sharing::ByOrigin(accepted) => Some((tickets, accepted)),
        _ => None,
    });
    by_origin
        .map(|(tickets, accepted)| {
            let refused = match accepted {
                Accepted::OfFull => "that a resumed connection gives",
                Accepted::Last => "other than the last of a connection",
                Accepted::LastOfFull => "other than the last of a full handshake",
            };
            let title = format!("{} tickets {refused} are refused", tickets.asked.tls);
            let finding = case.found("resumed-ticket-refused", Severity::Fault, Confidence::Likely, title);
            explained(finding, case, tickets, Sharing::ByOrigin(accepted))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::Origin;

    #[test]
    fn tickets_of_resumed_connections_are_told_apart() {
        let mut nth = 0;
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).all(|it| {
            nth += 1;
            let was_resumed = nth % 2 == 0;
            it.index = 1_000 + nth;
            it.offered.as_mut().unwrap().origin = Some(Origin { index: it.index - 1 - nth % 3, was_resumed, is_last: true });
            it.outcome.as_mut().unwrap().kind = if was_resumed { Kind::Full } else { Kind::Ticket };
        });
        let finding = only(findings, example).unwrap();
        assert_eq!(finding.id, "resumed-ticket-refused");
        assert!(finding.evidence[2].contains("given by a full handshake"), "{:?}", finding.evidence);
    }
}
