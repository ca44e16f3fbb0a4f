//! `alpn-differs`: the client offers a session with other application protocols than it was given with.
//!
//! It resumes all the same, but early data is only accepted under the protocol of the session (RFC 9846 §4.3.10).

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, Offered, named};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 9, find: of_client }),
    ..page!("alpn-differs")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let list = |alpn: &[String]| if alpn.is_empty() { "none".to_owned() } else { alpn.join(", ") };
    let line = |it: Offered<'_>| {
        let (before, now) = (&it.source.offer.as_ref()?.alpn, &it.offer.alpn);
        let differs =
            || format!("{}: {}, and {} in the connection of the session", named(it.connection), list(now), list(before));
        (before != now).then(differs)
    };
    let title = "The client changes its application protocols between the connections of one session";
    case.found_in(&CAUSE, Severity::Note, Confidence::Certain, title, case.offered().filter_map(line))
}
