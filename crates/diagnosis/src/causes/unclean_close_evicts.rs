//! `unclean-close-evicts`: a session is forgotten where its connection ended without close_notify.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, Rule, cache_too_small, fix};
use crate::diagnose::examined::{Examined, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "unclean-close-evicts",
    title: "A session dies when its connection ends without close_notify",
    happens: "\
OpenSSL removes a session from the server's cache when the connection ends without a proper shutdown: a client that
closes the socket, or crashes, loses its session (RFC 5246 §7.2.1 dropped the rule that SSL 3.0 and TLS 1.0 had, and
libraries kept the habit).",
    seen: "\
Sessions resume after a clean end (close_notify), and not where the first connection ended with a FIN alone or with a reset.
Reprise ends connections in each of these ways and compares. Self-contained tickets resume in all of them.",
    confirm: "\
End once with close_notify (`Q`) and once by a kill, and offer the session each time:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_out session.pem \\
  < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
Clients on poor networks, and those that do not shut down, pay for a full handshake each time: the clients for whom it \
costs most.",
    advice: "Use tickets, or let the client end its connections with close_notify (SSL_shutdown):",
    fixes: &[
        fix("HAProxy", "", "take no-tls-tickets out of the bind line"),
        fix(
            "OpenSSL API",
            "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);",
            "or SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) before SSL_free",
        ),
    ],
    explained_by: &[&cache_too_small::CAUSE],
    separated_by: &["unclean-close", "reset"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 22, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for run in examined.runs("unclean-close").chain(examined.runs("reset")) {
        let Some(confidence) = examined.loses(run) else { continue };
        let evidence = evidence(run).map(|line| format!("{}: {line}", run.experiment.varies));
        let title = format!("{} forgets sessions whose connection ends without close_notify", mechanism(run.asked));
        match found.iter_mut().find(|finding| finding.title == title) {
            Some(finding) => {
                finding.confidence = finding.confidence.min(confidence);
                finding.evidence.extend(evidence);
            }
            None => {
                let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
                let finding = CAUSE.finding(severity, confidence, title).by_design();
                found.push(examined.priced(finding.because(evidence), run.asked.tls));
            }
        }
    }
    found
}
