//! The connections of one version and kind.

use std::sync::Arc;

use reprise_engine::{Config, ExternalPsk, Session};
use reprise_trace::{Asked, Kind, Observation, Purpose, Version};

use crate::connector::Connector;
use crate::failed::Failed;
use crate::stock::{HeldSession, Stock, full};
use crate::trial::{Trial, Tried};

/// The connections of one version and kind, in the order in which they were made; those of one place were made in turns.
pub struct Series {
    /// What was asked for.
    pub asked: Asked,
    /// What was seen of each.
    pub observations: Vec<Observation>,
    config: Arc<Config>,
    stock: Stock,
    /// Whether its first connection is to offer what another process left behind.
    pub(crate) begins_with_loaded: bool,
}

/// What the target offers under one version.
pub(crate) struct Offering {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// A ticket was given.
    pub(crate) ticket: Option<Stock>,
    /// A session ID was given, to a client that asked for no ticket.
    pub(crate) id: Option<Stock>,
    /// Whether these are another process's: then the first connection is to offer them.
    pub(crate) is_loaded: bool,
}

impl Series {
    /// One for each version and kind: those that were named, or `full` and whatever the target offers. A request of `early`
    /// bytes may be sent as early data. Beside them, the loaded sessions that none of them can offer.
    pub(crate) fn of(
        offerings: Vec<Offering>,
        named: &[Kind],
        psk: Option<&ExternalPsk>,
        early: Option<usize>,
    ) -> (Vec<Self>, Vec<Session>) {
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
                    Kind::Psk => psk.cloned().map(Stock::of_psk),
                    Kind::Full => None,
                };
                all.push(Self {
                    asked: Asked { tls: version, kind },
                    observations: Vec::new(),
                    config: config.clone(),
                    begins_with_loaded: is_loaded && kind != Kind::Psk && stock.is_some(),
                    stock: stock.unwrap_or_default(),
                });
            }
            if is_loaded {
                unused.extend(ticket.into_iter().chain(id).flat_map(Stock::into_sessions));
            }
        }
        (all, unused)
    }

    /// One counted connection. Where there is nothing to offer, a full connection that is not counted comes first, and is told
    /// to `primed`; if that fails, it stands for the other.
    pub(crate) fn connect(
        &mut self,
        connector: &mut Connector,
        primed: &mut dyn FnMut(Observation),
    ) -> Result<Observation, Failed> {
        let early = connector.early_request_length().unwrap_or(usize::MAX);
        let mut offer = self.stock.take_offer(self.asked, connector.now(), early);
        if offer.is_none() {
            let priming = self.make(connector, Purpose::Priming, (full(self.asked), None));
            if priming.fault.is_some() {
                self.observations.push(priming.observation);
                return priming.completed();
            }
            primed(priming.observation);
            offer = self.stock.take_offer(self.asked, connector.now(), early);
        }
        // A server that gives nothing is asked all the same: the observation will say what was seen.
        let offer = offer.unwrap_or_else(|| (full(self.asked), None));
        let tried = self.make(connector, Purpose::Sample, offer);
        self.observations.push(tried.observation);
        tried.completed()
    }

    /// With these, which are all of one version and kind.
    #[cfg(test)]
    pub(crate) fn of_observations(observations: Vec<Observation>) -> Self {
        let target = "localhost".parse().unwrap();
        let offers = crate::offers::Offers::new(&target, &crate::options::Options::default()).unwrap();
        let (asked, stock) = (observations[0].asked, Stock::default());
        Self { asked, observations, config: offers.versions[0].config.clone(), stock, begins_with_loaded: false }
    }

    /// Everything that was not used, the newest last.
    pub(crate) fn take_unused(&mut self) -> impl Iterator<Item = Session> {
        std::mem::take(&mut self.stock).into_sessions()
    }

    fn make(&mut self, connector: &mut Connector, purpose: Purpose, (offer, origin): crate::stock::Sourced) -> Tried {
        let mut tried = connector.connect(Trial { config: self.config.clone(), asked: self.asked, purpose, offer, origin });
        if tried.observation.is_refusal() {
            self.stock.forget_refused();
        }
        let sessions: Vec<HeldSession> = std::mem::take(&mut tried.sessions);
        self.stock.keep(sessions);
        tried
    }
}
