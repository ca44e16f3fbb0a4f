//! The same handshakes in several threads at once, over one client's context and one server's: how many more a second that makes.

use std::thread;

use reprise_model::document::{
    CompareScaling, CompareScalingRow, CompareSkipped, CompareThreads, CompareTimes, Statistics, stack_pair,
};
use reprise_model::{KindCounts, PskMode};
use reprise_pairs::{
    Audience, Case, Certificates, Described, Failed, Job, Launcher, Prepare, Ready, Row, Run, RunThreads, Worker, skip,
    statistics,
};

use crate::comparison::ComparisonPlan;

/// Connections that each thread makes in a sample, at least so that the begin and the end of the threads are little of it.
const LEAST_CONNECTIONS: u64 = 8;
const MOST_CONNECTIONS: u64 = 1024;

/// A sample takes as many times the usual one: threads are not all scheduled at once.
const LONGER: u64 = 4;

/// A handshake of a pair in so many threads.
struct Threaded<'a> {
    pair: [&'a str; 2],
    case: Case,
    threads: u32,
    /// The number by which the child process knows what was prepared.
    cell: usize,
    connections: u64,
    samples: Samples,
    kinds: KindCounts,
    cpu: CompareThreads,
}

/// Of one connection, in nanoseconds.
#[derive(Default)]
struct Samples {
    client: Vec<u64>,
    server: Vec<u64>,
    wall: Vec<u64>,
}

/// Rows of every pair, handshake and number of threads; what could not be measured; and the most that a reading of the clock costs.
pub(crate) fn measure(
    comparison: &ComparisonPlan<'_>,
    stacks: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> (CompareScaling, Vec<CompareSkipped>, u64) {
    let plan = &comparison.handshakes;
    let (mut run, mut reading_ns) = (Run::default(), 0);
    let pairs = plan.pairs(stacks, plan.crossed);
    let planned = (pairs.len() * plan.cases.len()) as u64;
    audience.begins("handshakes prepared");
    for (index, (client, server)) in pairs.iter().enumerate() {
        let process = run.start(Worker::new(launcher));
        for (place, case) in plan.cases.iter().enumerate() {
            if audience.stops() {
                break;
            }
            audience.proceeded((index * plan.cases.len() + place) as u64, planned);
            let Some(certificates) = plan.keys.of(case.key, case.chain) else { continue };
            let added = add(&mut run, process, comparison, [client, server], *case, certificates);
            match added {
                Ok(ready) => reading_ns = reading_ns.max(ready.reading_ns),
                Err(failed) => run.skipped.push(skip(&client.found.name, &server.found.name, case, &failed)),
            }
        }
    }
    audience.begins("samples");
    run.measure(plan.effort.samples, plan.seed, audience);
    let alone: Vec<&Threaded<'_>> = run.rows().filter(|it| it.threads == 1).collect();
    let rows = run.rows().filter_map(|it| {
        let one = alone.iter().find(|one| (one.pair, one.case) == (it.pair, it.case)).copied();
        it.row(one, plan.seed)
    });
    let processors = thread::available_parallelism().map_or(1, usize::from) as u64;
    let scaling = CompareScaling { processors, rows: rows.collect() };
    (scaling, run.skipped, reading_ns)
}

/// A row for each number of threads, of what is prepared once.
fn add<'a>(
    run: &mut Run<Threaded<'a>>,
    process: usize,
    comparison: &ComparisonPlan<'_>,
    [client, server]: [&Described<'a>; 2],
    case: Case,
    certificates: &Certificates,
) -> Result<Ready, Failed> {
    let job = Job::new(client.found, server.found, case, certificates);
    let mut prepared: Option<Ready> = None;
    for &threads in comparison.threads {
        run.add(process, |worker| {
            let ready = match prepared {
                Some(ready) => ready,
                None => *prepared.insert(prepare(worker, job.clone())?),
            };
            let sample_ns = comparison.handshakes.effort.sample_ns.saturating_mul(LONGER);
            let connections = (sample_ns / ready.connection_ns.max(1)).clamp(LEAST_CONNECTIONS, MOST_CONNECTIONS);
            Ok(Threaded {
                pair: [&client.found.name, &server.found.name],
                case,
                threads,
                cell: ready.cell,
                connections,
                samples: Samples::default(),
                kinds: KindCounts::default(),
                cpu: CompareThreads::default(),
            })
        })?;
    }
    prepared.ok_or_else(|| Failed::broken("no number of threads was asked for"))
}

/// Contexts of both sides, of which another thread may have a part: else there is no row.
fn prepare(worker: &mut Worker, job: Job) -> Result<Ready, Failed> {
    let ready = worker.ask(&Prepare(job))?;
    worker.ask(&RunThreads { cell: ready.cell, threads: 1, connections: 1 })?;
    Ok(ready)
}

impl Row for Threaded<'_> {
    type Process = Worker;
    type Skipped = CompareSkipped;

    fn sample(&mut self, worker: &mut Worker) -> Result<(), Failed> {
        let connections = self.connections as u32;
        let made = worker.ask(&RunThreads { cell: self.cell, threads: self.threads, connections })?;
        let all = connections * self.threads;
        self.cpu += CompareThreads { thread_ns: made.batch.thread_ns, charged_ns: made.batch.charged_ns };
        for &(kind, count) in &made.batch.kinds {
            (0..count).for_each(|_| self.kinds.add(kind));
        }
        // A mean over kinds would hide the one that was not asked for.
        if made.batch.kinds == [(self.case.kind, all)] {
            let Samples { client, server, wall } = &mut self.samples;
            let of = [(client, made.batch.client_ns), (server, made.batch.server_ns), (wall, made.wall_ns)];
            of.into_iter().for_each(|(samples, ns)| samples.push(ns / u64::from(all)));
        }
        Ok(())
    }

    fn skipped(&self, failed: &Failed) -> CompareSkipped {
        let [client, server] = self.pair;
        skip(client, server, &self.case, failed)
    }
}

impl Threaded<'_> {
    /// `None` without a sample.
    fn row(&self, alone: Option<&Self>, seed: u64) -> Option<CompareScalingRow> {
        let of = |samples: &[u64]| -> Option<Statistics> { reprise_stats::summarize(samples, seed).map(statistics) };
        let Samples { client, server, wall } = &self.samples;
        let wall_ns = of(wall)?;
        let scaling = alone.and_then(|one| reprise_stats::ratio(&one.samples.wall, wall, seed));
        Some(CompareScalingRow {
            client: self.pair[0].to_owned(),
            server: self.pair[1].to_owned(),
            case: self.case.document(),
            threads: u64::from(self.threads),
            n: wall.len() as u64,
            connections: self.connections,
            kinds: self.kinds.clone(),
            client_ns: of(client)?,
            server_ns: of(server)?,
            rate: 1e9 / wall_ns.median_ns.max(1) as f64,
            wall_ns,
            scaling: scaling.map(|ratio| CompareTimes { median: ratio.median, ci95: ratio.ci95 }),
            cpu: self.cpu,
        })
    }
}

/// What the most threads make that each have a processor: of the handshake that gains the least, and of the one that gains the most.
pub(crate) fn conclusion(scaling: &CompareScaling) -> Option<String> {
    let with_processors = |row: &&CompareScalingRow| row.threads > 1 && row.threads <= scaling.processors;
    let threads = scaling.rows.iter().filter(with_processors).map(|row| row.threads).max()?;
    let of_these = scaling.rows.iter().filter(|row| row.threads == threads);
    let mut gains: Vec<_> = of_these.filter_map(|row| Some((row, row.scaling?))).collect();
    gains.sort_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
    let one = |(row, times): &(&CompareScalingRow, CompareTimes)| {
        let spread = times.ci95.map(|[low, high]| format!("{low:.2}–{high:.2}, ")).unwrap_or_default();
        let (case, stack) = (&row.case, stack_pair(&row.client, &row.server));
        let mode = if case.psk_mode == Some(PskMode::PskKe) { " psk_ke" } else { "" };
        format!("{:.2} times ({spread}{stack}, TLS {} {}{mode} {})", times.median, case.tls.number(), case.kind, case.group)
    };
    let gain = match gains.as_slice() {
        [] => return None,
        [only] => one(only),
        [least, .., most] => format!("{} to {}", one(least), one(most)),
    };
    Some(format!("{threads} threads on one context of each side make {gain} as many connections a second as one thread."))
}
