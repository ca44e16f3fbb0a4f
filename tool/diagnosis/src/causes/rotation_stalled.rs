//! `rotation-stalled`: tickets came at first, and later none any more.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ProbeRecord;

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Examined, cite};

pub(super) static CAUSE: Cause = Cause {
    slug: "rotation-stalled",
    title: "The server stops giving tickets some time after its start",
    happens: "\
Ticket keys have a life of their own. Where a key expires and no new one is made, tickets stop: s2n-tls encrypts
with a key for two hours by default, and a rotation loop that ends after one failed read never starts
again. The server works on, with full handshakes.",
    seen: "\
The full TLS 1.3 handshakes of a run bring tickets at first, and at least the last three bring none: possible, and only seen where
the run meets the moment. A server that had stopped before looks exactly like one that never gave any, which is `not-offered`.
Run `reprise measure` on a schedule with a baseline, which says when resumption went away.",
    confirm: "\
Note the time of the server's last start, and look for the end of tickets:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null \\
  | grep -c NewSessionTicket
```",
    costs: "From that moment on each new connection is a full handshake.",
    advice: "Restart the server or give it new keys, and let an alarm tell when no key is young enough:",
    fixes: &[
        fix(
            "s2n-tls",
            "s2n_config_add_ticket_crypto_key(config, name, name_len, key, key_len, intro_time);",
            "before the last one ends; s2n_config_set_ticket_encrypt_decrypt_key_lifetime sets its life",
        ),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Possible],
    examined: Some(Rule { rank: 14, find: ExaminedRule::Once(of_experiments) }),
    ..Cause::BLANK
};

/// So many full handshakes in a row without a ticket, after one with.
const MANY: usize = 3;

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    // Under TLS 1.2 some of the connections ask for no ticket.
    let is_tls13 = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.version == Version::Tls13);
    let mut full: Vec<&ProbeRecord> = examined.full().filter(is_tls13).collect();
    full.sort_by_key(|seen| seen.observation.index);
    let gives = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.tickets.count > 0);
    let last = full.iter().rposition(&gives)?;
    let without = full.get(last + 1..).unwrap_or_default();
    if without.len() < MANY || !full.iter().take(last).all(gives) {
        return None;
    }
    let title = "TLS 1.3 tickets arrived at first, and later none";
    let evidence = full.get(last).into_iter().chain(without.first()).map(|seen| cite(seen));
    let finding = CAUSE.finding(Severity::Fault, Confidence::Possible, title);
    Some(finding.because(evidence.chain([format!("{} full handshakes since then without a ticket", without.len())])))
}
