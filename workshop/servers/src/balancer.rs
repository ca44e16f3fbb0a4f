//! Several servers behind one address.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use reprise_lab::Listener;

use crate::Result;
use crate::hang_up::listen;
use crate::relay::forward;

/// How a balancer chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balancing {
    /// One node after the other: `roundrobin` in HAProxy, the default of nginx.
    RoundRobin,
    /// Two connections to each node in turn: half of what is offered on the next connection comes to the node that gave it,
    /// in the same order each time.
    InPairs,
    /// Any node, whatever came before: `random(1)`.
    Random,
}

/// Deals TCP connections to a free port of 127.0.0.1 to these nodes, without a look into them. Without any, connections are closed.
///
/// # Errors
/// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
pub fn start_balancer(nodes: Vec<SocketAddr>, balancing: Balancing) -> Result<Listener> {
    let next = AtomicUsize::new(0);
    let random = RandomState::new();
    listen(move |guest| {
        let number = next.fetch_add(1, Ordering::SeqCst);
        let number = match balancing {
            Balancing::RoundRobin => number,
            Balancing::InPairs => number / 2,
            Balancing::Random => random.hash_one(number) as usize,
        };
        if let Some(node) = number.checked_rem(nodes.len()).and_then(|place| nodes.get(place)) {
            forward(guest, *node);
        }
    })
}
