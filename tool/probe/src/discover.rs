//! Finds out which versions a target speaks and how it offers to resume, from connections of its own.

use reprise_model::{Asked, FaultName, Kind, Version};

use crate::connection_plan::ConnectionPlan;
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::measurement::Measurement;
use crate::plan::VersionPlan;
use crate::session_cache::SessionCache;

/// So often a version is asked for again that the server chose, and whose connection failed.
const AGAIN: u32 = 2;

/// Whether the server chose the version, and did not let wait for what failed.
pub(crate) fn may_be_of_a_node(failed: &FailedConnection) -> bool {
    failed.is_after_choice() && failed.fault.name != FaultName::Timeout
}

impl Measurement {
    /// Finds out what the target offers under each version; those that it speaks. Stops at once where it cannot be reached at
    /// all.
    pub(crate) fn discover(&mut self, connector: &mut Connector, plans: &mut [VersionPlan]) -> Vec<Version> {
        let mut spoken = Vec::new();
        // No sample is slower for it.
        connector.settings.keeps_software = true;
        for plan in plans {
            let mut discovered = self.discover_version(connector, plan);
            for _ in 0..AGAIN {
                // What the server chose and does not get to the end of, it may get to the end of at another node.
                if discovered.as_ref().is_err_and(may_be_of_a_node) {
                    discovered = self.discover_version(connector, plan);
                }
            }
            match discovered {
                Ok(()) => spoken.push(plan.version),
                Err(failed) => {
                    let is_of_the_version = failed.is_of_the_version();
                    self.unmeasured.push((plan.version, failed));
                    if !is_of_the_version {
                        break;
                    }
                }
            }
        }
        connector.settings.keeps_software = false;
        spoken
    }

    /// After all else: a version that the server chose and whose connections failed at first, to see whether they always do.
    pub(crate) fn ask_again(&mut self, connector: &mut Connector, plan: &VersionPlan) {
        for _ in 0..=AGAIN {
            let asked = Asked { tls: plan.version, kind: Kind::Full };
            let record = connector.connect(ConnectionPlan::discovery(&plan.config, asked));
            self.count(&record.observation);
            self.others.push(record.observation);
        }
    }

    fn discover_version(&mut self, connector: &mut Connector, plan: &mut VersionPlan) -> Result<(), FailedConnection> {
        for &kind in plan.discovery() {
            let asked = Asked { tls: plan.version, kind };
            let mut record = connector.connect(ConnectionPlan::discovery(&plan.config, asked));
            self.count(&record.observation);
            self.software = self.software.take().or(record.software.take());
            self.others.push(record.observation);
            let given = SessionCache::of(std::mem::take(&mut record.sessions));
            match record.completed() {
                Ok(seen) if seen.facts().is_some_and(|facts| facts.tickets.count > 0) => plan.ticket = given,
                Ok(seen) if seen.facts().is_some_and(|facts| facts.session_id_given) => plan.id = given,
                Ok(_) => {}
                // What the first connection has shown does not depend on the second.
                Err(failed) if kind == Kind::Ticket => return Err(failed),
                Err(_) => {}
            }
        }
        Ok(())
    }
}
