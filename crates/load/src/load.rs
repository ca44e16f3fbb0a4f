//! Makes a load: threads begin together, and what they have seen comes together.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use reprise_trace::{Kind, Nanos};

use crate::cpu::{Cpu, ServerCpu, Share, own_cpu, thread_waited};
use crate::options::Options;
use crate::tally::{KindTally, Tally, histogram};
use crate::worker::{Shared, Worker};

/// What a load came to.
pub struct Outcome {
    pub(crate) tally: Tally,
    /// From the end of the warm-up to the end of the last thread.
    pub(crate) elapsed: Duration,
    pub(crate) client_cpu: Cpu,
    /// How the busiest thread spent its time.
    pub(crate) busiest_thread: Share,
    pub(crate) server_cpu: Option<ServerCpu>,
    /// Connections that failed at the end, one after the other, on the thread that had the fewest of them.
    pub(crate) failed_at_end: u64,
}

/// So many failures at the end of each thread, with nothing completed after them, say that the target is gone.
const GONE: u64 = 3;

impl Outcome {
    /// Connections of this kind that completed.
    pub fn completed(&self, kind: Kind) -> u64 {
        self.tally.of(kind).map_or(0, |tally| tally.completed)
    }

    /// Whether the target had gone when the load ended: every thread's last connections failed, and not for reasons of
    /// this machine.
    pub fn target_is_gone(&self) -> bool {
        self.failed_at_end >= GONE
    }

    /// Connections that failed, by name.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.tally.faults.by_name()
    }

    /// A quantile of the latency from the intended start, over all kinds, in nanoseconds; 0 where none is known.
    pub fn latency_from_intended(&self, quantile: f64) -> u64 {
        let Some(mut all) = histogram() else { return 0 };
        for kind in Kind::ALL {
            if let Some(histograms) = self.tally.of(kind).and_then(KindTally::histograms) {
                // Both have the same bounds.
                let _ = all.add(&histograms.from_intended);
            }
        }
        all.value_at_quantile(quantile)
    }
}

/// Is told how a load proceeds, about ten times a second.
pub trait Observer {
    /// Connections that have completed and failed so far, after this time.
    fn proceeded(&self, elapsed: Nanos, completed: u64, failed: u64);
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn proceeded(&self, _elapsed: Nanos, _completed: u64, _failed: u64) {}
}

/// How often an observer is told.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Makes the load. It ends early once `stop` says so; what was seen until then is kept.
///
/// # Errors
/// If the threads or what they wait with cannot be made: then nothing was sent.
pub fn run(options: &Options, stop: &(dyn Fn() -> bool + Sync), observer: &dyn Observer) -> io::Result<Outcome> {
    let shared = Shared::new(stop);
    let epoch = Instant::now();
    let workers = (0..options.threads.max(1))
        .map(|index| Worker::new(options, &shared, index, epoch))
        .collect::<io::Result<Vec<_>>>()?;
    let server_before = options.server_pid.map(ServerCpu::of_tree);
    let client_before = own_cpu();
    let mut tally = Tally::new();
    let mut busiest_thread = Share::default();
    let mut failed_at_end = None;
    let mut failed = None;
    thread::scope(|scope| {
        let running: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(index, worker)| {
                scope.spawn(move || {
                    pin(options, index);
                    let begun = Instant::now();
                    let (cpu, waited) = (crate::cpu::thread_cpu(), thread_waited());
                    let tally = worker.run();
                    let ran = crate::cpu::thread_cpu().since(cpu).total();
                    (tally, Share::new(ran, thread_waited().saturating_sub(waited), begun.elapsed()))
                })
            })
            .collect();
        while !running.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(TOLD_EVERY);
            let (completed, failed) = (shared.completed.load(Ordering::Relaxed), shared.failed.load(Ordering::Relaxed));
            observer.proceeded(Nanos::from(epoch.elapsed()), completed, failed);
        }
        for thread in running {
            match thread.join() {
                Ok((Ok(seen), share)) => {
                    tally.merge(&seen);
                    if share.ran > busiest_thread.ran {
                        busiest_thread = share;
                    }
                    if seen.begun > 0 {
                        failed_at_end =
                            Some(failed_at_end.map_or(seen.failed_since, |least: u64| least.min(seen.failed_since)));
                    }
                }
                Ok((Err(error), _)) => failed = Some(error),
                Err(_) => failed = Some(io::Error::other("a thread of the load ended unexpectedly")),
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(Outcome {
        tally,
        elapsed: epoch.elapsed().saturating_sub(options.warmup),
        client_cpu: own_cpu().since(client_before),
        busiest_thread,
        failed_at_end: failed_at_end.unwrap_or_default(),
        server_cpu: options.server_pid.zip(server_before).map(|(pid, before)| ServerCpu::of_tree(pid).since(&before)),
    })
}

/// Where the system refuses, a thread runs where it likes.
fn pin(options: &Options, index: usize) {
    let processors = &options.processors;
    let Some(processor) = processors.get(index % processors.len().max(1)) else { return };
    let mut set = CpuSet::new();
    if set.set(*processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}
