//! What a measurement shows, by the rules of the causes.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};

use crate::causes::{self, Cause, ResponsibleSide, cause, rules};
use crate::judged;
use crate::series::MeasuredCase;
use crate::service::service;
use crate::settled::settled;

/// Every finding that these observations support, the worst first, and of those what helps most. Counts come from the observations, intervals and ratios
/// from the figures.
pub fn findings(case: &MeasuredCase<'_>) -> Vec<Finding> {
    let mut findings = judged::findings(case);
    findings.extend(of_rules(case));
    settled(findings, &[])
}

/// What the rules of measurements find, without the judge.
pub(crate) fn of_rules(case: &MeasuredCase<'_>) -> impl Iterator<Item = Finding> {
    rules(|cause| cause.measured).flat_map(|rule| rule.findings(case))
}

/// These findings with what fixes them where the server runs on this software, and in services of this protocol.
pub(crate) fn with_remedies(
    findings: impl IntoIterator<Item = Finding>,
    software: Option<&str>,
    starttls: Option<&str>,
) -> impl Iterator<Item = Finding> {
    findings.into_iter().map(move |finding| with_remedy(finding, software, starttls))
}

/// What fixes it where it runs on this software; where nobody knows, all that is known. A remedy that depends on the finding, and
/// so is not the cause's, stays.
fn with_remedy(finding: Finding, software: Option<&str>, starttls: Option<&str>) -> Finding {
    let Some(cause) = cause(&finding.id) else { return finding };
    let general = cause.remedies_in(starttls);
    if !finding.remedies.is_empty() && finding.remedies != general {
        let known = software.and_then(causes::software);
        let is_known = |remedy: &Remedy| remedy.software.as_deref() == known;
        let mut remedies = finding.remedies.clone();
        if known.is_some() && remedies.iter().any(is_known) {
            remedies.retain(|remedy| remedy.software.is_none() || is_known(remedy));
        }
        return finding.fixed_by(remedies);
    }
    match software {
        Some(software) if cause.fixes_of(ResponsibleSide::Server).next().is_some() => {
            finding.fixed_by(cause.remedies(Some(software)))
        }
        _ => finding.fixed_by(general),
    }
}

impl MeasuredCase<'_> {
    /// A finding with what fixes its cause in the servers of the case's protocol.
    pub(crate) fn found(
        &self,
        cause: &Cause,
        severity: Severity,
        confidence: Confidence,
        title: impl Into<String>,
    ) -> Finding {
        let remedies = cause.remedies_in(service(&self.figures.target));
        cause.finding(severity, confidence, title).fixed_by(remedies)
    }

    /// Full handshakes of one version that differ, as those of several nodes do; `None` without any difference.
    pub(crate) fn found_unlike(
        &self,
        cause: &Cause,
        version: Version,
        what: &str,
        differences: impl IntoIterator<Item = Option<String>>,
    ) -> Option<Finding> {
        let evidence: Vec<String> = differences.into_iter().flatten().collect();
        let title = format!("Full {version} handshakes were not all alike: {what}");
        (!evidence.is_empty()).then(|| self.found(cause, Severity::Risk, Confidence::Possible, title).because(evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::cause;
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
        let cause = cause("not-offered").unwrap();
        let first = |example: Example| {
            let finding = example.case().found(cause, Severity::Fault, Confidence::Likely, "");
            finding.remedies.into_iter().find_map(|remedy| remedy.software)
        };
        assert_eq!(first(Example::new()).as_deref(), Some("nginx"));
        assert_eq!(first(Example::new().starttls("smtp")).as_deref(), Some("Exim"));
        assert_eq!(first(Example::new().without_request(993)).as_deref(), Some("Dovecot"), "a port that begins with TLS");
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

    /// A kind that the server refuses is a finding, and exit 0; a certain fault would exit 1.
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

    /// No finding about resumption is drawn from an error page alone.
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
