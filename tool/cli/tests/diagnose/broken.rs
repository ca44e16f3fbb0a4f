//! A server that is misconfigured, and what is said of it.

use std::any::Any;
use std::collections::BTreeSet;
use std::net::SocketAddr;

use reprise_model::document::{DiagnoseDocument, Diagnosis, Finding, MeasureDocument, Severity, Subject};
use reprise_servers::{Balancing, start_balancer};
use reprise_servers::{RealServer, missing};

use crate::diagnose::applied::{apply, printed};
use crate::diagnose::table::{Row, compare};
use reprise_harness::{Lab, Reprise, locked_version, version};

/// A server that is misconfigured on purpose, and what `diagnose` must say of it.
pub(crate) struct Broken {
    /// The finding.
    pub(crate) cause: &'static str,
    pub(crate) software: &'static Software,
    /// The lines of its configuration that bring it about.
    pub(crate) told: &'static [&'static str],
    /// Starts it with these lines, or with those that fix it.
    pub(crate) start: fn(&Lab, &[String]) -> Started,
    pub(crate) flags: &'static [&'static str],
    /// Whether it is `reprise measure` that finds it.
    pub(crate) is_measured: bool,
    /// Whether the client has a certificate, and one with so long a name.
    pub(crate) certificate: Option<usize>,
    /// Further faults and risks that the same lines bring about: each of them has to be found too, and no other.
    pub(crate) too: &'static [&'static str],
    /// Whether a directive that is printed fixes it; one that helps others does not help here.
    pub(crate) is_fixed: bool,
    /// What happens while it is examined.
    pub(crate) meanwhile: fn(&mut Started),
}

/// A program.
pub(crate) struct Software {
    /// As remedies name it.
    pub(crate) name: &'static str,
    /// What has to be installed; nothing for what is linked.
    pub(crate) program: Option<&'static str>,
    /// What makes it tell its version.
    pub(crate) version: &'static [&'static str],
    /// Whether its responses say what it is.
    pub(crate) reveals_itself: bool,
    /// Programs and header files without which it cannot be built.
    pub(crate) needs: &'static [&'static str],
}

impl Software {
    /// A program that is installed, and reveals nothing of itself.
    pub(crate) const fn new(name: &'static str, program: &'static str, version: &'static [&'static str]) -> Self {
        Self { name, program: Some(program), version, reveals_itself: false, needs: &[] }
    }

    pub(crate) const fn revealing_itself(self) -> Self {
        Self { reveals_itself: true, ..self }
    }

    pub(crate) const fn needing(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    /// What it says of itself; of what is linked, the crate's.
    pub(crate) fn version(&self) -> String {
        self.program.map_or_else(|| locked_version(self.name), |program| version(program, self.version))
    }
}

/// A server, or several behind one address.
pub(crate) struct Started {
    pub(crate) address: SocketAddr,
    /// The first of them.
    pub(crate) server: Option<Box<dyn RealServer>>,
    /// What ends with it.
    pub(crate) _others: Vec<Box<dyn Any>>,
}

impl<S: RealServer + 'static> From<S> for Started {
    fn from(server: S) -> Self {
        Self { address: server.address(), server: Some(Box::new(server)), _others: Vec::new() }
    }
}

impl Started {
    /// A server that keeps no account, and what ends with it.
    pub(crate) fn without_account(address: SocketAddr, server: impl Any) -> Self {
        Self { address, server: None, _others: vec![Box::new(server)] }
    }

    /// Servers at these addresses behind one, dealt by no chance, and what ends with them.
    pub(crate) fn behind_one_address(addresses: impl IntoIterator<Item = SocketAddr>, servers: impl Any) -> Self {
        let balancer = start_balancer(addresses.into_iter().collect(), Balancing::InPairs).unwrap();
        Self::without_account(balancer.address(), (servers, balancer))
    }
}

/// Nothing happens meanwhile, and nothing else is wrong.
pub(crate) const fn broken(
    cause: &'static str,
    software: &'static Software,
    told: &'static [&'static str],
    start: fn(&Lab, &[String]) -> Started,
) -> Broken {
    Broken {
        cause,
        software,
        told,
        start,
        flags: &[],
        is_measured: false,
        certificate: None,
        too: &[],
        is_fixed: true,
        meanwhile: |_| {},
    }
}

impl Broken {
    pub(crate) const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    pub(crate) const fn measured(self, flags: &'static [&'static str]) -> Self {
        Self { flags, is_measured: true, ..self }
    }

    pub(crate) const fn and(self, too: &'static [&'static str]) -> Self {
        Self { too, ..self }
    }

    pub(crate) const fn with_certificate(self, name_length: usize) -> Self {
        Self { certificate: Some(name_length), ..self }
    }

    pub(crate) const fn beyond_directives(self) -> Self {
        Self { is_fixed: false, ..self }
    }

    pub(crate) const fn meanwhile(self, meanwhile: fn(&mut Started)) -> Self {
        Self { meanwhile, ..self }
    }

    /// Starts it, has it diagnosed, and applies to it what is printed.
    #[track_caller]
    pub(crate) fn examine(&self) {
        let Software { program, needs, .. } = self.software;
        if let Some(not_run) = program.iter().chain(*needs).find_map(|needed| missing(needed)) {
            return not_run.announce();
        }
        let lab = Lab::new();
        let lines: Vec<String> = self.told.iter().map(|line| (*line).to_owned()).collect();
        let diagnosis = self.diagnose(&lab, &lines);
        let finding = self.the_finding(&diagnosis);
        let is_revealed = self.software.reveals_itself && !self.is_measured;
        assert_eq!(diagnosis.software.is_some(), is_revealed, "{:?}", diagnosis.software);
        let fixed = self.fix(&lab, &lines, finding);
        compare(&Row::new(self, finding, &fixed));
    }

    /// The cause comes out, and all else that the lines bring about, and nothing else.
    #[track_caller]
    fn the_finding<'d>(&self, diagnosis: &'d Diagnosis) -> &'d Finding {
        let shown = shown(diagnosis);
        let finding = diagnosis.findings.iter().find(|finding| finding.id == self.cause);
        let Some(finding) = finding else { panic!("no {}: {shown}", self.cause) };
        let others = diagnosis.findings.iter().filter(|other| other.severity != Severity::Note && other.id != self.cause);
        let others: BTreeSet<&str> = others.map(|other| other.id.as_str()).collect();
        assert_eq!(others, self.too.iter().copied().collect(), "beside {}: {shown}", self.cause);
        finding
    }

    /// Each directive that is printed, alone: the finding is gone or a note by now, and no fault comes in its place that was not there
    /// before.
    #[track_caller]
    fn fix(&self, lab: &Lab, lines: &[String], finding: &Finding) -> Vec<String> {
        let mut steps = printed(finding, self.software.name);
        steps.retain(|_| self.is_fixed);
        let apply_one = |step| {
            let diagnosis = self.diagnose(lab, &apply(step, lines));
            let remains = |other: &Finding| other.id == self.cause && other.severity <= finding.severity;
            let gone = diagnosis.findings.iter().all(|other| {
                !remains(other) && (other.severity != Severity::Fault || self.too.contains(&other.id.as_str()))
            });
            assert!(gone, "{step:?} fixes nothing: {}", shown(&diagnosis));
            step.to_string()
        };
        steps.iter().map(apply_one).collect()
    }

    #[track_caller]
    pub(crate) fn diagnose(&self, lab: &Lab, lines: &[String]) -> Diagnosis {
        let mut started = (self.start)(lab, lines);
        let target = match self.flags.contains(&"--starttls") {
            // Of what XMPP serves, the name counts.
            true => started.address.to_string(),
            false => format!("localhost:{}", started.address.port()),
        };
        let json = lab.path("diagnosis.json");
        if self.is_measured {
            let measured = lab.measure(target).args(["--resolve", "127.0.0.1"]).args(self.flags).count(30).run();
            return of_measured(measured.document());
        }
        let call = Reprise::new(["diagnose", &target, "--resolve", "127.0.0.1"]).arg("--ca").arg(lab.ca());
        let rate = if self.flags.contains(&"--rate") { [].as_slice() } else { &["--rate", "500"] };
        // Most servers show all without waiting; the balanced ones are examined as anyone would.
        let patience = if self.flags.contains(&"--patience") { [].as_slice() } else { &["--patience", "0s"] };
        let client =
            |length| lab.authority.client(&"x".repeat(length)).unwrap().write_pem(lab.directory(), "client").unwrap();
        let certificate = self.certificate.map(client);
        let certificate = certificate
            .iter()
            .flat_map(|files| ["--cert".into(), files.certificate.clone(), "--key".into(), files.key.clone()]);
        let running = call.arg("--json").arg(&json).args(certificate).args(rate).args(patience).args(self.flags).start();
        (self.meanwhile)(&mut started);
        let outcome = running.finish();
        let text = std::fs::read_to_string(&json).unwrap_or_default();
        let document: DiagnoseDocument =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("no document: {error}\n{}", outcome.stderr));
        let [diagnosis] = <[Diagnosis; 1]>::try_from(document.targets).unwrap();
        let is_bad = diagnosis.findings.iter().any(Finding::fails_a_diagnosis);
        assert_eq!(outcome.code, if diagnosis.has_failed() { 3 } else { i32::from(is_bad) }, "{}", outcome.stderr);
        diagnosis
    }
}

/// The findings alone.
fn of_measured(document: MeasureDocument) -> Diagnosis {
    Diagnosis {
        target: String::new(),
        subject: Subject::Server,
        address: None,
        other_addresses: Vec::new(),
        like: None,
        ech_grease: false,
        software: None,
        reached: true,
        failure: None,
        incomplete: false,
        verdict: String::new(),
        answers_differ: document.answers_differ,
        findings: document.findings,
        experiments: Vec::new(),
        connections: 0,
        seconds: 0.0,
        nodes: None,
        matrix: Vec::new(),
        fingerprints: Vec::new(),
        figures: Vec::new(),
        warnings: document.warnings,
    }
}

/// Its findings and what was tried, for whoever reads of a test that failed.
pub(crate) fn shown(diagnosis: &Diagnosis) -> String {
    let finding = |it: &Finding| {
        let Finding { id, title, severity, confidence, .. } = it;
        format!("{id} ({severity:?}, {confidence:?}): {title}\n    {}", it.evidence.join("\n    "))
    };
    let findings: Vec<String> = diagnosis.findings.iter().map(finding).collect();
    let tried = diagnosis.experiments.iter().map(|it| format!("{} {:?}: {}", it.name, it.asked, it.outcome));
    let tried: Vec<String> = tried.collect();
    format!("{}\n{}\n{}\n{:?}", diagnosis.verdict, findings.join("\n"), tried.join("\n"), diagnosis.warnings)
}
