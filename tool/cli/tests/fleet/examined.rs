//! One run with a fleet, and what it says.

use std::net::SocketAddr;

use reprise_harness::{Lab, Outcome, Reprise, assert_valid};
use reprise_model::document::{Confidence, DiagnoseDocument, Fleet, Severity};
use reprise_servers::RealServer;

/// The same on every node that shares.
pub(crate) const SHARED_KEY: [u8; 80] = [7; 80];

/// What came of `--together`.
pub(crate) struct Examined {
    pub(crate) document: DiagnoseDocument,
    pub(crate) page: String,
    pub(crate) code: i32,
}

/// Examines nodes at these addresses.
pub(crate) fn examine(lab: &Lab, addresses: &[SocketAddr], flags: &str) -> Examined {
    prepared(lab, addresses, flags).run_to_its_end()
}

/// Those of servers.
pub(crate) fn addresses<S: RealServer>(servers: &[S]) -> Vec<SocketAddr> {
    servers.iter().map(RealServer::address).collect()
}

pub(crate) fn prepared(lab: &Lab, addresses: &[SocketAddr], flags: &str) -> Prepared {
    prepared_for(lab, addresses.iter().map(ToString::to_string), flags)
}

pub(crate) fn prepared_for(lab: &Lab, targets: impl IntoIterator<Item = String>, flags: &str) -> Prepared {
    let file = lab.path("fleet.json");
    let reprise = Reprise::new(["diagnose", "--together"]).args(targets);
    let reprise = reprise.arg("--ca").arg(lab.ca()).deadline(reprise_harness::DEADLINE * 6);
    Prepared { reprise: reprise.flags(flags).arg("--json").arg(&file), file }
}

pub(crate) struct Prepared {
    pub(crate) reprise: Reprise,
    pub(crate) file: std::path::PathBuf,
}

impl Prepared {
    pub(crate) fn run_to_its_end(self) -> Examined {
        let outcome = self.reprise.run();
        read(&self.file, &outcome)
    }
}

/// What a run left behind, which keeps its schema.
pub(crate) fn read(file: &std::path::Path, outcome: &Outcome) -> Examined {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr));
    assert_valid(&serde_json::from_str(&text).unwrap());
    Examined { document: serde_json::from_str(&text).unwrap(), page: outcome.page.clone(), code: outcome.code }
}

impl Examined {
    pub(crate) fn fleet(&self) -> &Fleet {
        self.document.fleet.as_ref().unwrap()
    }

    /// The causes that are likely or certain and no notes, the worst first.
    pub(crate) fn blamed(&self) -> Vec<&str> {
        let findings = self.fleet().findings.iter();
        let blamed = findings.filter(|it| it.severity != Severity::Note && it.confidence != Confidence::Possible);
        blamed.map(|it| it.id.as_str()).collect()
    }

    pub(crate) fn group_sizes(&self) -> Vec<usize> {
        self.fleet().groups.iter().map(|group| group.nodes.len()).collect()
    }

    /// That nothing is wrong, and the pages fit.
    pub(crate) fn assert_healthy(&self, nodes: usize) {
        let fleet = self.fleet();
        let blamed: Vec<_> = self.document.findings().filter(|(_, it)| it.severity != Severity::Note).collect();
        assert_eq!(self.group_sizes(), [nodes], "{}", self.page);
        assert!(blamed.is_empty() && self.code == 0, "{blamed:?}: {}", self.page);
        assert_eq!(fleet.shared, Some(1.0), "{}", self.page);
        self.assert_fits();
    }

    /// That every line fits a terminal of 100 columns, and each cell has the offers that it needs.
    pub(crate) fn assert_fits(&self) {
        let widest = self.page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{widest}: {}", self.page);
    }
}
