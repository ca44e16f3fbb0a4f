//! The connections of one version and kind.

use std::sync::Arc;
use std::time::Duration;

use reprise_engine::{Config, ExternalPsk, Session};
use reprise_model::{Asked, FaultName, Kind, Nanos, Observation, Purpose};
use reprise_wire::NamedGroup;

use crate::client_cpu;
use crate::connection_plan::{CloseBehavior, ConnectionPlan, ConnectionRecord, SessionOffer};
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::plan::VersionPlan;
use crate::session_cache::SessionCache;

/// What was seen of the connections of one version and kind.
pub struct Series {
    /// What was asked for.
    pub asked: Asked,
    /// Each connection, in the order in which they were made.
    pub observations: Vec<Observation>,
}

/// A series while it is made.
pub(crate) struct SeriesRun {
    pub(crate) series: Series,
    pub(crate) config: Arc<Config>,
    cache: SessionCache,
    /// The last connection that was made to fill the cache, discovery's included.
    primed_by: Option<u32>,
    /// Whether its first connection is to offer what another process left behind.
    pub(crate) begins_with_loaded: bool,
}

impl SeriesRun {
    /// One for each version and kind: those that were named, or `full` and whatever the target offers. Beside them, the loaded
    /// sessions that none of them can offer.
    pub(crate) fn of(
        plans: Vec<VersionPlan>,
        named: &[Kind],
        psk: Option<&ExternalPsk>,
        connector: &Connector,
    ) -> (Vec<Self>, Vec<Session>) {
        let (early, discovered_by) = (connector.early_request_length(), connector.begun().checked_sub(1));
        let (mut all, mut unused) = (Vec::new(), Vec::new());
        for mut plan in plans {
            let allows_early = early.is_some_and(|bytes| plan.ticket.allows_early(bytes));
            let [gives_ticket, gives_id] = [&plan.ticket, &plan.id].map(SessionCache::holds_any);
            for kind in Kind::ALL {
                let offered = match kind {
                    Kind::Full => true,
                    Kind::Id => gives_id,
                    Kind::Ticket => gives_ticket,
                    Kind::Psk => psk.is_some(),
                    Kind::Early => allows_early,
                };
                let wanted = if named.is_empty() { offered } else { named.contains(&kind) };
                if !kind.exists_under(plan.version) || !wanted {
                    continue;
                }
                let mut cache = match kind {
                    Kind::Ticket | Kind::Early => std::mem::take(&mut plan.ticket),
                    Kind::Id => std::mem::take(&mut plan.id),
                    Kind::Full | Kind::Psk => SessionCache::default(),
                };
                let begins_with_loaded = plan.is_loaded && cache.holds_any();
                cache.set_psk(psk);
                all.push(Self {
                    series: Series { asked: Asked { tls: plan.version, kind }, observations: Vec::new() },
                    config: plan.config.clone(),
                    cache,
                    primed_by: discovered_by,
                    begins_with_loaded,
                });
            }
            if plan.is_loaded {
                unused.extend(plan.into_sessions());
            }
        }
        (all, unused)
    }

    /// Another one of the same connections, which begins with nothing to offer.
    pub(crate) fn without_sessions(&self) -> Self {
        let series = Series { asked: self.series.asked, observations: Vec::new() };
        let (config, cache) = (self.config.clone(), SessionCache::default());
        Self { series, config, cache, primed_by: None, begins_with_loaded: false }
    }

    /// The same with its first key share of this group.
    pub(crate) fn sharing(self, group: NamedGroup) -> Self {
        Self { config: Arc::new(sharing(&self.config, group)), ..self }
    }

    /// Has something to offer for so many connections to come, as far as the server gives it. The full connections that it takes
    /// are not counted; what was seen of them goes to `made`. One that ended just now does not serve the next.
    pub(crate) fn prime(
        &mut self,
        connector: &mut Connector,
        servings: usize,
        made: &mut Vec<Observation>,
    ) -> Result<(), FailedConnection> {
        let asked = self.series.asked;
        for _ in 0..=servings {
            if self.cache.servings(asked, connector.now(), self.aside(connector)) >= servings {
                break;
            }
            let priming = self.make(connector, Purpose::Priming, SessionOffer::nothing(asked));
            self.primed_by = Some(priming.observation.index);
            made.push(priming.observation);
            priming.completed()?;
            if self.cache.servings(asked, connector.now(), None) == 0 {
                // It gives nothing that can be offered, and more connections would show nothing else.
                break;
            }
        }
        Ok(())
    }

    /// One counted connection; one that Ctrl-C cut off is not. A server that gives nothing is asked all the same: the observation
    /// says what was seen.
    pub(crate) fn connect(&mut self, connector: &mut Connector) -> Result<Observation, FailedConnection> {
        let early = connector.early_request_length().unwrap_or(usize::MAX);
        let asked = self.series.asked;
        let offer = self.cache.take_offer(asked, connector.now(), early, self.aside(connector));
        let record = self.make(connector, Purpose::Sample, offer.unwrap_or_else(|| SessionOffer::nothing(asked)));
        let observation = record.observation;
        let made = record.completed();
        if !made.as_ref().is_err_and(FailedConnection::is_interruption) {
            self.series.observations.push(observation);
        }
        made
    }

    /// A connection with early data that holds its Finished back for so long, and is not counted; `None` where there is no ticket for it.
    pub(crate) fn hold_finished(&mut self, connector: &mut Connector, time: Duration) -> Option<ConnectionRecord> {
        let length = connector.early_request_length()?;
        let asked = self.series.asked;
        let offer = self.cache.take_offer(asked, connector.now(), length, None)?;
        let plan = ConnectionPlan::sample(&self.config, asked, offer);
        let behavior = CloseBehavior { holds_finished: Some(time), ..CloseBehavior::default() };
        Some(self.cache.connect(connector, ConnectionPlan { purpose: Purpose::Discovery, behavior, ..plan }))
    }

    /// The longest that accepted early data waited for its answer; `None` where none was answered.
    pub(crate) fn longest_early_wait(&self) -> Option<Nanos> {
        let early = self.series.observations.iter().filter(|seen| seen.kind() == Some(Kind::Early));
        early.filter_map(|seen| seen.phases.wait).max()
    }

    /// Early data that the server accepts and never answers costs its whole timeout each time, and so does an offer that ends in silence:
    /// a few such connections in a row are enough, and more would show nothing else.
    pub(crate) fn has_shown_enough(&self) -> bool {
        const ENOUGH: usize = 3;
        let is_silence = |seen: &&Observation| match seen.outcome {
            Err(FaultName::EarlyDataUnanswered) => true,
            Err(FaultName::Timeout) => seen.is_failed_offer(),
            _ => false,
        };
        self.series.observations.iter().rev().take(ENOUGH).filter(is_silence).count() == ENOUGH
    }

    /// Whether none of its connections completed, though nothing explains it: not that offers fail and others complete meanwhile.
    pub(crate) fn is_unmeasured(&self, last_completed: u32) -> bool {
        let seen = &self.series.observations;
        let is_of_offers =
            seen.first().is_some_and(|first| first.index < last_completed) && seen.iter().all(Observation::is_failed_offer);
        !self.has_shown_enough() && !is_of_offers && seen.iter().all(|seen| seen.outcome.is_err())
    }

    /// The connection that ended just now, if it was made to prime this series.
    fn aside(&self, connector: &Connector) -> Option<u32> {
        self.primed_by.filter(|index| index + 1 == connector.begun())
    }

    /// What was seen, and every session that was not used, the newest last.
    pub(crate) fn into_parts(self) -> (Series, impl Iterator<Item = Session>) {
        (self.series, self.cache.into_sessions())
    }

    fn make(&mut self, connector: &mut Connector, purpose: Purpose, offer: SessionOffer) -> ConnectionRecord {
        let plan = ConnectionPlan::sample(&self.config, self.series.asked, offer);
        let before = client_cpu::of_thread();
        let mut record = self.cache.connect(connector, ConnectionPlan { purpose, ..plan });
        record.observation.client_cpu = client_cpu::of_thread().zip(before).map(|(after, before)| after.since(before));
        record
    }
}

/// The same configuration with its first key share of this group.
pub(crate) fn sharing(config: &Config, group: NamedGroup) -> Config {
    let others = config.groups.iter().copied().filter(|other| *other != group);
    let groups = [group].into_iter().chain(others).collect();
    Config { groups, key_share_groups: vec![group], ..config.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::plan::Plan;
    use reprise_model::Version;

    #[test]
    fn three_in_a_row_are_enough() {
        let asked = Asked { tls: Version::Tls13, kind: Kind::Early };
        let ended = |name| Observation { outcome: Err(name), ..Observation::begun(0, Nanos(0), Purpose::Sample, asked) };
        let [unanswered, reset] = [FaultName::EarlyDataUnanswered, FaultName::ConnectionReset].map(ended);
        let plan = Plan::new(&"localhost".parse().unwrap(), &Options::default()).unwrap();
        let config = &plan.versions[0].config;
        let is_enough = |observations: &[Observation]| {
            let series = Series { asked, observations: observations.to_vec() };
            let (config, cache) = (config.clone(), SessionCache::default());
            SeriesRun { series, config, cache, primed_by: None, begins_with_loaded: false }.has_shown_enough()
        };
        assert!(!is_enough(&[unanswered, unanswered]));
        assert!(!is_enough(&[unanswered, unanswered, reset]));
        assert!(!is_enough(&[unanswered, reset, unanswered, unanswered]));
        assert!(is_enough(&[reset, unanswered, unanswered, unanswered]));
    }
}
