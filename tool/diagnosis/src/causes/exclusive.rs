//! Causes that exclude each other: on one page at most one of two such findings is likely or certain.

use reprise_model::document::{Confidence, Finding};

use super::{
    Cause, client_cache_small, client_never_offers, client_reuses_ticket, early_data_hrr, early_data_off,
    early_data_rejected, early_data_replayable, early_data_stateful, early_data_too_early, early_data_unanswered, node_down,
    offer_breaks_connection, rate_limited, restart_lost_keys, rotation_no_overlap,
};

/// Each cause with those that cannot be true beside it, whatever version or mechanism they are found under.
pub(super) static EXCLUSIVE: &[(&Cause, &[&Cause])] = &[
    // No ticket allows early data, or some do.
    (
        &early_data_off::CAUSE,
        &[
            &early_data_hrr::CAUSE,
            &early_data_rejected::CAUSE,
            &early_data_replayable::CAUSE,
            &early_data_stateful::CAUSE,
            &early_data_too_early::CAUSE,
            &early_data_unanswered::CAUSE,
        ],
    ),
    // Early data that is not taken makes nothing stateful.
    (&early_data_stateful::CAUSE, &[&early_data_rejected::CAUSE]),
    // Why connections fail: since of several nodes one does, since a session is offered, or since there are too many.
    (&node_down::CAUSE, &[&offer_breaks_connection::CAUSE, &rate_limited::CAUSE]),
    (&offer_breaks_connection::CAUSE, &[&rate_limited::CAUSE]),
    // Keys were lost once, or are replaced again and again.
    (&restart_lost_keys::CAUSE, &[&rotation_no_overlap::CAUSE]),
    // What is never offered is not offered too often, nor forgotten for lack of room.
    (&client_never_offers::CAUSE, &[&client_cache_small::CAUSE, &client_reuses_ticket::CAUSE]),
];

/// Whether two findings cannot both be true.
pub(super) fn exclude_each_other(one: &str, other: &str) -> bool {
    let has = |(cause, others): &(&Cause, &[&Cause]), one: &str, other: &str| {
        cause.slug == one && others.iter().any(|it| it.slug == other)
    };
    EXCLUSIVE.iter().any(|row| has(row, one, other) || has(row, other, one))
}

/// Leaves out of findings, the worst first, each that is likely and that a better supported one excludes.
pub(crate) fn leave_out_excluded(findings: &mut Vec<Finding>) {
    let mut order: Vec<usize> = (0..findings.len()).filter(|place| is_told(&findings[*place])).collect();
    // Of equal support the worse one stays, which stands first.
    order.sort_by_key(|place| (findings[*place].confidence, std::cmp::Reverse(findings[*place].odds)));
    let mut kept: Vec<usize> = Vec::new();
    for place in order {
        if !kept.iter().any(|other| exclude_each_other(&findings[*other].id, &findings[place].id)) {
            kept.push(place);
        }
    }
    let mut place = 0..;
    findings.retain(|finding| place.next().is_some_and(|place| !is_told(finding) || kept.contains(&place)));
}

fn is_told(finding: &Finding) -> bool {
    finding.confidence != Confidence::Possible
}

#[cfg(test)]
mod tests {
    use reprise_model::document::Severity;

    use super::*;
    use crate::causes::causes;

    /// What is left of findings of these causes, which are this sure.
    fn left(found: [(&Cause, Confidence); 2]) -> Vec<String> {
        let mut findings: Vec<Finding> =
            found.map(|(cause, confidence)| cause.finding(Severity::Risk, confidence, "")).into();
        leave_out_excluded(&mut findings);
        findings.into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn pairs_that_exclude_each_other_are_not_told_together() {
        use Confidence::{Certain, Likely, Possible};
        let pairs = causes().flat_map(|one| causes().map(move |other| (one, other))).filter(|(a, b)| a.slug != b.slug);
        for (one, other) in pairs {
            let (is_exclusive, both) = (exclude_each_other(one.slug, other.slug), [one.slug, other.slug]);
            for confidences in [[Likely, Likely], [Certain, Likely], [Certain, Certain]] {
                let expected = if is_exclusive { &both[..1] } else { &both[..] };
                assert_eq!(left([(one, confidences[0]), (other, confidences[1])]), expected, "{confidences:?}");
            }
            let expected = if is_exclusive { &both[1..] } else { &both[..] };
            assert_eq!(left([(one, Likely), (other, Certain)]), expected);
            // What is only possible may be one of several.
            assert_eq!(left([(one, Certain), (other, Possible)]), both);
        }
    }

    #[test]
    fn no_cause_excludes_itself_or_stands_twice() {
        let pairs: Vec<[&str; 2]> = EXCLUSIVE
            .iter()
            .flat_map(|(cause, others)| others.iter().map(|other| [cause.slug, other.slug]))
            .map(|mut pair| {
                pair.sort_unstable();
                pair
            })
            .collect();
        assert!(pairs.iter().all(|[one, other]| one != other));
        let distinct: std::collections::BTreeSet<_> = pairs.iter().collect();
        assert_eq!(distinct.len(), pairs.len(), "{pairs:?}");
        assert!(exclude_each_other("early-data-rejected", "early-data-stateful"));
    }
}
