//! `early-data-rejected`: tickets allow early data, and the server rejects it though it retries nothing. RFC 9846 §4.3.10 has
//! the reasons.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts};

use super::{Cause, MeasuredRule, Rule, fix, node_protocol_differs};
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-rejected",
    title: "Tickets allow early data, and the server rejects it",
    happens: "\
A server rejects early data that its replay protection does not know (RFC 9846 §8): sent with a ticket that was used
before, that another node gave, or that is older than its window; or because ALPN or the suite differ from those of
the session (§4.2.10).",
    seen: "\
Tickets state a max_early_data_size above 0, early data was sent, no HelloRetryRequest came, and EncryptedExtensions
had no early_data.",
    confirm: "\
Send early data with a fresh ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
printf 'GET / HTTP/1.1\\r\\nHost: HOST\\r\\n\\r\\n' > early.txt
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem \\
  -early_data early.txt 2> /dev/null | grep 'Early data was'
```",
    costs: "The bytes of the request are sent twice, and no round trip is saved.",
    advice: "Let the nodes share their replay protection, or allow no early data:",
    fixes: &[
        fix("nginx", "", "take ssl_early_data out of the configuration"),
        fix("HAProxy", "", "take allow-0rtt out of the bind line"),
        fix("rustls", "", "leave max_early_data_size at 0, its default"),
        fix(
            "Erlang",
            "{early_data,enabled}",
            "among the options of ssl:listen, with {session_tickets, stateless}: by default its tickets allow early data that it rejects",
        ),
        fix("OpenSSL API", "", "leave SSL_CTX_set_max_early_data at 0, its default"),
    ],
    explained_by: &[&node_protocol_differs::CAUSE],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 17, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, early: &KindSeries<'_>) -> Option<Finding> {
    // A HelloRetryRequest rejects early data whatever the server would have done with it: that is `early-data-hrr`.
    let is_rejected = |facts: &Facts| facts.early_data == Some(EarlyData::Rejected) && facts.hello_retry.is_none();
    if !early.is_early_data_with(is_rejected) {
        return None;
    }
    let title = match early.with(|facts| facts.early_data == Some(EarlyData::Accepted)) {
        0 => "Tickets allow early data, and the server rejects it",
        _ => "Tickets allow early data, and the server sometimes rejects it",
    };
    let counted = format!("Rejected on {} of {} that sent it", early.with(is_rejected), early.sent_early_data());
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because([counted, SENT_TWICE.to_owned()]))
}

pub(super) const SENT_TWICE: &str = "Each time the request was sent again after the handshake, so its bytes were sent twice";
