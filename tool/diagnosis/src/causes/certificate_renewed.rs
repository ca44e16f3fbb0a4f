//! `certificate-renewed`: sessions that were made under the server's certificate of before are refused, and it shows another now.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Kind, Observation, TicketKeyName};
use reprise_probe::diagnose::{are_named, key_name};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{FEWEST, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["resume", "history"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 33, find: MeasuredRule::Once(of_measurement) }),
    ..page!("certificate-renewed")
};

/// A session of another certificate than the server has now, and what became of it.
struct Earlier<'a> {
    seen: &'a Observation,
    leaf: [u8; 32],
    now: [u8; 32],
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let seen = answered(case);
    let refused: Vec<Earlier<'_>> = seen.iter().filter_map(|seen| earlier(seen)).collect();
    let (first, last) = (refused.first()?, refused.last()?);
    let leaves: BTreeSet<[u8; 32]> = refused.iter().map(|it| it.leaf).collect();
    if come_in_turns(&seen) || seen.iter().any(|seen| is_accepted_since(seen, &leaves, first.seen.index)) {
        return None;
    }
    let asked: BTreeSet<Asked> = refused.iter().map(|it| it.seen.asked).collect();
    let shown = seen.iter().filter(|seen| seen.facts().is_some_and(|facts| facts.leaf == Some(last.now))).count() as u64;
    let names: Vec<(TicketKeyName, TicketKeyName)> = refused.iter().filter_map(|it| key_names(case, it.seen)).collect();
    let has_new_keys = names.iter().any(|(before, now)| before != now);
    // Without names, a restart that lost keys or a cache explains it as well.
    let is_sure = !names.is_empty() && !has_new_keys && shown >= FEWEST;
    let confidence = if is_sure { Confidence::Likely } else { Confidence::Possible };
    let title = match has_new_keys {
        false => "Sessions of the server's certificate before are refused: it has another now",
        true => "Sessions of before are refused: the server has another certificate now, and another ticket key",
    };
    let of = connections(refused.len() as u64);
    let mut evidence = vec![
        format!("{of} offered a session that was made under {}, and each ended in a full handshake", named(first.leaf)),
        format!("The server has shown {} on {} since", named(last.now), connections(shown)),
    ];
    if let Some((name, _)) = names.first().filter(|_| !has_new_keys) {
        evidence
            .push(format!("The ticket key is the same as before: its name is {name} on refused tickets and on new ones"));
    }
    let since = seen.iter().filter(|seen| seen.offered.is_some_and(|offered| offered.leaf == Some(last.now)));
    let (resumed, offered) = since.fold((0, 0), |(resumed, offered), seen| {
        (resumed + u64::from(seen.kind().is_some_and(|kind| kind != Kind::Full)), offered + 1)
    });
    if offered > 0 {
        evidence.push(format!("Of sessions that were made under it, {resumed} of {offered} resumed"));
    }
    Some(case.found(&CAUSE, Severity::Risk, confidence, title).because(evidence).under(asked))
}

/// Every connection that was answered well, those that the judge chose too, in the order of time.
fn answered<'a>(case: &MeasuredCase<'a>) -> Vec<&'a Observation> {
    let chosen = case.judgements.iter().flat_map(|judgement| &judgement.observations);
    let mut seen: Vec<&Observation> =
        case.observations.iter().chain(chosen).filter(|seen| seen.is_answered_well()).collect();
    seen.sort_by_key(|seen| seen.index);
    seen.dedup_by_key(|seen| seen.index);
    seen
}

/// Whether that is why sessions of this mechanism were refused.
pub(crate) fn is_shown(case: &MeasuredCase<'_>, asked: Asked) -> bool {
    let mut refused = answered(case).into_iter().filter(|seen| seen.asked == asked && seen.is_refusal()).peekable();
    refused.peek().is_some() && refused.all(|seen| earlier(seen).is_some()) && of_measurement(case).is_some()
}

/// The session that this connection offered, where it was refused and the server has shown another certificate than for the session.
fn earlier(seen: &Observation) -> Option<Earlier<'_>> {
    let (leaf, now) = (seen.offered?.leaf?, seen.facts().filter(|_| seen.is_refusal())?.leaf?);
    (leaf != now).then_some(Earlier { seen, leaf, now })
}

/// A session of one of these certificates that resumed, though it was another certificate's turn.
fn is_accepted_since(seen: &Observation, leaves: &BTreeSet<[u8; 32]>, since: u32) -> bool {
    let is_earlier = seen.offered.and_then(|offered| offered.leaf).is_some_and(|leaf| leaves.contains(&leaf));
    seen.index > since && is_earlier && seen.kind().is_some_and(|kind| kind != Kind::Full)
}

/// Whether a certificate is shown again after another one was: so do several nodes.
fn come_in_turns(seen: &[&Observation]) -> bool {
    let mut shown: Vec<[u8; 32]> = seen.iter().filter_map(|seen| seen.facts()?.leaf).collect();
    shown.dedup();
    let different: BTreeSet<[u8; 32]> = shown.iter().copied().collect();
    different.len() < shown.len()
}

/// The names of the keys of the ticket that was refused and of the one that came in its place, where tickets name keys.
fn key_names(case: &MeasuredCase<'_>, seen: &Observation) -> Option<(TicketKeyName, TicketKeyName)> {
    let of_version = case.observations.iter().filter(|other| other.asked.tls == seen.asked.tls);
    let are_named = are_named(of_version, Asked { kind: Kind::Ticket, ..seen.asked });
    Some((seen.offered?.key_name?, key_name(seen)?)).filter(|_| are_named)
}

/// "the certificate 1a2b3c4d5e6f7788…", by the beginning of its SHA-256.
fn named(leaf: [u8; 32]) -> String {
    let begin: String = leaf.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("the certificate {begin}… (SHA-256)")
}
