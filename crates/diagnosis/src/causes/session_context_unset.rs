//! `session-context-unset`: a server on OpenSSL asks for client certificates and has no session id context: a session that is
//! offered ends the connection with internal_error.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, ClientAuthentication, FaultName};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came};

pub(super) static CAUSE: Cause = Cause {
    slug: "session-context-unset",
    title: "A client certificate is asked for, and no session id context is set",
    happens: "\
An OpenSSL server that asks for client certificates must name a session id context, so that a session is not taken
over from a place with weaker checks. Without one OpenSSL refuses to resume: it ends the connection with an internal
error (\"session id context uninitialized\") instead of going on with a full handshake.",
    seen: "\
The server asks for a certificate in full handshakes, and every connection that offers a session ends with the alert
internal_error (80). An alert without a request for a certificate is `offer-breaks-connection`.",
    confirm: "\
The second of these connections fails:

```sh
openssl s_client -connect HOST:443 -tls1_2 -cert cert.pem -key key.pem -reconnect \\
  < /dev/null 2>&1 | grep -E '^(New|Reused)|alert|:error:'
```",
    costs: "\
Each client that resumes fails at its second connection; those that try again without a session pay two attempts.",
    advice: "Set a session id context, one for each policy and the same on every node:",
    fixes: &[
        fix(
            "OpenSSL API",
            "SSL_CTX_set_session_id_context(ctx, (const unsigned char *)\"app\", 3);",
            "any fixed bytes, at most 32, one value for each policy",
        ),
        fix("memcached", "--extended=ssl_session_cache", "beside its other options, from 1.6.10: it sets a context too"),
        fix("Node", "sessionIdContext: 'app'", "among the options of tls.createServer; set from the arguments by default"),
    ],
    separated_by: &["without-certificate"],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 15, find: ExaminedRule::Once(of_experiments) }),
    ..Cause::BLANK
};

/// RFC 9846 §6.2: internal_error.
const INTERNAL_ERROR: FaultName = FaultName::Alert(80);

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let asked: Vec<Asked> = examined.runs("resume").map(|run| run.asked).filter(|it| is_shown(examined, *it)).collect();
    if asked.is_empty() {
        return None;
    }
    let title = "The server requests client certificates and cannot resume such sessions: it closes the connection";
    let seen = asked.into_iter().flat_map(|asked| examined.plain(asked));
    let evidence = std::iter::once("It asks for a certificate in full handshakes".to_owned()).chain(by_outcome(seen));
    Some(CAUSE.finding(Severity::Fault, Confidence::Likely, title).because(evidence))
}

/// Whether every offer of this mechanism ends in internal_error, at a server that asks for certificates.
pub(super) fn is_shown(examined: &Examined<'_>, asked: Asked) -> bool {
    let asks = |it: ClientAuthentication| it != ClientAuthentication::NotRequested;
    let is_asked = examined.full().filter_map(|seen| seen.observation.facts()).any(|it| asks(it.client_authentication));
    let offers: Vec<ResumptionOutcome> = examined.plain(asked).into_iter().filter_map(came).collect();
    is_asked && !offers.is_empty() && offers.iter().all(|came| *came == ResumptionOutcome::Failed(INTERNAL_ERROR))
}
