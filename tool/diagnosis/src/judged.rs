//! What the judge concludes, as findings.

use std::collections::BTreeMap;

use reprise_judge::{Conclusion, JudgedCause as Concluded};
use reprise_model::document::{AnswerDifference, BalancedNodes, BalancingPolicy, Confidence, Finding, Severity};
use reprise_model::{Kind, Observation, TicketKeyName};
use reprise_probe::diagnose::{Judgement, are_named, key_name};

use crate::causes::{causes, certificate_renewed, resumed_ticket_refused};
use crate::figures::connections;
use crate::likelihood::odds;
use crate::series::{KindSeries, MeasuredCase, TICKETS_COVER};

/// What its conclusions are, as findings: of each mechanism whose sessions were offered, and not always accepted.
pub(crate) fn findings(case: &MeasuredCase<'_>) -> Vec<Finding> {
    let series = case.conclusive_series();
    // Most clients have tickets: of findings of equal weight, theirs stands first.
    let mechanisms =
        [Kind::Ticket, Kind::Id].into_iter().flat_map(|kind| series.iter().filter(move |it| it.asked.kind == kind));
    let mut found: Vec<Finding> = Vec::new();
    for finding in mechanisms.flat_map(|mechanism| of_mechanism(case, mechanism)) {
        // A node that is down is down for every mechanism.
        match found.iter_mut().find(|other| (&other.id, &other.title) == (&finding.id, &finding.title)) {
            Some(other) if finding.confidence < other.confidence => *other = finding,
            Some(_) => {}
            None => found.push(finding),
        }
    }
    found
}

fn of_mechanism(case: &MeasuredCase<'_>, series: &KindSeries<'_>) -> Vec<Finding> {
    let is_examined = case.judgements.iter().any(|judgement| judgement.asked == series.asked);
    // Where a session came from says more than what the judge makes of it.
    let is_explained = resumed_ticket_refused::is_shown(series) || certificate_renewed::is_shown(case, series.asked);
    if !is_examined && series.refusals() == 0 || is_explained {
        return Vec::new();
    }
    // Where errors follow the kind, no node and no limit is to blame for them.
    if series.refusals() == 0 && case.figures.answers_differ(series.asked).is_some_and(AnswerDifference::is_error) {
        return Vec::new();
    }
    let judgement = case.judgement(series.asked);
    let rules = || causes().filter_map(|cause| Some((cause, cause.judged?)));
    let kind = storing_kind(&judgement);
    // RFC 6585, section 4: so the server itself says that it limits them.
    let says_too_many = judgement.observations.iter().any(|seen| seen.http_status == Some(429));
    let rules = || rules().filter(|(_, rule)| rule.kinds.contains(&kind) && (rule.is_it)(&judgement));
    let covered = (series.asked.kind == Kind::Id && case.tickets_cover_ids()).then(|| TICKETS_COVER.to_owned());
    let evidence = |conclusion| evidence(&judgement, conclusion).into_iter().chain(covered.clone());
    let found: Vec<Finding> = rules()
        .filter_map(|(cause, rule)| {
            let conclusion = judgement.of(rule.concludes).filter(|it| it.cause != Concluded::NodeDown || !says_too_many)?;
            // Only clients without tickets meet a cache that nodes do not share.
            let is_note =
                rule.concludes == Concluded::NotShared && series.asked.kind == Kind::Id && case.tickets_always_cover_ids();
            let severity = if is_note { Severity::Note } else { (rule.severity)(series.asked) };
            let finding = case.found(cause, severity, conclusion.confidence, (rule.title)(&judgement));
            Some(finding.because(evidence(Some(conclusion))).weighing(conclusion.odds))
        })
        .collect();
    let is_accepted_sometimes = [true, false].iter().all(|wanted| offers(&judgement).any(|it| it.is_accepted == *wanted));
    // What no hypothesis explains may still be a matter of age, and of nothing else.
    let open = if is_divided_by_age(&judgement) { Concluded::Lifetime } else { Concluded::NotShared };
    let unexplained = (found.is_empty() && is_accepted_sometimes)
        .then(|| [open, Concluded::NotShared].into_iter().find_map(|open| rules().find(|(_, rule)| rule.concludes == open)))
        .flatten()
        .map(|(cause, rule)| {
            let severity = (rule.severity)(series.asked);
            let finding = case.found(cause, severity, Confidence::Possible, (rule.title)(&judgement));
            finding.because(evidence(None))
        });
    let cpu_cost = case.cpu_cost(series.asked.tls).filter(|_| offers(&judgement).any(|offer| !offer.is_accepted));
    let priced = |finding: Finding| finding.costing(case.average_cost(series)).costing_cpu(cpu_cost).under([series.asked]);
    found.into_iter().chain(unexplained).map(priced).collect()
}

/// A ticket that only names its session stands for an ID: what has to be shared is the cache.
fn storing_kind(judgement: &Judgement) -> Kind {
    let of_version = judgement.observations.iter().filter(|seen| seen.asked.tls == judgement.asked.tls);
    let mut tickets = of_version.filter_map(|seen| seen.facts()?.tickets.iter().next());
    match judgement.asked.kind {
        Kind::Ticket if tickets.next().is_some_and(|ticket| !ticket.holds_its_session()) => Kind::Id,
        kind => kind,
    }
}

/// A session that was offered, and what became of it.
struct Offer {
    /// `None` where another process gave it.
    distance: Option<u32>,
    age_s: f64,
    is_accepted: bool,
}

fn offers(judgement: &Judgement) -> impl Iterator<Item = Offer> {
    let offer = |seen: &Observation| {
        let age_s = seen.offered?.age.0 as f64 / 1e9;
        Some(Offer { distance: seen.distance(), age_s, is_accepted: !seen.is_refusal() })
    };
    judgement.offers().filter_map(offer)
}

/// Whether every refused session was older than every accepted one, but for the second that a clock of whole seconds leaves open. Nodes that do
/// not share their sessions refuse young ones too.
fn is_divided_by_age(judgement: &Judgement) -> bool {
    let ages = |wanted: bool| offers(judgement).filter(move |it| it.is_accepted == wanted).map(|it| it.age_s);
    let (oldest_accepted, youngest_refused) = (ages(true).fold(0.0, f64::max), ages(false).fold(f64::INFINITY, f64::min));
    youngest_refused >= WHOLE_SECOND && oldest_accepted <= youngest_refused + WHOLE_SECOND
}

/// What a clock of whole seconds may be off by.
const WHOLE_SECOND: f64 = 1.0;

/// What shows the conclusion; `None` where nothing that the judge knows explains the refusals.
fn evidence(judgement: &Judgement, conclusion: Option<&Conclusion>) -> Vec<String> {
    let offers: Vec<Offer> = offers(judgement).collect();
    let accepted = offers.iter().filter(|offer| offer.is_accepted).count();
    let offered = offers.len() + judgement.failed_offers().count();
    let counted = format!("{accepted} of {} that offered one resumed", connections(offered as u64));
    let failed = judgement.observations.iter().filter(|seen| seen.facts().is_none()).count();
    let failed = (failed > 0).then(|| format!("{failed} of {} failed", connections(judgement.observations.len() as u64)));
    let shown = match conclusion.map(|it| it.cause) {
        None if is_divided_by_age(judgement) => by_age(&offers),
        None | Some(Concluded::NotShared) => by_distance(&offers),
        Some(Concluded::Lifetime | Concluded::RefusedYoung | Concluded::Restart | Concluded::Rotation) => by_age(&offers),
        Some(_) => None,
    };
    let is_counted = |nodes: &BalancedNodes| nodes.policy == Some(BalancingPolicy::InTurn) && nodes.high == Some(nodes.low);
    let turns = conclusion.filter(|it| it.cause == Concluded::NotShared).and(judgement.nodes).filter(is_counted);
    let turns =
        turns.map(|nodes| format!("{} nodes or processes taken in turn, each with its own state, explain it", nodes.low));
    let likelihood = conclusion.map_or_else(|| NOTHING_KNOWN.to_owned(), |it| odds(judgement, it));
    let is_open = conclusion.is_some_and(|it| it.confidence != Confidence::Certain);
    let others = judgement.conclusions.iter().filter(|other| conclusion.is_some_and(|it| it.cause != other.cause));
    let others: Vec<&str> = others.map(|other| other.cause.slug()).collect();
    let others = (is_open && !others.is_empty()).then(|| format!("Also possible, or beside it: {}", others.join(", ")));
    [Some(counted), failed, shown, turns, key_names(judgement), Some(likelihood), others].into_iter().flatten().collect()
}

const NOTHING_KNOWN: &str = "Nothing that is known explains it 20 times better than anything else: nodes or processes that do not share \
                             keys or a cache, keys that change, a limit of time or number";

/// Acceptance by distance: "at distance 1: 0 of 31; 2: 24 of 24; 3: 0 of 12". `None` where no distance is known.
fn by_distance(offers: &[Offer]) -> Option<String> {
    const SHOWN: u32 = 8;
    let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for (offer, distance) in offers.iter().filter_map(|offer| Some((offer, offer.distance?))) {
        let (accepted, all) = counts.entry(distance.min(SHOWN + 1)).or_default();
        *accepted += u32::from(offer.is_accepted);
        *all += 1;
    }
    let one = |(distance, (accepted, all)): (&u32, &(u32, u32))| match *distance {
        distance if distance > SHOWN => format!("over {SHOWN}: {accepted} of {all}"),
        distance => format!("{distance}: {accepted} of {all}"),
    };
    let each: Vec<String> = counts.iter().map(one).collect();
    (!each.is_empty())
        .then(|| format!("Accepted by distance, in connections since the one that gave it: {}", each.join(", ")))
}

/// "Accepted between 0.01 s and 2.10 s after they were given, refused between 2.30 s and 3.02 s".
fn by_age(offers: &[Offer]) -> Option<String> {
    let ages = |is_accepted| {
        let ages = offers.iter().filter(move |offer| offer.is_accepted == is_accepted).map(|offer| offer.age_s);
        (ages.clone().fold(f64::INFINITY, f64::min), ages.fold(f64::NEG_INFINITY, f64::max))
    };
    let ((young_accepted, old_accepted), (young_refused, old_refused)) = (ages(true), ages(false));
    (young_accepted.is_finite() && young_refused.is_finite()).then(|| {
        format!(
            "Accepted between {young_accepted:.2} s and {old_accepted:.2} s after they were given, refused between \
             {young_refused:.2} s and {old_refused:.2} s"
        )
    })
}

/// The greatest age at which a session was accepted, in seconds; `None` where none was.
pub(crate) fn oldest_accepted(judgement: &Judgement) -> Option<f64> {
    offers(judgement).filter(|offer| offer.is_accepted).map(|offer| offer.age_s).max_by(f64::total_cmp)
}

/// "Tickets come under 2 key names: 0c1f… (12 times), 90ab… (11 times)", where they name keys.
fn key_names(judgement: &Judgement) -> Option<String> {
    let of_version = || judgement.observations.iter().filter(|seen| seen.asked.tls == judgement.asked.tls);
    if !are_named(of_version(), judgement.asked) {
        return None;
    }
    let mut counts: BTreeMap<TicketKeyName, u32> = BTreeMap::new();
    of_version().filter_map(key_name).for_each(|name| *counts.entry(name).or_default() += 1);
    let named: Vec<String> = counts.iter().take(4).map(|(name, count)| format!("{name} ({count} times)")).collect();
    let (keys, tickets) = (counts.len(), counts.values().sum::<u32>());
    let others = if keys > named.len() { " and others" } else { "" };
    // So many tickets would have shown one key more.
    let unseen = (keys as f64 / (keys as f64 + 1.0)).powf(f64::from(tickets));
    let is_all = unseen < CHANCE && counts.values().all(|count| *count > 1) && judgement.of(Concluded::NotShared).is_some();
    let nodes = if is_all { format!(": {keys} nodes or processes") } else { String::new() };
    (keys > 1).then(|| format!("Tickets come under {keys} key names, {}{others}{nodes}", named.join(", ")))
}

/// Chance alone hides a key less often than this.
const CHANCE: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_model::{Asked, Nanos, Version};

    /// Offers of these ages, in milliseconds: those that were accepted, and those that were not.
    fn judgement(accepted: &[u64], refused: &[u64]) -> Judgement {
        let ages: Vec<u64> = refused.iter().chain(accepted).copied().collect();
        let mut next = 0;
        let example = Example::new().run("1.2", Kind::Id, 300).of_which_full(refused.len() as u64).all(|seen| {
            // Further ones are as old as the last.
            let age = ages.get(next).or(ages.last()).copied().unwrap_or_default();
            seen.offered.as_mut().unwrap().age = Nanos(age * 1_000_000);
            next += 1;
        });
        example.case().judgement(Asked { tls: Version::Tls12, kind: Kind::Id })
    }

    #[test]
    fn refusals_of_the_oldest_alone_are_a_matter_of_age() {
        for (accepted, refused, is_by_age) in [
            (&[1, 900, 1_900][..], &[2_100, 4_000][..], true),
            // A clock of whole seconds: 2 s are over after 1.1 to 2 s.
            (&[1, 1_900], &[1_200, 4_000], true),
            (&[1, 2_500], &[1_200, 4_000], false),
            // Nodes that do not share refuse at once.
            (&[1, 1_900], &[2, 2_100], false),
            (&[1, 5], &[3, 4], false),
        ] {
            assert_eq!(is_divided_by_age(&judgement(accepted, refused)), is_by_age, "{accepted:?} {refused:?}");
        }
    }
}
