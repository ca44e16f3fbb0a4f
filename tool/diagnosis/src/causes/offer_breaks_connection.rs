//! `offer-breaks-connection`: connections complete, and those that offer a session do not.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, FaultName, Observation};
use reprise_probe::diagnose::{Examination, ExperimentRun, Judgement, ProbeRecord, Step, Variation};
use reprise_probe::fleet::MECHANISMS;

use super::{
    Cause, ExaminedRule, MeasuredRule, Rule, fix, large_client_hello, node_protocol_differs, session_context_unset,
};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, evidence, mechanism, named};
use crate::figures::connections;
use crate::likelihood::odds;
use crate::series::MeasuredCase;
use crate::service::service;

pub(super) static CAUSE: Cause = Cause {
    slug: "offer-breaks-connection",
    title: "The connection fails only where a session is offered",
    happens: "\
A server, or a middlebox on the path, fails on an offer that it should ignore. Known in the field: an alert at the
session's deadline instead of a full handshake, a large mTLS ticket that fragments the ClientHello, a balancer that
waits for more. RFC 9846 §4.3.11 and RFC 5077 §3.4 ask for a full handshake where a session is not accepted.",
    seen: "\
Connections without a session complete, before and after, and those that offer one end in an alert, a close or silence: three,
and each that was made, are certain. Where only some of them fail, as many connections without a session are made as show that it is
no node of several, and no limit: a connection that fails after the server has accepted the session excludes a node that is down. Then a ClientHello as
large is sent without a session: where that fails too, the finding says that its size is the reason. A target that went down altogether is
not meant. Where sessions resume in plain connections, unusual ones are tried as well: a ClientHello split over records or segments,
many PSK identities, no SNI, no ALPN, no key share. Of these the finding names the offer that fails, twice at least; what fails without a
session too is not meant.",
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
        fix("nginx", "", "as a router by ssl_preread, in a stream block: preread_buffer_size above the ClientHello, as 64k; default 16k"),
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
    explained_by: &[&node_protocol_differs::CAUSE],
    separated_by: &["resume", "history", "as-large-as-an-offer", "large-client-hello", "records", "segments", "identities"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 48, find: MeasuredRule::Several(of_measurement) }),
    examined: Some(Rule { rank: 12, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

/// Experiments in which a ClientHello is unusual and a session offered: what breaks is that combination.
const UNUSUAL: [&str; 6] = ["records", "segments", "identities", "without-sni", "without-alpn", "hello-retry-request"];

/// So many failures, each beside a connection that completed, leave no other reading.
const CERTAIN: usize = 3;

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mechanisms = examined.runs("resume").map(|run| run.asked);
    let plain = mechanisms.filter(|asked| !session_context_unset::is_shown(examined.case.observations, *asked));
    let mut found: Vec<Finding> = plain.filter_map(|asked| of_plain_offers(examined, asked)).collect();
    let unusual = UNUSUAL.iter().flat_map(|name| examined.runs(name));
    found.extend(unusual.filter_map(|run| of_unusual_offer(examined, run)));
    found
}

fn of_plain_offers(examined: &Examined<'_>, asked: Asked) -> Option<Finding> {
    let seen = unvaried(examined.examination, asked);
    let failed = seen.iter().copied().filter(|seen| seen.observation.is_failed_offer());
    let mut finding = of_offers(&Offers {
        asked,
        seen: seen.iter().map(|seen| &seen.observation).collect(),
        judgement: examined.case.judgements.iter().find(|it| it.asked == asked),
        size: size(examined, asked),
    })?;
    finding.evidence.extend(by_outcome(failed));
    Some(finding)
}

/// Of each mechanism, where nothing else explains it.
fn of_measurement(case: &MeasuredCase<'_>) -> Vec<Finding> {
    let plain = MECHANISMS.into_iter().filter(|asked| !session_context_unset::is_shown(case.observations, *asked));
    plain.filter_map(|asked| of_measured_offers(case, asked)).collect()
}

fn of_measured_offers(case: &MeasuredCase<'_>, asked: Asked) -> Option<Finding> {
    let is_of_this =
        |seen: &&Observation| seen.asked.tls == asked.tls && seen.offered.is_none_or(|offered| offered.kind == asked.kind);
    let seen: Vec<&Observation> = case.observations.iter().filter(is_of_this).collect();
    let judgement = seen.iter().any(|seen| seen.is_failed_offer()).then(|| case.judgement(asked))?;
    let finding = of_offers(&Offers { asked, seen, judgement: Some(&judgement), size: None })?;
    Some(finding.fixed_by(CAUSE.remedies_in(service(&case.figures.target))))
}

/// Connections of one mechanism, those that offer nothing among them.
struct Offers<'a> {
    asked: Asked,
    seen: Vec<&'a Observation>,
    judgement: Option<&'a Judgement>,
    /// What shows that it is a matter of the ClientHello's size.
    size: Option<String>,
}

fn of_offers(of: &Offers<'_>) -> Option<Finding> {
    let (offers, full): (Vec<&Observation>, Vec<&Observation>) = of.seen.iter().partition(|seen| seen.offered.is_some());
    let failed: Vec<&Observation> = offers.iter().copied().filter(|seen| seen.is_failed_offer()).collect();
    let (first, last) = failed.first().zip(failed.last())?;
    // A target that had stopped to answer altogether says nothing of offers.
    if !full.iter().any(|seen| seen.facts().is_some() && seen.index > first.index) {
        return None;
    }
    let all = failed.len() == offers.iter().filter(|seen| seen.is_failed_offer() || is_conclusive(seen)).count();
    let full_completed = full.iter().filter(|seen| seen.facts().is_some()).count();
    let concluded = of.judgement.and_then(|it| it.of(Concluded::OfferBreaks));
    let (severity, confidence) = match (concluded, of.judgement, all) {
        (_, _, true) if failed.len() >= CERTAIN && full_completed == full.len() => (Severity::Fault, Confidence::Certain),
        (Some(conclusion), ..) if conclusion.confidence != Confidence::Possible => (Severity::Fault, conclusion.confidence),
        (_, None, true) => (Severity::Fault, Confidence::Likely),
        // A node that is down, a limit on the rate.
        (None, _, false) => return None,
        // Two of two may be chance.
        _ => (Severity::Risk, Confidence::Possible),
    };
    let how = named(last.outcome.err().unwrap_or(FaultName::Unconfirmed));
    let what = if all { "the connection" } else { "some connections" };
    let reason = if of.size.is_some() { ", since its ClientHello is larger" } else { "" };
    let title = format!("Offering a session breaks {what}{reason}: {}, {how}", mechanism(of.asked));
    let counted = format!(
        "{} of {} that offered a session failed, {full_completed} of {} that offered none completed",
        failed.len(),
        connections(offers.len() as u64),
        full.len(),
    );
    let broken = failed.iter().filter(|seen| seen.is_broken_resumption()).count();
    let broken = (broken > 0).then(|| format!("{broken} of them failed after the server had accepted the session"));
    let likelihood = of.judgement.zip(concluded).map(|(judgement, conclusion)| odds(judgement, conclusion));
    let evidence = [Some(counted), broken, of.size.clone(), likelihood].into_iter().flatten();
    Some(CAUSE.finding(severity, confidence, title).because(evidence).under([of.asked]))
}

/// Whether it completed, with no error that leaves open whether the session was why.
fn is_conclusive(seen: &Observation) -> bool {
    seen.facts().is_some() && seen.is_answered_well()
}

/// The connections of this mechanism in which nothing was varied, those that the judge chose too.
fn unvaried(examination: &Examination, asked: Asked) -> Vec<&ProbeRecord> {
    let is_of_the_judge = |run: &&ExperimentRun| run.experiment.is_plain() || run.experiment.is_chosen();
    let runs = examination.runs.iter().filter(|run| run.asked == asked);
    runs.filter(is_of_the_judge).flat_map(|run| &run.seen).collect()
}

/// What shows that connections fail without a session too where the ClientHello is as large, and never where it is not.
fn size(examined: &Examined<'_>, asked: Asked) -> Option<String> {
    let run = examined.runs("as-large-as-an-offer").find(|run| run.asked == asked)?;
    let of = |variation| run.all().filter(move |seen| seen.step == Step::Control(variation));
    let large = || of(Variation::AsLargeAsAnOffer);
    let failed = large().filter(|seen| seen.fault.is_some()).count();
    let is_of_size = failed > 1 && of(Variation::Plain).all(|seen| seen.fault.is_none());
    let sent = large().map(|seen| seen.observation.sent).max()?;
    let of_all = connections(large().count() as u64);
    is_of_size
        .then(|| format!("{failed} of {of_all} without a session failed too where the ClientHello was as large ({sent})"))
}

fn of_unusual_offer(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) || large_client_hello::is_shown(examined, run.asked) {
        return None;
    }
    let name = failure(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| failure(seen).is_some())?;
    // An alert for a name that is missing is an answer to that.
    if run.experiment.name == "without-sni" && name.is_refusal() {
        return None;
    }
    let title =
        format!("{}: a session is refused with an error ({}): {}", mechanism(run.asked), named(name), run.experiment.varies);
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    Some(finding.because(evidence(run)).under([run.asked]))
}

/// What an offer failed with, where a connection that offers nothing completes under the same variation.
fn failure(seen: &[ProbeRecord]) -> Option<FaultName> {
    let failed = seen.iter().find(|seen| matches!(came(seen), Some(ResumptionOutcome::Failed(_))))?;
    let Step::Resume(variation) = failed.step else { return None };
    let controls = || seen.iter().filter(|it| [Step::Prime(variation), Step::Control(variation)].contains(&it.step));
    let completes = controls().next().is_some() && controls().all(|it| it.fault.is_none());
    completes.then_some(failed.observation.outcome.err()).flatten()
}
