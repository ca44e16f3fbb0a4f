//! What a measurement came to.

use reprise_model::document::AllConnections;
use reprise_model::{FaultName, Observation, Version};

use crate::acknowledgement::AcknowledgementTrial;
use crate::addresses::DeadAddress;
use crate::failed::FailedConnection;
use crate::hello_retry::RetryComparison;
use crate::saved::Unused;
use crate::series::Series;

/// What a measurement came to: whatever could be measured, and why the rest could not.
#[derive(Default)]
pub struct Measurement {
    /// The target's address, as far as this machine knows it.
    pub address: Option<std::net::SocketAddr>,
    /// The addresses that were tried before it, in vain.
    pub dead_addresses: Vec<DeadAddress>,
    /// The counted connections, by version and kind.
    pub series: Vec<Series>,
    /// Connections of TLS 1.3 that are retried, beside the same without a retry; `None` where none were, or too few.
    pub retries: Option<RetryComparison>,
    /// Those of discovery and priming.
    pub others: Vec<Observation>,
    /// Those that tell whether the server waits for acknowledgements, where its answers take as long.
    pub trials: Vec<AcknowledgementTrial>,
    /// Every connection that was made, by observed kind.
    pub all: AllConnections,
    /// This process's first connection, where it offered a session that another had saved.
    pub first: Option<Observation>,
    /// The versions that were not measured because none of their cipher suites is offered.
    pub without_suite: Vec<Version>,
    /// The versions that the target could not be measured under.
    pub unmeasured: Vec<(Version, FailedConnection)>,
    /// Why connections failed: each distinct fault once, with one connection that showed it.
    pub failures: Vec<FailedConnection>,
    /// What the first responses say that the server is.
    pub software: Option<String>,
    /// What ended it before its time, if anything did.
    pub ended_by: Option<FailedConnection>,
    /// Whether Ctrl-C or the target's death cut it short.
    pub is_cut_short: bool,
    /// The sessions that it leaves to another process.
    pub unused: Unused,
}

impl Measurement {
    /// Counts a connection, whatever came of it.
    pub(crate) fn count(&mut self, observation: &Observation) {
        match observation.outcome {
            Ok(facts) => self.all.add(facts.kind),
            Err(FaultName::Interrupted) => {}
            Err(_) => self.all.failed += 1,
        }
    }

    pub(crate) fn note(&mut self, failed: &FailedConnection) {
        if !self.failures.iter().any(|known| known.fault == failed.fault) {
            self.failures.push(failed.clone());
        }
    }

    pub(crate) fn end(&mut self, failed: FailedConnection) {
        self.is_cut_short |= failed.is_interruption();
        if !failed.is_interruption() {
            self.note(&failed);
        }
        self.ended_by = Some(failed);
    }
}
