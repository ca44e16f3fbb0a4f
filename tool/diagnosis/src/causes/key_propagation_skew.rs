//! `key-propagation-skew`: a session is refused until the other nodes know its key.

use itertools::Itertools;
use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use reprise_model::Kind;
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, JudgedRule, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding, Relation};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["history"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(
        Concluded::RefusedYoung,
        |_| Severity::Risk,
        |judgement| format!("{}: young sessions are refused, and accepted when they are older", mechanism(judgement.asked)),
    )),
    fleet: Some(Rule { rank: 3, find: of_fleet }),
    ..page!("key-propagation-skew")
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().filter(|asked| asked.kind == Kind::Ticket).find_map(|asked| of_mechanism(case, asked))
}

fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let late: Vec<(usize, usize)> =
        case.pairs(asked).filter(|(from, to)| from != to && case.becomes_known(asked, *from, *to).is_some()).collect();
    // One knows both keys, the other only one of them.
    let one_way = |(from, to): &(usize, usize)| {
        let is_new = case.keys_differ(asked, *from, *to) == Some(true);
        is_new && case.relation(asked, *to, *from) == Relation::Accepts
    };
    let pairs = match late.is_empty() {
        false => late,
        true => case.refusing_pairs(asked).into_iter().filter(one_way).collect(),
    };
    let confidence = if case.is_one_name { Confidence::Likely } else { Confidence::Possible };
    let nodes: Vec<usize> = pairs.iter().map(|(_, to)| *to).sorted_unstable().dedup().collect();
    let title =
        format!("{}: {} does not know, or learns late, the key that others seal with", mechanism(asked), case.list(&nodes));
    let evidence: Vec<String> = pairs.iter().take(3).map(|pair| case.cite(asked, *pair)).collect();
    let finding = CAUSE.finding(Severity::Risk, confidence, title).because(evidence);
    (!pairs.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a key that has not reached it" })
}
