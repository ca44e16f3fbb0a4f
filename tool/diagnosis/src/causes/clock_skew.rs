//! `clock-skew`: the clocks of nodes differ, by the dates of their responses.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding, Relation};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    fleet: Some(Rule { rank: 7, find: of_fleet }),
    ..page!("clock-skew")
};

/// Seconds that clocks may differ by.
const TOLERATED: i64 = 2;

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let ahead: Vec<(usize, usize, i64)> = case.clocks_apart(TOLERATED);
    let tickets = || MECHANISMS.into_iter().filter(|asked| asked.kind == Kind::Ticket);
    let refuses = |asked, from, to| case.relation(asked, from, to) == Relation::Refuses;
    let refused = ahead.iter().find_map(|(ahead, behind, by)| {
        let one_way = |asked, (from, to)| {
            let is_one_way = refuses(asked, from, to) && case.relation(asked, to, from) == Relation::Accepts;
            is_one_way && case.keys_differ(asked, from, to) != Some(true)
        };
        let ways = [(*ahead, *behind), (*behind, *ahead)];
        tickets().find_map(|asked| Some((ways.into_iter().find(|way| one_way(asked, *way))?, *ahead, *behind, *by, asked)))
    });
    let (nodes, finding) = match refused {
        Some(((from, to), ahead, behind, by, asked)) => {
            let title = format!(
                "The clock of {} is {by} s ahead of {}, and {} refuses the other's tickets",
                case.list(&[ahead]),
                case.list(&[behind]),
                case.list(&[to])
            );
            let evidence = [mechanism(asked), case.cite(asked, (from, to)), case.cite(asked, (to, from))];
            (vec![ahead], CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence))
        }
        None => {
            let (ahead, behind, by) = ahead.iter().max_by_key(|(.., by)| *by)?;
            let title = format!("The clock of {} is {by} s ahead of {}", case.list(&[*ahead]), case.list(&[*behind]));
            let evidence = ["By the dates of their responses".to_owned()];
            (vec![*ahead], CAUSE.finding(Severity::Note, Confidence::Likely, title).because(evidence))
        }
    };
    Some(FleetFinding { finding, nodes, reason: "another time" })
}
