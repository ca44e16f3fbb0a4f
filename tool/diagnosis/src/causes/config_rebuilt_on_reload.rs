//! `config-rebuilt-on-reload`: a node refuses its sessions of before, though it was never away.

use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::shared::SHARE_KEYS;
use super::{Cause, Rule};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "config-rebuilt-on-reload",
    title: "A reload discards cache or ticket keys",
    happens: "\
A reload of certificates, configuration or logs builds a new context, with an empty cache and new random ticket
keys. Where certificates are renewed daily or logs are rotated hourly, sessions do not live longer than that. A ticket key
file does not help nginx where the certificate is another one afterwards: that is `certificate-renewed`.",
    seen: "\
Like a restart (`restart-lost-keys`, under which a run that meets the moment finds it): a key name that changes at once, at
regular hours. Of nodes that are diagnosed together, one refuses what it gave before, and could be reached all the time: a restart may be as
quick, so it is only possible. Compare them with the times of reloads; or save sessions with `reprise measure --session-out FILE` before a
reload and offer them with `--session-in FILE` after it.",
    confirm: "\
Save a session, reload the server, offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# reload the server here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each client at each reload, all at once.",
    advice: "Keep ticket keys outside of what is rebuilt. Where the reload is for a renewed certificate, nginx refuses its sessions all the same (certificate-renewed):",
    fixes: SHARE_KEYS,
    severities: &[Severity::Risk],
    confidences: &[Confidence::Possible],
    fleet: Some(Rule { rank: 6, find: of_fleet }),
    ..Cause::BLANK
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// It was there all the time, as far as was seen, and knows nothing of before.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let nodes: Vec<usize> = case.nodes_that_lost_keys(asked).into_iter().filter(|node| !case.was_away(*node)).collect();
    let title = format!(
        "{}: {} refuses its sessions of before, as after a reload or a quick restart",
        mechanism(asked),
        case.list(&nodes)
    );
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Possible, title).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a reload lost its keys" })
}
