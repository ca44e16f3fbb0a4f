//! `ticket-dearer-than-signature`: a resumed handshake takes longer than a full one: the signature was cheap, and what a ticket
//! or a store costs is not.

use reprise_model::Phase;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, mechanism};
use crate::figures::{from_to, ratio_and_interval, span};
use crate::savings::saving;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 20, find: ExaminedRule::Several(of_experiments) }),
    ..page!("ticket-dearer-than-signature")
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let series = examined.case.conclusive_series();
    let dearer = series.iter().filter_map(|series| {
        let run = examined.case.conclusive_run(series.asked.tls, series.asked.kind)?;
        let saving = saving(examined.case.figures, run, Phase::Tls)?;
        let ci95 = saving.ci95.filter(|[_, high]| *high < 1.0)?;
        let (full, resumed) = from_to(saving.full_ns, saving.resumed_ns);
        let (ratio, interval) = ratio_and_interval(saving.ratio, ci95);
        let lost = saving.lost();
        let title = format!("Resuming {} takes {} longer than a full handshake", mechanism(series.asked), span(lost.0));
        let finding = CAUSE.finding(Severity::Note, Confidence::Likely, title);
        let evidence = [format!("Full {full}, resumed {resumed}: ratio {ratio} (95 % interval {interval})")];
        Some(finding.because(evidence).costing(Some(lost)))
    });
    dearer.collect()
}
