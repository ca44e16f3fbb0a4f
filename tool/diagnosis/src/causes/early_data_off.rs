//! `early-data-off`: TLS 1.3 tickets arrive, and none allows early data. By design, and worth knowing: nothing else saves a whole
//! round trip.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, Facts, Kind, Version};

use super::{Cause, ExaminedRule, MeasuredRule, Rule, fix};
use crate::diagnose::examined::Examined;
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-off",
    title: "Tickets do not allow early data",
    happens: "\
A ticket says how many bytes of early data the server would take (RFC 9846 §4.3.10). Without that extension, or with
0, none may be sent. It is off by default nearly everywhere, for good reason: early data can be replayed
(`early-data-replayable`).",
    seen: "\
Tickets arrive, and max_early_data_size is absent or 0 in each of them. It is by design, and a note.",
    confirm: "\
The size stands in what `s_client` prints of each ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null | grep 'Max Early Data'
```",
    costs: "One round trip in each resumed connection, which early data would save.",
    advice: "If requests that may be replayed are to save a round trip:",
    fixes: &[
        fix("nginx", "ssl_early_data on;", "from 1.15.3"),
        fix("HAProxy", "allow-0rtt", "on the bind line"),
        fix("OpenSSL API", "SSL_CTX_set_max_early_data(ctx, 16384);", "and SSL_read_early_data before SSL_accept"),
        fix(
            "GnuTLS",
            "gnutls_init(&session, GNUTLS_SERVER | GNUTLS_ENABLE_EARLY_DATA);",
            "with gnutls_record_set_max_early_data_size and gnutls_anti_replay_enable",
        ),
        fix(
            "rustls",
            "config.max_early_data_size = 16384;",
            "with a session_storage and no ticketer: it takes early data with stateful tickets alone",
        ),
        fix("Apache", "", "has none"),
        fix("Envoy", "", "takes none over TCP"),
        fix("Go", "", "takes none over TCP"),
        fix("Node", "", "takes none"),
        fix("Java", "", "takes none"),
    ],
    separated_by: &["early-data"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 16, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    examined: Some(Rule { rank: 3, find: ExaminedRule::Once(of_experiments) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    // Be it too little for the request.
    let allowed = early.completed.iter().filter(|(observation, _)| observation.max_early_data().is_some()).count();
    let gives_ticket = |facts: &Facts| facts.tickets.count > 0;
    if !early.is_early_data_with(gives_ticket) || allowed > 0 {
        return None;
    }
    let title = format!("{} tickets arrive, but none allows early data", early.asked.tls);
    let evidence = format!("Tickets on {}, max_early_data_size above 0 on {allowed}", connections(early.with(gives_ticket)));
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because([evidence]))
}

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let resumes = examined.always_resumes(Asked { tls: Version::Tls13, kind: Kind::Ticket });
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let giving: Vec<_> = facts.filter(|facts| facts.tickets.count > 0).collect();
    let allows = |bytes: Option<u32>| bytes.is_some_and(|bytes| bytes > 0);
    let allowed = giving.iter().any(|facts| facts.tickets.iter().any(|ticket| allows(ticket.max_early_data)));
    if !resumes || giving.is_empty() || allowed {
        return None;
    }
    let title = "TLS 1.3 tickets resume, and none allows early data";
    let evidence = [format!("Tickets on {}, max_early_data_size above 0 on none", connections(giving.len() as u64))];
    Some(CAUSE.finding(Severity::Note, Confidence::Certain, title).because(evidence).by_design())
}
