//! `tickets-run-out`: one client makes more connections at once than it holds tickets, each of which serves once (RFC 9846 §C.4).
//!
//! `tickets-run-out`: the client opens more connections at once than it holds tickets.
//!
//! Each ticket of TLS 1.3 serves once, a server sends one or two a connection, and some clients keep only the latest. Told
//! apart from forgetting: the connection that offers nothing stands beside one that offered a session at the same moment.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step};

use super::{Cause, ExaminedRule, Rule, cache_too_small};
use crate::client::case::{Chance, ClientCase, first_lines, named};
use crate::diagnose::examined::{Counts, Examined, by_outcome, is_tls13, mechanism};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&cache_too_small::CAUSE],
    separated_by: &["burst"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 21, find: ExaminedRule::EachRun("burst", of_experiments) }),
    watched: Some(Rule { rank: 6, find: of_client }),
    ..page!("tickets-run-out")
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) {
        return None;
    }
    let burst: Vec<&ProbeRecord> = run.seen.iter().filter(|seen| seen.step == Step::Burst).collect();
    let completed = burst.iter().filter(|seen| seen.fault.is_none()).count();
    let counts = Counts::of(burst.iter().copied());
    let at_once = connections(burst.len() as u64);
    let is_lost = |seen: &[ProbeRecord]| {
        let counts = Counts::of(seen.iter().filter(|seen| seen.step == Step::Burst));
        counts.refused > 0 || counts.failed > 0
    };
    if Examined::each_time(run, is_lost).is_some() {
        // Of what was offered, less was resumed: that is the server's doing.
        let title =
            format!("{} of {at_once} at once resume, where each alone does: {}", counts.resumed, mechanism(run.asked));
        let lost = burst.iter().copied().filter(|seen| seen.observation.offered.is_some());
        let lost = lost.filter(|seen| Counts::of([*seen]).resumed == 0);
        let finding = CAUSE.finding(Severity::Risk, Confidence::Possible, title);
        return Some(finding.because(by_outcome(lost)));
    }
    if !is_tls13(run.asked) || counts.offered() >= completed || completed < burst.len() {
        return None;
    }
    let held = counts.offered();
    let title = format!("A connection gives {held} {}: of {at_once} at once, the others cannot resume", tickets(held));
    let evidence = [format!("{} offered a ticket and resumed, {} had none left", counts.resumed, completed - held)];
    Some(CAUSE.finding(Severity::Note, Confidence::Certain, title).because(evidence).by_design())
}

fn tickets(count: usize) -> &'static str {
    if count == 1 { "ticket" } else { "tickets" }
}

/// Connections that begin within this are begun at once.
const AT_ONCE: Nanos = Nanos(500_000_000);

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let empty_handed: Vec<(&Chance<'_>, usize)> =
        case.misses().map(|chance| (chance, siblings(case, chance))).filter(|(_, siblings)| *siblings > 0).collect();
    let without = empty_handed.len();
    let (_, most) = empty_handed.iter().max_by_key(|(_, siblings)| *siblings)?;
    let title = format!(
        "The client runs out of tickets: {without} connections started beside others that offered one, and had none left"
    );
    let line = |(chance, siblings): &(&Chance<'_>, usize)| {
        format!("{}: no session offered, beside {siblings} connections that offered one", named(chance.connection))
    };
    let mut evidence = first_lines(empty_handed.iter().map(line));
    evidence.push(format!("At most {most} of the concurrent connections could offer a session"));
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Likely, title, evidence))
}

/// How many connections to the same name, begun at the same time, offered a session and are none of those that could have
/// left one for this.
fn siblings(case: &ClientCase<'_>, chance: &Chance<'_>) -> usize {
    if !chance.offer.speaks(Version::Tls13) || case.open_beside(chance) == 0 {
        return 0;
    }
    let is_sibling = |number: u32, at: Nanos| {
        let apart = at.since(chance.offer.at).max(chance.offer.at.since(at));
        let is_source = chance.sources.iter().any(|source| source.number == number);
        apart <= AT_ONCE && !is_source && number != chance.connection.number
    };
    case.offers()
        .filter(|(_, offer)| offer.sni == chance.offer.sni && !offer.sessions.is_empty())
        .filter(|(it, offer)| is_sibling(it.number, offer.at) && overlap(it, chance.connection))
        .count()
}

fn overlap(one: &reprise_model::WatchedConnection, other: &reprise_model::WatchedConnection) -> bool {
    let ends_before = |one: &reprise_model::WatchedConnection, other: &reprise_model::WatchedConnection| {
        one.end.is_some_and(|(at, _)| at < other.arrived)
    };
    !ends_before(one, other) && !ends_before(other, one)
}
