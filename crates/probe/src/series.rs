//! The connections of one version and kind.

use std::sync::Arc;

use reprise_engine::{Config, ExternalPsk, Session};
use reprise_model::{Asked, Kind, Observation, Purpose, Version};

use crate::close_behavior::CloseBehavior;
use crate::connector::Connector;
use crate::failed::Failed;
use crate::session_cache::{SessionCache, Taken};
use crate::trial::{Trial, Tried};

/// The connections of one version and kind, in the order in which they were made.
pub struct Series {
    /// What was asked for.
    pub asked: Asked,
    /// What was seen of each.
    pub observations: Vec<Observation>,
    config: Arc<Config>,
    stock: SessionCache,
    /// The last connection that was made to fill the stock, discovery's included.
    primed_by: Option<u32>,
    /// Whether its first connection is to offer what another process left behind.
    pub(crate) begins_with_loaded: bool,
}

/// What the target offers under one version.
pub(crate) struct Offering {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// A ticket was given.
    pub(crate) ticket: Option<SessionCache>,
    /// A session ID was given, to a client that asked for no ticket.
    pub(crate) id: Option<SessionCache>,
    /// Whether these are another process's: then the first connection is to offer them.
    pub(crate) is_loaded: bool,
}

impl Series {
    /// One for each version and kind: those that were named, or `full` and whatever the target offers. Beside them, the loaded
    /// sessions that none of them can offer.
    pub(crate) fn of(
        offerings: Vec<Offering>,
        named: &[Kind],
        psk: Option<&ExternalPsk>,
        connector: &Connector,
    ) -> (Vec<Self>, Vec<Session>) {
        let (early, discovered_by) = (connector.early_request_length(), connector.begun().checked_sub(1));
        let (mut all, mut unused) = (Vec::new(), Vec::new());
        for Offering { version, config, mut ticket, mut id, is_loaded } in offerings {
            let allows_early = ticket.as_ref().zip(early).is_some_and(|(stock, bytes)| stock.allows_early(bytes));
            for kind in Kind::ALL {
                let offered = match kind {
                    Kind::Full => true,
                    Kind::Id => id.is_some(),
                    Kind::Ticket => ticket.is_some(),
                    Kind::Psk => psk.is_some(),
                    Kind::Early => allows_early,
                };
                let wanted = if named.is_empty() { offered } else { named.contains(&kind) };
                if !kind.exists_under(version) || !wanted {
                    continue;
                }
                let stock = match kind {
                    Kind::Ticket | Kind::Early => ticket.take(),
                    Kind::Id => id.take(),
                    Kind::Psk => psk.cloned().map(SessionCache::of_psk),
                    Kind::Full => None,
                };
                all.push(Self {
                    asked: Asked { tls: version, kind },
                    observations: Vec::new(),
                    config: config.clone(),
                    begins_with_loaded: is_loaded && kind != Kind::Psk && stock.is_some(),
                    stock: stock.unwrap_or_default(),
                    primed_by: discovered_by,
                });
            }
            if is_loaded {
                unused.extend(ticket.into_iter().chain(id).flat_map(SessionCache::into_sessions));
            }
        }
        (all, unused)
    }

    /// Has something to offer for so many connections to come, as far as the server gives it. The full connections that it takes
    /// are not counted; what was seen of them goes to `made`. One that ended just now does not serve the next.
    pub(crate) fn prime(
        &mut self,
        connector: &mut Connector,
        servings: usize,
        made: &mut Vec<Observation>,
    ) -> Result<(), Failed> {
        for _ in 0..=servings {
            if self.stock.servings(self.asked, connector.now(), self.aside(connector)) >= servings {
                break;
            }
            let priming = self.make(connector, Purpose::Priming, Taken::nothing(self.asked));
            self.primed_by = Some(priming.observation.index);
            made.push(priming.observation);
            priming.completed()?;
            if self.stock.servings(self.asked, connector.now(), None) == 0 {
                // It gives nothing that can be offered, and more connections would show nothing else.
                break;
            }
        }
        Ok(())
    }

    /// One counted connection. A server that gives nothing is asked all the same: the observation says what was seen.
    pub(crate) fn connect(&mut self, connector: &mut Connector) -> Result<Observation, Failed> {
        let early = connector.early_request_length().unwrap_or(usize::MAX);
        let taken = self.stock.take_offer(self.asked, connector.now(), early, self.aside(connector));
        let tried = self.make(connector, Purpose::Sample, taken.unwrap_or_else(|| Taken::nothing(self.asked)));
        self.observations.push(tried.observation);
        tried.completed()
    }

    /// The connection that ended just now, if it was made to prime this series.
    fn aside(&self, connector: &Connector) -> Option<u32> {
        self.primed_by.filter(|index| index + 1 == connector.begun())
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn take_unused(&mut self) -> impl Iterator<Item = Session> {
        std::mem::take(&mut self.stock).into_sessions()
    }

    fn make(&mut self, connector: &mut Connector, purpose: Purpose, taken: Taken) -> Tried {
        let origin = taken.origin();
        let trial = Trial {
            config: self.config.clone(),
            asked: self.asked,
            purpose,
            offer: taken.offer,
            origin,
            manner: CloseBehavior::default(),
        };
        let mut tried = connector.connect(trial);
        self.stock.settle(taken.held, &mut tried);
        tried
    }

    /// Those that another schedule has made.
    pub(crate) fn of_observations(asked: Asked, observations: Vec<Observation>, config: Arc<Config>) -> Self {
        Self { asked, observations, config, stock: SessionCache::default(), primed_by: None, begins_with_loaded: false }
    }

    /// With these, which are all of one version and kind.
    #[cfg(test)]
    pub(crate) fn seen(observations: Vec<Observation>) -> Self {
        let target = "localhost".parse().unwrap();
        let offers = crate::offers::Offers::new(&target, &crate::options::Options::default()).unwrap();
        Self::of_observations(observations[0].asked, observations, offers.versions[0].config.clone())
    }
}
