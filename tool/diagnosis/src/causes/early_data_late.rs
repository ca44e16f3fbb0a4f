//! `early-data-late`: the server accepts early data and answers it only after the client's Finished, a round trip later than it could.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-late",
    title: "Early data is answered only after the client's Finished",
    happens: "\
A server may answer early data at once, with its own Finished (RFC 9846 §2.3). One that first waits for the client's Finished answers a round
trip later, no sooner than a request that was sent after the handshake. HAProxy 2.6 with `allow-0rtt` does so: its backend gets
the request no sooner either.",
    seen: "\
Early data was accepted, and on connections whose client holds its Finished back, no response comes before it. `reprise measure` makes two of
these, for at least 250 ms and twice the longest wait for an answer, where early data was accepted and answered; they are not counted.",
    confirm: "\
A capture shows the response behind the client's Finished, which `openssl s_client` sends when it has the server's flight:

```sh
reprise trace HOST --kind early -v
```",
    costs: "The round trip that early data is there to save. What it risks remains: whoever records it can send it again.",
    advice: "Allow no early data where it saves nothing:",
    fixes: &[
        fix("HAProxy", "", "take allow-0rtt out of the bind line: version 2.6 has no setting by which it answers sooner"),
        fix("OpenSSL API", "", "answer by SSL_write_early_data once SSL_read_early_data has the request, before SSL_accept completes"),
    ],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 46, find: MeasuredRule::Once(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let held: Vec<bool> = case.observations.iter().filter_map(|seen| seen.answered_before_finished).collect();
    if held.is_empty() || held.contains(&true) {
        return None;
    }
    let evidence = format!("No response came before it on {} that held the Finished back", connections(held.len() as u64));
    let title = "Early data is accepted and saves no round trip: it is answered only after the client's Finished";
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because([evidence]))
}
