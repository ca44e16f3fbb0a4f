//! `hidden-nodes`: tickets are accepted now and then, as by nodes behind one address that do not share their keys.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::shared::{SHARE_KEYS, parted_title};
use super::{Cause, JudgedRule, node_certificate_differs};

pub(super) static CAUSE: Cause = Cause {
    slug: "hidden-nodes",
    title: "Tickets are accepted only sometimes: nodes or processes that do not share their keys",
    happens: "\
Behind one address a balancer hands connections to several nodes or processes, and each has ticket keys of its own.
A ticket is accepted where the connection happens to reach the one that gave it.",
    seen: "\
Some tickets of one version are accepted and some refused, while nothing is changed. It is likely where nodes that do not
share (in turn, by weight, by chance, one unlike the others) explain all connections 20 times better than anything else
does: one node that forgets, keys that change, a limit. It is certain where they explain it 1000 times better and further
connections of `diagnose` confirmed it. Key names (the first 16 bytes of a ticket with OpenSSL and rustls) count among the
evidence. Acceptance that follows where a ticket came from is `resumed-ticket-refused`, a key that changes for all at one moment
`restart-lost-keys`; session IDs, and
tickets that only name a session in a cache, are `id-cache-per-process`.",
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
    advice: "Give every node and process behind this address the same ticket keys. Session IDs need a cache that the nodes share, which nginx has none of:",
    fixes: SHARE_KEYS,
    explained_by: &[&node_certificate_differs::CAUSE],
    separated_by: &["resume", "history", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NotShared, |_| Severity::Risk, title).under(&[Kind::Ticket])),
    ..Cause::BLANK
};

fn title(judgement: &Judgement) -> String {
    parted_title(judgement, "tickets")
}
