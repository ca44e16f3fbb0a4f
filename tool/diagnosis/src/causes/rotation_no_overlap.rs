//! `rotation-no-overlap`: ticket keys change again and again, and the key before is not kept.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};

use reprise_probe::fleet::MECHANISMS;

use super::{Cause, JudgedRule, Rule, fix};
use crate::diagnose::examined::mechanism;
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "rotation-no-overlap",
    title: "Rotation of the ticket key kills all earlier tickets",
    happens: "\
The key that encrypts tickets was replaced, and the old one was not kept to decrypt with. RFC 5077 §5.5 asks for
rotation; it works without loss only if the old key stays for as long as its tickets live.",
    seen: "\
Every ticket older than one moment is refused and every younger one accepted, with a new key name from that moment
on. Where that happens every few seconds, a run sees it happen again; one change alone looks like a restart (`restart-lost-keys`). Between nodes that are diagnosed together, all of them replace one common key by another. To distinguish them, compare the moment with the times of restarts; to meet it, save sessions with `reprise measure --session-out FILE` before a
rotation and offer them with `--session-in FILE` after it.",
    confirm: "\
Save a session before and offer it after the rotation:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# rotate here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each client at each rotation, all in one burst.",
    advice: "Keep the previous key for decryption as long as its tickets live:",
    fixes: &[
        fix(
            "nginx",
            "ssl_session_ticket_key current.key; ssl_session_ticket_key previous.key;",
            "the first encrypts, all decrypt",
        ),
        fix("HAProxy", "", "at least three keys in the file of tls-ticket-keys: the last but one encrypts, all decrypt"),
        fix("Apache", "", "it holds only one key: leave out SSLSessionTicketKeyFile, or accept the loss at each change"),
        fix(
            "Envoy",
            "session_ticket_keys: { keys: [{ filename: current.key }, { filename: previous.key }] }",
            "the first encrypts, all decrypt",
        ),
        fix("Caddy", "", "leave out session_tickets.max_keys, or let it be 2 or more: by default it keeps 4"),
        fix("Go", "config.SetSessionTicketKeys([][32]byte{current, previous})", "the first encrypts, all decrypt"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, callback);",
            "from 3.0; return 2 for a ticket of an old key: it is accepted and renewed",
        ),
        fix("Node", "server.setTicketKeys(keys)", "holds one key: use one period longer than the tickets' life"),
    ],
    separated_by: &["history", "patience"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::Rotation, |_| Severity::Risk, |judgement| format!("{}: keys change again and again, and earlier sessions are refused", mechanism(judgement.asked))).under(TICKETS)),
    fleet: Some(Rule { rank: 4, find: of_fleet }),
    ..Cause::BLANK
};

/// A session ID has no key: a cache whose lifetimes are whole seconds looks the same.
const TICKETS: &[Kind] = &[Kind::Ticket];

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    MECHANISMS.into_iter().find_map(|asked| of_mechanism(case, asked))
}

/// Nodes that shared one key and share another now have not restarted: each would have made a key of its own.
fn of_mechanism(case: &FleetCase<'_>, asked: reprise_model::Asked) -> Option<FleetFinding> {
    let last = |node: usize| case.nodes.get(node)?.key_names.get(&asked)?.last().copied();
    let changed: Vec<usize> = (0..case.nodes.len()).filter(|node| case.change(asked, *node).is_some()).collect();
    let name = changed.iter().find_map(|node| last(*node))?;
    let nodes: Vec<usize> = changed.into_iter().filter(|node| last(*node) == Some(name)).collect();
    let title = format!(
        "{}: the ticket key of {} was replaced, and sessions of before are refused",
        mechanism(asked),
        case.list(&nodes)
    );
    let evidence: Vec<String> = nodes.iter().take(3).map(|node| case.cite(asked, (*node, *node))).collect();
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title).because(evidence);
    (nodes.len() > 1).then_some(FleetFinding { finding, nodes, reason: "keys replaced without overlap" })
}
