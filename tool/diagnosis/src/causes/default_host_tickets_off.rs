//! `default-host-tickets-off`: the name's own virtual host gives tickets, and the listener's default host, in which they are off,
//! is asked to open them.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Ticket, TicketKeyName};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Counts, Examined, by_outcome, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "default-host-tickets-off",
    title: "Tickets are off in the listener's default virtual host alone",
    happens: "\
A ticket is read before the name of the ClientHello has chosen a virtual host: by the listener's default host. Where tickets are
off there, it takes each for the name of a stored session and finds none, while the name's own host, in which they are on, gives
them.",
    seen: "\
With the name, TLS 1.3 tickets hold their session, come under one key name and are never accepted. Where no connection sends
SNI, tickets only name a session, as those of a server in which tickets are off. Tickets that are off in the name's own host
are `vhost-directives`.",
    confirm: "\
Compare the lengths of tickets with the name and without: those that hold a session have more than 100 bytes, the others 32:

```sh
for name in '-servername HOST' -noservername; do
  (sleep 1) | openssl s_client -connect HOST:443 $name -tls1_3 -msg 2> /dev/null | grep NewSessionTicket
done
```",
    costs: "What the full handshakes of all names but the default one cost.",
    advice: "Set tickets once for the whole listener:",
    fixes: &[fix(
        "nginx",
        "ssl_session_tickets on;",
        "in the http block, and no off in the server block that is the default of the listener (default_server, or the first)",
    )],
    separated_by: &["no-sni-at-all"],
    is_of_server: true,
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 24, find: ExaminedRule::EachRun("no-sni-at-all", of_experiments) }),
    ..Cause::BLANK
};

/// So many refusals are no accident.
const ENOUGH: usize = 4;

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let plain = examined.plain(run.asked);
    let with = Counts::of(plain.iter().copied());
    let names: BTreeSet<TicketKeyName> = tickets(&plain).map(|ticket| ticket.key_name).collect();
    let without: Vec<&ProbeRecord> = run.all().collect();
    let is_so = names.len() == 1
        && tickets(&plain).all(|ticket| ticket.holds_its_session())
        && tickets(&without).next().is_some()
        && tickets(&without).all(|ticket| !ticket.holds_its_session());
    if !is_so || with.refused < ENOUGH || with.refused < with.offered() || !examined.is_steady(run.asked) {
        return None;
    }
    let title = format!(
        "{}: tickets hold a session with server_name, and only name one without it: they are off in the default virtual host alone",
        mechanism(run.asked)
    );
    let refused = by_outcome(plain).map(|line| format!("With server_name, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    Some(CAUSE.finding(Severity::Fault, Confidence::Likely, title).because(refused.chain(without)))
}

fn tickets<'s>(seen: &'s [&ProbeRecord]) -> impl Iterator<Item = &'s Ticket> {
    seen.iter().filter_map(|seen| seen.observation.facts()).flat_map(|facts| facts.tickets.iter())
}
