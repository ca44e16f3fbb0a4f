//! What came of the connections that were due in each stage.

use reprise_model::{Kind, Nanos};
use reprise_stats::histogram::{Histogram, histogram};

use crate::arrivals::Open;
use crate::options::LoadOptions;

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
pub(crate) struct StageSummary {
    /// As in [`Kind::ALL`].
    pub(crate) completed: [u64; Kind::ALL.len()],
    pub(crate) failed: u64,
    pub(crate) not_started: u64,
    /// From the intended start; made when the first completes.
    pub(crate) latencies: Option<Box<Histogram<u64>>>,
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

    /// In the order of the stages.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &StageSummary> {
        self.stages.iter().map(|(_, stage)| stage)
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
