//! `resumed-ticket-refused`: what a full handshake gives is accepted, what a resumed one gives is not; or the last of each alone.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Kind, Observation, Origin};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::ChainCap, |_| Severity::Fault, title).if_it(is_cap_of_one)),
    measured: Some(Rule { rank: 13, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("resumed-ticket-refused")
};

/// Whose tickets are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepted {
    /// All of a full handshake.
    OfFull,
    /// The last of each connection.
    Last,
    /// The last of a full handshake.
    LastOfFull,
}

impl Accepted {
    fn accepts(self, origin: Origin) -> bool {
        let (is_of_full, is_last) = (!origin.was_resumed, origin.is_last);
        match self {
            Self::OfFull => is_of_full,
            Self::Last => is_last,
            Self::LastOfFull => is_of_full && is_last,
        }
    }
}

/// Chance alone separates accepted tickets from refused ones so exactly less often than this.
const CHANCE: f64 = 1e-4;
/// The most nodes in turn that could do the same.
const MOST_NODES: u32 = 32;

/// Whether it explains what became of these tickets.
pub(crate) fn is_shown(tickets: &KindSeries<'_>) -> bool {
    accepted(tickets).is_some()
}

/// Whether a cap of one resumption is what this is: a ticket of a resumed connection is never accepted, one of a full handshake mostly.
pub(super) fn is_cap_of_one(judgement: &Judgement) -> bool {
    let outcomes = |was_resumed: bool| {
        let of_such = judgement
            .offers()
            .filter(move |seen| seen.offered.and_then(|it| it.origin).is_some_and(|it| it.was_resumed == was_resumed));
        of_such.map(|seen| !seen.is_refusal()).collect::<Vec<bool>>()
    };
    let (of_resumed, of_full) = (outcomes(true), outcomes(false));
    let accepted = of_full.iter().filter(|is_accepted| **is_accepted).count();
    of_resumed.len() >= ENOUGH && !of_resumed.contains(&true) && 2 * accepted > of_full.len()
}

/// So many refusals are no accident.
const ENOUGH: usize = 4;

fn title(judgement: &Judgement) -> String {
    format!("{} tickets that a resumed connection gives are refused", judgement.asked.tls)
}

/// What separates the tickets that are accepted from those that are not, where nodes in turn do not.
fn accepted(tickets: &KindSeries<'_>) -> Option<Accepted> {
    let offer = |seen: &Observation| {
        let offered = seen.offered.filter(|_| seen.facts().is_some_and(|facts| facts.session_offered))?;
        Some((seen.distance()?, offered.origin?, !seen.is_refusal()))
    };
    let offers: Vec<(u32, Origin, bool)> = tickets.completed.iter().filter_map(|(seen, _)| offer(seen)).collect();
    let all = offers.len() as f64;
    let accepted = offers.iter().filter(|(.., is_accepted)| *is_accepted).count() as f64;
    let refused = all - accepted;
    let chance = (accepted / all).powf(accepted) * (refused / all).powf(refused);
    let is_in_turn = |nodes: u32| offers.iter().all(|(distance, _, is_accepted)| (distance % nodes == 0) == *is_accepted);
    if accepted == 0.0 || refused == 0.0 || chance > CHANCE || (2..=MOST_NODES).any(is_in_turn) {
        return None;
    }
    let separates = |it: &Accepted| offers.iter().all(|(_, origin, is_accepted)| it.accepts(*origin) == *is_accepted);
    [Accepted::OfFull, Accepted::Last, Accepted::LastOfFull].into_iter().find(separates)
}

fn of_measurement(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> Option<Finding> {
    if tickets.asked.kind != Kind::Ticket {
        return None;
    }
    let (refused, accepted) = match accepted(tickets)? {
        Accepted::OfFull => ("that a resumed connection gives", "given by a full handshake"),
        Accepted::Last => ("other than the last of a connection", "the last that its connection gave"),
        Accepted::LastOfFull => ("other than the last of a full handshake", "the last that a full handshake gave"),
    };
    let title = format!("{} tickets {refused} are refused", tickets.asked.tls);
    let counted = format!("{} of {} that offered one resumed", tickets.as_asked(), connections(tickets.offered()));
    let evidence = [counted, format!("Accepted exactly where it was {accepted}")];
    let finding = case.found(&CAUSE, Severity::Fault, Confidence::Likely, title).because(evidence);
    Some(finding.costing(case.average_cost(tickets)).costing_cpu(case.cpu_cost(tickets.asked.tls)))
}
