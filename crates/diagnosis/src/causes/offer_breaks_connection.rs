//! `offer-breaks-connection`: connections complete, and those that offer a session do not.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, FaultName};
use reprise_probe::diagnose::{Examination, ExperimentRun, ProbeRecord, Step};

use super::{Cause, ExaminedRule, Rule, fix, large_client_hello, node_protocol_differs, session_context_unset};
use crate::diagnose::examined::{Counts, Examined, ResumptionOutcome, by_outcome, came, evidence, mechanism, named};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    slug: "offer-breaks-connection",
    title: "The connection fails only where a session is offered",
    happens: "\
A server, or a middlebox on the path, fails on an offer that it should ignore. Known in the field: an alert at the
session's deadline instead of a full handshake, a large mTLS ticket that fragments the ClientHello, a balancer that
waits for more. RFC 9846 §4.3.11 and RFC 5077 §3.4 ask for a full handshake where a session is not accepted.",
    seen: "\
Connections without a session complete, before and after, and those that offer one end in an alert, a close or silence: three,
and each that was made, are certain. A target that went down altogether is not meant. Where sessions resume in plain
connections, unusual ones are tried as well: a ClientHello split over records or segments, many PSK identities, no SNI, no
ALPN, no key share. The finding names the offer that fails.",
    confirm: "\
Offer a session, and then none:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2>&1 \\
  | grep -E '^(New|Reused)|alert|:error:'
openssl s_client -connect HOST:443 -tls1_3 \\
  < /dev/null 2>&1 | grep -E '^(New|Reused)|alert|:error:'
```",
    costs: "\
A failed connection for each client that comes back, and one more attempt where the client tries again without.",
    advice: "Upgrade the server or what stands before it. Until then make tickets smaller (session IDs of a cache, a shorter client chain), or give none:",
    fixes: &[
        fix("nginx", "ssl_session_tickets off;", "with a shared cache: tickets become short"),
        fix("Apache", "SSLSessionTickets off", "with SSLSessionCache: tickets become short"),
        fix("HAProxy", "no-tls-tickets", "on the bind line: tickets become short"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);",
            "sessions stay in the cache, tickets become short",
        ),
        fix("curl", "", "with --no-sessionid the client offers nothing"),
        fix("Java", "", "new SSLContext for each connection: the client offers nothing"),
    ],
    explained_by: &[&large_client_hello::CAUSE, &node_protocol_differs::CAUSE],
    separated_by: &["resume", "large-client-hello", "records", "segments", "identities"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 12, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

/// Experiments in which a ClientHello is unusual and a session offered: what breaks is that combination.
const UNUSUAL: [&str; 6] = ["records", "segments", "identities", "without-sni", "without-alpn", "hello-retry-request"];

/// So many failures, each beside a connection that completed, leave no other reading.
const CERTAIN: usize = 3;

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mechanisms = examined.runs("resume").map(|run| run.asked);
    let plain = mechanisms.filter(|asked| !session_context_unset::is_shown(examined, *asked));
    let mut found: Vec<Finding> = plain.filter_map(|asked| of_plain_offers(examined, asked)).collect();
    let unusual = UNUSUAL.iter().flat_map(|name| examined.runs(name));
    found.extend(unusual.filter_map(|run| of_unusual_offer(examined, run)));
    found
}

fn of_plain_offers(examined: &Examined<'_>, asked: Asked) -> Option<Finding> {
    let offers = examined.plain(asked);
    let failed: Vec<&ProbeRecord> =
        offers.iter().copied().filter(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_)))).collect();
    let last = failed.last()?;
    let full = full_handshakes(examined.examination, asked);
    // A target that had stopped to answer altogether says nothing of offers.
    if !full
        .iter()
        .any(|seen| seen.fault.is_none() && seen.observation.index > failed.first().map_or(0, |it| it.observation.index))
    {
        return None;
    }
    let all = failed.len() == Counts::of(offers.iter().copied()).offered();
    let mut judgements = examined.case.judgements.iter();
    let is_otherwise = judgements.any(|it| it.asked == asked && it.of(Concluded::OfferBreaks).is_none());
    if is_otherwise && !all {
        // A node that is down, a limit on the rate.
        return None;
    }
    let full_completed = full.iter().all(|seen| seen.fault.is_none());
    let (severity, confidence) = match (all, full_completed) {
        // Two of two may be chance where many other offers were made.
        _ if is_otherwise => (Severity::Risk, Confidence::Possible),
        (true, true) if failed.len() >= CERTAIN => (Severity::Fault, Confidence::Certain),
        (true, _) => (Severity::Fault, Confidence::Likely),
        (false, _) => (Severity::Risk, Confidence::Possible),
    };
    let how = named(last.observation.outcome.err().unwrap_or(FaultName::Unconfirmed));
    let title = format!("Offering a session breaks the connection: {}, {how}", mechanism(asked));
    let mut evidence = vec![format!(
        "{} of {} that offered a session failed, {} of {} that offered none completed",
        failed.len(),
        connections(offers.len() as u64),
        full.iter().filter(|seen| seen.fault.is_none()).count(),
        full.len(),
    )];
    evidence.extend(by_outcome(failed.iter().copied()));
    Some(CAUSE.finding(severity, confidence, title).because(evidence))
}

fn full_handshakes(examination: &Examination, asked: Asked) -> Vec<&ProbeRecord> {
    let runs = examination.runs.iter().filter(|run| run.experiment.is_plain() && run.asked == asked);
    runs.flat_map(|run| &run.seen).filter(|seen| matches!(seen.step, Step::Prime(_))).collect()
}

fn of_unusual_offer(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) {
        return None;
    }
    let failure = |seen: &[ProbeRecord]| {
        seen.iter().find(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_))))?.observation.outcome.err()
    };
    let name = failure(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| failure(seen).is_some())?;
    // An alert for a name that is missing is an answer to that.
    if run.experiment.name == "without-sni" && name.is_refusal() {
        return None;
    }
    let title =
        format!("{}: a session is refused with an error ({}): {}", mechanism(run.asked), named(name), run.experiment.varies);
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    Some(finding.because(evidence(run)))
}
