//! Processor time of the server in each stage.

use std::time::Duration;

use reprise_model::Nanos;

use super::cpu::ServerCpu;
use crate::options::LoadOptions;

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
