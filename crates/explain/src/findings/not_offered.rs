//! `not-offered`: the server gives nothing to resume with, or gives tickets that it never accepts.

use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Kind, Version};

use super::services;
use crate::figures::connections;
use crate::observation::{all_refused, as_asked, completed, confidence_of_refusal, refusals, resumptions, runs, versions};

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    versions(document).into_iter().filter_map(|version| finding(document, version)).collect()
}

fn finding(document: &MeasureDocument, version: Version) -> Option<Finding> {
    let (title, evidence, confidence) = if let Some(run) = refused_tickets(document, version) {
        (tickets_never_accepted(version), evidence_of_refusal(run), confidence_of(run))
    } else if gives_nothing(document, version) {
        (nothing_to_resume_with(version), vec![what_was_given(document, version)], Confidence::Likely)
    } else {
        return None;
    };
    Some(Finding {
        id: "not-offered".to_owned(),
        severity: severity(document, version),
        confidence,
        title,
        evidence,
        cost_ns: None,
        remedy: Some(Remedy { software: None, text: services::remedy(document).unwrap_or(HTTP).to_owned() }),
    })
}

/// "TLS 1.3 tickets arrive and are never accepted".
pub(crate) fn tickets_never_accepted(version: Version) -> String {
    format!("{version} tickets arrive and are never accepted")
}

/// "TLS 1.2 offers no resumption: neither a session ID nor a ticket arrives".
pub(crate) fn nothing_to_resume_with(version: Version) -> String {
    match version {
        Version::Tls12 => format!("{version} offers no resumption: neither a session ID nor a ticket arrives"),
        Version::Tls13 => format!("{version} offers no resumption: no ticket arrives"),
    }
}

/// "100 of 100 connections that offered one ended in a full handshake".
pub(crate) fn refusal(run: &Run) -> String {
    let offered = connections(run.observed.sessions_offered);
    format!("{} of {offered} that offered one ended in a full handshake", refusals(run))
}

/// The run in which every ticket of this version was refused.
pub(crate) fn refused_tickets(document: &MeasureDocument, version: Version) -> Option<&Run> {
    runs(document, version).find(|run| run.asked.kind == Kind::Ticket && all_refused(run))
}

/// Whether connections of this version completed and none was given anything to offer to the next.
pub(crate) fn gives_nothing(document: &MeasureDocument, version: Version) -> bool {
    let nothing = |run: &Run| {
        let observed = &run.observed;
        (observed.tickets_given, observed.session_ids_given, observed.sessions_offered) == (0, 0, 0)
            && observed.kinds.of(Kind::Full) == completed(run)
    };
    runs(document, version).any(|run| completed(run) > 0) && runs(document, version).all(nothing)
}

/// A TLS 1.3 ticket that is never accepted has one common reason. Under TLS 1.2 a server that has tickets switched off
/// sends none, so there it has other reasons too: keys that change, nodes that do not share them.
fn confidence_of(run: &Run) -> Confidence {
    match run.asked.tls {
        Version::Tls12 => Confidence::Possible,
        Version::Tls13 => confidence_of_refusal(run),
    }
}

fn evidence_of_refusal(run: &Run) -> Vec<String> {
    let mut evidence = vec![refusal(run)];
    if run.asked.tls == Version::Tls13 {
        evidence.push("Servers on OpenSSL send such tickets where both their cache and their tickets are off".to_owned());
    }
    evidence
}

/// Where another kind of the same version resumes, most clients lose nothing now.
fn severity(document: &MeasureDocument, version: Version) -> Severity {
    if resumptions(document, version).any(|run| as_asked(run) > 0) { Severity::Risk } else { Severity::Fault }
}

fn what_was_given(document: &MeasureDocument, version: Version) -> String {
    let all = connections(runs(document, version).map(completed).fold(0, u64::saturating_add));
    match version {
        Version::Tls12 => format!("{all}, and neither a session ID nor a ticket on any"),
        Version::Tls13 => format!("{all}, and a NewSessionTicket on none"),
    }
}

const HTTP: &str = "nginx: ssl_session_cache shared:SSL:10m; or ssl_session_tickets on;\n\
    Apache: SSLSessionCache shmcb:logs/ssl_scache(512000), or SSLSessionTickets on\n\
    HAProxy: tune.ssl.cachesize above 0, or no-tls-tickets taken out of the bind line\n\
    rustls: ServerConfig with a session_storage or a ticketer, send_tls13_tickets above 0\n\
    GnuTLS: gnutls_session_ticket_enable_server(), without which a database serves TLS 1.2 alone\n\
    Go: tls.Config without SessionTicketsDisabled\n\
    Node: secureOptions without SSL_OP_NO_TICKET\n\
    Java: -Djdk.tls.server.enableSessionTicketExtension=true";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn useless_tls13_tickets_are_told_in_words() {
        let document = Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Ticket, 100).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!(finding.title, "TLS 1.3 tickets arrive and are never accepted");
        assert_eq!(finding.evidence[0], "100 of 100 connections that offered one ended in a full handshake");
        assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Likely));
        let remedy = finding.remedy.unwrap().text;
        assert!(
            ["nginx", "Apache", "HAProxy", "rustls", "GnuTLS", "Go", "Node", "Java"]
                .iter()
                .all(|software| remedy.contains(software))
        );
    }

    #[test]
    fn a_tls12_server_that_gives_neither_id_nor_ticket_does_not_offer_it() {
        let document = Example::new().run("1.2", Kind::Full, 900).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert!(finding.title.contains("neither a session ID nor a ticket"));
        assert_eq!(finding.evidence, ["100 connections, and neither a session ID nor a ticket on any"]);
    }

    #[test]
    fn what_was_given_and_not_measured_is_not_missing() {
        let id = Example::new().run("1.2", Kind::Full, 900).observed(|it| it.session_ids_given = 100);
        assert_eq!(findings(&id.document()), []);
        let ticket = Example::new().run("1.3", Kind::Full, 900).observed(|it| it.tickets_given = 1);
        assert_eq!(findings(&ticket.document()), []);
    }

    /// `--kinds ticket` against a server that gives none: nothing was refused, since nothing was offered.
    #[test]
    fn a_ticket_that_never_came_is_not_called_refused() {
        let document = Example::new().refused("1.2", Kind::Ticket, 100).observed(|it| it.sessions_offered = 0).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert!(finding.title.contains("neither a session ID nor a ticket"));
    }

    #[test]
    fn a_run_that_never_completed_says_nothing() {
        let document = Example::new().refused("1.3", Kind::Full, 0).refused("1.3", Kind::Ticket, 0).document();
        assert_eq!(findings(&document), []);
    }

    #[test]
    fn refused_tickets_beside_accepted_ids_are_a_risk() {
        let document = Example::new()
            .run("1.2", Kind::Full, 900)
            .run("1.2", Kind::Id, 200)
            .refused("1.2", Kind::Ticket, 100)
            .document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Possible));
    }
}
