//! `not-offered`: the server gives nothing to resume with, or gives tickets that it never accepts.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Kind, Version};

use super::client_psk_mode;
use crate::figures::connections;
use crate::nodes::nodes_that_refuse_all;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(case, version)).collect()
}

fn finding(case: &Case<'_>, version: Version) -> Option<Finding> {
    let is_of_version = |series: &Series<'_>| series.asked.tls == version;
    let conclusive: Vec<Series<'_>> = case.conclusive_series().into_iter().filter(is_of_version).collect();
    if conclusive.is_empty() || (version == Version::Tls13 && client_psk_mode::is_the_cause(case)) {
        return None;
    }
    let all: Vec<Series<'_>> = case.every_series().into_iter().filter(is_of_version).collect();
    let refused = conclusive.iter().find(|series| series.asked.kind == Kind::Ticket && series.is_all_refused());
    let (title, evidence, confidence) = if let Some(refused) = refused {
        let title = format!("{version} tickets arrive and are never accepted");
        // Nodes taken in turn accept nothing either, as long as no session comes back to the node that gave it.
        let nodes = nodes_that_refuse_all(refused).filter(|_| !is_off_under_tls12(case));
        let confidence = if nodes.is_some() { Confidence::Possible } else { confidence(refused) };
        (title, evidence_of_refusal(refused, nodes), confidence)
    } else if all.iter().all(gives_nothing) {
        (nothing_to_resume_with(version), vec![what_was_given(&all, version)], Confidence::Likely)
    } else {
        return None;
    };
    // Where another kind of the same version resumes, most clients lose nothing now.
    let resumes = conclusive.iter().any(|series| series.asked.kind != Kind::Full && series.as_asked() > 0);
    let severity = if resumes { Severity::Risk } else { Severity::Fault };
    Some(case.found("not-offered", severity, confidence, title).because(evidence))
}

/// A server that gives nothing under TLS 1.2 has resumption off, and its TLS 1.3 tickets are those useless ones: nodes that do not
/// share their keys would give TLS 1.2 tickets too.
fn is_off_under_tls12(case: &Case<'_>) -> bool {
    let tls12: Vec<Series<'_>> = case.every_series().into_iter().filter(|it| it.asked.tls == Version::Tls12).collect();
    !tls12.is_empty() && tls12.iter().all(gives_nothing)
}

fn nothing_to_resume_with(version: Version) -> String {
    match version {
        Version::Tls12 => format!("{version} offers no resumption: neither a session ID nor a ticket arrives"),
        Version::Tls13 => format!("{version} offers no resumption: no ticket arrives"),
    }
}

/// Whether none of these connections was given anything to offer to the next.
fn gives_nothing(series: &Series<'_>) -> bool {
    let gives = series.with(|facts| facts.tickets.count > 0 || facts.session_id_given || facts.session_offered);
    gives == 0 && series.with(|facts| facts.kind != Kind::Full) == 0
}

/// A TLS 1.3 ticket that is never accepted has one common reason. Under TLS 1.2 a server that has tickets switched off
/// sends none, so there it has other reasons too: keys that change, nodes that do not share them.
fn confidence(refused: &Series<'_>) -> Confidence {
    match refused.asked.tls {
        Version::Tls12 => Confidence::Possible,
        Version::Tls13 => refused.confidence_of_refusal(),
    }
}

fn evidence_of_refusal(refused: &Series<'_>, nodes: Option<u32>) -> Vec<String> {
    let mut evidence = vec![refused.refusal()];
    if refused.asked.tls == Version::Tls13 {
        evidence.push("OpenSSL servers send such tickets when both their cache and their tickets are off".to_owned());
    }
    evidence.extend(nodes.map(|nodes| format!("So do {nodes} nodes, used in turn, that do not share their keys")));
    evidence
}

fn what_was_given(all: &[Series<'_>], version: Version) -> String {
    let all = connections(all.iter().map(Series::count).sum());
    match version {
        Version::Tls12 => format!("{all}, and neither a session ID nor a ticket on any"),
        Version::Tls13 => format!("{all}, and a NewSessionTicket on none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only, ticket};
    use reprise_model::PskMode;

    #[test]
    fn useless_tls13_tickets_are_told_in_words() {
        let finding = only(findings, Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Ticket, 100)).unwrap();
        assert_eq!(finding.title, "TLS 1.3 tickets arrive and are never accepted");
        assert_eq!(finding.evidence[0], "100 of 100 connections that offered one ended in a full handshake");
        assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Likely));
        let software = ["nginx", "Apache", "HAProxy", "rustls", "GnuTLS", "Go", "Node", "Java"];
        assert!(software.iter().all(|software| finding.remedy.as_ref().unwrap().text.contains(software)));
    }

    #[test]
    fn a_server_that_gives_nothing_under_tls12_is_no_fleet() {
        let tls13 = Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Ticket, 18);
        let confidence = |example: Example| findings(&example.case()).into_iter().map(|it| it.confidence).max();
        assert_eq!(confidence(tls13.run("1.2", Kind::Full, 900)), Some(Confidence::Likely));
    }

    #[test]
    fn a_tls12_server_without_id_or_ticket_offers_nothing() {
        let finding = only(findings, Example::new().run("1.2", Kind::Full, 900)).unwrap();
        assert!(finding.title.contains("neither a session ID nor a ticket"));
        assert_eq!(finding.evidence, ["100 connections, and neither a session ID nor a ticket on any"]);
    }

    #[test]
    fn what_was_given_and_not_measured_is_not_missing() {
        let id = Example::new().run("1.2", Kind::Full, 900).facts(|it| it.session_id_given = true);
        assert_eq!(only(findings, id), None);
        let full = Example::new().run("1.3", Kind::Full, 900);
        assert_eq!(only(findings, full.first(1, |it| it.outcome.as_mut().unwrap().tickets.add(ticket(None)))), None);
    }

    /// `--kinds ticket` against a server that gives none: nothing was refused, since nothing was offered.
    #[test]
    fn a_ticket_that_never_came_is_not_called_refused() {
        let example = Example::new().refused("1.2", Kind::Ticket, 100).facts(|it| it.session_offered = false);
        assert!(only(findings, example).unwrap().title.contains("neither a session ID nor a ticket"));
    }

    #[test]
    fn a_run_that_never_completed_says_nothing() {
        assert_eq!(only(findings, Example::new().refused("1.3", Kind::Full, 0).refused("1.3", Kind::Ticket, 0)), None);
    }

    #[test]
    fn refused_tickets_beside_accepted_ids_are_a_risk() {
        let example = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 200).refused("1.2", Kind::Ticket, 100);
        let finding = only(findings, example).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Possible));
    }

    #[test]
    fn a_server_is_not_blamed_for_what_the_client_did_not_offer() {
        let example = Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Ticket, 100);
        assert_eq!(only(findings, example.psk_modes(&[PskMode::PskKe])), None);
    }
}
