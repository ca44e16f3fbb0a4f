//! Connections at once: what one client's concurrency asks of its sessions and of the server.

use std::sync::Barrier;

use crate::connector::Connector;
use crate::trial::{Trial, Tried};

/// Makes these connections at once, each on a thread of its own, and gives back what came of them.
pub(super) fn connect_at_once(connector: &mut Connector, trials: Vec<Trial>) -> Vec<Tried> {
    let mut each: Vec<(Connector, Trial)> = Vec::new();
    for trial in trials {
        // Where the system gives no more descriptors, fewer are made.
        let Ok(sibling) = connector.sibling() else { break };
        each.push((sibling, trial));
    }
    let barrier = Barrier::new(each.len());
    std::thread::scope(|scope| {
        let connect = |(mut sibling, trial): (Connector, Trial)| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                sibling.connect(trial)
            })
        };
        let threads: Vec<_> = each.into_iter().map(connect).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}
