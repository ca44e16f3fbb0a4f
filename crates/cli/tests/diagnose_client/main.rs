//! `reprise diagnose --listen` with real client programs: each cause comes out of one, and healthy ones are left in peace.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod cases;
mod guide;
mod programs;
mod rustls_client;
mod usage;

use reprise_model::document::{Confidence, DiagnoseDocument, Diagnosis, Remedy, Severity};

use cases::{Case, Expected, Fix};
use programs::Programs;
use reprise_harness::{Outcome, Reprise, without_note};

#[test]
fn curl_is_judged_rightly() {
    reprise_servers::require!("curl", "sh");
    judge("curl");
}

#[test]
fn openssl_s_client_is_judged_rightly() {
    reprise_servers::require!("openssl", "sh");
    judge("OpenSSL");
}

#[test]
fn programs_on_openssl_are_judged_rightly() {
    reprise_servers::require!("cc", "/usr/include/openssl/ssl.h");
    judge("OpenSSL API");
}

#[test]
fn programs_on_libcurl_are_judged_rightly() {
    reprise_servers::require!("cc", "curl-config");
    judge("libcurl");
}

#[test]
fn python_is_judged_rightly() {
    reprise_servers::require!("python3");
    judge("Python");
}

#[test]
fn requests_is_judged_rightly() {
    reprise_servers::require!("/usr/lib/python3/dist-packages/requests/__init__.py");
    judge("requests");
}

#[test]
fn httpx_is_judged_rightly() {
    reprise_servers::require!("/usr/lib/python3/dist-packages/httpx/__init__.py");
    judge("httpx");
}

#[test]
fn node_is_judged_rightly() {
    reprise_servers::require!("node");
    judge("Node");
}

#[test]
fn undici_is_judged_rightly() {
    reprise_servers::require!("node", "/usr/share/nodejs/undici/index.js");
    judge("undici");
}

#[test]
fn go_is_judged_rightly() {
    reprise_servers::require!("go");
    judge("Go");
}

#[test]
fn java_is_judged_rightly() {
    reprise_servers::require!("java", "javac");
    judge("Java");
}

#[test]
fn gnutls_is_judged_rightly() {
    reprise_servers::require!("gnutls-cli", "sh");
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

/// Runs all clients of one software, and those that are wrong again with what is printed to fix them.
fn judge(software: &str) {
    let programs = Programs::new();
    let mut count = 0;
    for case in cases::CASES.iter().filter(|case| case.software == software) {
        let command = (case.command)(&programs);
        case.check(&diagnosed(case, command, false));
        case.check_remedy();
        count += 1;
    }
    assert!(count > 0, "no case for {software}");
}

fn diagnosed(case: &Case, command: Vec<String>, is_fixed: bool) -> Diagnosis {
    let names = case.names.iter().flat_map(|name| ["--name", *name]);
    let arguments = ["diagnose", "--listen", "0", "--json", "-"].into_iter().chain(names).chain(["--"]);
    let call = Reprise::new(arguments).args(command).env("REPRISE_TEST_WAY", case.name);
    let outcome = if is_fixed { call.env("REPRISE_TEST_FIXED", "1").run() } else { call.run() };
    let diagnosis = diagnosis(&outcome);
    let is_bad = diagnosis.findings.iter().any(|it| it.fails_a_diagnosis());
    assert_eq!(outcome.code, i32::from(is_bad), "{}: {}", case.name, outcome.stderr);
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
                let printed = self.printed();
                assert!(printed.iter().all(|it| found.remedies.contains(it)), "{name}: {printed:?} is not in {found:#?}");
            }
        }
    }

    /// The remedy whose place is known.
    fn printed(&self) -> Option<Remedy> {
        let Expected::Found { id, fix: Some(fix), .. } = &self.expected else { return None };
        let own = reprise_diagnosis::software(self.software).unwrap_or(self.software);
        let remedies = reprise_diagnosis::cause(id).unwrap().client_remedies(Some(own));
        let is_it = |it: &Remedy| it.software.as_deref() == Some(own) && it.text.starts_with(fix.remedy);
        Some(
            remedies
                .into_iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("{own}: no remedy for {id} begins with {}", fix.remedy)),
        )
    }

    /// What is printed, without what is said about it.
    fn code(&self) -> Option<String> {
        self.printed().map(|remedy| match remedy.text.split_once(": ") {
            Some((word, _)) if word.starts_with(LEAVE_OUT) => word.to_owned(),
            _ => without_note(&remedy.text).to_owned(),
        })
    }

    /// With what is printed in its place, the finding is gone, and nothing comes instead.
    fn check_remedy(&self) {
        let (Some(code), Expected::Found { id, fix: Some(Fix { fault, .. }), .. }) = (self.code(), &self.expected) else {
            return;
        };
        let is_own_program = fault.is_empty();
        if is_own_program {
            rustls_client::assert_says(self.name, &code);
        }
        let is_shell = (self.command)(&Programs::new()).iter().any(|word| word.contains(fault)) && !is_own_program;
        let programs = if is_shell || is_own_program { Programs::new() } else { Programs::with(&code, fault) };
        let code = if code.starts_with(LEAVE_OUT) { "" } else { &code };
        let code = FILLED_IN.iter().fold(code.to_owned(), |code, (name, value)| code.replace(name, value));
        let command = (self.command)(&programs);
        let command = command.into_iter().map(|word| if is_shell { word.replacen(fault, &code, 1) } else { word }).collect();
        let Diagnosis { findings, reached, verdict, .. } = diagnosed(self, command, true);
        let gone = findings.iter().all(|it| it.id != *id && it.severity == Severity::Note);
        assert!(reached && gone, "{} {}: {code} does not fix it: {verdict}: {findings:#?}", self.software, self.name);
    }
}

/// How a remedy begins that takes a word away.
const LEAVE_OUT: &str = "leave out ";

/// What stands for something else in a command that is printed.
const FILLED_IN: [(&str, &str); 4] = [("URL1", "{url}"), ("URL2", "{url}"), ("openssl s_client", "c"), ("FILE", "$s")];
