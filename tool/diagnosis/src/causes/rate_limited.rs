//! `rate-limited`: connections fail after too many in a short time.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::Observation;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "rate-limited",
    title: "The server limits the rate of connections",
    happens: "\
A limit on connections or requests in a time refuses what comes too fast: with a reset, a close, or an error page (429, 503).
It is a choice, not a fault, and says nothing of sessions.",
    seen: "\
Connections fail where several were made in a short time, and complete after a wait. An error page counts as a failure where
other connections are answered well. A node that is down fails at any rate (`node-down`).",
    confirm: "\
Connect at once, and then with a pause; only the first of these fail:

```sh
for i in 1 2 3 4 5 6 7 8; do curl -so /dev/null -w '%{http_code}\\n' https://HOST/; done
for i in 1 2 3 4; do sleep 2; curl -so /dev/null -w '%{http_code}\\n' https://HOST/; done
```",
    costs: "Each refused connection, and another attempt of the client.",
    advice: "Examine the server more slowly, or from an address that is not limited:",
    fixes: &[
        fix("nginx", "", "raise the burst of limit_req or limit_conn in the location whose limit is meant"),
        fix("HAProxy", "", "raise the sc_conn_rate or sc_http_req_rate that the frontend denies"),
    ],
    separated_by: &["history"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(
        JudgedRule::of(
            Concluded::RateLimit,
            |_| Severity::Note,
            |_| "Connections fail after too many in a short time".to_owned(),
        )
        .if_it(has_recovered),
    ),
    ..Cause::BLANK
};

/// A limit lets connections through again; a server that died does not.
fn has_recovered(judgement: &Judgement) -> bool {
    let completes = |seen: &Observation| seen.facts().is_some();
    judgement.observations.iter().skip_while(|seen| completes(seen)).any(completes)
}
