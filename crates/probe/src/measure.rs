//! Measures one target: finds out what it offers, and makes connections of every version and kind, interleaved.

use reprise_connection::Target;
use reprise_model::document::AllConnections;
use reprise_model::{FaultName, Kind, Observation, Version};
use reprise_stats::balanced_order;

use crate::addresses::DeadAddress;
use crate::connector::Connector;
use crate::failed::Failed;
use crate::failures_in_a_row::{FailuresInARow, Next};
use crate::interrupt::Interrupt;
use crate::observer::Observer;
use crate::offers::{Offers, VersionPlan};
use crate::options::Options;
use crate::saved::Unused;
use crate::series::Series;
use crate::{survey, unanswered};

/// What a measurement came to: whatever could be measured, and why the rest could not.
pub struct Measurement {
    /// The target's address, as far as this machine knows it.
    pub address: Option<std::net::SocketAddr>,
    /// The addresses that were tried before it, in vain.
    pub dead_addresses: Vec<DeadAddress>,
    /// The counted connections, by version and kind.
    pub series: Vec<Series>,
    /// Those of discovery and priming.
    pub others: Vec<Observation>,
    /// Every connection that was made, by observed kind.
    pub all: AllConnections,
    /// This process's first connection, where it offered a session that another had saved.
    pub first: Option<Observation>,
    /// The versions that were not measured because none of their cipher suites is offered.
    pub without_suite: Vec<Version>,
    /// The versions that the target could not be measured under.
    pub unmeasured: Vec<(Version, Failed)>,
    /// Why connections failed: each distinct fault once, with one connection that showed it.
    pub failures: Vec<Failed>,
    /// What the first responses say that the server is.
    pub software: Option<String>,
    /// What ended it before its time, if anything did.
    pub ended_by: Option<Failed>,
    /// Whether Ctrl-C or the target's death cut it short.
    pub is_cut_short: bool,
    /// The sessions that it leaves to another process.
    pub unused: Unused,
}

/// Measures `target`. Fails never outright: what ended it stands beside what was measured until then.
pub fn measure(target: &Target, options: &Options, observer: &dyn Observer, interrupt: &Interrupt) -> Measurement {
    let mut measurement = Measurement {
        address: None,
        dead_addresses: Vec::new(),
        series: Vec::new(),
        others: Vec::new(),
        all: AllConnections::default(),
        first: None,
        without_suite: Vec::new(),
        unmeasured: Vec::new(),
        failures: Vec::new(),
        software: None,
        ended_by: None,
        is_cut_short: false,
        unused: Unused::nothing_yet(target, options),
    };
    if let Err(failed) = measurement.carry_out(target, options, observer, interrupt) {
        measurement.is_cut_short |= failed.is_interruption();
        if !failed.is_interruption() {
            measurement.note(&failed);
        }
        measurement.ended_by = Some(failed);
    }
    measurement
}

impl Measurement {
    fn carry_out(
        &mut self,
        target: &Target,
        options: &Options,
        observer: &dyn Observer,
        interrupt: &Interrupt,
    ) -> Result<(), Failed> {
        let mut connector = Connector::new(target, options, interrupt)?;
        let offers = Offers::new(target, options)?;
        self.without_suite.clone_from(&offers.without_suite);
        let measured = self.measure_all(&mut connector, &offers, options, observer);
        // Known now: of several addresses, the first that answered.
        self.address = connector.target_address();
        self.dead_addresses = connector.take_dead_addresses();
        measured
    }

    fn measure_all(
        &mut self,
        connector: &mut Connector,
        offers: &Offers,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<(), Failed> {
        let mut offerings = self.discover_all(connector, &offers.versions);
        let is_refused = |(_, failed): &(_, Failed)| failed.fault.name.is_refusal();
        let is_of_the_target = |(_, failed): &(_, Failed)| !failed.is_of_the_version();
        let is_psk_alone = options.kinds.is_empty()
            && options.psk.is_some()
            && offerings.is_empty()
            && self.unmeasured.iter().all(is_refused);
        if is_psk_alone {
            let tls13 = offers.versions.iter().filter(|plan| plan.version == Version::Tls13).cloned();
            offerings = self.discover_all(connector, &tls13.map(VersionPlan::of_psk_alone).collect::<Vec<_>>());
        } else if offerings.is_empty() || !options.versions.is_empty() && self.unmeasured.iter().any(is_of_the_target) {
            let refused = std::mem::take(&mut self.unmeasured);
            let failed = survey::recognise(connector, &offers.versions, refused, |tried| self.count(&tried.observation));
            return Err(Failed { is_full_beside_psk: options.psk.is_some(), ..failed });
        }
        let kinds = if is_psk_alone { &[Kind::Psk][..] } else { &options.kinds };
        let (series, unused) = Series::of(offerings, kinds, options.psk.as_ref(), connector);
        self.series = series;
        self.is_cut_short = true;
        let made = self.make_connections(connector, options, observer);
        self.unused.sessions = unused.into_iter().chain(self.series.iter_mut().flat_map(Series::take_unused)).collect();
        self.unused.at = connector.now();
        made?;
        self.is_cut_short = false;
        self.all_were_measured()
    }

    /// The connections of all series in a random order in which each precedes each equally often, so that what drifts, and what
    /// a connection leaves behind, falls on all alike.
    fn make_connections(
        &mut self,
        connector: &mut Connector,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<(), Failed> {
        let loaded = self.series.iter().rposition(|series| series.begins_with_loaded);
        let order = balanced_order(self.series.len(), options.count as usize, loaded.unwrap_or_default(), options.seed);
        if let (Some(first), None) = (order.first(), loaded) {
            self.prime(connector, *first, 1)?;
        }
        let mut failures_in_a_row = FailuresInARow::default();
        let (mut done, mut completed) = (0, 0);
        for (turn, &place) in order.iter().enumerate() {
            if self.has_shown_enough(place) {
                continue;
            }
            // What the next one offers is there before this one begins: a priming connection never directly precedes the sample
            // that it serves. The very first may have something loaded to offer; and what goes on failing is not asked for more.
            if turn == 1 && loaded.is_some() {
                self.prime(connector, place, 1)?;
            }
            let may_prime = (done > 0 || loaded.is_none()) && failures_in_a_row.may_be_chance();
            let next = order.iter().skip(turn + 1).find(|next| !self.has_shown_enough(**next));
            if let Some(&next) = next.filter(|_| may_prime) {
                self.prime(connector, next, 1 + usize::from(next == place))?;
            }
            let made = self.make_connection(connector, place);
            if let Ok(observation) = &made {
                failures_in_a_row.end();
                completed += 1;
                observer.completed(completed);
                self.first = self.first.or((done == 0 && loaded.is_some()).then_some(*observation));
            }
            self.endure(connector, made.map(drop), &mut failures_in_a_row)?;
            done += 1;
            observer.proceeded(done, order.len() as u64);
            if connector.is_interrupted() {
                return Err(Failed::interrupted());
            }
        }
        Ok(())
    }

    fn has_shown_enough(&self, place: usize) -> bool {
        self.series.get(place).is_some_and(|series| unanswered::is_shown_by(&series.observations))
    }

    /// One failure does not end a measurement; too many in a row do.
    fn endure(
        &mut self,
        connector: &Connector,
        made: Result<(), Failed>,
        failures_in_a_row: &mut FailuresInARow,
    ) -> Result<(), Failed> {
        let Err(failed) = made else { return Ok(()) };
        if failed.is_interruption() {
            return Err(failed);
        }
        self.note(&failed);
        match failures_in_a_row.add(connector.now()) {
            Next::GoOn => {}
            Next::WaitUntil(time) => connector.wait_until(time),
            Next::GiveUp => return Err(failed),
        }
        Ok(())
    }

    /// Has a series prime itself. If that fails, its next sample shows whether the target has died.
    fn prime(&mut self, connector: &mut Connector, place: usize, servings: usize) -> Result<(), Failed> {
        let mut made = Vec::new();
        let Some(series) = self.series.get_mut(place) else { return Ok(()) };
        let primed = series.prime(connector, servings, &mut made);
        made.iter().for_each(|observation| self.count(observation));
        self.others.extend(made);
        self.endure(connector, primed, &mut FailuresInARow::default())
    }

    fn make_connection(&mut self, connector: &mut Connector, place: usize) -> Result<Observation, Failed> {
        let Some(series) = self.series.get_mut(place) else { return Err(Failed::interrupted()) };
        let made = series.connect(connector);
        if made.as_ref().is_err_and(Failed::is_interruption) {
            series.observations.pop();
        }
        match &made {
            Ok(observation) => self.count(observation),
            Err(failed) => failed.observation.iter().for_each(|observation| self.count(observation)),
        }
        made
    }

    /// A series without a single connection is no measurement, even if the target did not live to fail five times in a row.
    fn all_were_measured(&self) -> Result<(), Failed> {
        let is_unmeasured = |series: &&Series| {
            let failed = series.observations.iter().all(|it| it.outcome.is_err());
            failed && !unanswered::is_shown_by(&series.observations)
        };
        let unmeasured = self.series.iter().find(is_unmeasured).and_then(|series| series.observations.last());
        let Some(last) = unmeasured.and_then(|observation| observation.outcome.err()) else { return Ok(()) };
        let failed = self.failures.iter().rfind(|failed| failed.fault.name == last);
        failed.map_or(Ok(()), |failed| Err(failed.clone()))
    }

    /// Counts a connection, whatever came of it.
    pub(crate) fn count(&mut self, observation: &Observation) {
        match observation.outcome {
            Ok(facts) => self.all.add(facts.kind),
            Err(FaultName::Interrupted) => {}
            Err(_) => self.all.failed += 1,
        }
    }

    fn note(&mut self, failed: &Failed) {
        if !self.failures.iter().any(|known| known.fault == failed.fault) {
            self.failures.push(failed.clone());
        }
    }
}
