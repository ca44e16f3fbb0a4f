//! `large-client-hello`: a ClientHello as large as those with post-quantum key shares loses the session, or the connection.

use reprise_model::Asked;
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
the large ClientHello fails without any session too, or one in two TCP segments, the finding says so: then it is not about
resumption. One in segments or records that fails only where it offers a session is `offer-breaks-connection`.",
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
    separated_by: &["large-client-hello", "segments"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 6, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let large = examined.runs(LARGE).filter_map(|run| of_large_hello(examined, run));
    large.chain(examined.runs("segments").filter_map(|run| of_segments(examined, run))).collect()
}

fn of_large_hello(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
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

/// A ClientHello in two segments, as a large one is: it fails without a session too. Where only an offer fails, that is `offer-breaks-connection`.
fn of_segments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) || is_shown(examined, run.asked) {
        return None;
    }
    let fails = |seen: &[ProbeRecord]| seen.first().is_some_and(|first| first.fault.is_some());
    let confidence = Examined::each_time(run, fails)?;
    let title =
        format!("{}: a connection fails whose ClientHello comes in two TCP segments, session or not", mechanism(run.asked));
    Some(CAUSE.finding(Severity::Risk, confidence, title).because(by_outcome(run.all())))
}

const LARGE: &str = "large-client-hello";

/// Whether a large ClientHello loses this mechanism's session or connection.
pub(super) fn is_shown(examined: &Examined<'_>, asked: Asked) -> bool {
    let mut runs = examined.runs(LARGE).filter(|run| run.asked == asked);
    runs.any(|run| of_large_hello(examined, run).is_some())
}

fn what_happens(seen: &[ProbeRecord]) -> Option<&'static str> {
    match (seen.first()?.fault.is_some(), seen.iter().filter_map(came).next()) {
        (true, _) => Some("fails, whether it offers a session or not"),
        (false, Some(ResumptionOutcome::Refused)) => Some("is not resumed"),
        (false, Some(ResumptionOutcome::Failed(_))) => Some("fails where it offers a session"),
        _ => None,
    }
}
