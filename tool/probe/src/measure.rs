//! Measures one target: finds out what it offers, and makes connections of every version and kind, interleaved.

use std::collections::VecDeque;
use std::time::Duration;

use reprise_connection::Target;
use reprise_engine::Session;
use reprise_model::{FaultName, Kind, Nanos, Observation, Version};
use reprise_stats::balanced_order;

use crate::acknowledgement::{calls_for_trials, try_acknowledging};
use crate::connector::Connector;
use crate::discover::may_be_of_a_node;
use crate::failed::FailedConnection;
use crate::failures_in_a_row::{FailuresInARow, Next};
use crate::hello_retry::{FEWEST, MOST, RetryComparison, most_retried};
use crate::interrupt::Interrupt;
use crate::measurement::Measurement;
use crate::observer::Observer;
use crate::options::Options;
use crate::plan::{Plan, VersionPlan};
use crate::saved::Unused;
use crate::series::SeriesRun;
use crate::survey;

/// Measures `target`. Fails never outright: what ended it stands beside what was measured until then.
pub fn measure(target: &Target, options: &Options, observer: &dyn Observer, interrupt: &Interrupt) -> Measurement {
    let mut run = MeasurementRun::begin(target, options, interrupt);
    while run.step(observer) {}
    run.finish()
}

/// A measurement while it is made, one counted connection a step.
pub(crate) struct MeasurementRun {
    measurement: Measurement,
    /// `None` where the target could not be reached, or nothing can be offered to it.
    schedule: Option<Schedule>,
}

impl MeasurementRun {
    /// Finds out what the target offers.
    pub(crate) fn begin(target: &Target, options: &Options, interrupt: &Interrupt) -> Self {
        let mut measurement = Measurement { unused: Unused::nothing_yet(target, options), ..Measurement::default() };
        let schedule = Schedule::begin(&mut measurement, target, options, interrupt);
        Self { schedule: schedule.map_err(|failed| measurement.end(failed)).ok(), measurement }
    }

    /// Makes the next counted connection; whether there may be another.
    pub(crate) fn step(&mut self, observer: &dyn Observer) -> bool {
        let Some(schedule) = self.schedule.as_mut().filter(|_| self.measurement.ended_by.is_none()) else { return false };
        match schedule.step(&mut self.measurement, observer) {
            Ok(goes_on) => goes_on,
            Err(failed) => {
                self.measurement.end(failed);
                false
            }
        }
    }

    /// How many connections were made, and how many there will be.
    pub(crate) fn progress(&self) -> (u64, u64) {
        self.schedule.as_ref().map_or((0, 0), |schedule| (schedule.done, schedule.planned))
    }

    /// How many versions and kinds are measured.
    pub(crate) fn series_count(&self) -> usize {
        self.schedule.as_ref().map_or(0, |schedule| schedule.series.len())
    }

    /// What it came to.
    pub(crate) fn finish(self) -> Measurement {
        let Self { mut measurement, schedule } = self;
        if let Some(mut schedule) = schedule {
            if measurement.ended_by.is_none() {
                schedule.try_acknowledging(&mut measurement);
            }
            schedule.finish(&mut measurement);
        }
        measurement
    }
}

/// So often a Finished is held back, and for how long: longer than an answer takes, and no longer than somebody would wait.
const HOLDS: usize = 2;
const HELD: Duration = Duration::from_millis(250);
const HELD_AT_MOST: Duration = Duration::from_secs(2);

/// The counted connections of all series in a random order in which each precedes each equally often, so that what drifts, and
/// what a connection leaves behind, falls on all alike.
struct Schedule {
    connector: Connector,
    series: Vec<SeriesRun>,
    /// How many of them are the measurement's. Where connections were retried, two stand behind them: such ones, and the same without a
    /// retry.
    counted: usize,
    /// The places of the series whose connections are still to be made.
    order: VecDeque<usize>,
    planned: u64,
    done: u64,
    completed: u64,
    /// Whether the first connection offers a session that another process left behind.
    begins_with_loaded: bool,
    failures_in_a_row: FailuresInARow,
    /// As [`Options::count`] and [`Options::seed`] have them.
    count: u32,
    seed: u64,
    /// As [`Options::spacing`] has it, and when the next counted connection may begin.
    spacing: Duration,
    next_at: Nanos,
    /// The loaded sessions that no series can offer.
    unused: Vec<Session>,
    /// Those of which no connection completed, though the server chose the version.
    failing: Vec<VersionPlan>,
}

impl Schedule {
    fn begin(
        measurement: &mut Measurement,
        target: &Target,
        options: &Options,
        interrupt: &Interrupt,
    ) -> Result<Self, FailedConnection> {
        let mut connector = Connector::new(target, options, interrupt)?;
        let plan = Plan::new(target, options)?;
        measurement.without_suite.clone_from(&plan.without_suite);
        let series = plan_series(measurement, &mut connector, plan, options);
        // Known now: of several addresses, the first that answered.
        measurement.address = connector.target_address();
        measurement.dead_addresses = connector.take_dead_addresses();
        let (series, unused, failing) = series?;
        let loaded = series.iter().rposition(|series| series.begins_with_loaded);
        let order = balanced_order(series.len(), options.count as usize, loaded.unwrap_or_default(), options.seed);
        Ok(Self {
            connector,
            counted: series.len(),
            series,
            count: options.count,
            seed: options.seed,
            planned: order.len() as u64,
            order: order.into(),
            done: 0,
            completed: 0,
            begins_with_loaded: loaded.is_some(),
            failures_in_a_row: FailuresInARow::default(),
            spacing: options.spacing,
            next_at: Nanos(0),
            unused,
            failing,
        })
    }

    /// What the next one offers is there before this one begins: a priming connection never directly precedes the sample that it
    /// serves. The very first may have something loaded to offer; and what goes on failing is not asked for more.
    fn step(&mut self, measurement: &mut Measurement, observer: &dyn Observer) -> Result<bool, FailedConnection> {
        if self.connector.is_interrupted() {
            return Err(FailedConnection::interrupted());
        }
        let Some(place) = self.order.pop_front() else { return self.after_counted(measurement) };
        let is_first_to_prime = self.done == u64::from(self.begins_with_loaded);
        let offers_loaded = self.begins_with_loaded && self.done == 0;
        if is_first_to_prime {
            self.prime(measurement, place, 1)?;
        }
        if let Some(&next) = self.order.front().filter(|_| !offers_loaded && self.failures_in_a_row.may_be_chance()) {
            self.prime(measurement, next, 1 + usize::from(next == place))?;
        }
        self.connector.wait_until(self.next_at);
        self.next_at = self.connector.now() + self.spacing.into();
        let Some(made) = self.connect(measurement, place) else { return Ok(false) };
        match made {
            Ok(observation) => {
                self.failures_in_a_row.end();
                self.completed += 1;
                observer.completed(self.completed);
                if offers_loaded {
                    measurement.first = Some(observation);
                }
            }
            Err(failed) => self.go_on_after(measurement, failed)?,
        }
        self.done += 1;
        observer.proceeded(self.done, self.planned);
        Ok(true)
    }

    /// Once all is counted: what is made beside it, once; whether there is more to make.
    fn after_counted(&mut self, measurement: &mut Measurement) -> Result<bool, FailedConnection> {
        if self.series.len() > self.counted {
            return Ok(false);
        }
        self.hold_finished(measurement)?;
        self.compare_retries(measurement)
    }

    /// Where early data is accepted, finds out whether its answer waits for the client's Finished: then it saves no round trip. No such
    /// connection is counted.
    fn hold_finished(&mut self, measurement: &mut Measurement) -> Result<bool, FailedConnection> {
        let waited = |series: &SeriesRun| series.longest_early_wait();
        let Some((place, wait)) = self.series.iter().enumerate().find_map(|it| Some((it.0, waited(it.1)?))) else {
            return Ok(false);
        };
        let time = HELD.max(2 * Duration::from(wait));
        for _ in 0..if time <= HELD_AT_MOST { HOLDS } else { 0 } {
            self.prime(measurement, place, 1)?;
            let Some(series) = self.series.get_mut(place) else { break };
            let Some(record) = series.hold_finished(&mut self.connector, time) else { break };
            measurement.count(&record.observation);
            measurement.others.push(record.observation);
            if record.observation.outcome == Err(FaultName::Interrupted) {
                return Err(FailedConnection::interrupted());
            }
        }
        Ok(false)
    }

    /// Once all is counted, and connections were retried: makes such ones again, and as many that share the wanted group at once.
    fn compare_retries(&mut self, measurement: &mut Measurement) -> Result<bool, FailedConnection> {
        let all = self.series.iter().map(|run| &run.series);
        let Some((asked, group)) = most_retried(all).filter(|_| self.count >= FEWEST) else {
            return Ok(false);
        };
        let Some(retried) = self.series.iter().find(|run| run.series.asked == asked) else { return Ok(false) };
        let both = [retried.without_sessions(), retried.without_sessions().sharing(group)];
        self.series.extend(both);
        let order = balanced_order(2, self.count.min(MOST) as usize, 0, self.seed);
        self.planned += order.len() as u64;
        self.order = order.into_iter().map(|place| self.counted + place).collect();
        self.prime(measurement, self.counted, 1)?;
        Ok(true)
    }

    /// The next connection of the series at this place; nothing where there is none.
    fn connect(&mut self, measurement: &mut Measurement, place: usize) -> Option<Result<Observation, FailedConnection>> {
        let series = self.series.get_mut(place)?;
        let made = series.connect(&mut self.connector);
        match &made {
            Ok(observation) => measurement.count(observation),
            Err(failed) => failed.observation.iter().for_each(|observation| measurement.count(observation)),
        }
        if series.has_shown_enough() {
            self.order.retain(|other| *other != place);
        }
        Some(made)
    }

    /// Has a series prime itself. If that fails, its next sample shows whether the target has died.
    fn prime(&mut self, measurement: &mut Measurement, place: usize, servings: usize) -> Result<(), FailedConnection> {
        let Some(series) = self.series.get_mut(place) else { return Ok(()) };
        let mut made = Vec::new();
        let primed = series.prime(&mut self.connector, servings, &mut made);
        made.iter().for_each(|observation| measurement.count(observation));
        measurement.others.extend(made);
        match primed {
            Err(failed) if failed.is_interruption() => return Err(failed),
            Err(failed) => measurement.note(&failed),
            Ok(()) => {}
        }
        Ok(())
    }

    /// One failure does not end a measurement; too many in a row do.
    fn go_on_after(&mut self, measurement: &mut Measurement, failed: FailedConnection) -> Result<(), FailedConnection> {
        if failed.is_interruption() {
            return Err(failed);
        }
        measurement.note(&failed);
        // It may be the offer that fails: those that offer nothing, priming ones among them, show whether the target is there.
        if failed.observation.as_ref().is_some_and(|seen| seen.is_failed_offer()) {
            return Ok(());
        }
        match self.failures_in_a_row.add(self.connector.now()) {
            Next::GoOn => {}
            Next::WaitUntil(time) => self.connector.wait_until(time),
            Next::GiveUp => return Err(failed),
        }
        Ok(())
    }

    /// Under each version whose answers take as long as one that waits for an acknowledgement.
    fn try_acknowledging(&mut self, measurement: &mut Measurement) {
        for version in [Version::Tls12, Version::Tls13] {
            let slow = self.series.iter().find(|run| run.series.asked.tls == version && calls_for_trials(&run.series));
            let Some(config) = slow.map(|run| run.config.clone()) else { continue };
            let trials = try_acknowledging(&mut self.connector, &config, version, self.spacing);
            trials.iter().for_each(|trial| measurement.count(&trial.observation));
            measurement.trials.extend(trials);
        }
    }

    fn finish(mut self, measurement: &mut Measurement) {
        if measurement.ended_by.is_none() && !self.connector.is_interrupted() {
            self.failing.iter().for_each(|plan| measurement.ask_again(&mut self.connector, plan));
        }
        measurement.unused.at = self.connector.now();
        measurement.unused.sessions = self.unused;
        let mut counted = self.series;
        let mut retries = counted.split_off(self.counted.min(counted.len())).into_iter().map(|run| run.series.observations);
        measurement.retries = retries.next().zip(retries.next()).map(|(plain, at_once)| RetryComparison { plain, at_once });
        let completed = counted.iter().flat_map(|run| &run.series.observations).filter(|seen| seen.facts().is_some());
        let last_completed = completed.map(|seen| seen.index).max().unwrap_or_default();
        let unmeasured = counted.iter().find(|series| series.is_unmeasured(last_completed));
        let last = unmeasured.and_then(|series| series.series.observations.last()?.outcome.err());
        for series in counted {
            let (series, unused) = series.into_parts();
            measurement.series.push(series);
            measurement.unused.sessions.extend(unused);
        }
        if measurement.ended_by.is_some() {
            measurement.is_cut_short = true;
        } else if let Some(failed) = measurement.failures.iter().rfind(|failed| Some(failed.fault.name) == last) {
            // The target did not live to fail five times in a row.
            measurement.ended_by = Some(failed.clone());
        }
    }
}

type PlannedSeries = (Vec<SeriesRun>, Vec<Session>, Vec<VersionPlan>);

/// Discovery, and the series that follow from it; beside them, the loaded sessions that none of them can offer, and the
/// versions that fail.
fn plan_series(
    measurement: &mut Measurement,
    connector: &mut Connector,
    mut plan: Plan,
    options: &Options,
) -> Result<PlannedSeries, FailedConnection> {
    let mut failing = Vec::new();
    let mut kinds = options.kinds.as_slice();
    if !options.measures_psk_alone() {
        let spoken = measurement.discover(connector, &mut plan.versions);
        let is_of_the_target = |(_, failed): &(_, FailedConnection)| !failed.is_of_the_version();
        let has_psk = options.psk.is_some();
        let are_all_refused = measurement.unmeasured.iter().all(|(_, failed)| failed.fault.name.is_refusal());
        if spoken.is_empty() && has_psk && kinds.is_empty() && are_all_refused {
            kinds = &[Kind::Psk];
            plan.versions.retain(|plan| plan.version == Version::Tls13);
        } else if spoken.is_empty() || !options.versions.is_empty() && measurement.unmeasured.iter().any(is_of_the_target) {
            let refused = std::mem::take(&mut measurement.unmeasured);
            if let Some(failed) = survey::recognise(connector, &plan, refused, |observation| measurement.count(observation))
            {
                return Err(FailedConnection { is_full_beside_psk: has_psk, ..failed });
            }
        } else {
            let unmeasured = &measurement.unmeasured;
            let is_failing = |plan: &mut VersionPlan| {
                unmeasured.iter().any(|(version, failed)| *version == plan.version && may_be_of_a_node(failed))
            };
            failing = plan.versions.extract_if(.., is_failing).collect();
            plan.versions.retain(|plan| spoken.contains(&plan.version));
        }
    }
    let (series, unused) = SeriesRun::of(plan.versions, kinds, options.psk.as_ref(), connector);
    Ok((series, unused, failing))
}
