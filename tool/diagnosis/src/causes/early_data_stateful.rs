//! `early-data-stateful`: tickets allow early data and serve once: the server keeps each session itself, against replay, and the
//! node that gave it alone knows it.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Version};
use reprise_probe::diagnose::{ExperimentRun, Step, Variation};

use super::{Cause, ExaminedRule, Rule, single_use};
use crate::diagnose::examined::Examined;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["early-data"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 4, find: ExaminedRule::Once(of_experiments) }),
    ..page!("early-data-stateful")
};

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let is_single = single_use::is_shown(examined);
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let tickets: Vec<_> = facts.flat_map(|facts| facts.tickets.iter().copied().collect::<Vec<_>>()).collect();
    let allowing = tickets.iter().filter(|ticket| ticket.max_early_data.is_some_and(|bytes| bytes > 0)).count();
    let longest = tickets.iter().map(|ticket| ticket.length).max().unwrap_or_default();
    // Where it is sent and never taken, it is off, whatever the tickets say: they are stateful for another reason.
    let sent: Vec<EarlyData> = sent_early(examined).filter_map(|facts| facts.early_data).collect();
    if !sent.is_empty() && !sent.contains(&EarlyData::Accepted) {
        return None;
    }
    if !is_single || allowing == 0 || allowing < tickets.len() || tickets.iter().any(|ticket| ticket.holds_its_session()) {
        return None;
    }
    let title = "Early data makes TLS 1.3 tickets stateful: only the process that issued one accepts it";
    let evidence = [format!("{allowing} tickets of at most {longest} bytes, all of which allow early data and serve once")];
    Some(CAUSE.finding(Severity::Note, Confidence::Likely, title).because(evidence).by_design())
}

/// The connections that sent early data under no HelloRetryRequest, which rejects it.
fn sent_early<'e>(examined: &'e Examined<'_>) -> impl Iterator<Item = &'e Facts> {
    let seen = examined.examination.runs.iter().flat_map(ExperimentRun::all);
    seen.filter(|seen| seen.step == Step::Early(Variation::Plain)).filter_map(|seen| seen.observation.facts())
}
