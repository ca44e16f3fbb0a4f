//! The same connections in several threads at once, over one client's context and one server's: what the library locks between them shows.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use reprise_stack::Context;
use serde::{Deserialize, Serialize};

use super::Cell;
use crate::batch::Batch;
use crate::case::Case;
use crate::failed::Failed;

/// What each thread made, and how long all of them took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ThreadedBatch {
    /// Of all threads: CPU time of each side, and the kinds.
    pub batch: Batch,
    /// From when the first thread began until the last was done.
    pub wall_ns: u64,
}

/// Connections of each thread before those that are counted: the first leaves a session, the second is the first that may resume one.
const WARM_UP: u32 = 2;

impl Cell {
    /// So many connections in each of so many threads.
    pub(crate) fn run_threads(&self, threads: u32, connections: u32) -> Result<ThreadedBatch, Failed> {
        let [client, server] = self.contexts.as_slice() else { return Err(Failed::broken("both sides are not here")) };
        let pairs: Vec<[Box<dyn Context + Send>; 2]> = (0..threads)
            .map(|_| Ok([client.for_another_thread()?, server.for_another_thread()?]))
            .collect::<Result<_, Failed>>()?;
        let (case, barrier) = (self.case, Barrier::new(pairs.len()));
        let made: Vec<Result<Made, Failed>> = thread::scope(|scope| {
            let begun: Vec<_> =
                pairs.into_iter().map(|pair| scope.spawn(|| in_one_thread(case, pair, connections, &barrier))).collect();
            let ended = begun.into_iter().map(|thread| thread.join());
            ended.map(|made| made.unwrap_or_else(|_| Err(Failed::broken("a thread panicked")))).collect()
        });
        let made = made.into_iter().collect::<Result<Vec<_>, _>>()?;
        let first = made.iter().map(|made| made.begin).min();
        let last = made.iter().map(|made| made.end).max();
        let wall = first.zip(last).map(|(first, last)| last.duration_since(first));
        let mut all = ThreadedBatch { wall_ns: wall.map_or(0, |wall| wall.as_nanos() as u64), ..ThreadedBatch::default() };
        made.iter().for_each(|made| all.batch.add(&made.batch));
        Ok(all)
    }
}

struct Made {
    batch: Batch,
    begin: Instant,
    end: Instant,
}

fn in_one_thread(
    case: Case,
    [client, server]: [Box<dyn Context + Send>; 2],
    connections: u32,
    barrier: &Barrier,
) -> Result<Made, Failed> {
    let mut cell = Cell::of_contexts(case, client, server);
    let warm = (0..WARM_UP).try_for_each(|_| cell.connect().map(drop));
    // Who fails lets the others go on.
    barrier.wait();
    warm?;
    let begin = Instant::now();
    let batch = cell.count(connections)?;
    Ok(Made { batch, begin, end: Instant::now() })
}
