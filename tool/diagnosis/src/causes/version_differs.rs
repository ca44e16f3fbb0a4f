//! `version-differs`: the client's later connections do not speak the version of the sessions that it holds.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, is_one_client, named};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    watched: Some(Rule { rank: 10, find: of_client }),
    ..page!("version-differs")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let mut lines = Vec::new();
    for (connection, offer) in case.offers().filter(|(_, offer)| offer.sessions.is_empty()) {
        let before = case
            .completed()
            .filter(|(it, before, _)| is_one_client(it, connection) && before.sni == offer.sni && it.sessions_given > 0);
        let Some((source, _, agreed)) = before.last() else { continue };
        if !offer.speaks(agreed.version) {
            let version = agreed.version;
            lines.push(format!(
                "{}: does not offer {version}, the version of the session of {}",
                named(connection),
                named(source)
            ));
        }
    }
    let severity = if lines.len() > 1 { Severity::Risk } else { Severity::Note };
    let title = "The client changes its versions and cannot resume across them";
    case.found_in(&CAUSE, severity, Confidence::Likely, title, lines)
}
