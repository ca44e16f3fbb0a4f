//! `key-share-reused`: the server's ephemeral key comes more than once.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Observation, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "key-share-reused",
    title: "The server uses an ephemeral key more than once",
    happens: "\
The server takes the same (EC)DHE key for several handshakes: from a pool that is filled before, or one key for some time. RFC 8446 did
not forbid it, and RFC 9846 §4.3.8 does (a client has to accept it all the same); NIST SP 800-56A wants a key for each. Some terminators do it on purpose.",
    seen: "\
The server's key share is the same in two handshakes, be they full or resumed. Fresh keys are never alike.",
    confirm: "\
Look at the key share of some handshakes:

```sh
for i in 1 2 3 4; do
  openssl s_client -connect HOST:443 -tls1_3 -trace < /dev/null 2> /dev/null | grep -A1 'key_exchange:' | tail -1
done | sort | uniq -c
```",
    costs: "\
It saves the server one multiplication of a fixed point for each handshake, some 15 to 60 µs. What was recorded under it is open to
whoever gets the key while it is kept, and an invalid point or a side channel has more than one handshake to be used on.",
    advice: "Where forward secrecy for each connection is wanted, let the server make a key for each handshake: pools hand each key out once.",
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    security_severity: Some("3.7"),
    measured: Some(Rule { rank: 29, find: MeasuredRule::EachVersion(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let mut shares: BTreeMap<[u8; 8], Vec<&Observation>> = BTreeMap::new();
    for seen in case.observations {
        if let Some(share) = seen.facts().filter(|facts| facts.version == version).and_then(|facts| facts.key_share) {
            shares.entry(share).or_default().push(seen);
        }
    }
    let all: usize = shares.values().map(Vec::len).sum();
    let most = shares.values().filter(|seen| seen.len() > 1).max_by_key(|seen| seen.len())?;
    let ports: Vec<String> = most.iter().take(NAMED).filter_map(|it| it.local_port()).map(|port| port.to_string()).collect();
    let title = format!("{version}: the server uses an ephemeral key for more than one handshake");
    let evidence = [
        format!("{} keys in {all} handshakes, one of them {} times (ports {})", shares.len(), most.len(), ports.join(", ")),
        "It saves the server one multiplication a handshake; forward secrecy begins when the key is discarded, not with the \
            connection's end"
            .to_owned(),
    ];
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(evidence))
}

/// So many connections are named.
const NAMED: usize = 3;
