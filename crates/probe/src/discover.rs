//! Finds out which versions a target speaks and how it offers to resume, from connections of its own.

use reprise_model::{Asked, Kind, Version};

use crate::connection_plan::ConnectionPlan;
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::measure::Measurement;
use crate::plan::VersionPlan;
use crate::session_cache::SessionCache;

impl Measurement {
    /// Finds out what the target offers under each version; those that it speaks. Stops at once where it cannot be reached at
    /// all.
    pub(crate) fn discover(&mut self, connector: &mut Connector, plans: &mut [VersionPlan]) -> Vec<Version> {
        let mut spoken = Vec::new();
        // No sample is slower for it.
        connector.settings.keeps_software = true;
        for plan in plans {
            match self.discover_version(connector, plan) {
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
