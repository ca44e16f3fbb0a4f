use super::Cause;
use super::FoundBy::{Diagnose, Measure};
use super::shared::SHARE_KEYS;

pub(super) const CAUSE: Cause = Cause {
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
    found_by: &[Measure, Diagnose],
    advice: "Give every node behind this address the same ticket keys:",
    fixes: SHARE_KEYS,
};
