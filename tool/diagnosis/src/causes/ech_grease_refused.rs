//! `ech-grease-refused`: an encrypted_client_hello extension that holds nothing loses the session, its early data or the connection.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, EarlyData};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step, Variation};

use super::large_client_hello::what_happens;
use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, by_outcome, mechanism};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["ech-grease", "ech-grease-early-data", "large-client-hello", "segments"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 26, find: ExaminedRule::Several(of_experiments) }),
    ..page!("ech-grease-refused")
};

/// What loses the session loses its early data too, and is told once.
fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let found: Vec<Finding> = examined.runs("ech-grease").filter_map(|run| of_sessions(examined, run)).collect();
    match found.is_empty() {
        true => examined.runs("ech-grease-early-data").filter_map(|run| of_early_data(examined, run)).collect(),
        false => found,
    }
}

fn of_sessions(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    if !examined.always_resumes(run.asked) || !minds_no_size(examined, run.asked) {
        return None;
    }
    let what = what_happens(&run.seen)?;
    let confidence = Examined::each_time(run, |seen| what_happens(seen) == Some(what))?;
    let title = format!("{}: a connection whose ClientHello greases ECH {what}", mechanism(run.asked));
    let finding = CAUSE.finding(Severity::Risk, confidence, title).because(by_outcome(run.all()));
    Some(examined.priced(finding.under([run.asked]), run.asked.tls))
}

/// Whether a session resumes in a ClientHello that is larger than the extension makes it, and in one in two segments.
fn minds_no_size(examined: &Examined<'_>, asked: Asked) -> bool {
    ["large-client-hello", "segments"].into_iter().all(|name| {
        let mut runs = examined.runs(name).filter(|run| run.asked == asked);
        runs.next().is_some_and(|run| what_happens(&run.seen).is_none())
    })
}

fn of_early_data(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let came = |seen: &ProbeRecord| seen.observation.facts()?.early_data;
    let all = |variation, verdict| {
        let of = move |seen: &&ProbeRecord| seen.step == Step::Early(variation) && came(seen) == Some(verdict);
        run.all().filter(of).count()
    };
    let [plain, greased] = [Variation::Plain, Variation::GreasesEch];
    let is_lost = |seen: &[ProbeRecord]| {
        let is =
            |variation, verdict| seen.iter().any(|seen| seen.step == Step::Early(variation) && came(seen) == Some(verdict));
        is(plain, EarlyData::Accepted) && is(greased, EarlyData::Rejected)
    };
    let confidence = Examined::each_time(run, is_lost).filter(|_| examined.always_resumes(run.asked))?;
    let title = format!("{}: early data is rejected where the ClientHello greases ECH", mechanism(run.asked));
    let line = format!(
        "Without the extension it was accepted on {} connections and rejected on {}; with it accepted on {} and rejected on {}",
        all(plain, EarlyData::Accepted),
        all(plain, EarlyData::Rejected),
        all(greased, EarlyData::Accepted),
        all(greased, EarlyData::Rejected),
    );
    Some(CAUSE.finding(Severity::Risk, confidence, title).because([line]).under([run.asked]))
}
