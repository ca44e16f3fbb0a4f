//! Makes a load: threads begin together, and what they have seen comes together.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use reprise_model::{FaultName, Kind, Nanos, ProcessorShare};
use reprise_stats::histogram::histogram;

use crate::latencies::LatencyCounts;
use crate::options::{Arrival, LoadEnd, LoadOptions};
use crate::resources::{Account, StageCpu, Used};
use crate::summary::{KindSummary, Summary};
use crate::worker::{GRACE, RunState, Worker};

/// What a load came to.
pub struct LoadOutcome {
    pub(crate) summary: Summary,
    /// When its threads began, by the clock of the wall.
    pub(crate) began: SystemTime,
    /// From the end of the warm-up to the end of the last thread.
    pub(crate) elapsed: Duration,
    /// How the busiest thread spent its time until the last connections were begun.
    pub(crate) busiest_thread: ProcessorShare,
    pub(crate) used: Used,
    /// The same until the last connections were begun: how busy somebody was does not show while the last ones end.
    pub(crate) used_until_drain: Used,
    /// What the server used in each stage.
    pub(crate) stage_cpu: Vec<Nanos>,
    /// Whether the last connections failed, and those that were tried then did as well.
    pub(crate) target_is_gone: bool,
}

/// So many connections are tried at once when the last ones failed.
const LAST_TRIES: usize = 3;

/// How long each of them may take.
const LAST_TRY_TIMEOUT: Duration = Duration::from_secs(3);

impl LoadOutcome {
    /// Connections of this kind that began and completed within the time that counts.
    pub fn completed(&self, kind: Kind) -> u64 {
        self.summary.of(kind).map_or(0, |summary| summary.completed)
    }

    /// Connections that began within that time and completed after it.
    pub fn late(&self) -> u64 {
        self.summary.late
    }

    /// In an open loop, connections that were due within that time and never began, because every place was taken.
    pub fn not_started(&self) -> u64 {
        self.summary.not_started
    }

    /// Of the full handshakes, those that were made because there was no session to offer yet.
    pub fn primed(&self) -> u64 {
        self.summary.primed
    }

    /// Sessions that were offered and not accepted.
    pub fn refused(&self) -> u64 {
        self.summary.refused
    }

    /// Whether the target had gone when the load ended: every thread's last connection failed, not for reasons of this
    /// machine, and so did all that were tried afterwards, which are counted nowhere.
    pub fn target_is_gone(&self) -> bool {
        self.target_is_gone
    }

    /// Connections that failed, by name.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.summary.faults.by_name()
    }

    /// The fault of most connections that failed, those of the warm-up included, and how many those were.
    pub fn most_frequent_fault(&self) -> Option<(FaultName, u64)> {
        let mut faults = self.summary.faults.clone();
        faults.merge(&self.summary.warmup_faults);
        faults.most_frequent()
    }

    /// How many processors the server could use at once, where its process was named.
    pub(crate) fn server_processors(&self) -> Option<f64> {
        let limit = self.used.server_restraint.limit.as_ref().map_or(f64::INFINITY, |limit| limit.processors);
        self.used.server.as_ref().map(|server| (server.usable_processors() as f64).min(limit))
    }

    /// A quantile of the latency from the intended start, over all kinds, in nanoseconds; 0 where none is known.
    pub fn latency_from_intended(&self, quantile: f64) -> u64 {
        let Some(mut all) = histogram() else { return 0 };
        for kind in Kind::ALL {
            if let Some(histograms) = self.summary.of(kind).and_then(KindSummary::histograms) {
                // Both have the same bounds.
                let _ = all.add(&histograms.from_intended);
            }
        }
        all.value_at_quantile(quantile)
    }
}

/// Is told how a load proceeds, about ten times a second.
pub trait LoadObserver {
    /// Connections that have completed and failed so far, after this time.
    fn proceeded(&self, elapsed: Nanos, completed: u64, failed: u64);

    /// Is told before each [`LoadObserver::proceeded`]: how many connections have taken how long so far.
    fn latencies(&self, _so_far: &LatencyCounts) {}

    /// A search begins to try this rate, in connections a second.
    fn tries(&self, _rate: f64) {}

    /// A sweep begins the load of which this share of connections, in per cent, offers a session.
    fn offers(&self, _share: u32) {}
}

/// Watches nothing.
pub struct NoLoadObserver;

impl LoadObserver for NoLoadObserver {
    fn proceeded(&self, _elapsed: Nanos, _completed: u64, _failed: u64) {}
}

/// How often an observer is told.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Makes the load. It ends early once `stop` says so; what was seen until then is kept.
///
/// # Errors
/// If the threads or what they wait with cannot be made, or not where they are to run: then nothing was sent.
pub fn run(options: &LoadOptions, stop: &(dyn Fn() -> bool + Sync), observer: &dyn LoadObserver) -> io::Result<LoadOutcome> {
    let state = RunState::new(stop);
    check_processors(options)?;
    let threads = 0..options.threads.max(1);
    let workers = threads.map(|index| Worker::new(options, &state, index)).collect::<io::Result<Vec<_>>>()?;
    let account = Account::open(options.server_pid);
    let (epoch, began) = (Instant::now(), SystemTime::now());
    let mut until_drain = None;
    let mut stage_cpu = StageCpu::new(options);
    let mut summary = Summary::new();
    let mut busiest_thread = ProcessorShare::default();
    let mut all_failed_last = true;
    let mut failed = None;
    let mut ended = Duration::ZERO;
    thread::scope(|scope| {
        let running: Vec<_> = workers
            .into_iter()
            .enumerate()
            .map(|(index, worker)| {
                let state = &state;
                scope.spawn(move || {
                    pin(options, index);
                    let summary = worker.run(epoch);
                    let ended = epoch.elapsed();
                    state.watching.unpark();
                    (summary, ended)
                })
            })
            .collect();
        while !running.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(TOLD_EVERY.min(stage_cpu.next().saturating_sub(epoch.elapsed())));
            stage_cpu.read(epoch.elapsed());
            state.give_up_where_nobody_serves(epoch.elapsed());
            if until_drain.is_none() && state.draining.load(Ordering::Relaxed) == running.len() {
                until_drain = Some(account.used(epoch.elapsed()));
            }
            let (completed, failed) = (state.completed.load(Ordering::Relaxed), state.failed.load(Ordering::Relaxed));
            observer.latencies(&state.latencies.counts());
            observer.proceeded(Nanos::from(epoch.elapsed()), completed, failed);
        }
        for thread in running {
            match thread.join() {
                Ok((Ok(seen), at)) => {
                    ended = ended.max(at);
                    summary.merge(&seen);
                    if seen.busy.ran > busiest_thread.ran {
                        busiest_thread = seen.busy;
                    }
                    all_failed_last &= seen.begun == 0 || seen.failed_since > 0;
                }
                Ok((Err(error), _)) => failed = Some(error),
                Err(_) => failed = Some(io::Error::other("a thread of the load ended unexpectedly")),
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let used = account.used(ended);
    let stage_cpu = stage_cpu.finish();
    let outcome = LoadOutcome {
        began,
        elapsed: ended.saturating_sub(options.warmup),
        used_until_drain: until_drain.unwrap_or_else(|| used.clone()),
        used,
        summary,
        busiest_thread,
        stage_cpu,
        target_is_gone: false,
    };
    let is_suspect = all_failed_last && outcome.summary.begun > 0;
    // Who never answered in that time need not be asked again.
    let is_known = !outcome.summary.is_answered() && ended >= options.timeout.min(GRACE);
    // What is measured has been measured: the last tries are part of nothing.
    let target_is_gone = is_suspect && !stop() && (is_known || !still_answers(options, stop));
    Ok(LoadOutcome { target_is_gone, ..outcome })
}

/// Whether one of a few more connections completes.
///
/// One failure at the end may be chance, and as many may be those that a living server let time out, which are always the last
/// to end: only another try tells.
fn still_answers(options: &LoadOptions, stop: &(dyn Fn() -> bool + Sync)) -> bool {
    let options = LoadOptions {
        arrival: Arrival::Closed { connections: LAST_TRIES },
        end: LoadEnd::Count(LAST_TRIES as u64),
        mix: vec![(Kind::Full, 1)],
        threads: 1,
        stages: Vec::new(),
        ramp: Duration::ZERO,
        warmup: Duration::ZERO,
        timeout: options.timeout.min(LAST_TRY_TIMEOUT),
        ..options.clone()
    };
    let state = RunState::new(stop);
    let Ok(Ok(summary)) = Worker::new(&options, &state, 0).map(|worker| worker.run(Instant::now())) else {
        return true;
    };
    summary.is_answered()
}

/// A load that does not run where it was to run is another one.
fn check_processors(options: &LoadOptions) -> io::Result<()> {
    // Where the system does not tell, it may refuse later.
    let Ok(allowed) = sched_getaffinity(Pid::from_raw(0)) else { return Ok(()) };
    match options.processors.iter().find(|processor| !allowed.is_set(**processor).unwrap_or(false)) {
        None => Ok(()),
        Some(processor) => {
            let allowed: Vec<String> =
                (0..CpuSet::count()).filter(|it| allowed.is_set(*it).unwrap_or(false)).map(|it| it.to_string()).collect();
            let message = format!("cannot pin a thread to processor {processor}: this process has {}", allowed.join(", "));
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}

/// Where the system refuses, a thread runs where it likes.
fn pin(options: &LoadOptions, index: usize) {
    let processors = &options.processors;
    let Some(processor) = processors.get(index % processors.len().max(1)) else { return };
    let mut set = CpuSet::new();
    if set.set(*processor).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}
