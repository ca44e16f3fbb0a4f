//! Measures one target: finds out what it offers, and makes connections of every version and kind, interleaved.

use reprise_attempt::Target;
use reprise_stats::balanced_order;
use reprise_trace::document::AllConnections;
use reprise_trace::{FaultName, Kind, Observation, Version};

use crate::connector::Connector;
use crate::failed::Failed;
use crate::interrupt::Interrupt;
use crate::observer::Observer;
use crate::offers::{Offers, VersionPlan};
use crate::options::Options;
use crate::saved::Unused;
use crate::series::Series;
use crate::survey;

/// So many failures in a row mean that the target has died.
const FAILURES_IN_A_ROW: u32 = 5;

/// What a measurement came to: whatever could be measured, and why the rest could not.
pub struct Measurement {
    /// The target's address, as far as this machine knows it.
    pub address: Option<std::net::SocketAddr>,
    /// The counted connections, by version and kind.
    pub series: Vec<Series>,
    /// Those of discovery and priming.
    pub others: Vec<Observation>,
    /// Every connection that was made, by observed kind.
    pub all: AllConnections,
    /// This process's first connection, where it offered a session that another had saved.
    pub first: Option<Observation>,
    /// The versions that were not measured for want of a cipher suite of theirs.
    pub without_suite: Vec<Version>,
    /// The versions that the target could not be measured under.
    pub unmeasured: Vec<(Version, Failed)>,
    /// Why connections failed: each distinct fault once, with one connection that showed it.
    pub failures: Vec<Failed>,
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
        series: Vec::new(),
        others: Vec::new(),
        all: AllConnections::default(),
        first: None,
        without_suite: Vec::new(),
        unmeasured: Vec::new(),
        failures: Vec::new(),
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
        let is_psk_alone = options.kinds.is_empty()
            && options.psk.is_some()
            && offerings.is_empty()
            && self.unmeasured.iter().all(is_refused);
        if is_psk_alone {
            let tls13 = offers.versions.iter().filter(|plan| plan.version == Version::Tls13).cloned();
            offerings = self.discover_all(connector, &tls13.map(VersionPlan::of_psk_alone).collect::<Vec<_>>());
        } else if offerings.is_empty() || !options.versions.is_empty() && !self.unmeasured.is_empty() {
            let (_, failed) = self.unmeasured.drain(..).next().unwrap_or((Version::Tls13, Failed::interrupted()));
            let failed = survey::recognise(connector, &offers.survey, failed, |tried| self.count(&tried.observation));
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
        let mut failures_in_a_row = 0;
        for (done, &place) in order.iter().enumerate() {
            // What the next one offers is there before this one begins: a priming connection never directly precedes the sample
            // that it serves. The very first may have something loaded to offer; and what fails now is not asked for more.
            let may_prime = (done > 0 || loaded.is_none()) && failures_in_a_row == 0;
            if let Some(&next) = order.get(done + 1).filter(|_| may_prime) {
                self.prime(connector, next, 1 + usize::from(next == place))?;
            }
            let made = self.make_connection(connector, place);
            if let Ok(observation) = &made {
                failures_in_a_row = 0;
                self.first = self.first.or((done == 0 && loaded.is_some()).then_some(*observation));
            }
            self.endure(made.map(drop), &mut failures_in_a_row)?;
            observer.proceeded(done as u64 + 1, order.len() as u64);
            if connector.is_interrupted() {
                return Err(Failed::interrupted());
            }
        }
        Ok(())
    }

    /// One failure does not end a measurement; so many in a row do.
    fn endure(&mut self, made: Result<(), Failed>, failures_in_a_row: &mut u32) -> Result<(), Failed> {
        let Err(failed) = made else { return Ok(()) };
        if !failed.is_interruption() {
            *failures_in_a_row += 1;
            self.note(&failed);
        }
        if failed.is_interruption() || *failures_in_a_row >= FAILURES_IN_A_ROW { Err(failed) } else { Ok(()) }
    }

    /// Has a series prime itself. If that fails, its next sample shows whether the target has died.
    fn prime(&mut self, connector: &mut Connector, place: usize, servings: usize) -> Result<(), Failed> {
        let mut made = Vec::new();
        let Some(series) = self.series.get_mut(place) else { return Ok(()) };
        let primed = series.prime(connector, servings, &mut made);
        made.iter().for_each(|observation| self.count(observation));
        self.others.extend(made);
        self.endure(primed, &mut 0)
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
        let is_unmeasured = |series: &&Series| series.observations.iter().all(|it| it.outcome.is_err());
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
