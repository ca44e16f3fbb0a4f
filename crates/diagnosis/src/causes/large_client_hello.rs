//! `large-client-hello`: a ClientHello as large as those with post-quantum key shares loses the session, or the connection.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "large-client-hello",
    title: "Sessions are refused where the ClientHello is large",
    happens: "\
A post-quantum key share of X25519MLKEM768 adds 1216 bytes, a large ticket some thousand more: the ClientHello no
longer fits into one packet. Balancers that look for the session ID or name in the first packet, and servers that
look sessions up only in small ClientHellos, then miss it.",
    seen: "\
A session that always resumes in a small ClientHello is refused in one of more than 1600 bytes, or its connection fails. Where
the large ClientHello fails without any session too, the finding says so: then it is not about resumption. One that is
split over records or TCP segments is tried by itself, and is `offer-breaks-connection`.",
    confirm: "\
Compare one with a post-quantum key share (OpenSSL from 3.5) and one without:

```sh
openssl s_client -connect HOST:443 -tls1_3 -groups X25519MLKEM768:X25519 \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
openssl s_client -connect HOST:443 -tls1_3 -groups X25519 < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "\
A full handshake, or a failure, for all clients with post-quantum key exchange: current browsers among them.",
    advice: "Upgrade what reads only the first packet, and let it read whole handshake messages (RFC 9846 §5.1). Until then keep tickets small: session IDs of a cache are 32 bytes.",
    fixes: &[fix("HAProxy", "", "tcp-request inspect-delay with tcp-request content accept if { req.ssl_hello_type 1 } waits for the whole ClientHello"),],
    separated_by: &["large-client-hello"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 6, find: ExaminedRule::EachRun("large-client-hello", of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) {
        return None;
    }
    let what = what_happens(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| what_happens(seen) == Some(what))?;
    let title = format!("{}: a connection with a large ClientHello {what}", mechanism(run.asked));
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    let sent = run.seen.first()?.observation.sent;
    let evidence = by_outcome(run.all()).map(|line| format!("{sent} sent: {line}"));
    Some(examined.priced(finding.because(evidence), run.asked.tls))
}

fn what_happens(seen: &[ProbeRecord]) -> Option<&'static str> {
    match (seen.first()?.fault.is_some(), seen.iter().filter_map(came).next()) {
        (true, _) => Some("fails, whether it offers a session or not"),
        (false, Some(ResumptionOutcome::Refused)) => Some("is not resumed"),
        (false, Some(ResumptionOutcome::Failed(_))) => Some("fails where it offers a session"),
        _ => None,
    }
}
