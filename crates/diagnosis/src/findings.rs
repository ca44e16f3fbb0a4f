//! What a measurement shows, cause by cause: a file each, named by its slug. The slugs are fixed: documents, tests and
//! dashboards know them.

mod accepted_sometimes;
mod client_authentication_inherited;
mod client_certificate_missing;
mod client_psk_mode;
mod connection_closed_after_response;
mod early_data_hrr;
mod early_data_off;
mod early_data_rejected;
mod early_data_replayable;
mod early_data_too_early;
mod early_data_unanswered;
mod error_responses;
mod hidden_nodes;
mod id_cache_per_process;
mod id_never_accepted;
mod latency_rules;
mod little_to_save;
mod no_forward_secrecy;
mod no_ticket_on_resumption;
mod node_certificate_differs;
mod node_protocol_differs;
mod not_offered;
mod psk_refused;
mod resumed_ticket_refused;
mod signature_unverified;

use reprise_model::document::{Confidence, Finding, Severity};

use crate::causes::cause;
use crate::series::Case;
use crate::verdict::worst_first;

/// Every finding that these observations support, the worst first. Counts come from the observations, intervals and ratios
/// from the figures.
pub fn findings(case: &Case<'_>) -> Vec<Finding> {
    let causes = [
        client_certificate_missing::findings,
        not_offered::findings,
        id_never_accepted::findings,
        id_cache_per_process::findings,
        hidden_nodes::findings,
        no_ticket_on_resumption::findings,
        node_certificate_differs::findings,
        node_protocol_differs::findings,
        little_to_save::findings,
        latency_rules::findings,
        client_psk_mode::findings,
        client_authentication_inherited::findings,
        resumed_ticket_refused::findings,
        psk_refused::findings,
        no_forward_secrecy::findings,
        early_data_off::findings,
        early_data_rejected::findings,
        early_data_hrr::findings,
        early_data_too_early::findings,
        early_data_unanswered::findings,
        early_data_replayable::findings,
        error_responses::findings,
        connection_closed_after_response::findings,
        signature_unverified::findings,
    ];
    let mut findings: Vec<Finding> = causes.iter().flat_map(|cause| cause(case)).collect();
    worst_first(&mut findings);
    findings
}

impl Case<'_> {
    /// A finding with what fixes its cause in the servers of the case's protocol.
    fn found(&self, slug: &str, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Finding {
        let remedies = cause(slug).map(|cause| cause.remedies_in(self.figures.target.starttls.as_deref()));
        Finding::new(slug, severity, confidence, title).fixed_by(remedies.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, ticket};
    use reprise_model::{EarlyData, Kind, PskMode};

    fn ids(example: &Example) -> Vec<String> {
        findings(&example.case()).into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn nothing_is_found_where_every_resumption_is_taken_and_pays() {
        assert_eq!(ids(&Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Ticket, 600)), [""; 0]);
        assert_eq!(ids(&Example::new()), [""; 0]);
    }

    #[test]
    fn a_service_is_told_of_its_own_servers() {
        let first = |example: Example| {
            let finding = example.case().found("not-offered", Severity::Fault, Confidence::Likely, "");
            finding.remedies.first().and_then(|remedy| remedy.software.clone())
        };
        assert_eq!(first(Example::new()).as_deref(), Some("nginx"));
        assert_eq!(first(Example::new().starttls("smtp")).as_deref(), Some("Exim"));
    }

    #[test]
    fn the_worst_comes_first() {
        let example = Example::new()
            .run("1.2", Kind::Full, 400)
            .run("1.2", Kind::Id, 390)
            .run("1.3", Kind::Full, 400)
            .refused("1.3", Kind::Ticket, 100);
        assert_eq!(ids(&example), ["not-offered", "little-to-save"]);
    }

    /// CONTRACT: a kind that the server refuses is a finding, and exit 0; a certain fault would exit 1.
    #[test]
    fn a_refusal_alone_is_never_a_certain_fault() {
        for (tls, kind) in [("1.2", Kind::Id), ("1.2", Kind::Ticket), ("1.3", Kind::Ticket)] {
            for full in [100, 60] {
                let example = Example::new().run(tls, Kind::Full, 400).run(tls, kind, 80).of_which_full(full);
                let findings = findings(&example.case());
                assert!(!findings.is_empty());
                assert!(findings.iter().all(|it| (it.severity, it.confidence) != (Severity::Fault, Confidence::Certain)));
            }
        }
    }

    /// CONTRACT: no finding about resumption is drawn from an error page alone.
    #[test]
    fn error_pages_accuse_nobody_of_refusing_sessions() {
        let kinds = [Kind::Full, Kind::Id, Kind::Ticket];
        let example = kinds.into_iter().fold(Example::new(), |example, kind| {
            example.run("1.2", kind, 400).of_which_full(100).all(|it| it.http_status = Some(503))
        });
        assert_eq!(ids(&example), ["error-responses"]);

        let tls13 = Example::new().run("1.3", Kind::Full, 400).all(|it| it.http_status = Some(400));
        let tls13 = tls13.refused("1.3", Kind::Ticket, 100).all(|it| it.http_status = Some(400));
        let early = tls13.refused("1.3", Kind::Early, 100).facts(|it| {
            it.early_data = Some(EarlyData::Rejected);
            it.tickets.add(ticket(None));
        });
        let early = early.all(|it| it.http_status = Some(400));
        assert_eq!(ids(&early), ["error-responses"]);
        assert_eq!(ids(&early.psk_modes(&[PskMode::PskKe])), ["error-responses"]);
    }
}
