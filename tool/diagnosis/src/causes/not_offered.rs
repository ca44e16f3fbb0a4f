//! `not-offered`: the server gives nothing to resume with, or gives tickets that it never accepts.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_model::{Asked, Kind, Version};

use super::{
    Cause, MeasuredRule, ResponsibleSide, Rule, certificate_renewed, client_psk_mode, context_per_connection,
    default_host_tickets_off, lifetime_invalid, restart_lost_keys, session_too_large, tickets_run_out, unclean_close_evicts,
    vhost_directives,
};
use crate::figures::connections;
use crate::series::{FEWEST, KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    explained_by: &[
        &vhost_directives::CAUSE,
        &default_host_tickets_off::CAUSE,
        &session_too_large::CAUSE,
        &lifetime_invalid::CAUSE,
        &restart_lost_keys::CAUSE,
        &client_psk_mode::CAUSE,
        &unclean_close_evicts::CAUSE,
    ],
    separated_by: &["resume", "no-sni-at-all", "no-certificate-at-all", "both-psk-modes"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 2, find: MeasuredRule::EachVersion(of_measurement) }),
    ..page!("not-offered")
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let is_of_version = |series: &KindSeries<'_>| series.asked.tls == version;
    let conclusive: Vec<KindSeries<'_>> = case.conclusive_series().into_iter().filter(is_of_version).collect();
    if conclusive.is_empty() || (version == Version::Tls13 && client_psk_mode::is_the_cause(case)) {
        return None;
    }
    let all: Vec<KindSeries<'_>> = case.every_series().into_iter().filter(is_of_version).collect();
    let is_refused = |series: &&KindSeries<'_>| {
        series.asked.kind == Kind::Ticket
            && series.is_never_accepted(case)
            && !context_per_connection::is_shown(case, series)
            && !certificate_renewed::is_shown(case, series.asked)
    };
    let refused = conclusive.iter().find(is_refused);
    let (title, evidence, confidence, kinds) = if let Some(refused) = refused {
        let title = format!("{version} tickets arrive and are never accepted");
        (title, evidence_of_refusal(case, refused), confidence(case, refused), [Kind::Ticket].as_slice())
    } else if all.iter().all(gives_nothing) {
        let (title, evidence) = (nothing_to_resume_with(version), vec![what_was_given(&all, version)]);
        (title, evidence, confidence_of_nothing(case, version), [Kind::Ticket, Kind::Id].as_slice())
    } else {
        return None;
    };
    // Where another kind of the same version resumes, most clients lose nothing now.
    let resumes = conclusive.iter().any(|series| series.asked.kind != Kind::Full && series.ever_resumes(case));
    let severity = if resumes { Severity::Risk } else { Severity::Fault };
    let mechanisms = kinds.iter().filter(|kind| kind.exists_under(version)).map(|kind| Asked { tls: version, kind: *kind });
    let finding = case.found(&CAUSE, severity, confidence, title).because(evidence).under(mechanisms);
    // Where TLS 1.2 does not resume either, more than the number of tickets is wrong.
    let (resumes, is_alone) = (resumes_tls12(case), !speaks_tls12(case));
    let has_no_tickets = version == Version::Tls13 && refused.is_none() && (resumes || is_alone);
    Some(if has_no_tickets { finding.fixed_by(some_tickets(resumes)) } else { finding })
}

/// Where the other version shows nodes that differ, a few connections may all have reached those that give nothing.
fn confidence_of_nothing(case: &MeasuredCase<'_>, version: Version) -> Confidence {
    let shows_nodes = case.judgements.iter().any(|judgement| judgement.of(Concluded::NotShared).is_some());
    let is_few = case.full_handshakes(version).len() < ENOUGH;
    if shows_nodes && is_few { Confidence::Possible } else { Confidence::Likely }
}

/// If half of the nodes gave something, so many connections would have met one but for one case in a hundred.
const ENOUGH: usize = 7;

fn speaks_tls12(case: &MeasuredCase<'_>) -> bool {
    case.observations.iter().any(|seen| seen.facts().is_some_and(|facts| facts.version == Version::Tls12))
}

fn resumes_tls12(case: &MeasuredCase<'_>) -> bool {
    let series = case.conclusive_series();
    let mut offering = series.iter().filter(|it| it.asked.tls == Version::Tls12 && it.asked.kind != Kind::Full);
    offering.any(|it| it.ever_resumes(case))
}

/// OpenSSL gives tickets of TLS 1.3 with its cache and its tickets off too, so what is 0 is their number; the same goes for all servers
/// that resume TLS 1.2, which have one of the two on.
fn some_tickets(resumes_tls12: bool) -> Vec<Remedy> {
    let general = Remedy::general(
        "The number of tickets for each TLS 1.3 handshake is 0 (NumTickets, num_tickets), or the library has no TLS 1.3 resumption: \
         remove that setting, or give some:",
    );
    let has_number = |software: &str| {
        ["nginx", "Apache", "OpenSSL API", "Python ssl"].contains(&software)
            || resumes_tls12 && ["rustls", "s2n-tls"].contains(&software)
    };
    let of_number = tickets_run_out::CAUSE.fixes_of(ResponsibleSide::Server).filter(|fix| has_number(fix.software));
    let of_others = CAUSE.fixes_of(ResponsibleSide::Server).filter(|fix| !has_number(fix.software));
    std::iter::once(general).chain(of_number.chain(of_others).map(Remedy::from)).collect()
}

/// A server that gives nothing under TLS 1.2 has resumption off, and its TLS 1.3 tickets are those useless ones: nodes that do not
/// share their keys would give TLS 1.2 tickets too.
fn is_off_under_tls12(case: &MeasuredCase<'_>) -> bool {
    let tls12: Vec<KindSeries<'_>> = case.every_series().into_iter().filter(|it| it.asked.tls == Version::Tls12).collect();
    !tls12.is_empty() && tls12.iter().all(gives_nothing)
}

fn nothing_to_resume_with(version: Version) -> String {
    match version {
        Version::Tls12 => format!("{version} offers no resumption: neither a session ID nor a ticket arrives"),
        Version::Tls13 => format!("{version} offers no resumption: no ticket arrives"),
    }
}

/// Whether none of these connections was given anything to offer to the next.
fn gives_nothing(series: &KindSeries<'_>) -> bool {
    let gives = series.with(|facts| facts.tickets.count > 0 || facts.session_id_given || facts.session_offered);
    gives == 0 && series.with(|facts| facts.kind != Kind::Full) == 0
}

/// A TLS 1.3 ticket that is never accepted has one common reason. Under TLS 1.2 a server that has tickets switched off
/// sends none, so there it has other reasons too: keys that change, nodes that do not share them.
fn confidence(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Confidence {
    match refused.asked.tls {
        Version::Tls13 if is_off_under_tls12(case) => Confidence::Likely,
        // Connections that nobody chose may each have reached another node than the one before.
        Version::Tls13 if !case.judgements.is_empty() && !speaks_tls12(case) && names_sessions(refused) => {
            Confidence::Likely
        }
        Version::Tls12 if case.judgements.is_empty() => Confidence::Possible,
        _ => refused.confidence_of_refusal(case),
    }
}

/// Whether its tickets only name sessions, of which so many are refused that a cache of one or two is no likely reason.
fn names_sessions(tickets: &KindSeries<'_>) -> bool {
    let mut given = tickets.completed.iter().filter_map(|(_, facts)| facts.tickets.iter().next()).peekable();
    tickets.refusals() >= FEWEST && given.peek().is_some() && given.all(|ticket| !ticket.holds_its_session())
}

fn evidence_of_refusal(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Vec<String> {
    let mut evidence = vec![refused.refusal(case)];
    if refused.asked.tls == Version::Tls13 {
        evidence.push("OpenSSL servers send such tickets when both their cache and their tickets are off".to_owned());
    }
    evidence
}

fn what_was_given(all: &[KindSeries<'_>], version: Version) -> String {
    let all = connections(all.iter().map(KindSeries::count).sum());
    match version {
        Version::Tls12 => format!("{all}, and neither a session ID nor a ticket on any"),
        Version::Tls13 => format!("{all}, and a NewSessionTicket on none"),
    }
}
