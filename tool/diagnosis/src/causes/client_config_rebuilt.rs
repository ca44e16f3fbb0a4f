//! `client-config-rebuilt`: the store of sessions does not live as long as the program.
//!
//! Three traces: sessions that are offered for a while and then forgotten; a client that never offers, where its library does
//! so by itself; and a new process for each connection.

use reprise_model::document::{Confidence, Finding, Remedy, Severity};

use super::client_never_offers::{self, is_java_without_a_host, is_silent};
use super::{Cause, Rule};
use crate::client::case::{Chance, ClientCase, first_lines, is_other_process, named};
use crate::client::software::{CURL, Habit, habit};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 3, find: of_client }),
    ..page!("client-config-rebuilt")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    forgets(case).or_else(|| silent(case)).or_else(|| new_processes(case))
}

/// No configuration lives longer than its process: what the cause's own remedies keep is not enough here.
fn remedies_across_processes() -> Vec<Remedy> {
    let across = Remedy::general("Make the connections from one process, or keep sessions in a file between processes:");
    let of_curl = CAUSE.client_remedies(Some(CURL)).into_iter().filter(|remedy| remedy.software.as_deref() == Some(CURL));
    let of_openssl = [(
        "OpenSSL API",
        "i2d_SSL_SESSION writes a session and d2i_SSL_SESSION reads it; openssl s_client: -sess_out, then -sess_in FILE",
    )];
    std::iter::once(across).chain(of_curl).chain(Remedy::table(&of_openssl)).collect()
}

/// It offers sessions, and twice or more offers none right after it had read one, while nothing else was open.
fn forgets(case: &ClientCase<'_>) -> Option<Finding> {
    if !case.offers_any() {
        return None;
    }
    let forgotten: Vec<&Chance<'_>> = case.misses().filter(|chance| is_alone(case, chance)).collect();
    let confidence = if forgotten.len() > 1 { Confidence::Likely } else { Confidence::Possible };
    let severity = if forgotten.len() > 1 { Severity::Fault } else { Severity::Risk };
    let title = format!(
        "The client forgets its sessions: {} connections started without one after others had resumed",
        forgotten.len()
    );
    let line = |chance: &&Chance<'_>| {
        let from = chance.latest().map_or_else(String::new, named);
        format!("{}: no session offered, though {from} left one that nobody had offered", named(chance.connection))
    };
    case.found_in(&CAUSE, severity, confidence, title, forgotten.iter().map(line))
}

/// The session would come from the connection right before, to the same name, and no other is open.
fn is_alone(case: &ClientCase<'_>, chance: &Chance<'_>) -> bool {
    let Some(before) = case.connections().iter().rev().find(|it| it.number < chance.connection.number) else { return false };
    let is_from_before = chance.latest().is_some_and(|latest| latest.number == before.number);
    case.open_beside(chance) == 0 && is_from_before && !case.is_offered_later(before)
}

fn silent(case: &ClientCase<'_>) -> Option<Finding> {
    if !is_silent(case) {
        return None;
    }
    let misses = case.misses().count();
    let likely = habit(case.software) == Habit::Resumes && misses > 1 && !is_java_without_a_host(case);
    let confidence = if likely { Confidence::Likely } else { Confidence::Possible };
    let title = format!("Each connection starts without the sessions of earlier ones: {misses} could have offered one");
    let mut evidence = client_never_offers::evidence(case);
    if let Some(software) = case.software.filter(|_| likely) {
        evidence.push(format!("{software} offers sessions by default as long as the object that holds them lives"));
    }
    evidence.push(
        "A client that never offers a session (client-never-offers) looks the same on the wire: two connections from one \
            configuration object distinguish them"
            .to_owned(),
    );
    Some(case.found(&CAUSE, Severity::Fault, confidence, title, evidence))
}

/// What a process holds in memory ends with it: nothing is wrong with the program.
fn new_processes(case: &ClientCase<'_>) -> Option<Finding> {
    let processes = case.processes().filter(|count| *count > 1)?;
    if case.offers_any() || !case.chances().is_empty() {
        return None;
    }
    let mut completed = case.completed().map(|(it, _, _)| it);
    let mut before = completed.next()?;
    let mut lines = Vec::new();
    for connection in completed {
        if is_other_process(before, connection)
            && let Some((one, other)) = before.process.zip(connection.process)
        {
            lines.push(format!("{}: process {other}, after process {one}", named(connection)));
        }
        before = connection;
    }
    let title = format!("{processes} processes made the connections, and sessions in memory end with their process");
    let finding = CAUSE.finding(Severity::Note, Confidence::Certain, title);
    Some(finding.because(first_lines(lines)).fixed_by(remedies_across_processes()))
}
