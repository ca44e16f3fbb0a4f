//! `id-never-accepted`: session IDs are given and none is ever accepted. nginx's default cache `none` does just that.

use reprise_trace::document::{Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Kind, Phase, Version};

use crate::observation::{Saving, all_refused, confidence_of_refusal, runs, saving};

use super::not_offered::refusal;
use super::services;

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    refused_ids(document).map(|run| finding(document, run)).into_iter().collect()
}

/// The run in which every session ID was refused. TLS 1.3 has none to accept.
pub(crate) fn refused_ids(document: &MeasureDocument) -> Option<&Run> {
    runs(document, Version::Tls12).find(|run| run.asked.kind == Kind::Id && all_refused(run))
}

/// "TLS 1.2 session IDs are given and never accepted".
pub(crate) const TITLE: &str = "TLS 1.2 session IDs are given and never accepted";

fn finding(document: &MeasureDocument, run: &Run) -> Finding {
    // A ticket that resumes under the same version tells what an accepted ID would have saved.
    let ticket = document.run(Version::Tls12, Kind::Ticket).and_then(|ticket| saving(document, ticket, Phase::Tls));
    let mut evidence = vec![refusal(run)];
    if ticket.is_some() {
        evidence.push("Tickets of the same server resume: only clients without ticket support pay".to_owned());
    }
    Finding {
        id: "id-never-accepted".to_owned(),
        severity: if ticket.is_some() { Severity::Risk } else { Severity::Fault },
        confidence: confidence_of_refusal(run),
        title: TITLE.to_owned(),
        evidence,
        cost_ns: ticket.filter(Saving::is_shown).map(|saving| saving.saved()),
        remedy: Some(Remedy { software: None, text: services::remedy(document).unwrap_or(HTTP).to_owned() }),
    }
}

const HTTP: &str = "nginx: ssl_session_cache shared:SSL:10m; (its default, none, gives IDs and keeps no session)\n\
    Apache: SSLSessionCache shmcb:logs/ssl_scache(512000)\n\
    HAProxy: tune.ssl.cachesize above 0\n\
    rustls: ServerConfig::session_storage = ServerSessionMemoryCache::new(…)\n\
    GnuTLS: gnutls_db_set_store_function(), and its kin for retrieving and removing\n\
    Node: handlers of the events newSession and resumeSession\n\
    Java: no SSLSession.invalidate(), and SSLSessionContext.setSessionCacheSize() large enough";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_trace::Nanos;
    use reprise_trace::document::Confidence;

    #[test]
    fn ids_that_are_never_accepted_are_a_fault_of_unknown_cost() {
        let document = Example::new().run("1.2", Kind::Full, 900).refused("1.2", Kind::Id, 20).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Fault, None));
        assert_eq!(finding.evidence, ["20 of 20 connections that offered one ended in a full handshake"]);
    }

    #[test]
    fn a_few_refusals_may_be_chance() {
        let confidence = |refused| {
            let document = Example::new().run("1.2", Kind::Full, 900).refused("1.2", Kind::Id, refused).document();
            findings(&document)[0].confidence
        };
        let expected = (Confidence::Possible, Confidence::Possible, Confidence::Likely);
        assert_eq!((confidence(1), confidence(5), confidence(6)), expected);
    }

    #[test]
    fn a_ticket_that_resumes_tells_the_cost() {
        let document = Example::new()
            .run("1.2", Kind::Full, 900)
            .refused("1.2", Kind::Id, 100)
            .run("1.2", Kind::Ticket, 200)
            .document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, Some(Nanos(700_000))));
    }

    #[test]
    fn ids_that_are_sometimes_accepted_are_another_matter() {
        let document = Example::new().run("1.2", Kind::Full, 900).run("1.2", Kind::Id, 200).of_which_full(50).document();
        assert_eq!(findings(&document), []);
    }
}
