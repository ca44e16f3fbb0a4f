//! `reprise diagnose --listen` with real client programs: each cause comes out of one, and healthy ones are left in peace.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod cases;
mod guide;
mod programs;
mod rustls_client;
mod starttls;
mod usage;

use std::thread;

use reprise_model::document::{Confidence, DiagnoseDocument, Diagnosis, Remedy, Severity};

use cases::{CASES, Case, Expected, Fix};
use programs::Programs;
use reprise_harness::{Outcome, Reprise, without_note};
use reprise_servers::missing;

/// What the clients of each software need; nothing for what is built with this test.
const SOFTWARE: [(&str, &[&str]); 14] = [
    ("curl", &["curl", "sh"]),
    ("OpenSSL", &["openssl", "sh"]),
    ("OpenSSL API", &["cc", "/usr/include/openssl/ssl.h"]),
    ("libcurl", &["cc", "curl-config"]),
    ("Python", &["python3"]),
    ("requests", &["/usr/lib/python3/dist-packages/requests/__init__.py"]),
    ("httpx", &["/usr/lib/python3/dist-packages/httpx/__init__.py"]),
    ("Node", &["node"]),
    ("undici", &["node", "/usr/share/nodejs/undici/index.js"]),
    ("Go", &["go"]),
    ("Java", &["java", "javac"]),
    ("GnuTLS", &["gnutls-cli", "sh"]),
    ("rustls", &[]),
    ("Reprise", &[]),
];

#[test]
fn clients_of_every_software_are_judged_rightly() {
    let unknown = CASES.iter().find(|case| SOFTWARE.iter().all(|(name, _)| case.software != *name));
    assert!(unknown.is_none(), "what does {:?} need?", unknown.map(|case| case.software));
    thread::scope(|scope| {
        for (software, needs) in SOFTWARE {
            match needs.iter().find_map(|program| missing(program)) {
                Some(not_run) => not_run.announce(),
                None => drop(scope.spawn(|| judge(software))),
            }
        }
    });
}

/// Runs all clients of one software, and those that are wrong again with what is printed to fix them.
fn judge(software: &str) {
    let programs = Programs::new();
    let mut count = 0;
    for case in CASES.iter().filter(|case| case.software == software) {
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
                // A program that does not say what it is written with is told what holds for all.
                let is_told = printed.iter().all(|it| found.remedies.contains(it)) || diagnosis.software.is_none();
                assert!(is_told, "{name}: {printed:?} is not in {found:#?}");
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
