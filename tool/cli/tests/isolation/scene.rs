//! A lab with client certificates of two authorities, and what `--isolation` finds out about two places.

use std::path::PathBuf;

use reprise_harness::{Lab, Outcome};
use reprise_lab::{Authority, Identity, KeyKind, PemFiles, ServerSpec};
use reprise_model::document::{DiagnoseDocument, Finding, IsolationRecord, IsolationVerdict, Severity};

/// The certificates of everyone.
pub(crate) struct Scene {
    pub(crate) lab: Lab,
    /// For `localhost`, 127.0.0.1, 127.0.0.2, open.test and strict.test.
    pub(crate) server: Identity,
    /// The one that strict places trust.
    pub(crate) authority: PathBuf,
    pub(crate) authority_pem: String,
    /// A client that it vouches for.
    pub(crate) friend: PemFiles,
    /// A client that another authority vouches for.
    pub(crate) stranger: PemFiles,
    pub(crate) stranger_authority_pem: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let lab = Lab::new();
        let names = ["localhost", "127.0.0.1", "127.0.0.2", "open.test", "strict.test"].map(str::to_owned).to_vec();
        let server = lab.authority.server(&ServerSpec { names, ..ServerSpec::new(KeyKind::P256) }).unwrap();
        let [friends, strangers] = [(); 2].map(|()| Authority::new().unwrap());
        let client =
            |authority: &Authority, name: &str| authority.client(name).unwrap().write_pem(lab.directory(), name).unwrap();
        let (friend, stranger) = (client(&friends, "friend"), client(&strangers, "stranger"));
        let authority = lab.file("friends.pem", friends.pem());
        let (authority_pem, stranger_authority_pem) = (friends.pem(), strangers.pem());
        Self { lab, server, authority, authority_pem, friend, stranger, stranger_authority_pem }
    }

    /// What is found out with a client without a certificate, a friend and a stranger.
    pub(crate) fn isolation(&self, targets: &[&str], flags: &[&str]) -> Found {
        let (first, others) = targets.split_first().unwrap();
        let mut call = self.lab.diagnose(first).args(others).args(["--isolation", "--rate", "1000"]);
        for files in [&self.friend, &self.stranger] {
            call = call.arg("--cert").arg(&files.certificate).arg("--key").arg(&files.key);
        }
        let outcome = call.args(flags).run();
        let document = outcome.json();
        Found { document, outcome }
    }
}

/// What came of it.
pub(crate) struct Found {
    pub(crate) document: DiagnoseDocument,
    pub(crate) outcome: Outcome,
}

impl Found {
    pub(crate) fn of(&self, verdict: IsolationVerdict) -> Vec<&IsolationRecord> {
        self.document.isolation.iter().filter(|record| record.verdict == verdict).collect()
    }

    /// Each combination that has this verdict: `1.3 ticket, stranger`.
    pub(crate) fn told(&self, verdict: IsolationVerdict) -> Vec<String> {
        let holder = |record: &IsolationRecord| {
            record.holder.as_ref().map_or("nobody", |file| if file.contains("friend") { "friend" } else { "stranger" })
        };
        let mut told: Vec<String> = self
            .of(verdict)
            .into_iter()
            .map(|it| format!("{} {}, {}", it.asked.tls.number(), it.asked.kind, holder(it)))
            .collect();
        told.sort();
        told
    }

    pub(crate) fn findings(&self) -> Vec<&Finding> {
        self.document.targets.iter().flat_map(|target| &target.findings).collect()
    }

    /// No session enters where its holder is refused; that a response refuses it after all may be noted.
    #[track_caller]
    pub(crate) fn assert_nothing_enters(&self) {
        let shown = format!("{:#?}\n{}", self.document.isolation, self.outcome.stderr);
        assert!(self.findings().iter().all(|it| it.severity == Severity::Note), "{shown}");
        assert_eq!(self.outcome.code, 0, "{shown}");
        let kept_out = [IsolationVerdict::Refused, IsolationVerdict::Noticed].map(|verdict| self.of(verdict)).concat();
        assert!(kept_out.iter().any(|it| it.full.let_in == 0 && it.offered > 0), "{shown}");
    }

    /// Nothing is accused, and something was offered that must not be accepted.
    #[track_caller]
    pub(crate) fn assert_isolated(&self) {
        let shown = format!("{:#?}\n{}", self.document.isolation, self.outcome.stderr);
        assert!(self.findings().is_empty(), "{shown}");
        assert_eq!(self.outcome.code, 0, "{shown}");
        assert!(self.of(IsolationVerdict::Refused).iter().any(|it| it.full.let_in == 0), "{shown}");
    }
}
