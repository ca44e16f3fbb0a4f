//! `id-cache-per-process`: session IDs are accepted now and then, as by processes or nodes with a cache each.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::accepted_sometimes::{accepted_sometimes, explained};
use crate::nodes::{Sharing, sharing};
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    accepted_sometimes(case, Kind::Id).iter().map(|ids| finding(case, ids)).collect()
}

fn finding(case: &Case<'_>, ids: &Series<'_>) -> Finding {
    let series = case.conclusive_series();
    let tickets = series.iter().find(|it| (it.asked.tls, it.asked.kind) == (ids.asked.tls, Kind::Ticket));
    let tickets = tickets.filter(|tickets| tickets.as_asked() == tickets.count());
    // Where tickets always work, the nodes share keys and only the cache is left.
    let sharing = sharing(case, ids);
    let is_in_turn = matches!(sharing, Sharing::InTurn(_));
    let confidence = if tickets.is_some() || is_in_turn { Confidence::Likely } else { Confidence::Possible };
    let always = tickets.map(|tickets| format!("Tickets resumed {} of {}", tickets.as_asked(), tickets.count()));
    let title = format!("{} session IDs are accepted only sometimes", ids.asked.tls);
    let finding = case.found("id-cache-per-process", Severity::Risk, confidence, title);
    let mut finding = explained(finding, case, ids, sharing);
    finding.evidence.extend(always);
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    #[test]
    fn ids_that_hit_sometimes_while_tickets_always_do() {
        let example = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 300).of_which_full(75).run(
            "1.2",
            Kind::Ticket,
            300,
        );
        let finding = only(findings, example).unwrap();
        assert_eq!((finding.id.as_str(), finding.confidence), ("id-cache-per-process", Confidence::Likely));
        assert_eq!(finding.evidence[2], "Tickets resumed 100 of 100");
    }

    #[test]
    fn without_tickets_beside_them_it_is_one_reading_of_several() {
        let example = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 300).of_which_full(75);
        let finding = only(findings, example).unwrap();
        assert_eq!((finding.confidence, finding.evidence.len()), (Confidence::Possible, 2));
    }
}
