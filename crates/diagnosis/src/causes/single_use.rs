//! `single-use`: a session resumes once, and is refused when it is offered again. Under TLS 1.3 that is how tickets are meant to
//! be used (RFC 9846 §C.4); under TLS 1.2 it surprises.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step};

use super::shared::MORE_TICKETS;
use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, is_tls13, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "single-use",
    title: "Each ticket serves once",
    happens: "\
The server accepts a TLS 1.3 ticket once and refuses it the second time. RFC 9846 §8.1 describes this as protection
against replayed early data, and appendix C.4 asks clients to use each ticket once, so that connections cannot be
linked. rustls with a session storage does it, and OpenSSL with early data on.",
    seen: "\
The same session is offered three times: it is accepted at first and refused both times after, while sessions that are offered
for the first time always resume. Under TLS 1.3 it is by design, and a note; under TLS 1.2, whose sessions serve any number of
times, a risk. What follows from it for many connections at once is `tickets-run-out`.",
    confirm: "\
Offer one saved session twice under TLS 1.3:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
for i in 1 2; do openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'; done
```",
    costs: "\
Nothing for a client that takes the newest ticket each time. A client with more connections at once than tickets
makes full handshakes.",
    advice: "Give more tickets for each handshake, and let clients ask for as many as they need (RFC 9149):",
    fixes: MORE_TICKETS,
    separated_by: &["second-use"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 17, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    shown(examined).map(|(run, confidence)| finding(examined, run, confidence)).collect()
}

/// Where a session resumed once, and was refused each time after.
pub(super) fn shown<'a>(examined: &Examined<'a>) -> impl Iterator<Item = (&'a ExperimentRun, Confidence)> {
    let serves_once = |seen: &[ProbeRecord]| {
        let again: Vec<&ProbeRecord> = seen.iter().filter(|seen| seen.step == Step::Again).collect();
        again.len() >= 2 && again.iter().all(|seen| came(seen) == Some(ResumptionOutcome::Refused))
    };
    let runs = examined.runs("second-use").filter(|run| examined.always_resumes(run.asked));
    runs.filter_map(move |run| Some((run, Examined::each_time(run, serves_once)?)))
}

fn finding(examined: &Examined<'_>, run: &ExperimentRun, confidence: Confidence) -> Finding {
    let severity = if is_tls13(run.asked) { Severity::Note } else { Severity::Risk };
    let title = format!("A session of {} is accepted only once", mechanism(run.asked));
    let offered = run.all().filter(|seen| seen.observation.offered.is_some());
    let finding = CAUSE.finding(severity, confidence, title).because(by_outcome(offered)).by_design();
    examined.priced(finding, run.asked.tls)
}
