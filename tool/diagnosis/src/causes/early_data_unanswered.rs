//! `early-data-unanswered`: the server accepts early data, and what is asked by it is never answered.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{FaultName, Kind, Observation, Purpose};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-unanswered",
    title: "Early data is accepted and never answered",
    happens: "\
TLS takes the request as early data and the service never reads it: a program on OpenSSL that calls SSL_accept
without SSL_read_early_data, or `gnutls-serv --earlydata`, does so.",
    seen: "\
Connections that begin with early data get no response, while the same request after the handshake is answered.
Where nothing is answered at all, it may be the service, and is said as possible only.",
    confirm: "\
Send a request early and wait:

```sh
(sleep 3) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem \\
  -early_data early.txt 2> /dev/null | grep '^HTTP/'
```",
    costs: "The client waits until its own timeout.",
    advice: "Let what stands behind TLS read early data, or allow none:",
    fixes: &[
        fix("OpenSSL API", "", "call SSL_read_early_data until it returns SSL_READ_EARLY_DATA_FINISH"),
        fix("GnuTLS", "", "call gnutls_record_recv_early_data after the handshake"),
        fix("rustls", "", "read ServerConnection::early_data() before the plaintext of the connection"),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 20, find: MeasuredRule::Once(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let samples = case.observations.iter().filter(|seen| seen.purpose == Purpose::Sample);
    let early: Vec<&Observation> = samples.filter(|seen| seen.asked.kind == Kind::Early).collect();
    let unanswered = early.iter().filter(|seen| seen.outcome == Err(FaultName::EarlyDataUnanswered)).count();
    if unanswered == 0 {
        return None;
    }
    let all = connections(early.len() as u64);
    let mut evidence = vec![format!("No response on {unanswered} of {all} that sent early data")];
    let answered = case.samples().filter(|(seen, _)| seen.asked.kind != Kind::Early).count() as u64;
    if answered > 0 {
        evidence.push(format!("The same request after the handshake was answered on {}", connections(answered)));
    }
    // Where nothing else is answered either, it may be the service.
    let confidence = if answered > 0 { Confidence::Likely } else { Confidence::Possible };
    let title = "The server accepts early data and does not answer it";
    Some(case.found(&CAUSE, Severity::Fault, confidence, title).because(evidence))
}
