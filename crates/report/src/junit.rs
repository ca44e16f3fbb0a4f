//! A diagnosis as JUnit XML: a test suite for each target, a test case for each cause that was looked for.
//!
//! A fault fails its case. A risk or a note does not: it stands in the case's output, since neither is broken. The case
//! `reached` ends in an error where no handshake completed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use reprise_explain::cause;
use reprise_trace::document::{DiagnoseDocument, Diagnosis, Finding, Severity};

/// Writes a diagnosis. Fails only where `out` does.
pub fn diagnose(document: &DiagnoseDocument, out: impl Write) -> io::Result<()> {
    let mut report = Report::new("reprise diagnose");
    report.add_test_suites(document.targets.iter().map(suite));
    report.serialize(out).map_err(io::Error::other)
}

fn suite(target: &Diagnosis) -> TestSuite {
    let mut suite = TestSuite::new(&target.target);
    // A file may say anything.
    suite.set_time(Duration::try_from_secs_f64(target.seconds).unwrap_or_default());
    suite.add_test_case(reached(target));
    suite.add_test_cases(looked_for(target).into_iter().map(|id| case(target, id)));
    suite.set_system_out(std::iter::once(&target.verdict).chain(&target.warnings).cloned().collect::<Vec<_>>().join("\n"));
    suite
}

fn reached(target: &Diagnosis) -> TestCase {
    let mut status = TestCaseStatus::success();
    if !target.reached {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type(target.failure.as_ref().map_or("unreached", |failure| &failure.name));
        status.set_message(target.failure.as_ref().map_or(&target.verdict, |failure| &failure.message));
    }
    named(target, "reached", status)
}

/// What the experiments tell apart and what was found, in the order of their names.
fn looked_for(target: &Diagnosis) -> BTreeSet<&str> {
    let separated = target.experiments.iter().flat_map(|experiment| &experiment.separates);
    separated.chain(target.findings.iter().map(|finding| &finding.id)).map(String::as_str).collect()
}

/// One cause, which may have been found more than once: under each version.
fn case(target: &Diagnosis, id: &str) -> TestCase {
    let found: Vec<&Finding> = target.findings.iter().filter(|finding| finding.id == id).collect();
    let text = found.iter().map(|finding| text(finding)).collect::<Vec<_>>().join("\n\n");
    let faults: Vec<&Finding> = found.into_iter().filter(|finding| finding.severity == Severity::Fault).collect();
    let Some(first) = faults.first() else {
        let mut case = named(target, id, TestCaseStatus::success());
        if !text.is_empty() {
            case.set_system_out(text);
        }
        return case;
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(first.confidence.name());
    status.set_message(faults.iter().map(|fault| fault.title.as_str()).collect::<Vec<_>>().join("; "));
    status.set_description(text);
    named(target, id, status)
}

fn named(target: &Diagnosis, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(&target.target);
    case
}

fn text(finding: &Finding) -> String {
    let (severity, confidence) = (finding.severity.name(), finding.confidence.name());
    let head = format!("{severity}, {confidence}: {}", finding.title);
    let cost = finding.cost_ns.map(|cost| format!("Costs {cost} a connection"));
    let steps = finding.steps(None).into_iter().map(|step| format!("→ {step}"));
    let more = cause(&finding.id).map(|cause| format!("reprise explain {}", cause.slug));
    let lines = std::iter::once(head).chain(finding.evidence.iter().cloned()).chain(cost).chain(steps).chain(more);
    lines.collect::<Vec<_>>().join("\n")
}
