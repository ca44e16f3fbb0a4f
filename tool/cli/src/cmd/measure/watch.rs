//! `--every 60s`: the same measurement again and again, until Ctrl-C or for `--repeats` rounds.
//!
//! Of a round that is over, only what the metrics count is kept: a watch that runs for years needs no more memory than at first.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::bail;
use reprise_model::Failure;
use reprise_probe::Interrupt;
use reprise_report::openmetrics::WatchMetrics;
use reprise_report::{json, line};

use super::flags::{MeasureArgs, WatchArgs};
use super::gate::{Complaints, Gate};
use super::journal::Journal;
use super::measured::Measured;
use super::metrics::MetricsServer;
use super::subject::Subject;
use super::was_interrupted;
use crate::ending::Ending;
use crate::notice::notice;
use crate::outputs::{print, width};
use crate::values::Like;

/// How often an interruption is looked for while nothing is measured.
const GLANCE: Duration = Duration::from_millis(50);

/// A watch whose outputs are open.
pub(super) struct Watch {
    every: Duration,
    repeats: Option<u64>,
    journal: Option<Journal>,
    server: Option<MetricsServer>,
}

impl Watch {
    /// Opens what the flags name; `None` where nothing is repeated.
    pub(super) fn open(arguments: &MeasureArgs) -> anyhow::Result<Option<Self>> {
        let WatchArgs { every, repeats, metrics } = &arguments.watch;
        let Some(every) = *every else { return Ok(None) };
        if matches!(arguments.probe.connection.like, Some(Like::All)) {
            bail!("--every watches one client: name it with --like CLIENT");
        }
        let journal = arguments.output.file(&json::FORMAT).map(Journal::open).transpose()?;
        let server = metrics.as_deref().map(MetricsServer::start).transpose()?;
        if let Some(server) = &server {
            notice(format_args!("metrics at http://{}/metrics", server.address()));
        }
        Ok(Some(Self { every, repeats: *repeats, journal, server }))
    }

    pub(super) fn run(mut self, subject: &Subject, gate: &Gate, interrupt: &Interrupt) -> anyhow::Result<Ending> {
        let mut history = History::new();
        self.publish(&history.metrics);
        let begun = Instant::now();
        let mut round = 0;
        loop {
            let (mut measured, failure, _) = subject.measure(interrupt)?;
            gate.compare(&mut measured);
            let complaints = gate.judge(&mut measured);
            let ended_by_hand = was_interrupted(failure.as_ref());
            if !(ended_by_hand && is_empty(&measured)) {
                self.tell(&measured)?;
            }
            if ended_by_hand {
                return Ok(Ending::Interrupted);
            }
            history.add(&measured, failure, complaints);
            self.publish(&history.metrics);
            round += 1;
            if self.repeats.is_some_and(|repeats| round >= repeats) {
                return Ok(history.ending());
            }
            if pause_until(next_due(begun, self.every), interrupt) {
                return Ok(Ending::Interrupted);
            }
        }
    }

    /// Writes what was measured: the document to its file, and one line for people.
    fn tell(&mut self, measured: &Measured) -> anyhow::Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.append(measured)?;
        }
        if !self.journal.as_ref().is_some_and(Journal::is_standard) {
            print(format!("{}\n", line::round(measured.results(), width())).as_bytes())?;
        }
        Ok(())
    }

    fn publish(&self, metrics: &WatchMetrics) {
        if let Some(server) = &self.server {
            server.publish(metrics.to_text());
        }
    }
}

/// What is kept of the rounds.
struct History {
    metrics: WatchMetrics,
    rounds: u64,
    bad: u64,
    down: u64,
    last_failure: Option<Failure>,
}

impl History {
    fn new() -> Self {
        Self { metrics: WatchMetrics::new(env!("CARGO_PKG_VERSION")), rounds: 0, bad: 0, down: 0, last_failure: None }
    }

    fn add(&mut self, measured: &Measured, failure: Option<Failure>, complaints: Complaints) {
        self.rounds += 1;
        self.metrics.observe(measured.results(), seconds_since_1970());
        if failure.is_none() {
            complaints.conditions.iter().for_each(|condition| self.metrics.observe_condition(condition));
        }
        match failure {
            Some(failure) => {
                complaints.met.iter().for_each(notice);
                self.bad += u64::from(!complaints.met.is_empty());
                self.down += 1;
                self.last_failure = Some(failure);
            }
            None => {
                if let Some(why) = complaints.in_words() {
                    notice(&why);
                    self.bad += 1;
                }
            }
        }
    }

    /// A bad answer in one round is one of the watch; a target that was sometimes down is what a watch is for.
    fn ending(self) -> Ending {
        match self.last_failure {
            Some(failure) if self.down == self.rounds => Ending::Failed(failure),
            _ if self.bad > 0 => Ending::BadAnswer(format!("{} of {} rounds failed the check", self.bad, self.rounds)),
            _ => Ending::Done,
        }
    }
}

/// Rounds begin at whole periods from the first: one that takes longer leaves out those that it covers.
fn next_due(begun: Instant, every: Duration) -> Instant {
    let elapsed = begun.elapsed();
    let past = elapsed.as_nanos() / every.as_nanos().max(1);
    let until = u64::try_from((past + 1) * every.as_nanos() - elapsed.as_nanos()).unwrap_or(u64::MAX);
    Instant::now() + Duration::from_nanos(until)
}

/// Whether Ctrl-C ended the pause.
fn pause_until(due: Instant, interrupt: &Interrupt) -> bool {
    while !interrupt.is_raised() {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(left.min(GLANCE));
    }
    true
}

fn is_empty(measured: &Measured) -> bool {
    measured.results().iter().all(|result| result.runs.is_empty())
}

fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_takes_longer_leaves_out_what_it_covers() {
        let every = Duration::from_secs(60);
        let begun = Instant::now().checked_sub(Duration::from_secs(130)).unwrap();
        let left = next_due(begun, every).saturating_duration_since(Instant::now());
        assert!(left <= Duration::from_secs(50), "the third round is due 180 s after the first: {left:?}");
    }

    #[test]
    fn an_interruption_ends_a_pause() {
        let interrupt = Interrupt::default();
        assert!(!pause_until(Instant::now(), &interrupt));
        interrupt.raise();
        assert!(pause_until(Instant::now() + Duration::from_secs(3600), &interrupt));
    }
}
