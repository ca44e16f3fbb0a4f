//! `key-propagation-skew`: a session is refused until the other nodes know its key.

use itertools::Itertools;
use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use reprise_model::Kind;
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, JudgedRule, Rule, fix};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding, Relation};

pub(super) static CAUSE: Cause = Cause {
    slug: "key-propagation-skew",
    title: "A new ticket key is used before all nodes know it",
    happens: "\
A rotation reaches one node earlier than another. For a while some nodes give tickets under a key that others cannot
decrypt.",
    seen: "\
A session is refused as long as it is young and accepted when it is older: it takes that long until the other nodes know its
key, or until a cache that they share has it. Between nodes that are diagnosed together, tickets under one key are refused by a node and
accepted from one moment on; or one node refuses what another seals with a new key, while the other accepts its tickets. A rotation that reaches the nodes within minutes is not seen in a run of seconds,
which finds `hidden-nodes` then, and nothing later: repeat it, or run `reprise measure --every 60s` over a rotation.",
    confirm: "\
During a rotation, compare the key names that each node gives:

```sh
openssl s_client -connect ADDRESS:443 -servername HOST -tls1_2 < /dev/null 2> /dev/null \\
  | grep -A1 'session ticket:'
```",
    costs: "Full handshakes for tickets that cross nodes during that time.",
    advice: "Publish a key to every node for decryption first, and let it encrypt only when all have it:",
    fixes: &[
        fix(
            "HAProxy",
            "",
            "set ssl tls-key ID TLSKEY on the runtime socket: a new key is first kept, and encrypts only after the next one came",
        ),
        fix(
            "nginx",
            "",
            "two ssl_session_ticket_key lines, first with the new key last; when every node has it, with the new key first",
        ),
        fix(
            "s2n-tls",
            "s2n_config_add_ticket_crypto_key(config, name, name_len, key, key_len, intro_time);",
            "with an intro_time that lies ahead",
        ),
        fix("Go", "", "SetSessionTicketKeys with the current key and then the next one, later with the next one first"),
    ],
    separated_by: &["history"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::RefusedYoung, |_| Severity::Risk, |judgement| format!("{}: young sessions are refused, and accepted when they are older", mechanism(judgement.asked)))),
    fleet: Some(Rule { rank: 3, find: of_fleet }),
    ..Cause::BLANK
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().filter(|asked| asked.kind == Kind::Ticket).find_map(|asked| of_mechanism(case, asked))
}

fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let late: Vec<(usize, usize)> =
        case.pairs(asked).filter(|(from, to)| from != to && case.becomes_known(asked, *from, *to).is_some()).collect();
    // One knows both keys, the other only one of them.
    let one_way = |(from, to): &(usize, usize)| {
        let is_new = case.keys_differ(asked, *from, *to) == Some(true);
        is_new && case.relation(asked, *to, *from) == Relation::Accepts
    };
    let pairs = match late.is_empty() {
        false => late,
        true => case.refusing_pairs(asked).into_iter().filter(one_way).collect(),
    };
    let confidence = if case.is_one_name { Confidence::Likely } else { Confidence::Possible };
    let nodes: Vec<usize> = pairs.iter().map(|(_, to)| *to).sorted_unstable().dedup().collect();
    let title =
        format!("{}: {} does not know, or learns late, the key that others seal with", mechanism(asked), case.list(&nodes));
    let evidence: Vec<String> = pairs.iter().take(3).map(|pair| case.cite(asked, *pair)).collect();
    let finding = CAUSE.finding(Severity::Risk, confidence, title).because(evidence);
    (!pairs.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a key that has not reached it" })
}
