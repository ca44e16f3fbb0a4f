//! `restart-lost-keys`: at one moment the name of the ticket key changes for all, and what was sealed before is refused from then
//! on: a restart, a reload or a rotation without overlap. From outside they look alike.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use reprise_probe::fleet::MECHANISMS;

use super::shared::SHARE_KEYS;
use super::{Cause, JudgedRule, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "restart-lost-keys",
    title: "A restart made all earlier sessions worthless",
    happens: "\
Keys that a server makes for itself at its start live as long as the process. After a restart, an upgrade or a
rollout every ticket that clients hold is refused once.",
    seen: "\
The key name of tickets changes at one moment for all connections of a version, and every ticket of before is refused from then
on. A reload (`config-rebuilt-on-reload`) looks the same; where keys change again and again, it is `rotation-no-overlap`. Of nodes that are diagnosed together, one refuses what it gave
before it could not be reached for a moment. A run of seconds meets that moment by chance. To see a restart that is planned, save sessions with `reprise measure --session-out FILE` before it and offer them
with `--session-in FILE` after it.",
    confirm: "\
Save a session, restart the server, offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# restart the server here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "\
One full handshake for each client at each restart, all at once: the load of a rollout is the sum of them.",
    advice: "Keep the ticket keys outside of the process:",
    fixes: SHARE_KEYS,
    separated_by: &["history"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::Restart, |_| Severity::Risk, |judgement| format!("{}: keys changed at one moment, and earlier sessions are refused", mechanism(judgement.asked)))),
    fleet: Some(Rule { rank: 5, find: of_fleet }),
    ..Cause::BLANK
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// It was away, and knows nothing of before.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let nodes: Vec<usize> = case.nodes_that_lost_keys(asked).into_iter().filter(|node| case.was_away(*node)).collect();
    let title = format!("{}: {} was restarted, and refuses its sessions of before", mechanism(asked), case.list(&nodes));
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a restart lost its keys" })
}
