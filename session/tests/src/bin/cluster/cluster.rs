//! Five nodes, their store and the balancer before them.

use reprise_session_tests::balancer::Balancer;
use reprise_session_tests::fleet::{Fleet, Node, addresses};
use reprise_session_tests::reserved_port::ReservedPort;
use reprise_session_tests::store::Store;

pub(crate) struct Cluster {
    pub(crate) fleet: Fleet,
    pub(crate) nodes: Vec<Node>,
    pub(crate) store: Store,
    pub(crate) balancer: Balancer,
    ports: Vec<ReservedPort>,
}

impl Cluster {
    /// Nodes with this setting of `means`: `off`, `store` or `tickets`.
    pub(crate) fn start(means: &str) -> Self {
        let store = Store::start(&[]);
        let (means_setting, url) = (format!("means={means}"), format!("store={}", store.url()));
        // Off needs no store; the others have it.
        let settings: &[&str] = if means == "off" { &[&means_setting] } else { &[&means_setting, &url] };
        let node = std::env::current_exe().unwrap().with_file_name("session-node");
        let fleet = Fleet::new(node, settings);
        let ports: Vec<ReservedPort> = (0..5).map(|_| ReservedPort::new()).collect();
        let nodes: Vec<Node> = ports.iter().map(|port| start(&fleet, port)).collect();
        let balancer = Balancer::before(&addresses(&nodes));
        Self { fleet, nodes, store, balancer, ports }
    }

    /// Kills a node, and starts another one in its place at once.
    pub(crate) fn restart(&mut self, number: usize) {
        drop(self.nodes.remove(number));
        self.nodes.insert(number, start(&self.fleet, &self.ports[number]));
    }
}

fn start(fleet: &Fleet, port: &ReservedPort) -> Node {
    fleet.node(&[&format!("listen={}", port.address())])
}
