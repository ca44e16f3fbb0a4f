//! From experiments to a document: findings, the verdict, what was tried.

use reprise_connection::Target;
use reprise_connection::exchange::ConnectionReuse;
use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{
    BalancedNodes, Diagnosis, ExperimentRecord, Finding, MeasureDocument, MechanismRecord, Severity, Subject,
};
use reprise_model::{Failure, Kind, Observation, Version};
use reprise_probe::Options;
use reprise_probe::diagnose::{EarlyEnd, Examination, ExperimentRun, Judgement, Why};

use super::examined::{Counts, Examined, mechanism, named};
use super::{StoredSession, cache_tried, data_channel, findings, processor_time, whole_request};
use crate::bound::bound;
use crate::causes::lifetime_invalid::stated_lifetimes;
use crate::causes::{causes, version_fails};
use crate::figures::connections;
use crate::findings::with_remedies;
use crate::series::MeasuredCase;
use crate::service::service;
use crate::slow_connections::about_two_modes;
use crate::verdict::verdict;

/// A server that was examined, apart from its connections.
pub struct ServerRun<'a> {
    /// The target as it was named.
    pub target: &'a Target,
    /// How the target was asked.
    pub options: &'a Options,
    /// The figures of the connections in which nothing was varied.
    pub figures: &'a MeasureDocument,
    /// What ended the examination before its time.
    pub failure: Option<Failure>,
    /// What the server is, where the user says so.
    pub software: Option<&'a str>,
}

/// The diagnosis of a server, by the experiments that were made with it.
pub fn server_diagnosis(run: ServerRun<'_>, examination: &Examination) -> Diagnosis {
    let ServerRun { target, options, figures, failure, software } = run;
    let mut observations: Vec<Observation> =
        examination.series.iter().flat_map(|series| &series.observations).copied().collect();
    observations.sort_unstable_by_key(|seen| seen.index);
    let keeps_alive = options.connections == ConnectionReuse::KeepAlive;
    let psk_modes = &options.tls13.psk_modes;
    let cpu_costs = &processor_time::of_versions(examination);
    let judgements = &examination.judgements;
    let trials = &[];
    let case = MeasuredCase { observations: &observations, figures, keeps_alive, psk_modes, cpu_costs, judgements, trials };
    let certificate = options.identity.as_ref().and_then(|identity| identity.chain.first()).map(|leaf| leaf.len());
    let examined = Examined { case, examination, session: StoredSession::of(&case, certificate) };
    let reached = observations.iter().any(|seen| seen.facts().is_some());
    let found = if reached { findings(&examined) } else { Vec::new() };
    let software = software.map(str::to_owned).or_else(|| examination.software.clone());
    let found: Vec<Finding> = with_remedies(found, software.as_deref(), service(&figures.target)).collect();
    let matrix = matrix(&examined);
    let warnings = warnings(examination, &found);
    let channel = examination.data_channel.as_ref();
    let is_explained = found.iter().any(|finding| finding.severity != Severity::Note);
    let unexplained = (!is_explained && reached).then(|| failed_without_reason(examination)).flatten();
    Diagnosis {
        target: target.to_string(),
        subject: Subject::Server,
        address: examination.address.map(|address| address.to_string()),
        other_addresses: examination.other_addresses.iter().map(ToString::to_string).collect(),
        software,
        like: figures.target.like.clone(),
        ech_grease: figures.target.ech_grease,
        reached,
        verdict: match (&failure, reached) {
            (failure, false) => not_reached(failure.as_ref()),
            // What was not tried may be what does not resume.
            (Some(failure), true) => verdict(&found, &format!("Incomplete: {}", failure.message)),
            (None, true) => verdict(&found, &error_of_all(&observations).map_or_else(|| healthy(&matrix), only_errors)),
        },
        answers_differ: figures.answers_differ.clone(),
        failure,
        incomplete: examination.ended_by.is_some(),
        findings: found,
        experiments: examination.runs.iter().map(record).chain(channel.and_then(data_channel::record)).collect(),
        connections: examination.connections,
        seconds: examination.took.0 as f64 / 1e9,
        nodes: nodes(judgements),
        matrix,
        fingerprints: Vec::new(),
        figures: match reached && error_of_all(&observations).is_none() {
            true => {
                figures_in_words(figures, &examined).into_iter().chain(channel.and_then(data_channel::sentence)).collect()
            }
            false => Vec::new(),
        },
        warnings: warnings
            .into_iter()
            .chain(unexplained)
            .chain(channel.and_then(|channel| data_channel::warning(channel, options)))
            .collect(),
    }
}

/// What connections cost, in sentences; of times that are of two modes, that alone.
fn figures_in_words(figures: &MeasureDocument, examined: &Examined<'_>) -> Vec<String> {
    let mut sentences = whole_request::sentences(figures, examined);
    sentences.extend(about_two_modes(figures));
    sentences.extend(bound(figures));
    sentences.extend(cache_tried::sentences(examined));
    sentences
}

/// The nodes behind the address, by the mechanism that shows their number best.
fn nodes(judgements: &[Judgement]) -> Option<BalancedNodes> {
    let width = |nodes: &BalancedNodes| nodes.high.unwrap_or(u32::MAX) - nodes.low;
    // One that fails at times is not told from one that is down.
    let is_whole = |judgement: &&Judgement| judgement.of(Concluded::NodeDown).is_none();
    let shown = judgements.iter().filter(is_whole).filter_map(|judgement| judgement.nodes);
    shown.min_by_key(|nodes| (width(nodes), nodes.policy.is_none()))
}

fn not_reached(failure: Option<&Failure>) -> String {
    failure.map_or_else(|| "No connection was made".to_owned(), |failure| failure.message.clone())
}

/// The status of every response, where all are errors from which nothing follows.
fn error_of_all(observations: &[Observation]) -> Option<u16> {
    let mut answered = observations.iter().filter(|seen| seen.http_status.is_some()).peekable();
    let status = answered.peek()?.http_status?;
    answered.all(|seen| !seen.is_answered_well()).then_some(status)
}

fn only_errors(status: u16) -> String {
    format!(
        "Every response is an error (HTTP status {status}), so nothing is concluded of sessions: try another path, or --no-request"
    )
}

/// Connections that failed though nothing was varied, where no finding tells of them.
fn failed_without_reason(examination: &Examination) -> Option<String> {
    let plain = examination.runs.iter().filter(|run| run.experiment.is_plain() || run.experiment.is_chosen());
    let seen: Vec<_> = plain.flat_map(ExperimentRun::all).collect();
    let failed = seen.iter().filter(|seen| seen.fault.is_some()).count();
    let last = seen.iter().rev().find_map(|seen| seen.observation.outcome.err())?;
    let all = connections(seen.len() as u64);
    Some(format!("{failed} of {all} in which nothing was varied failed, the last one with: {}", named(last)))
}

/// "It resumes: TLS 1.3 by ticket, TLS 1.2 by ticket".
fn healthy(matrix: &[MechanismRecord]) -> String {
    let by: Vec<String> = matrix.iter().filter(|it| it.resumed > 0).map(|it| mechanism(it.asked)).collect();
    match by.is_empty() {
        true => "Nothing was resumed, and no cause was found".to_owned(),
        false => format!("It resumes: {}", by.join(", ")),
    }
}

fn matrix(examined: &Examined<'_>) -> Vec<MechanismRecord> {
    let of = |run: &ExperimentRun| {
        let judged = examined.case.judgements.iter().find(|judgement| judgement.asked == run.asked);
        let plain = || Counts::of(examined.plain(run.asked));
        let (offered, resumed) = judged.map_or_else(
            || (plain().offered(), plain().resumed),
            |judgement| {
                let offered = judgement.offers().count() + judgement.failed_offers().count();
                (offered, judgement.offers().filter(|seen| !seen.is_refusal()).count())
            },
        );
        let gives = |observation: &Observation| {
            observation.facts().is_some_and(|facts| match run.asked.kind {
                Kind::Id => facts.session_id_given,
                _ => facts.tickets.count > 0,
            })
        };
        let lifetimes = (run.asked.kind == Kind::Ticket).then(|| stated_lifetimes(examined, run.asked.tls)).flatten();
        MechanismRecord {
            asked: run.asked,
            lifetime_s: lifetimes.map(|(lifetimes, _)| lifetimes),
            given: run.seen.iter().any(|seen| gives(&seen.observation)),
            offered: offered as u32,
            resumed: resumed as u32,
        }
    };
    examined.runs("resume").map(of).collect()
}

fn record(run: &ExperimentRun) -> ExperimentRecord {
    let counts = Counts::of(run.all());
    let failed = run.all().filter(|seen| seen.fault.is_some()).count();
    let made = connections(run.all().count() as u64);
    let separated = causes().filter(|cause| cause.separated_by.contains(&run.experiment.name));
    let outcome = match (counts.offered(), failed) {
        (0, 0) => "the server issued nothing to offer".to_owned(),
        (0, _) => format!("{failed} of {made} failed"),
        (offered, 0) => format!("{} of {offered} resumed", counts.resumed),
        (offered, failed) => format!("{} of {offered} resumed, {} failed", counts.resumed, connections(failed as u64)),
    };
    ExperimentRecord {
        name: run.experiment.name.to_owned(),
        varies: run.experiment.varies.to_owned(),
        asked: Some(run.asked),
        connections: run.all().count() as u32,
        repeats: run.repeats.len() as u32,
        offered: counts.offered() as u32,
        resumed: counts.resumed as u32,
        failed: failed as u32,
        separates: separated.map(|cause| cause.slug.to_owned()).collect(),
        outcome,
    }
}

fn warnings(examination: &Examination, found: &[Finding]) -> Vec<String> {
    let limits = examination.limits;
    let mut warnings = Vec::new();
    match &examination.ended_by {
        Some(EarlyEnd::Blocked { after, fault }) => warnings.push(format!(
            "The target stopped answering after {after} connections ({}): it may limit the rate. No conclusion is drawn \
                from that; lower --rate or --connections",
            named(fault.name)
        )),
        Some(EarlyEnd::Limit) => warnings.push(format!(
            "The limit of {} or {} s was reached, so not everything was tried: increase --connections or --max-time",
            connections(limits.connections.into()),
            limits.time.as_secs()
        )),
        _ => {}
    }
    // What a finding tells of is not told twice.
    let is_found = |version: &Version| found.iter().any(|finding| version_fails::is_of(finding, *version));
    for (version, failed) in examination.refused.iter().filter(|(version, _)| !is_found(version)) {
        warnings.push(format!("No {version} connection completed: {}", named(failed.fault.name)));
    }
    let no_time = examination.not_made.iter().filter(|it| it.why == Why::NoTimeLeft);
    let no_time: Vec<String> = no_time.map(|it| format!("{} ({})", it.experiment.name, mechanism(it.asked))).collect();
    if !no_time.is_empty() && examination.ended_by.is_none() {
        warnings.push(format!("Not tried within {}: {}", connections(limits.connections.into()), no_time.join(", ")));
    }
    warnings
}
