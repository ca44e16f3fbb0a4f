//! Stages: times of one rate each, and what came of the connections that were due in each.

use std::time::Duration;

use reprise_model::document::LoadStage;
use reprise_model::{Kind, Nanos};
use reprise_stats::histogram::{Histogram, histogram, spread};

use crate::arrivals::Open;
use crate::document::{latency, nanos};
use crate::load::LoadOutcome;
use crate::options::LoadOptions;
use crate::resources::cpu::ServerCpu;

/// A time in which an open loop has one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long it lasts.
    pub duration: Duration,
    /// Connections each second.
    pub rate: f64,
}

/// What one thread has seen of each stage.
#[derive(Default)]
pub(crate) struct StageSummaries {
    /// The end of the warm-up.
    from: Nanos,
    /// When each ends, and what came of it.
    stages: Vec<(Nanos, StageSummary)>,
}

/// What came of the connections that were due in one stage, whenever they ended.
#[derive(Clone, Default)]
struct StageSummary {
    completed: [u64; Kind::ALL.len()],
    failed: u64,
    not_started: u64,
    /// From the intended start; made when the first completes.
    latencies: Option<Box<Histogram<u64>>>,
}

impl StageSummaries {
    pub(crate) fn of(options: &LoadOptions) -> Self {
        let stages = options.stage_ends().map(|end| (Nanos::from(end), StageSummary::default()));
        Self { from: Nanos::from(options.warmup), stages: stages.collect() }
    }

    /// A connection that was due then has completed now.
    pub(crate) fn complete(&mut self, kind: Kind, intended: Nanos, now: Nanos) {
        if let Some(stage) = self.at(intended) {
            stage.complete(kind, now.since(intended));
        }
    }

    /// A connection that was due then has failed.
    pub(crate) fn fail(&mut self, intended: Nanos) {
        if let Some(stage) = self.at(intended) {
            stage.failed += 1;
        }
    }

    /// Counts in each stage what was due before `end` and never began, and says how many those are.
    pub(crate) fn pass_over(&mut self, open: &mut Open, end: Nanos) -> u64 {
        let pass_over = |(until, stage): &mut (Nanos, StageSummary)| {
            stage.not_started = open.pass_over(end.min(*until));
            stage.not_started
        };
        self.stages.iter_mut().map(pass_over).sum()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.stages.is_empty() {
            self.stages.clone_from(&other.stages);
        } else {
            self.stages.iter_mut().zip(&other.stages).for_each(|((_, ours), (_, theirs))| ours.merge(theirs));
        }
    }

    /// `None` in the warm-up.
    fn at(&mut self, intended: Nanos) -> Option<&mut StageSummary> {
        let place = self.stages.partition_point(|(end, _)| *end <= intended);
        let stage = self.stages.get_mut(place).filter(|_| intended >= self.from);
        stage.map(|(_, stage)| stage)
    }
}

impl StageSummary {
    fn complete(&mut self, kind: Kind, from_intended: Nanos) {
        if let Some(count) = self.completed.get_mut(kind as usize) {
            *count += 1;
        }
        self.latencies = self.latencies.take().or_else(|| histogram().map(Box::new));
        if let Some(latencies) = &mut self.latencies {
            latencies.saturating_record(from_intended.0);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.completed.iter_mut().zip(&other.completed).for_each(|(to, from)| *to += from);
        self.failed += other.failed;
        self.not_started += other.not_started;
        match (&mut self.latencies, &other.latencies) {
            // Both have the same bounds, so that nothing is lost.
            (Some(ours), Some(theirs)) => drop(ours.add(&**theirs)),
            (None, Some(theirs)) => self.latencies = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

impl LoadOptions {
    /// When each stage ends, from the beginning.
    pub(crate) fn stage_ends(&self) -> impl Iterator<Item = Duration> + '_ {
        self.stages.iter().scan(self.warmup, |until, stage| {
            *until = until.saturating_add(stage.duration);
            Some(*until)
        })
    }
}

/// What the server had used when the first stage began and when each ended.
pub(crate) struct StageCpu {
    server: Option<u32>,
    at: Vec<Duration>,
    readings: Vec<ServerCpu>,
}

impl StageCpu {
    pub(crate) fn new(options: &LoadOptions) -> Self {
        let first = (!options.stages.is_empty()).then_some(options.warmup);
        Self {
            server: options.server_pid,
            at: first.into_iter().chain(options.stage_ends()).collect(),
            readings: Vec::new(),
        }
    }

    /// When the next reading is to be made.
    pub(crate) fn next(&self) -> Duration {
        self.at.get(self.readings.len()).copied().filter(|_| self.server.is_some()).unwrap_or(Duration::MAX)
    }

    /// Reads, once its time has come.
    pub(crate) fn read(&mut self, elapsed: Duration) {
        while elapsed >= self.next() {
            self.readings.extend(self.server.map(ServerCpu::of_tree));
        }
    }

    /// What was used in each stage that has begun, the one that was cut short included.
    pub(crate) fn finish(mut self) -> Vec<Nanos> {
        if self.next() < Duration::MAX {
            self.readings.extend(self.server.map(ServerCpu::of_tree));
        }
        let used = |pair: &[ServerCpu]| match pair {
            [before, after] if !after.is_empty() => Some(Nanos::from(after.since(before).total())),
            _ => None,
        };
        self.readings.windows(2).map_while(used).collect()
    }
}

impl LoadOutcome {
    /// What came of each stage; one that had not begun when the load was cut short has no seconds.
    pub(crate) fn stages(&self, options: &LoadOptions) -> Vec<LoadStage> {
        let unseen = StageSummary::default();
        let mut from = Duration::ZERO;
        let stage = |(place, stage): (usize, &Stage)| {
            let seen = self.summary.stages.stages.get(place).map_or(&unseen, |(_, seen)| seen);
            let counts = Kind::ALL.into_iter().zip(seen.completed);
            let completed = counts.clone().filter(|(_, count)| *count > 0).collect();
            let seconds = self.elapsed.saturating_sub(from).min(stage.duration).as_secs_f64();
            from = from.saturating_add(stage.duration);
            let mut stage = LoadStage {
                rate: stage.rate,
                duration_ns: nanos(stage.duration),
                seconds,
                offered: counts.map(|(_, count)| count).sum::<u64>() + seen.failed + seen.not_started,
                completed,
                failed: seen.failed,
                not_started: seen.not_started,
                resumed: None,
                latency_from_intended_ns: seen.latencies.as_deref().map(|it| latency(spread(it))),
                server_cpu_ns: self.stage_cpu.get(place).map(|used| used.0),
            };
            stage.resumed = stage.resumed_share();
            stage
        };
        options.stages.iter().enumerate().map(stage).collect()
    }
}
