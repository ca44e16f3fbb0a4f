//! Results as JUnit XML. A diagnosis: a test suite for each target, a test case for each cause that was looked for. A measurement
//! and a load: a suite for each target, a case for each kind that was named and each condition of `--fail-if`; one that is met
//! fails, one that cannot be told is an error.
//!
//! Of a diagnosis, a fault that is certain or likely fails its case, as it makes the exit code 1. A fault that is only possible, a
//! risk or a note does not: it stands in the case's output. The case `reached` ends in an error where no handshake completed, and
//! where the target was gone before the end.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Suites, TestCase, TestCaseStatus, TestSuite};
use reprise_diagnosis::cause;
use reprise_model::document::{
    ClientsDocument, ConditionOutcome, ConditionRecord, DiagnoseDocument, Diagnosis, Finding, LabDocument, LoadDocument,
    MeasureDocument,
};
use reprise_model::{Failure, Kind};

use crate::document::{Document, Report};
use crate::format::Format;

/// `--junit`: results that are held against something.
pub static FORMAT: Format = Format {
    name: "junit",
    help: "Write the findings and what came of each condition as JUnit XML, for CI systems",
    schemas: &[
        DiagnoseDocument::SCHEMA,
        MeasureDocument::SCHEMA,
        LabDocument::SCHEMA,
        ClientsDocument::SCHEMA,
        LoadDocument::SCHEMA,
    ],
    write,
};

fn write(report: &Report<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let suites = match report.document {
        Document::Diagnose(document) => diagnose(document),
        Document::Measure(document) => measure(std::slice::from_ref(document), report.kinds, &document.conditions),
        Document::Clients(document) => measure(&document.results, report.kinds, &document.conditions),
        Document::Lab(document) => measure(&document.results, report.kinds, &document.conditions),
        Document::Load(document) => load(document),
        _ => return Ok(()),
    };
    suites.serialize(out).map_err(io::Error::other)
}

fn diagnose(document: &DiagnoseDocument) -> Suites {
    let mut report = Suites::new("reprise diagnose");
    report.add_test_suites(document.subjects().map(|target| suite(&target)));
    add_conditions(&mut report, &document.conditions);
    report
}

/// Measurements of one target, or of all servers of the lab, whose conditions are those of all. `kinds` are those that had to be
/// observed on every connection.
fn measure(results: &[MeasureDocument], kinds: &[Kind], conditions: &[ConditionRecord]) -> Suites {
    let mut report = Suites::new("reprise measure");
    report.add_test_suites(results.iter().map(|result| {
        let mut suite = TestSuite::new(&result.label);
        suite.add_test_case(reached(&result.label, !result.runs.is_empty(), result.failures.first(), NOTHING_COMPLETED));
        suite.add_test_cases(kinds.iter().map(|kind| observed(result, *kind)));
        suite.add_test_cases(result.findings.iter().filter(|it| it.is_certain_fault()).map(|fault| {
            case_of(&result.label, &fault.id, non_success(NonSuccessKind::Failure, fault.confidence.name(), &fault.title))
        }));
        if results.len() == 1 {
            suite.add_test_cases(conditions.iter().map(|record| condition(&result.label, record)));
        }
        let findings = result.findings.iter().map(text);
        let against = result.baseline.iter().filter_map(|comparison| comparison.verdict.as_ref());
        let against = against.map(|verdict| verdict.text.clone());
        suite
            .set_system_out(result.warnings.iter().cloned().chain(against).chain(findings).collect::<Vec<_>>().join("\n\n"));
        suite
    }));
    if results.len() != 1 {
        add_conditions(&mut report, conditions);
    }
    report
}

/// A suite of the conditions that all targets are held against together.
fn add_conditions(report: &mut Suites, conditions: &[ConditionRecord]) {
    if !conditions.is_empty() {
        let mut suite = TestSuite::new("conditions");
        suite.add_test_cases(conditions.iter().map(|record| condition("conditions", record)));
        report.add_test_suite(suite);
    }
}

fn load(document: &LoadDocument) -> Suites {
    let target = &document.target;
    let name = format!("{}:{}", target.host, target.port);
    let mut suite = TestSuite::new(&name);
    suite.set_time(Duration::try_from_secs_f64(document.seconds).unwrap_or_default());
    suite.add_test_case(reached(&name, document.has_any(), None, NOTHING_COMPLETED));
    suite.add_test_cases(document.conditions.iter().map(|record| condition(&name, record)));
    suite.set_system_out(document.warnings.join("\n"));
    let mut report = Suites::new("reprise load");
    report.add_test_suite(suite);
    report
}

/// What stands for a failure where nothing completed and none is known.
const NOTHING_COMPLETED: [&str; 2] = ["nothing_completed", "no connection completed"];

/// Whether a kind was observed in each of its connections, and in at least one.
fn observed(result: &MeasureDocument, kind: Kind) -> TestCase {
    let runs: Vec<_> = result.runs.iter().filter(|run| run.asked.kind == kind).collect();
    let missed = runs.iter().filter_map(|run| {
        let all = run.made();
        (run.n < all).then(|| format!("{}: observed in {} of {all} connections", run.asked.tls, run.n))
    });
    let mut missed: Vec<String> = missed.collect();
    if runs.is_empty() {
        missed.push("observed on no connection".to_owned());
    }
    let status = match missed.is_empty() {
        true => TestCaseStatus::success(),
        false => non_success(NonSuccessKind::Failure, "kinds", &missed.join("; ")),
    };
    case_of(&result.label, &format!("--kinds {kind}"), status)
}

fn condition(class: &str, record: &ConditionRecord) -> TestCase {
    let why = record.because.join("\n");
    let status = match record.outcome {
        ConditionOutcome::NotMet => TestCaseStatus::success(),
        outcome => {
            let is_met = outcome == ConditionOutcome::Met;
            let (kind, name) = if is_met { (NonSuccessKind::Failure, "met") } else { (NonSuccessKind::Error, "unknown") };
            let mut status = non_success(kind, name, record.because.first().map_or("", String::as_str));
            status.set_description(why);
            status
        }
    };
    case_of(class, &format!("--fail-if '{}'", record.condition), status)
}

fn suite(target: &Diagnosis) -> TestSuite {
    let mut suite = TestSuite::new(&target.target);
    // A file may say anything.
    suite.set_time(Duration::try_from_secs_f64(target.seconds).unwrap_or_default());
    let otherwise = ["unreached", &target.verdict];
    suite.add_test_case(reached(&target.target, !target.has_failed(), target.failure.as_ref(), otherwise));
    suite.add_test_cases(looked_for(target).into_iter().map(|id| case(target, id)));
    suite.set_system_out(std::iter::once(&target.verdict).chain(&target.warnings).cloned().collect::<Vec<_>>().join("\n"));
    suite
}

/// Whether the target was reached, to the end; where it was not, the failure, or this name and message.
fn reached(class: &str, any: bool, failure: Option<&Failure>, otherwise: [&str; 2]) -> TestCase {
    let [name, message] = failure.map_or(otherwise, |failure| [&failure.name, &failure.message]);
    let status = if any { TestCaseStatus::success() } else { non_success(NonSuccessKind::Error, name, message) };
    case_of(class, "reached", status)
}

/// What the experiments tell apart and what was found, in the order of their names; nothing where no handshake completed.
fn looked_for(target: &Diagnosis) -> BTreeSet<&str> {
    let separated = target.experiments.iter().filter(|_| target.reached).flat_map(|experiment| &experiment.separates);
    separated.chain(target.findings.iter().map(|finding| &finding.id)).map(String::as_str).collect()
}

/// One cause, which may have been found more than once: under each version.
fn case(target: &Diagnosis, id: &str) -> TestCase {
    let found: Vec<&Finding> = target.findings.iter().filter(|finding| finding.id == id).collect();
    let text = found.iter().map(|finding| text(finding)).collect::<Vec<_>>().join("\n\n");
    let faults: Vec<&Finding> = found.into_iter().filter(|finding| finding.fails_a_diagnosis()).collect();
    let Some(first) = faults.first() else {
        let mut case = case_of(&target.target, id, TestCaseStatus::success());
        if !text.is_empty() {
            case.set_system_out(text);
        }
        return case;
    };
    let titles: Vec<&str> = faults.iter().map(|fault| fault.title.as_str()).collect();
    let mut status = non_success(NonSuccessKind::Failure, first.confidence.name(), &titles.join("; "));
    status.set_description(text);
    case_of(&target.target, id, status)
}

fn non_success(kind: NonSuccessKind, name: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name);
    status.set_message(message);
    status
}

fn case_of(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}

fn text(finding: &Finding) -> String {
    let (severity, confidence) = (finding.severity.name(), finding.confidence.name());
    let head = format!("{severity}, {confidence}: {}", finding.title);
    let steps = finding.steps(None).into_iter().map(|step| format!("→ {step}"));
    let more = cause(&finding.id).map(|cause| format!("reprise explain {}", cause.slug));
    let lines =
        std::iter::once(head).chain(finding.evidence.iter().cloned()).chain(finding.costs()).chain(steps).chain(more);
    lines.collect::<Vec<_>>().join("\n")
}
