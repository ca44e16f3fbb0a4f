//! `hidden-nodes`: tickets are accepted now and then, as by nodes behind one address that do not share their keys.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::shared::SHARE_KEYS;
use super::{Cause, MeasuredRule, Rule, node_certificate_differs, restart_lost_keys};
use crate::findings::accepted_sometimes::{explained, is_accepted_sometimes};
use crate::nodes::{Sharing, sharing};
use crate::series::{Case, Series};

pub(super) static CAUSE: Cause = Cause {
    slug: "hidden-nodes",
    title: "Tickets are accepted only sometimes: nodes that do not share their keys",
    happens: "\
Behind one address a balancer hands connections to several nodes or processes, and each has ticket keys of its own.
A ticket is accepted where the connection happens to reach the node that gave it.",
    seen: "\
Some tickets of one version are accepted and some refused, while nothing is changed. Several key names at once (the
first 16 bytes of a ticket with OpenSSL and rustls), each accepted only where its own is in use, make it certain.
Acceptance at exact multiples of n connections, which means n nodes taken in turn, makes it likely; anything else is
possible. Acceptance that follows where a ticket came from is `resumed-ticket-refused`, a key that changes for all at one
moment `restart-lost-keys`; only the session IDs failing is `id-cache-per-process`.",
    confirm: "\
Collect the first bytes of tickets from several connections; more than one beginning means more than one key:

```sh
for i in 1 2 3 4 5 6 7 8; do
  openssl s_client -connect HOST:443 -tls1_2 < /dev/null 2> /dev/null | grep -A1 'session ticket:' | tail -1
done | cut -c1-60 | sort | uniq -c
```",
    costs: "\
With n nodes taken at random, n − 1 of n connections that offer a ticket are full handshakes: an average that the
finding gives in time.",
    advice: "Give every node behind this address the same ticket keys:",
    fixes: SHARE_KEYS,
    explained_by: &[&restart_lost_keys::CAUSE, &node_certificate_differs::CAUSE],
    separated_by: &["resume", "resume-more", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 5, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &Case<'_>, tickets: &Series<'_>) -> Option<Finding> {
    if !is_accepted_sometimes(tickets, Kind::Ticket) {
        return None;
    }
    let sharing = sharing(case, tickets);
    let confidence = match sharing {
        Sharing::KeyNames(_) => Confidence::Certain,
        Sharing::InTurn(_) => Confidence::Likely,
        // Another finding says so.
        Sharing::ByOrigin(_) => return None,
        Sharing::Unknown => Confidence::Possible,
    };
    let title = format!("{} tickets are accepted only sometimes", tickets.asked.tls);
    let finding = case.found(&CAUSE, Severity::Risk, confidence, title);
    Some(explained(finding, case, tickets, sharing))
}
