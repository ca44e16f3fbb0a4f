//! A fleet that a store's faults are shown on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_engine::Config;
use reprise_model::{Kind, Version};

use crate::PATIENCE;
use crate::client::{FULL, Visit, visit};
use crate::fleet::{Fleet, Node};

/// Enough for a store on loopback, and far below what the client library alone would wait.
const BUDGET: &str = "budget=20";
/// More than a busy machine adds to a timer. Nodes that waited for a store would wait as long as it is stopped; the budget
/// itself is tested on a clock of its own, in `reprise-session-valkey`.
const LONGEST_WAIT: f64 = 10.0;

/// Five nodes, whose sessions are in a store that they share, and a TLS 1.3 client.
pub struct World {
    /// What the nodes have in common.
    pub fleet: Fleet,
    /// The five.
    pub nodes: Vec<Node>,
    /// The client.
    pub client: Arc<Config>,
}

impl World {
    /// Starts it, whether the store is there or not.
    pub fn start(program: &str, settings: &[&str]) -> Self {
        let fleet = Fleet::new(program, settings);
        let nodes = fleet.five(&["means=store", BUDGET]);
        let client = fleet.client(Version::Tls13);
        Self { fleet, nodes, client }
    }

    /// Starts it, and waits until every session of one node resumes on the next.
    pub fn new(program: &str, settings: &[&str]) -> Self {
        let world = Self::start(program, settings);
        world.recovers();
        world
    }

    /// A session of each node, stored or not yet.
    pub fn sessions(&self) -> Vec<Visit> {
        self.nodes.iter().map(|node| visit(node.address, &self.client, FULL, "/").unwrap()).collect()
    }

    /// How many of these resume, each on the node after its own. None may fail.
    pub fn resumed(&self, sessions: &[Visit]) -> usize {
        let others = self.nodes.iter().cycle().skip(1);
        let offered = sessions.iter().zip(others).filter(|(session, _)| !session.sessions.is_empty());
        let kinds = offered.map(|(session, other)| visit(other.address, &self.client, session.offer(), "/").unwrap().kind);
        kinds.filter(|&kind| kind == Kind::Ticket).count()
    }

    /// Waits until every session of one node resumes on the next.
    pub fn recovers(&self) {
        let end = Instant::now() + PATIENCE;
        loop {
            let sessions = self.sessions();
            // They are written behind the handshake; if this was too short, the next turn may not be.
            std::thread::sleep(Duration::from_millis(50));
            if self.resumed(&sessions) == self.nodes.len() {
                return;
            }
            assert!(Instant::now() < end, "it does not recover: {}", self.fleet.ask(&self.nodes[0], "/status"));
        }
    }

    /// By the nodes' own account: no handshake failed, and none waited for as long as the store was away.
    pub fn nothing_failed(&self) {
        for node in &self.nodes {
            assert_eq!(self.fleet.ask(node, "/failed"), "0");
            let longest = self.fleet.metric(node, "reprise_session_store_longest_wait_seconds");
            assert!(longest < LONGEST_WAIT, "waited {longest} s");
        }
    }
}
