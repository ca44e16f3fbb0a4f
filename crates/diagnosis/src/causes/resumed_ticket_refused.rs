//! `resumed-ticket-refused`: what a full handshake gives is accepted, what a resumed one gives is not; or the last of each alone.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::findings::accepted_sometimes::{explained, is_accepted_sometimes};
use crate::nodes::{Accepted, Sharing, sharing};
use crate::series::{Case, Series};

pub(super) static CAUSE: Cause = Cause {
    slug: "resumed-ticket-refused",
    title: "Tickets of resumed connections are refused",
    happens: "\
What a full handshake gives is accepted, and what a resumed connection gives is not; or only the last of several
tickets is. A server that keeps only one session for each connection, and sends a ticket that names none, does this.",
    seen: "\
Acceptance follows where a ticket came from, exactly: of a full handshake, the last of its connection, or both.
Neither the node (its key name) nor the distance explains it.",
    confirm: "\
Resume with the ticket of a resumed connection:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out one.pem > /dev/null 2>&1
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in one.pem -sess_out two.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in two.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Every second connection of a client is a full handshake, or more.",
    advice: "Let the server keep, or be able to decrypt, what it gives on resumption:",
    fixes: &[
        fix("stunnel", "options = -NO_TICKET", ""),
        fix(
            "OpenSSL API",
            "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);",
            "or a session cache whose callbacks keep sessions of resumed connections too",
        ),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely],
    measured: Some(Rule { rank: 13, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &Case<'_>, tickets: &Series<'_>) -> Option<Finding> {
    if !is_accepted_sometimes(tickets, Kind::Ticket) {
        return None;
    }
    let sharing = sharing(case, tickets);
    let Sharing::ByOrigin(accepted) = sharing else { return None };
    let refused = match accepted {
        Accepted::OfFull => "that a resumed connection gives",
        Accepted::Last => "other than the last of a connection",
        Accepted::LastOfFull => "other than the last of a full handshake",
    };
    let title = format!("{} tickets {refused} are refused", tickets.asked.tls);
    let finding = case.found(&CAUSE, Severity::Fault, Confidence::Likely, title);
    Some(explained(finding, case, tickets, sharing))
}
