//! What a measurement shows, cause by cause. The slugs are fixed: documents, tests and dashboards know them.

mod accepted_sometimes;
mod client_authentication_inherited;
mod early_data;
pub(crate) mod id_never_accepted;
mod latency_rules;
mod little_to_save;
mod no_forward_secrecy;
pub(crate) mod not_offered;
mod psk_refused;
mod services;

use reprise_trace::document::{Finding, MeasureDocument};

/// Every finding that this document supports, the worst first. `document.findings` is not looked at: it is where the
/// caller puts the answer.
pub fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let causes = [
        not_offered::findings,
        id_never_accepted::findings,
        accepted_sometimes::findings,
        little_to_save::findings,
        latency_rules::findings,
        client_authentication_inherited::findings,
        psk_refused::findings,
        no_forward_secrecy::findings,
        early_data::findings,
    ];
    let mut findings: Vec<Finding> = causes.iter().flat_map(|cause| cause(document)).collect();
    findings.sort_by_key(|finding| (finding.severity, finding.confidence));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_trace::Kind;
    use reprise_trace::document::{Confidence, Severity};

    #[test]
    fn nothing_is_found_where_every_resumption_is_taken_and_pays() {
        let document = Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Ticket, 600).document();
        assert_eq!(findings(&document), []);
        assert_eq!(findings(&Example::new().document()), []);
    }

    #[test]
    fn the_worst_comes_first() {
        let document = Example::new()
            .run("1.2", Kind::Full, 400)
            .run("1.2", Kind::Id, 390)
            .run("1.3", Kind::Full, 400)
            .refused("1.3", Kind::Ticket, 100)
            .document();
        let ids: Vec<String> = findings(&document).into_iter().map(|finding| finding.id).collect();
        assert_eq!(ids, ["not-offered", "little-to-save"]);
    }

    /// CONTRACT: a kind that the server refuses is a finding, and exit 0; a certain fault would exit 1.
    #[test]
    fn a_refusal_alone_is_never_a_certain_fault() {
        for (tls, kind) in [("1.2", Kind::Id), ("1.2", Kind::Ticket), ("1.3", Kind::Ticket)] {
            for full in [100, 60] {
                let document = Example::new().run(tls, Kind::Full, 400).run(tls, kind, 80).of_which_full(full).document();
                let findings = findings(&document);
                assert!(!findings.is_empty());
                assert!(findings.iter().all(|it| (it.severity, it.confidence) != (Severity::Fault, Confidence::Certain)));
            }
        }
    }
}
