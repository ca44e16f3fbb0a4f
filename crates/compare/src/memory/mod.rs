//! What connections and contexts take of the heap. Each pair and case has a child process of its own, whose malloc counts: the side whose
//! turn it is is charged, and what the harness needs is made between the turns.

mod code;
mod weigh;

use std::path::Path;

use reprise_model::document::{CompareBytes, CompareMemory, CompareOver, CompareSide, CompareSkipped};

use crate::case::Case;
use crate::compare::skip;
use crate::comparison::{Audience, ComparisonPlan, Described, Effort, job};
use crate::keys::Certificates;
use crate::message::{Failed, Request};
use crate::worker::{Launcher, Worker};

pub(crate) use code::{brought, mapped_files};
pub(crate) use weigh::{Weighed, Weights, weigh};

/// Connections that are alive at once.
const USUAL: u32 = 1000;
const QUICK: u32 = 100;

/// A row for each side of each pair and case; and what could not be weighed.
pub(crate) fn rows(
    comparison: &ComparisonPlan<'_>,
    stacks: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> (Vec<CompareMemory>, Vec<CompareSkipped>) {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    let pairs = comparison.pairs(stacks, comparison.crossed);
    let planned = (pairs.len() * comparison.cases.len()) as u64;
    audience.begins("handshakes weighed");
    for (done, (pair, case)) in
        pairs.iter().flat_map(|pair| comparison.cases.iter().map(move |case| (pair, case))).enumerate()
    {
        if audience.stops() {
            break;
        }
        audience.proceeded(done as u64, planned);
        let Some(certificates) = comparison.keys.of(case.key, case.chain) else { continue };
        let (client, server) = *pair;
        match weigh_in_child(comparison, launcher, (client, server), *case, certificates) {
            Ok(Weighed { client: of_client, server: of_server, connections }) => {
                let mut add = |side, stack: &Described<'_>, peer: &Described<'_>, weights: &Weights| {
                    let of = |samples: &[u64]| statistics(samples, comparison.seed);
                    let figures = of(&weights.context).zip(of(&weights.peak)).zip(of(&weights.held));
                    rows.extend(figures.map(|((context, peak), held)| CompareMemory {
                        stack: stack.found.name.clone(),
                        peer: peer.found.name.clone(),
                        side,
                        case: case.document(),
                        connections,
                        context,
                        peak,
                        held,
                        code: weights.code,
                    }));
                };
                add(CompareSide::Client, client, server, &of_client);
                // Beside a client that is no server stands a server that has a row with its own client.
                if comparison.crossed || client.found == server.found {
                    add(CompareSide::Server, server, client, &of_server);
                }
            }
            Err(failed) => skipped.push(skip(&client.found.name, &server.found.name, case, &failed)),
        }
    }
    (rows, skipped)
}

fn weigh_in_child(
    comparison: &ComparisonPlan<'_>,
    launcher: &Launcher,
    (client, server): (&Described<'_>, &Described<'_>),
    case: Case,
    certificates: &Certificates,
) -> Result<Weighed, Failed> {
    if comparison.over == CompareOver::Loopback {
        return Err(Failed::unsupported("the heap is counted over memory alone"));
    }
    let missing = || Failed::unsupported("the heap is not counted without reprise-heap: 'reprise stacks install' builds it");
    let counter: &Path = comparison.heap_counter.ok_or_else(missing)?;
    let mut launcher = launcher.clone();
    launcher.environment.push(("LD_PRELOAD", counter.into()));
    let job = Box::new(job(client.found, server.found, case, certificates));
    let connections = if comparison.effort == Effort::QUICK { QUICK } else { USUAL };
    let mut worker = Worker::new(&launcher);
    let weighed = worker.ask(&Request::Weigh { job, connections });
    // It ends by itself: a profiler that it runs under writes its figures then.
    worker.finish().and(weighed)
}

fn statistics(samples: &[u64], seed: u64) -> Option<CompareBytes> {
    let summary = reprise_stats::summarize(samples, seed)?;
    let ci95 = summary.ci95.map(|(low, high)| [low, high]);
    Some(CompareBytes { median: summary.median, ci95, samples: samples.to_vec() })
}
