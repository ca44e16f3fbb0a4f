//! Two handshakes side by side, a rung for each step.

use reprise_model::document::Trace;
use reprise_page::figures::{Unit, signed};
use reprise_page::ladder::{Ladder, LadderCell, LadderMessage, Rung};

use super::sentences;
use super::steps::{Pair, Step, paired};

/// Both handshakes as a ladder.
pub(crate) fn ladder(trace: &Trace, unit: Unit) -> Ladder {
    let full = trace.full.iter().map(|_| "full".to_owned());
    let titles: Vec<String> = full.chain(trace.resumed.iter().map(|_| sentences::name_of_second(trace))).collect();
    let has_both = titles.len() == 2;
    let cell =
        |step: &Option<Step<'_>>| step.as_ref().map_or(LadderCell::Empty, |step| LadderCell::Message(shown(step, unit)));
    let rung = |pair: &Pair<'_>| match pair {
        (Some(left), None) if has_both && left.is_skipped => {
            Rung::Messages(vec![LadderCell::Message(shown(left, unit)), LadderCell::Skipped(shown(left, unit))])
        }
        (left, right) if has_both => Rung::Messages(vec![cell(left), cell(right)]),
        (left, right) => Rung::Messages(vec![cell(if left.is_some() { left } else { right })]),
    };
    let [handshake, rest] = paired(trace);
    let end = (!rest.is_empty()).then_some(Rung::HandshakeEnd);
    let rungs = handshake.iter().map(rung).chain(end).chain(rest.iter().map(rung)).collect();
    Ladder { titles, unit: unit.symbol(), rungs }
}

/// A step as a rung shows it.
fn shown(step: &Step<'_>, unit: Unit) -> LadderMessage {
    let name = step.name();
    LadderMessage {
        at: unit.shown(signed(step.event.at.0)),
        size: step.size.to_string(),
        arrow: step.arrow(),
        name: if step.count > 1 { format!("{name} × {}", step.count) } else { name.to_owned() },
    }
}
