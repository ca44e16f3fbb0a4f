//! `clock-skew`: the clocks of nodes differ, by the dates of their responses.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding, Relation};

pub(super) static CAUSE: Cause = Cause {
    slug: "clock-skew",
    title: "The clocks of nodes differ",
    happens: "\
A ticket states when it was made. A node whose clock is behind takes a ticket of the future: s2n-tls refuses those
more than an hour ahead, Mbed TLS any of negative age. Under TLS 1.3 the client's obfuscated age is compared as well
(RFC 9846 §4.3.11.1, §8.3): a difference of more than some seconds rejects early data; rustls allows 60 s.",
    seen: "\
`reprise diagnose --together` compares the Date field that each node's responses have: clocks that differ by more than two seconds are a
note, and a risk where tickets under one key are refused in one direction and accepted in the other: a node that is behind takes those
of one that is ahead for tickets of the future, and one that is ahead takes the others for too old.
Behind one address it looks like `hidden-nodes`; Date fields that differ from response to response are a hint.",
    confirm: "\
Compare the clocks that the nodes show:

```sh
for i in 1 2 3 4 5 6 7 8; do curl -sI https://HOST/ | grep -i '^date'; sleep 0.2; done
```",
    costs: "Refused tickets between some nodes in one direction, and rejected early data.",
    advice: "Keep the clocks of all nodes by NTP, and alarm at differences above a second.",
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    fleet: Some(Rule { rank: 7, find: of_fleet }),
    ..Cause::BLANK
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
