//! Clients that come back at once, as many at a time as the machine can hardly serve.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use reprise_engine::{Config, Offer};
use reprise_model::{Kind, Version};

use crate::client::{FULL, visit};

/// How many clients there are.
pub const CLIENTS: usize = 64;

/// Clients of one version, each of which visits one node after the other and offers what the one before gave it.
pub struct ClosedLoop {
    begun: Instant,
    is_over: AtomicBool,
    active: AtomicUsize,
    visits: Mutex<Vec<Visited>>,
    failures: Mutex<Vec<String>>,
}

/// One visit.
#[derive(Clone, Copy, Debug)]
struct Visited {
    ended: Duration,
    offers: bool,
    is_resumed: bool,
}

/// What became of sessions that were offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offered {
    /// So many were offered.
    pub offered: usize,
    /// So many of them resumed.
    pub resumed: usize,
}

impl Offered {
    /// The part that resumed; of none, none.
    pub fn share(self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.resumed as f64 / self.offered as f64 }
    }
}

impl ClosedLoop {
    /// Runs [`CLIENTS`] of them against these nodes, or the balancer before nodes, while `meanwhile` lasts.
    pub fn run(config: &Arc<Config>, nodes: &[SocketAddr], meanwhile: impl FnOnce(&Self)) -> Self {
        let running = Self {
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            active: AtomicUsize::new(CLIENTS),
            visits: Mutex::default(),
            failures: Mutex::default(),
        };
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let running = &running;
                thread::Builder::new()
                    .stack_size(512 * 1024)
                    .spawn_scoped(scope, move || running.client(client, config, nodes))
                    .unwrap();
            }
            meanwhile(&running);
            running.is_over.store(true, Ordering::Relaxed);
        });
        running
    }

    fn client(&self, client: usize, config: &Arc<Config>, nodes: &[SocketAddr]) {
        // IDs in TLS 1.2: what a store of its own is for.
        let full = if config.versions == [Version::Tls12] { Offer::Full { session_ticket: false } } else { FULL };
        let mut offer = full.clone();
        for turn in client.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if client >= self.active.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
                continue;
            }
            let offers = !matches!(offer, Offer::Full { .. });
            match visit(nodes[turn % nodes.len()], config, offer, "/") {
                Ok(visited) => {
                    let is_resumed = visited.kind != Kind::Full;
                    self.visits.lock().unwrap().push(Visited { ended: self.begun.elapsed(), offers, is_resumed });
                    offer = if visited.sessions.is_empty() { full.clone() } else { visited.offer() };
                }
                Err(error) => {
                    self.failures.lock().unwrap().push(error);
                    // Where nobody listens, the next try is no sooner than a client's would be.
                    thread::sleep(Duration::from_millis(50));
                    offer = full.clone();
                }
            }
        }
    }

    /// Lets only so many go on.
    pub fn set_active(&self, clients: usize) {
        self.active.store(clients, Ordering::Relaxed);
    }

    /// The time since it began.
    pub fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// How many were made, sessions or not.
    pub fn connections(&self) -> usize {
        self.visits.lock().unwrap().len()
    }

    /// What ended in this time.
    pub fn between(&self, from: Duration, to: Duration) -> Offered {
        let mut sum = Offered::default();
        let visits = self.visits.lock().unwrap();
        for visited in visits.iter().filter(|visited| visited.offers && (from..to).contains(&visited.ended)) {
            sum.offered += 1;
            sum.resumed += usize::from(visited.is_resumed);
        }
        sum
    }

    /// How long after `from` until, for half a second, at least `share` of what was offered resumed. `None` if not before `to`.
    pub fn recovered_after(&self, from: Duration, to: Duration, share: f64) -> Option<Duration> {
        const STEP: Duration = Duration::from_millis(50);
        const STEADY: u32 = 10;
        let is_steady = |at: &Duration| {
            let offered = self.between(*at, *at + STEADY * STEP);
            offered.offered > 0 && offered.share() >= share
        };
        let starts = (0..).map(|step| from + step * STEP).take_while(|at| *at + STEADY * STEP <= to);
        starts.into_iter().find(is_steady).map(|at| at - from)
    }

    /// Why handshakes failed: none may.
    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }
}
