//! The figures that a condition may name in words, for a shell that completes them.

use itertools::Itertools;
use reprise_diagnosis::causes;
use reprise_model::document::{IsolationVerdict, Severity};
use reprise_model::{Kind, Phase};

use super::quantity::Quantity;
use super::{Condition, ConditionSubject};

/// Every quantity of such a document, of each phase and of each kind where it has one: `failed`, `tls.p99`, `baseline.tls.slower`,
/// `kinds.ticket`, `finding.not-offered`. Versions, stacks and further words may stand in front of them.
pub fn figures(of: ConditionSubject<'_>) -> Vec<String> {
    let quantities: Vec<&str> = Quantity::names(of).map(|(name, _)| name).collect();
    let spans = || [""].into_iter().chain(Phase::ALL.map(Phase::name)).chain(["latency"]);
    let timed = ["", "baseline"].into_iter().flat_map(|baseline| {
        let of_span = |span| quantities.iter().map(move |quantity| [baseline, span, quantity]);
        spans().flat_map(of_span).collect::<Vec<_>>()
    });
    let kinds = Kind::ALL.into_iter().map(|kind| ["", "kinds", kind.name()]);
    let severities = [Severity::Fault, Severity::Risk, Severity::Note].map(|severity| ["", "findings", severity.name()]);
    let findings = causes().map(|cause| ["", "finding", cause.slug]);
    let verdicts = IsolationVerdict::ALL.map(|verdict| ["", "isolation", verdict.name()]);
    let others = [
        ["", "fleet", "shared"],
        ["", "answers", "differ"],
        ["", "status", "5xx"],
        ["", "bytes", "sent"],
        ["", "bytes", "received"],
    ];
    let all = timed.chain(kinds).chain(severities).chain(findings).chain(verdicts).chain(others);
    let named = all.map(|words| words.into_iter().filter(|word| !word.is_empty()).join("."));
    let is_read =
        |name: &String| ["", "ms", "%", "B"].iter().any(|unit| Condition::read(&format!("{name} > 1{unit}"), &of).is_ok());
    named.filter(is_read).sorted().dedup().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_each_document_are_named() {
        let has = |of, names: &[&str]| {
            let figures = figures(of);
            names.iter().for_each(|name| assert!(figures.iter().any(|it| it == name), "{name}: {figures:?}"));
        };
        has(
            ConditionSubject::Measurement,
            &["failed", "tls.p99", "baseline.tls.slower", "kinds.ticket", "finding.not-offered"],
        );
        has(ConditionSubject::Load, &["rate", "latency.p99", "status.5xx", "client_busy"]);
        has(ConditionSubject::Diagnosis, &["findings.fault", "isolation.broken", "fleet.shared"]);
        has(ConditionSubject::Comparison { stacks: &[], cases: &[] }, &["ratio", "failed"]);
        assert_eq!(figures(ConditionSubject::Other), [""; 0]);
    }
}
