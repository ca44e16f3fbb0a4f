//! What connections and contexts take of the heap. Each pair and case has a child process of its own, whose malloc counts: the side whose
//! turn it is is charged, and what the harness needs is made between the turns.

mod code;
mod connection;
mod sessions;
mod weigh;

use std::path::Path;

use reprise_model::document::{CompareBytes, CompareMemory, CompareOver, CompareSide, CompareSkipped};
use reprise_pairs::{Audience, Case, Certificates, Described, Effort, Failed, Job, Launcher, Worker, skip};

use crate::comparison::ComparisonPlan;

use weigh::Weights;
pub use weigh::{Weigh, Weighed};

/// Connections that are alive at once.
const USUAL: u32 = 1000;
const QUICK: u32 = 100;

/// Samples of each figure.
const SAMPLES: u32 = 10;

/// Connections that are made and ended before any is weighed: what a library makes once is there then.
const WARM_UP: usize = 4;

/// A row for each side of each pair and case; and what could not be weighed.
pub(crate) fn rows(
    comparison: &ComparisonPlan<'_>,
    stacks: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> (Vec<CompareMemory>, Vec<CompareSkipped>) {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    let pairs = comparison.handshakes.pairs(stacks, comparison.handshakes.crossed);
    let planned = (pairs.len() * comparison.handshakes.cases.len()) as u64;
    audience.begins("handshakes weighed");
    for (done, (pair, case)) in
        pairs.iter().flat_map(|pair| comparison.handshakes.cases.iter().map(move |case| (pair, case))).enumerate()
    {
        if audience.stops() {
            break;
        }
        audience.proceeded(done as u64, planned);
        let Some(certificates) = comparison.handshakes.keys.of(case.key, case.chain) else { continue };
        let (client, server) = *pair;
        let mut of_pair = comparison.earlier_memory([client, server], case);
        if of_pair.is_empty() {
            match weigh_in_child(comparison, launcher, (client, server), *case, certificates) {
                Ok(weighed) => of_pair = rows_of(comparison, [client, server], case, &weighed),
                Err(failed) => skipped.push(skip(&client.found.name, &server.found.name, case, &failed)),
            }
        }
        rows.extend(of_pair);
    }
    (rows, skipped)
}

impl ComparisonPlan<'_> {
    /// What was weighed of a pair and case before it was interrupted.
    fn earlier_memory(&self, [client, server]: [&Described<'_>; 2], case: &Case) -> Vec<CompareMemory> {
        let (client, server) = (client.found.name.as_str(), server.found.name.as_str());
        let case = case.document();
        let rows = self.earlier.map(|earlier| earlier.memory.as_slice()).unwrap_or_default();
        let is_of_pair = |row: &&CompareMemory| {
            let pair = if row.side == CompareSide::Client { (client, server) } else { (server, client) };
            row.case == case && (row.stack.as_str(), row.peer.as_str()) == pair
        };
        rows.iter().filter(is_of_pair).cloned().collect()
    }
}

/// The client's, and the server's: beside a client that is no server stands a server that has a row with its own client.
fn rows_of(
    comparison: &ComparisonPlan<'_>,
    [client, server]: [&Described<'_>; 2],
    case: &Case,
    weighed: &Weighed,
) -> Vec<CompareMemory> {
    let row = |side, stack: &Described<'_>, peer: &Described<'_>, weights: &Weights| {
        let of = |samples: &[u64]| statistics(samples, comparison.handshakes.seed);
        Some(CompareMemory {
            stack: stack.found.name.clone(),
            peer: peer.found.name.clone(),
            side,
            case: case.document(),
            connections: weighed.connections,
            context: of(&weights.context)?,
            peak: of(&weights.peak)?,
            held: of(&weights.held)?,
            idle: of(&weights.idle),
            session: of(&weights.session),
            code: weights.code,
        })
    };
    let of_client = row(CompareSide::Client, client, server, &weighed.client);
    let is_shown = comparison.handshakes.crossed || client.found == server.found;
    let of_server = row(CompareSide::Server, server, client, &weighed.server).filter(|_| is_shown);
    of_client.into_iter().chain(of_server).collect()
}

fn weigh_in_child(
    comparison: &ComparisonPlan<'_>,
    launcher: &Launcher,
    (client, server): (&Described<'_>, &Described<'_>),
    case: Case,
    certificates: &Certificates,
) -> Result<Weighed, Failed> {
    if comparison.handshakes.over == CompareOver::Loopback {
        return Err(Failed::unsupported("the heap is counted over memory alone"));
    }
    let missing = || Failed::unsupported("the heap is not counted without reprise-heap: 'reprise stacks install' builds it");
    let counter: &Path = comparison.heap_counter.ok_or_else(missing)?;
    let mut launcher = launcher.clone();
    launcher.environment.push(("LD_PRELOAD", counter.into()));
    let job = Job::new(client.found, server.found, case, certificates);
    let connections = if comparison.handshakes.effort == Effort::QUICK { QUICK } else { USUAL };
    let mut worker = Worker::new(&launcher);
    let weighed = worker.ask(&Weigh { job, connections });
    // It ends by itself: a profiler that it runs under writes its figures then.
    worker.finish().and(weighed)
}

fn statistics(samples: &[u64], seed: u64) -> Option<CompareBytes> {
    let summary = reprise_stats::summarize(samples, seed)?;
    let ci95 = summary.ci95;
    Some(CompareBytes { median: summary.median, ci95, samples: samples.to_vec() })
}
