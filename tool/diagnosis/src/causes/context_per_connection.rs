//! `context-per-connection`: the server makes new keys, or a new cache, for each connection.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Kind, Ticket, TicketKeyName};

use super::{Cause, MeasuredRule, Rule, client_psk_mode, fix, services};
use crate::series::{FEWEST, KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "context-per-connection",
    title: "A new TLS context for each connection",
    happens: "\
The server builds its TLS configuration again for each connection, or forks a process that does: ticket keys and the session cache
live as long as one connection. So do callbacks that return a fresh configuration for each ClientHello.",
    seen: "\
Tickets that hold a session are given and never accepted, and no two of them begin with the same key name. Tickets that come under
few names and are never accepted are `not-offered`; under a name for each node, and accepted sometimes, `hidden-nodes`.",
    confirm: "\
Collect the first bytes of tickets from several connections; each another beginning means a key for each:

```sh
for i in 1 2 3 4 5 6 7 8; do
  openssl s_client -connect HOST:443 -tls1_2 < /dev/null 2> /dev/null | grep -A1 'session ticket:' | tail -1
done | cut -c1-60 | sort | uniq -c
```",
    costs: "Every connection pays a full handshake, and the server builds a configuration for it too.",
    advice: "Make the TLS configuration once, when the program starts, and use it for all connections:",
    fixes: &[
        fix(
            "gunicorn",
            "def ssl_context(config, default): ssl_context.kept = getattr(ssl_context, 'kept', None) or default(); return ssl_context.kept",
            "in its configuration file, from 21.0; without it each connection has a context of its own",
        ),
        fix("OpenSSL API", "", "call SSL_CTX_new() once, and SSL_new() for each connection"),
        fix(
            "Go",
            "",
            "keep one *tls.Config: no tls.Server(conn, config) with a new one for each connection, and no new keys of \
             SetSessionTicketKeys in what GetConfigForClient returns",
        ),
        fix("Python ssl", "", "make one ssl.SSLContext when the program starts, and wrap every connection by it"),
        fix("rustls", "", "keep one Arc<ServerConfig> for all connections"),
        fix("Node", "", "call tls.createServer() once; for other names use addContext() or an SNICallback that returns a kept context"),
        fix("Java", "", "keep one SSLContext for all connections"),
    ],
    services: services::OF_TICKETS,
    separated_by: &["resume", "history"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 25, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> Option<Finding> {
    let names = names_of_unlike_keys(case, tickets)?;
    let title = format!("{} tickets arrive and are never accepted: each has a key name of its own", tickets.asked.tls);
    let confidence = tickets.confidence_of_refusal(case).max(Confidence::Likely);
    let named = format!("{names} tickets came, under {names} key names");
    let finding = case.found(&CAUSE, Severity::Fault, confidence, title);
    // The cache is as new as the keys are.
    let series = case.conclusive_series();
    let ids = series.iter().find(|it| it.asked == Asked { kind: Kind::Id, ..tickets.asked });
    let ids = ids.filter(|ids| ids.is_never_accepted(case));
    let also = ids.map(|ids| format!("Nor is a session ID, whose cache is as new: {}", ids.refusal(case)));
    let mechanisms = std::iter::once(tickets.asked).chain(ids.map(|ids| ids.asked));
    Some(finding.because([tickets.refusal(case), named].into_iter().chain(also)).under(mechanisms))
}

/// Whether that is why these tickets are never accepted.
pub(super) fn is_shown(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> bool {
    names_of_unlike_keys(case, tickets).is_some()
}

/// How many tickets came, where none is accepted and no two have the same key name.
fn names_of_unlike_keys(case: &MeasuredCase<'_>, tickets: &KindSeries<'_>) -> Option<u64> {
    let is_meant = tickets.asked.kind == Kind::Ticket && tickets.is_never_accepted(case);
    if !is_meant || client_psk_mode::is_the_cause(case) {
        return None;
    }
    let of_version = case.observations.iter().filter(|seen| seen.asked.tls == tickets.asked.tls);
    let given = || of_version.clone().filter_map(|seen| seen.facts()?.tickets.iter().next());
    let names: BTreeSet<TicketKeyName> = given().map(|ticket| ticket.key_name).collect();
    let count = given().count() as u64;
    (count >= FEWEST && names.len() as u64 == count && given().all(Ticket::holds_its_session)).then_some(count)
}
