//! `unclean-close-evicts`: a session is forgotten where its connection ended without close_notify.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Fix, ResponsibleSide, Rule, cache_too_small, context_per_connection};
use crate::diagnose::examined::{Counts, Examined, evidence, mechanism};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[&cache_too_small::CAUSE, &context_per_connection::CAUSE],
    separated_by: &["unclean-close", "reset", "while-open"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 22, find: ExaminedRule::Several(of_experiments) }),
    ..page!("unclean-close-evicts")
};

/// Where clients end connections so.
const ADVICE_OF_CLIENT: &str = "Use tickets, or let the client end its connections with close_notify (SSL_shutdown):";

/// Where the server does.
const ADVICE_OF_SERVER: &str = "Let the server end its connections with close_notify, or use tickets, which need no cache:";

/// The cause's own fixes as far as they help.
fn remedies(advice: &str, helps: fn(&&Fix) -> bool) -> Vec<Remedy> {
    let fixes = CAUSE.fixes_of(ResponsibleSide::Server).filter(helps);
    std::iter::once(Remedy::general(advice)).chain(fixes.map(Remedy::from)).collect()
}

fn gives_tickets(fix: &&Fix) -> bool {
    fix.set.contains("NO_TICKET") || fix.note.contains("no-tls-tickets")
}

/// HAProxy ends its connections properly.
fn is_of_unclean_server(fix: &&Fix) -> bool {
    fix.software != "HAProxy"
}

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = examined.runs("while-open").filter_map(|run| of_server(examined, run)).collect();
    found.extend(of_client(examined));
    found
}

fn of_client(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for run in examined.runs("unclean-close").chain(examined.runs("reset")) {
        let Some(confidence) = examined.loses(run) else { continue };
        let evidence = evidence(run).map(|line| format!("{}: {line}", run.experiment.varies));
        let title = format!("{}: sessions whose connection ends without close_notify are forgotten", mechanism(run.asked));
        match found.iter_mut().find(|finding| finding.title == title) {
            Some(finding) => {
                finding.confidence = finding.confidence.min(confidence);
                finding.evidence.extend(evidence);
            }
            None => {
                let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
                let finding = CAUSE.finding(severity, confidence, title).by_design().under([run.asked]);
                let finding = finding.fixed_by(remedies(ADVICE_OF_CLIENT, gives_tickets));
                found.push(examined.priced(finding.because(evidence), run.asked.tls));
            }
        }
    }
    found
}

/// Hardly any session is accepted but those of connections that are still open, and the server never says that it ends one.
fn of_server(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let (ended, open) = (examined.examination.offers_after_ends(run.asked), Counts::of(run.all()));
    // One of three may have ended before its session was offered, which many others then have to outweigh.
    let is_open_to_chance = open.refused >= open.resumed || ended.offered < MANY;
    if !ended.are_evicted() || open.refused > 0 && is_open_to_chance || open.offered() == 0 {
        return None;
    }
    let by = mechanism(run.asked);
    let (confidence, title, evidence) = match open.failed {
        0 if open.offered() >= ENOUGH => (Confidence::Likely, dying(&by), of_open(run)),
        0 => (Confidence::Possible, dying(&by), of_open(run)),
        // It serves one connection at a time.
        _ => (Confidence::Possible, unclean(&by), vec![OTHERWISE.to_owned()]),
    };
    let counted = format!(
        "{} of {} that offered a session of an ended connection resumed",
        ended.resumed,
        connections(ended.offered.into())
    );
    let without = format!(
        "The server ended {} without close_notify, and none with it: OpenSSL then removes the session from its cache",
        connections(ended.without.into())
    );
    let is_covered = run.asked.kind == Kind::Id && examined.case.tickets_cover_ids();
    let severity = if is_covered { Severity::Risk } else { Severity::Fault };
    let finding = CAUSE.finding(severity, confidence, title).because([without, counted].into_iter().chain(evidence));
    let finding = finding.under([run.asked]).fixed_by(remedies(ADVICE_OF_SERVER, is_of_unclean_server));
    Some(examined.priced(finding, run.asked.tls))
}

/// So many offers, most of which resume while their connection is open, are no chance, where hardly any does afterwards.
const ENOUGH: usize = 3;

/// So many refusals after an end beside one that was refused before it.
const MANY: u32 = 20;

fn dying(by: &str) -> String {
    format!("{by}: sessions die with their connection, which the server ends without close_notify")
}

fn unclean(by: &str) -> String {
    format!("{by}: no session resumes, and the server ends connections without close_notify, which may be why")
}

fn of_open(run: &ExperimentRun) -> Vec<String> {
    evidence(run).map(|line| format!("While it was open, {line}")).collect()
}

const OTHERWISE: &str = "The server serves one connection at a time, so no session could be offered while its connection was open: a cache that \
    is off looks the same (id-never-accepted)";
