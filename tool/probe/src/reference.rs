//! Connections to a server that is always the same, to see how fast this machine is while a target is measured.

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_connection::{Fault, Target};
use reprise_engine::Config;
use reprise_model::document::{Calibration, CalibrationRun, CalibrationSample};
use reprise_model::{Asked, FaultName, Kind, Version};
use rustls_pki_types::CertificateDer;

use crate::connection_plan::ConnectionPlan;
use crate::connector::Connector;
use crate::interrupt::Interrupt;
use crate::options::{CertificateTrust, Options};
use crate::plan::Plan;
use crate::session_cache::SessionCache;
use crate::summary::phase_statistics;

/// Makes TLS 1.3 handshakes with one server, full and resumed by ticket in turns, each with a request, and keeps how long
/// they took.
pub struct Reference {
    connector: Connector,
    config: Arc<Config>,
    work: String,
    cache: SessionCache,
    next: Kind,
    samples: Vec<CalibrationSample>,
}

impl Reference {
    /// For the server at `address`, whose certificate `root` has issued. `work` says in words what it does for a connection.
    ///
    /// # Errors
    /// If there are no sockets to be had.
    pub fn new(
        address: SocketAddr,
        root: &CertificateDer<'static>,
        work: &str,
        interrupt: &Interrupt,
    ) -> Result<Self, Fault> {
        let options = Options {
            versions: vec![Version::Tls13],
            certificates: CertificateTrust::Roots(vec![root.clone()]),
            ..Options::default()
        };
        let target = Target::at(address);
        let connector = Connector::new(&target, &options, interrupt)?;
        let plan = Plan::new(&target, &options)?.versions.pop().ok_or(Fault::new(FaultName::NothingToOffer))?;
        Ok(Self {
            connector,
            config: plan.config,
            work: work.to_owned(),
            cache: SessionCache::default(),
            next: Kind::Full,
            samples: Vec::new(),
        })
    }

    /// Makes one connection, after so many of the target's that completed. One that fails says nothing of the machine, and is
    /// left out.
    pub fn connect(&mut self, after: u64) {
        let asked = Asked { tls: Version::Tls13, kind: self.next };
        let Some(offer) = self.cache.take_offer(asked, self.connector.now(), 0, None) else {
            self.next = Kind::Full;
            return;
        };
        let record = self.cache.connect(&mut self.connector, ConnectionPlan::sample(&self.config, asked, offer));
        if record.observation.is_as_asked() {
            self.samples.push(CalibrationSample { after, kind: self.next, phases: record.observation.phases });
        }
        self.next = if self.next == Kind::Full { Kind::Ticket } else { Kind::Full };
    }

    /// What they came to; `None` without a single one. The intervals follow from `seed`.
    pub fn calibration(self, seed: u64) -> Option<Calibration> {
        let run = |kind: Kind| {
            let of_kind = self.samples.iter().filter(|sample| sample.kind == kind);
            let phases = phase_statistics(of_kind.clone().map(|sample| &sample.phases), seed);
            let n = of_kind.count() as u64;
            (n > 0).then_some(CalibrationRun { kind, n, phases })
        };
        let runs: Vec<CalibrationRun> = [Kind::Full, Kind::Ticket].into_iter().filter_map(run).collect();
        (!runs.is_empty()).then_some(Calibration { work: self.work, runs, samples: self.samples })
    }
}
