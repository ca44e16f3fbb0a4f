//! What each kind of resumption costs each part of the cluster, and what it adds to the latency.

use std::time::Duration;

use reprise_page::html::picture::{self, Group};
use reprise_session_tests::process::cpu;
use reprise_session_tests::store::{Store, program};

use crate::cluster::Cluster;
use crate::load::{connections, figure, load, median, sum};

/// What is resumed how.
struct Way {
    version: &'static str,
    name: &'static str,
    /// The setting of the nodes.
    means: &'static str,
    /// What `load` is to make, and must observe.
    kind: &'static str,
    /// The way whose latency this one is compared with.
    ticket: usize,
}

const WAYS: [Way; 6] = [
    Way { version: "1.2", name: "none: full handshakes", means: "off", kind: "full", ticket: 2 },
    Way { version: "1.2", name: "ID, session in the store", means: "store", kind: "id", ticket: 2 },
    Way { version: "1.2", name: "ticket, keys shared", means: "tickets", kind: "ticket", ticket: 2 },
    Way { version: "1.3", name: "none: full handshakes", means: "off", kind: "full", ticket: 5 },
    Way { version: "1.3", name: "ticket, session in the store", means: "store", kind: "ticket", ticket: 5 },
    Way { version: "1.3", name: "ticket, keys shared", means: "tickets", kind: "ticket", ticket: 5 },
];

/// Connections a second where latencies are measured: few, so that none waits for another.
const RATE: usize = 100;

/// The medians of rounds, in the order of [`WAYS`].
pub(crate) struct Costs {
    rounds: usize,
    seconds: usize,
    costs: Vec<Vec<Cost>>,
}

/// Of one round; for each connection.
#[derive(Clone, Debug, Default)]
struct Cost {
    /// The part that resumed.
    resumed: f64,
    servers_us: f64,
    store_us: f64,
    balancer_us: f64,
    client_us: f64,
    operations: f64,
    bytes: f64,
    p50_us: f64,
    p99_us: f64,
}

/// `rounds` of `seconds` with each way, in turns.
pub(crate) fn measure(reprise: &str, seconds: usize, rounds: usize) -> Costs {
    let mut costs = vec![Vec::new(); WAYS.len()];
    for round in 0..rounds {
        for offset in 0..WAYS.len() {
            let index = (round + offset) % WAYS.len();
            eprintln!("round {} of {rounds}: TLS {}, {}", round + 1, WAYS[index].version, WAYS[index].name);
            costs[index].push(once(reprise, seconds, &WAYS[index]));
        }
    }
    Costs { rounds, seconds, costs }
}

impl Costs {
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "Five nodes and {} behind HAProxy; CPU time, store operations and bytes for each connection, by a closed loop of 16; the latency of \
             `connect` and `tls` at {RATE} connections a second. Medians of {} rounds of {} s, in turns.\n\n\
             | TLS | resumption by | resumed | servers | store | HAProxy | client | operations | bytes | p50 | p99 | added to a ticket's p50 | p99 |\n\
             | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
            program().unwrap(),
            self.rounds,
            self.seconds,
        );
        for (index, way) in WAYS.iter().enumerate() {
            let of = |figure: fn(&Cost) -> f64| self.median(index, figure);
            text.push_str(&format!(
                "| {} | {} | {:.1} % | {:.0} µs | {:.0} µs | {:.0} µs | {:.0} µs | {:.2} | {:.0} | {:.0} µs | {:.0} µs | {:+.0} µs | {:+.0} µs |\n",
                way.version,
                way.name,
                100.0 * of(|cost| cost.resumed),
                of(|cost| cost.servers_us),
                of(|cost| cost.store_us),
                of(|cost| cost.balancer_us),
                of(|cost| cost.client_us),
                of(|cost| cost.operations),
                of(|cost| cost.bytes),
                of(|cost| cost.p50_us),
                of(|cost| cost.p99_us),
                self.added(index, |cost| cost.p50_us),
                self.added(index, |cost| cost.p99_us),
            ));
        }
        text
    }

    /// What the connection costs each part, as an SVG file.
    pub(crate) fn picture(&self) -> String {
        let parts = ["five servers", "store", "HAProxy", "client"];
        let figures: [fn(&Cost) -> f64; 4] =
            [|cost| cost.servers_us, |cost| cost.store_us, |cost| cost.balancer_us, |cost| cost.client_us];
        let group = |version: &str| {
            let ways = WAYS.iter().enumerate().filter(|(_, way)| way.version == version);
            let bar = |(index, way): (usize, &Way)| {
                (way.name.to_owned(), figures.iter().map(|figure| self.median(index, *figure)).collect())
            };
            Group { name: format!("TLS {version}"), bars: ways.map(bar).collect() }
        };
        picture::bars("What a connection costs a fleet", "CPU time, µs", &parts, &[group("1.2"), group("1.3")])
    }

    fn median(&self, index: usize, figure: impl Fn(&Cost) -> f64) -> f64 {
        median(self.costs[index].iter().map(figure).collect())
    }

    /// Round by round, beside the ticket of the same version.
    fn added(&self, index: usize, figure: fn(&Cost) -> f64) -> f64 {
        let tickets = &self.costs[WAYS[index].ticket];
        median(self.costs[index].iter().zip(tickets).map(|(cost, ticket)| figure(cost) - figure(ticket)).collect())
    }
}

fn once(reprise: &str, seconds: usize, way: &Way) -> Cost {
    let cluster = Cluster::start(way.means);
    let seconds = format!("{seconds}s");
    let cpus = || {
        let nodes: Duration = cluster.nodes.iter().map(|node| cpu(node.pid())).sum();
        [nodes, cpu(cluster.store.pid()), cpu(cluster.balancer.pid())].map(|time| time.as_secs_f64() * 1e6)
    };
    let (cpus_before, operations_before, bytes_before) = (cpus(), operations(&cluster.store), bytes(&cluster.store));
    let load = |flags: &[&str]| {
        load(
            reprise,
            cluster.balancer.address(),
            &[&["--tls", way.version, "--mix", way.kind, "--duration", &seconds], flags].concat(),
        )
    };
    let closed = load(&["--connections", "16"]);
    let cpus_after = cpus();
    let [servers, store, balancer] = [0, 1, 2].map(|part| cpus_after[part] - cpus_before[part]);
    let all = connections(&closed);
    let cost = Cost {
        resumed: if way.kind == "full" { 0.0 } else { figure(&closed["completed"], way.kind) / sum(&closed["completed"]) },
        servers_us: servers / all,
        store_us: store / all,
        balancer_us: balancer / all,
        client_us: sum(&closed["client_cpu_ns"]) / 1e3 / all,
        operations: (operations(&cluster.store) - operations_before) as f64 / all,
        bytes: (bytes(&cluster.store) - bytes_before) as f64 / all,
        ..Cost::default()
    };
    let open = load(&["--rate", &RATE.to_string()]);
    let latency = |quantile: &str| {
        let phases = &open["latency_ns"][way.kind];
        ["connect", "tls"].iter().map(|phase| figure(&phases[phase], quantile) / 1e3).sum::<f64>()
    };
    Cost { p50_us: latency("p50"), p99_us: latency("p99"), ..cost }
}

fn operations(store: &Store) -> u64 {
    store.figure("total_commands_processed")
}

fn bytes(store: &Store) -> u64 {
    store.figure("total_net_input_bytes") + store.figure("total_net_output_bytes")
}
