//! Finds out which versions a target speaks and how it offers to resume, from connections of its own.

use reprise_model::{Asked, Kind, Purpose};

use crate::close_behavior::CloseBehavior;
use crate::connector::Connector;
use crate::failed::Failed;
use crate::held_session::HeldSession;
use crate::measure::Measurement;
use crate::offers::VersionPlan;
use crate::series::Offering;
use crate::session_cache::{SessionCache, full, has_ticket};
use crate::trial::Trial;

impl Measurement {
    /// What the target offers under each version. Stops at once where it cannot be reached at all.
    pub(crate) fn discover_all(&mut self, connector: &mut Connector, plans: &[VersionPlan]) -> Vec<Offering> {
        let mut offerings = Vec::new();
        // No sample is slower for it.
        connector.keeps_software = true;
        for plan in plans {
            match self.discover(connector, plan) {
                Ok(offering) => offerings.push(offering),
                Err(failed) => {
                    let is_of_the_version = failed.is_of_the_version();
                    self.unmeasured.push((plan.version, failed));
                    if !is_of_the_version {
                        break;
                    }
                }
            }
        }
        connector.keeps_software = false;
        offerings
    }

    fn discover(&mut self, connector: &mut Connector, plan: &VersionPlan) -> Result<Offering, Failed> {
        let loaded = plan.loaded.iter().cloned().map(|session| HeldSession { session, origin: None });
        let (by_ticket, by_id): (Vec<_>, Vec<_>) = loaded.partition(|held| has_ticket(&held.session));
        let mut offering = Offering {
            version: plan.version,
            config: plan.config.clone(),
            ticket: SessionCache::of(by_ticket),
            id: SessionCache::of(by_id),
            is_loaded: !plan.loaded.is_empty(),
        };
        for &kind in plan.probes {
            let asked = Asked { tls: plan.version, kind };
            let trial = Trial {
                config: plan.config.clone(),
                asked,
                purpose: Purpose::Discovery,
                offer: full(asked),
                origin: None,
                manner: CloseBehavior::default(),
            };
            let mut tried = connector.connect(trial);
            self.count(&tried.observation);
            self.software = self.software.take().or(tried.software.take());
            self.others.push(tried.observation);
            let stock = SessionCache::of(std::mem::take(&mut tried.sessions));
            match tried.completed() {
                Ok(seen) if seen.facts().is_some_and(|facts| facts.tickets.count > 0) => {
                    offering.ticket = stock.or(offering.ticket);
                }
                Ok(seen) if seen.facts().is_some_and(|facts| facts.session_id_given) => offering.id = stock.or(offering.id),
                Ok(_) => {}
                // What the first connection has shown does not depend on the second.
                Err(failed) if kind == Kind::Ticket => return Err(failed),
                Err(_) => {}
            }
        }
        Ok(offering)
    }
}
