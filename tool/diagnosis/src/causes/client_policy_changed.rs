//! `client-policy-changed`: nodes ask for client certificates differently, and refuse each other's sessions.

use reprise_model::document::{Confidence, Severity};
use reprise_probe::fleet::MECHANISMS;

use super::{Cause, Rule};
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "client-policy-changed",
    title: "The server's rules for client certificates changed since the session was made",
    happens: "\
A session carries the client's identity. A server that now asks for a certificate, trusts another CA or checks a
revocation list has reason to refuse sessions of before.",
    seen: "\
Of nodes that are diagnosed together, some ask for a client certificate and others do not, and they refuse each other's sessions though the
key is the same; where the keys differ too, it is a note. Of one server it cannot be seen from outside: it takes a change of configuration between two connections, and shows as any other
refusal of old sessions (`restart-lost-keys`). New sessions are accepted, so that it passes by itself.",
    confirm: "\
Compare the server's configuration with what it was when the session was made, and offer a fresh session:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -reconnect < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each client after each such change.",
    advice: "Nothing needs to be fixed: a refusal is right. Change such rules seldom, and not from node to node.",
    separated_by: &["without-certificate"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    fleet: Some(Rule { rank: 10, find: of_fleet }),
    ..Cause::BLANK
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let unlike = case.unlike_the_most(|node| node.is_reached().then(|| node.asks_for_certificate.clone()));
    let refused = MECHANISMS
        .into_iter()
        .find_map(|asked| Some((asked, unlike.pairs().find(|pair| case.refuses_under_one_key(asked, *pair))?)));
    let who = case.list(&unlike.nodes);
    let differs = format!("{who} treats client certificates otherwise than the others");
    let finding = match refused {
        _ if unlike.nodes.is_empty() => return None,
        Some((asked, pair)) => {
            let title = format!("{differs}, and sessions are refused between them");
            CAUSE.finding(Severity::Risk, Confidence::Likely, title).because([case.cite(asked, pair)])
        }
        None => CAUSE.finding(Severity::Note, Confidence::Likely, differs),
    };
    Some(FleetFinding { finding, nodes: unlike.nodes, reason: "other rules for client certificates" })
}
