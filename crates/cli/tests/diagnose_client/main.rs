//! `reprise diagnose --listen` with real client programs: each cause comes out of one, and healthy ones are left in peace.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod cases;
mod guide;
#[path = "../measure/harness/mod.rs"]
#[allow(dead_code, unused_imports, reason = "what measure's tests need besides")]
mod harness;
mod programs;
mod rustls_client;
mod usage;

use reprise_trace::document::{Confidence, DiagnoseDocument, Diagnosis, Severity};

use cases::{Case, Expected};
use harness::{Outcome, Reprise};
use programs::Programs;

#[test]
fn curl_is_judged_rightly() {
    reprise_lab::require!("curl", "sh");
    judge("curl");
}

#[test]
fn openssl_s_client_is_judged_rightly() {
    reprise_lab::require!("openssl", "sh");
    judge("OpenSSL");
}

#[test]
fn python_is_judged_rightly() {
    reprise_lab::require!("python3");
    judge("Python");
}

#[test]
fn node_is_judged_rightly() {
    reprise_lab::require!("node");
    judge("Node");
}

#[test]
fn go_is_judged_rightly() {
    reprise_lab::require!("go");
    judge("Go");
}

#[test]
fn java_is_judged_rightly() {
    reprise_lab::require!("java", "javac");
    judge("Java");
}

#[test]
fn gnutls_is_judged_rightly() {
    reprise_lab::require!("gnutls-cli", "sh");
    judge("GnuTLS");
}

#[test]
fn rustls_is_judged_rightly() {
    judge("rustls");
}

#[test]
fn reprise_itself_is_judged_rightly() {
    judge("Reprise");
}

/// Runs all clients of one software.
fn judge(software: &str) {
    let programs = Programs::new();
    let mut count = 0;
    for case in cases::CASES.iter().filter(|case| case.software == software) {
        let diagnosis = diagnosed(case, &programs);
        case.check(&diagnosis);
        count += 1;
    }
    assert!(count > 0, "no case for {software}");
}

fn diagnosed(case: &Case, programs: &Programs) -> Diagnosis {
    let names = case.names.iter().flat_map(|name| ["--name", *name]);
    let arguments = ["diagnose", "--listen", "0", "--json", "-"].into_iter().chain(names).chain(["--"]);
    let outcome = Reprise::new(arguments).args((case.command)(programs)).env("REPRISE_TEST_WAY", case.name).run();
    let diagnosis = diagnosis(&outcome);
    let is_certain_fault = diagnosis.findings.iter().any(|it| it.is_certain_fault());
    assert_eq!(outcome.code, i32::from(is_certain_fault), "{}: {}", case.name, outcome.stderr);
    diagnosis
}

/// What the document says, which stood on standard output.
#[track_caller]
fn diagnosis(outcome: &Outcome) -> Diagnosis {
    let document: DiagnoseDocument = match serde_json::from_str(&outcome.page) {
        Ok(document) => document,
        Err(error) => panic!("{error}: {}\n{}", outcome.page, outcome.stderr),
    };
    assert_eq!(document.schema, DiagnoseDocument::SCHEMA);
    document.targets.into_iter().next().unwrap()
}

impl Case {
    fn check(&self, diagnosis: &Diagnosis) {
        let Diagnosis { findings, verdict, .. } = diagnosis;
        let name = format!("{} {}", self.software, self.name);
        match &self.expected {
            Expected::Healthy => {
                let bad: Vec<_> = findings.iter().filter(|it| it.severity != Severity::Note).collect();
                assert!(bad.is_empty(), "{name}: {bad:#?}");
                assert!(verdict.starts_with("It resumes"), "{name}: {verdict}");
            }
            Expected::Found { id, severity, confidence, .. } => {
                let found = findings.iter().find(|it| it.id == *id);
                let Some(found) = found else { panic!("{name}: no {id}: {verdict}: {findings:#?}") };
                assert_eq!((found.severity, found.confidence), (*severity, *confidence), "{name}: {found:#?}");
                assert!(!found.evidence.is_empty(), "{name}: {found:#?}");
                let wrong = findings
                    .iter()
                    .find(|it| it.id != *id && it.confidence == Confidence::Certain && it.severity != Severity::Note);
                assert!(wrong.is_none(), "{name}: {wrong:#?}");
                let own = reprise_explain::software(self.software).unwrap_or(self.software);
                self.check_remedy(&found.steps(Some(own)));
            }
        }
    }

    /// The code that is printed stands in the program that is right, and the test of that program shows that it helps.
    fn check_remedy(&self, steps: &[String]) {
        let Expected::Found { remedy: Some((code, fixed)), .. } = &self.expected else { return };
        assert!(steps.iter().any(|step| step.contains(code)), "{}: no {code:?} in {steps:#?}", self.name);
        let is_right = |case: &&Case| (case.software, case.name) == (self.software, *fixed);
        let right = cases::CASES.iter().find(is_right);
        assert!(
            right.is_some_and(|case| matches!(case.expected, Expected::Healthy)),
            "{}: {fixed} is no healthy case",
            self.name
        );
        let is_program = !self.source.is_empty();
        assert!(!is_program || self.source.contains(code), "{}: the program that is right does not say {code:?}", self.name);
    }
}
