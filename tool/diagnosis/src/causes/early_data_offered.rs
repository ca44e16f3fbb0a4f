//! `early-data-offered`: the client sends early data, which anybody on the network can send again.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, named};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 13, find: of_client }),
    ..page!("early-data-offered")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let announced = || case.completed().filter(|(_, offer, _)| offer.early_data);
    let count = announced().count();
    let accepted = announced().filter(|(_, _, agreed)| agreed.early_data.is_some()).count();
    let title = format!("The client sends early data: {accepted} of {count} accepted");
    let lines = announced().map(|(connection, _, agreed)| {
        let what = agreed.early_data.map_or_else(|| "rejected".to_owned(), |bytes| format!("{bytes} bytes accepted"));
        format!("{}: {what}", named(connection))
    });
    case.found_in(&CAUSE, Severity::Note, Confidence::Certain, title, lines)
}
