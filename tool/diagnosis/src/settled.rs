//! Findings as a reader needs them: one for each reason, a reason in place of what it explains, and what helps most first.

use std::cmp::Reverse;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Kind, Version};

use crate::causes::{cause, leave_out_excluded};
use crate::diagnose::examined::mechanism;

/// These findings so, of which those of `examined` causes were found by experiments made for them.
pub(crate) fn settled(mut findings: Vec<Finding>, examined: &[String]) -> Vec<Finding> {
    // A rule that knows why takes the place of one that sees only that.
    let is_sure = |it: &Finding| it.confidence != Confidence::Possible || examined.contains(&it.id);
    let reasons: Vec<Finding> = findings.iter().filter(|finding| is_sure(finding)).cloned().collect();
    findings.retain(|finding| finding.severity == Severity::Note || !reasons.iter().any(|why| explains(why, finding)));
    let mut findings = merged(findings);
    let order = |it: &Finding| {
        (it.severity, Reverse(it.felt_cost()), it.confidence == Confidence::Possible, helps(it), it.confidence)
    };
    findings.sort_by_key(order);
    leave_out_excluded(&mut findings);
    findings
}

/// Whether this is why: a cause that the other one names, of a mechanism of the other one.
fn explains(why: &Finding, finding: &Finding) -> bool {
    let explained_by = cause(&finding.id).map(|cause| cause.explained_by).unwrap_or_default();
    let is_of_server = cause(&why.id).is_some_and(|cause| cause.is_of_server);
    let is_of_all = is_of_server || why.mechanisms.is_empty() || finding.mechanisms.is_empty();
    let is_of_one = || why.mechanisms.iter().any(|asked| finding.mechanisms.contains(asked));
    explained_by.iter().any(|cause| cause.slug == why.id) && (is_of_all || is_of_one())
}

/// Most clients have TLS 1.3, nearly all others tickets: the fewest are helped by what helps session IDs alone.
fn helps(finding: &Finding) -> u8 {
    let of = |asked: &Asked| match (asked.tls, asked.kind) {
        (_, Kind::Id) => 2,
        (Version::Tls12, _) => 1,
        (Version::Tls13, _) => 0,
    };
    finding.mechanisms.iter().map(of).min().unwrap_or_default()
}

/// What one cause does to several mechanisms, and one remedy fixes, is one finding.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: Vec<(String, Vec<Finding>)> = Vec::new();
    for finding in findings {
        let joined = groups.iter_mut().find_map(|(title, group)| {
            let is_alike = group.iter().all(|other| are_alike(other, &finding));
            Some((join(title, &finding.title).filter(|_| is_alike)?, title, group))
        });
        match joined {
            Some((joined, title, group)) => {
                *title = joined;
                group.push(finding);
            }
            None => groups.push((finding.title.clone(), vec![finding])),
        }
    }
    groups.into_iter().filter_map(|(title, group)| of_group(title, group)).collect()
}

fn are_alike(one: &Finding, other: &Finding) -> bool {
    let are_known = !one.mechanisms.is_empty() && !other.mechanisms.is_empty();
    let are_apart = one.mechanisms.iter().all(|asked| !other.mechanisms.contains(asked));
    one.id == other.id && one.remedies == other.remedies && are_known && are_apart
}

/// One title for two that differ in a few words: "TLS 1.3 and 1.2 tickets are accepted only sometimes".
fn join(one: &str, other: &str) -> Option<String> {
    const FEW: usize = 9;
    if one == other {
        return Some(one.to_owned());
    }
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let alike = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, other)| one == other).count();
    let begin = alike(&mut one.iter().zip(&other));
    let end = alike(&mut one.iter().rev().zip(other.iter().rev())).min(one.len().min(other.len()) - begin);
    let [of_one, of_other] = [&one, &other].map(|words| words.get(begin..words.len() - end).unwrap_or_default().join(" "));
    let is_short = |words: &str| words.split(' ').count() <= FEW;
    if begin == 0 || end == 0 || !is_short(&of_one) || !is_short(&of_other) {
        return None;
    }
    let between = match of_other.ends_with(':') {
        true => format!("{} and {of_other}", of_one.trim_end_matches(':')),
        false => format!("{of_one} and {of_other}"),
    };
    let parts = [one.get(..begin)?.join(" "), between, one.get(one.len() - end..)?.join(" ")];
    Some(parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" "))
}

fn of_group(title: String, group: Vec<Finding>) -> Option<Finding> {
    let is_alone = group.len() == 1;
    let (severity, confidence) = (group.iter().map(|it| it.severity).min()?, group.iter().map(|it| it.confidence).min()?);
    let (odds, by_design) = (group.iter().filter_map(|it| it.odds).max(), group.iter().all(|it| it.by_design));
    let line = |finding: &Finding, line: &String| match is_alone {
        true => line.clone(),
        false => finding.mechanisms.first().map_or_else(|| line.clone(), |asked| format!("{}: {line}", mechanism(*asked))),
    };
    let evidence = group.iter().flat_map(|it| it.evidence.iter().map(|text| line(it, text)).collect::<Vec<_>>()).collect();
    let all = group.iter().flat_map(|it| it.mechanisms.clone()).collect();
    let cost_ns = group.iter().filter_map(|it| it.cost_ns).max();
    let cost_cpu = group.iter().find_map(|it| it.cost_cpu);
    let first = group.into_iter().next()?;
    Some(Finding { severity, confidence, title, evidence, odds, by_design, cost_ns, cost_cpu, mechanisms: all, ..first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::Nanos;

    use crate::diagnose::scene::{TLS12, TLS12_ID, TLS13};

    fn of(id: &str, severity: Severity, confidence: Confidence, title: &str, asked: &[Asked]) -> Finding {
        let evidence = ["3 of 3 connections that offered one ended in a full handshake".to_owned()];
        Finding::new(id, severity, confidence, title).because(evidence).under(asked.iter().copied())
    }

    fn ids(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.id.as_str()).collect()
    }

    use Confidence::{Certain, Likely, Possible};
    use Severity::{Fault, Note, Risk};

    #[test]
    fn one_cause_of_several_mechanisms_is_one_finding() {
        let own = "tickets arrive and are never accepted: each has a key name of its own";
        let each = |asked: Asked, confidence| {
            of("context-per-connection", Fault, confidence, &format!("{} {own}", asked.tls), &[asked])
        };
        let [finding] = settled(vec![each(TLS13, Possible), each(TLS12, Likely)], &[]).try_into().unwrap();
        assert_eq!(finding.title, format!("TLS 1.3 and 1.2 {own}"));
        assert_eq!((finding.confidence, finding.mechanisms), (Likely, vec![TLS13, TLS12]));
        assert!(finding.evidence[1].starts_with("TLS 1.2 by ticket: 3 of 3"), "{:?}", finding.evidence);
    }

    #[test]
    fn what_has_another_remedy_stays_another_finding() {
        let one = of("not-offered", Fault, Likely, "TLS 1.3 tickets are never accepted", &[TLS13]);
        let other = of("not-offered", Fault, Likely, "TLS 1.2 tickets are never accepted", &[TLS12]);
        let other = other.fixed_by(vec![reprise_model::document::Remedy::general("another")]);
        assert_eq!(settled(vec![one, other], &[]).len(), 2);
    }

    #[test]
    fn two_things_of_one_mechanism_stay_two() {
        let of = |how: &str| {
            of("offer-breaks-connection", Risk, Likely, &format!("TLS 1.3 by ticket: {how} breaks it"), &[TLS13])
        };
        assert_eq!(settled(vec![of("a split"), of("a name")], &[]).len(), 2);
    }

    #[test]
    fn titles_that_differ_in_a_few_words_become_one() {
        for (one, other, expected) in [
            (
                "TLS 1.3 by ticket: a session is gone",
                "TLS 1.2 by session ID: a session is gone",
                Some("TLS 1.3 by ticket and 1.2 by session ID: a session is gone"),
            ),
            (
                "TLS 1.3 and 1.2 tickets are refused",
                "TLS 1.2 session IDs are refused",
                Some("TLS 1.3 and 1.2 tickets and 1.2 session IDs are refused"),
            ),
            ("TLS 1.3 gives none", "TLS 1.2 takes all", None),
            ("TLS 1.3 gives none", "TLS 1.3 gives none", Some("TLS 1.3 gives none")),
        ] {
            assert_eq!(join(one, other).as_deref(), expected, "{one:?} {other:?}");
        }
    }

    /// The server makes a context for each connection: its cache is as new as its keys.
    #[test]
    fn a_reason_of_tickets_and_ids_takes_the_place_of_that_of_ids() {
        let ids_refused = of("id-never-accepted", Fault, Certain, "TLS 1.2 session IDs are never accepted", &[TLS12_ID]);
        let context = |asked: &[Asked]| of("context-per-connection", Fault, Likely, "A context for each", asked);
        assert_eq!(ids(&settled(vec![ids_refused.clone(), context(&[TLS12, TLS12_ID])], &[])), ["context-per-connection"]);
        // Of TLS 1.3 alone it says nothing of IDs, whose remedy helps fewer clients.
        let both = settled(vec![ids_refused, context(&[TLS13])], &[]);
        assert_eq!(ids(&both), ["context-per-connection", "id-never-accepted"]);
    }

    #[test]
    fn what_costs_each_connection_much_leads() {
        let nodes = of("hidden-nodes", Risk, Certain, "", &[TLS13]).costing(Some(Nanos(1_000_000)));
        let waits = |confidence| of("nagle", Risk, confidence, "", &[]).costing(Some(Nanos(42_000_000)));
        assert_eq!(ids(&settled(vec![nodes.clone(), waits(Likely)], &[])), ["nagle", "hidden-nodes"]);
        assert_eq!(ids(&settled(vec![nodes, waits(Possible)], &[])), ["hidden-nodes", "nagle"]);
    }

    #[test]
    fn what_is_only_possible_or_of_ids_stands_below() {
        let findings = vec![
            of("single-use", Note, Certain, "", &[TLS13]),
            of("hidden-nodes", Risk, Possible, "", &[TLS13]),
            of("cache-too-small", Risk, Certain, "", &[TLS12_ID]),
            of("lifetime-short", Risk, Likely, "", &[TLS12]),
            of("node-down", Fault, Possible, "", &[]),
        ];
        let expected = ["node-down", "lifetime-short", "cache-too-small", "hidden-nodes", "single-use"];
        assert_eq!(ids(&settled(findings, &[])), expected);
    }
}
