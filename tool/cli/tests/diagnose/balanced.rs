//! Several nginx nodes behind HAProxy in TCP mode or a stream of nginx, balanced in every way that they know: what is said of them is
//! true.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use reprise_lab::{KeyKind, Versions};
use reprise_model::document::{BalancedNodes, BalancingPolicy, Confidence, DiagnoseDocument, Diagnosis, Severity};
use reprise_servers::{Launch, Nginx, NginxConfig, Process, RealServer, SessionCache};

use crate::diagnose::broken::shown;
use reprise_harness::{Lab, Reprise, drawn};

/// What a node does with sessions.
#[derive(Clone, Copy, PartialEq)]
enum Node {
    /// Tickets under its own key, and no cache: nginx's defaults.
    OwnKey,
    /// Tickets under the key of all nodes.
    SharedKey,
    /// Tickets under its own key, and a cache of its own.
    OwnKeyAndCache,
    /// A cache of its own alone.
    OwnCache,
    /// Neither tickets nor a cache.
    Nothing,
    /// As `SharedKey`, and TLS 1.2 alone.
    OnlyTls12,
    /// Nothing listens there.
    Down,
}

use Node::{Down, Nothing, OnlyTls12, OwnCache, OwnKey, OwnKeyAndCache, SharedKey};

/// A balanced service, and what may be said of it.
struct Balanced {
    name: &'static str,
    balancer: Balancer,
    /// Each with its weight.
    nodes: &'static [(Node, u8)],
    /// One of these has to be found; none where nothing is wrong.
    found: &'static [&'static str],
    /// These may be found beside it, likely or certain.
    beside: &'static [&'static str],
}

/// What stands before the nodes, and how it chooses one.
#[derive(Clone, Copy)]
enum Balancer {
    /// The word behind `balance`.
    Haproxy(&'static str),
    /// The directive of the `upstream` block, and the number of workers, each of which counts for itself.
    Nginx(&'static str, u8),
}

use Balancer::{Haproxy, Nginx as Stream};

const NODES: &[&str] = &["hidden-nodes"];
/// A node without a cache gives IDs and accepts none.
const IDS: &[&str] = &["id-never-accepted"];
const CACHES: &[&str] = &["id-cache-per-process", "hidden-nodes"];
const NEVER: &[&str] = &["not-offered", "id-never-accepted"];
const DOWN: &[&str] = &["node-down"];
const DOWN_AND_NODES: &[&str] = &["hidden-nodes", "id-never-accepted", "id-cache-per-process"];

const fn balanced(
    name: &'static str,
    balancer: Balancer,
    nodes: &'static [(Node, u8)],
    found: &'static [&'static str],
    beside: &'static [&'static str],
) -> Balanced {
    Balanced { name, balancer, nodes, found, beside }
}

const ALL: &[Balanced] = &[
    balanced("two in turn", Haproxy("roundrobin"), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("three in turn", Haproxy("roundrobin"), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("four in turn", Haproxy("roundrobin"), &[(OwnKey, 1); 4], NODES, IDS),
    balanced("five in turn", Haproxy("roundrobin"), &[(OwnKey, 1); 5], NODES, IDS),
    balanced("seven in turn", Haproxy("roundrobin"), &[(OwnKey, 1); 7], NODES, IDS),
    balanced("two in fixed turn", Haproxy("static-rr"), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("three in fixed turn", Haproxy("static-rr"), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("two by least connections", Haproxy("leastconn"), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("three by least connections", Haproxy("leastconn"), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("two by chance", Haproxy("random"), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("three by chance", Haproxy("random"), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("four by chance", Haproxy("random"), &[(OwnKey, 1); 4], NODES, IDS),
    balanced("five by chance", Haproxy("random"), &[(OwnKey, 1); 5], NODES, IDS),
    balanced("seven by chance", Haproxy("random"), &[(OwnKey, 1); 7], NODES, IDS),
    balanced("two by source", Haproxy("source"), &[(OwnKey, 1); 2], &[], IDS),
    balanced("three by source", Haproxy("source"), &[(OwnKey, 1); 3], &[], IDS),
    balanced("five by source", Haproxy("source"), &[(OwnKeyAndCache, 1); 5], &[], &[]),
    balanced("weighted three to one", Haproxy("roundrobin"), &[(OwnKey, 3), (OwnKey, 1)], NODES, IDS),
    balanced("weighted five to one to one", Haproxy("roundrobin"), &[(OwnKey, 5), (OwnKey, 1), (OwnKey, 1)], NODES, IDS),
    balanced("weighted by chance", Haproxy("random"), &[(OwnKey, 3), (OwnKey, 1)], NODES, IDS),
    balanced("a shared key in turn", Haproxy("roundrobin"), &[(SharedKey, 1); 2], &[], IDS),
    balanced("a shared key by chance", Haproxy("random"), &[(SharedKey, 1); 3], &[], IDS),
    balanced("keys and caches apart", Haproxy("roundrobin"), &[(OwnKeyAndCache, 1); 2], NODES, CACHES),
    balanced("keys and caches apart, by chance", Haproxy("random"), &[(OwnKeyAndCache, 1); 2], NODES, CACHES),
    balanced("caches apart in turn", Haproxy("roundrobin"), &[(OwnCache, 1); 2], CACHES, CACHES),
    balanced("three caches apart in turn", Haproxy("roundrobin"), &[(OwnCache, 1); 3], CACHES, CACHES),
    balanced("nothing accepted, in turn", Haproxy("roundrobin"), &[(Nothing, 1); 2], NEVER, NEVER),
    balanced("nothing accepted, by chance", Haproxy("random"), &[(Nothing, 1); 3], NEVER, NEVER),
    balanced(
        "one of three down, in turn",
        Haproxy("roundrobin"),
        &[(OwnKey, 1), (OwnKey, 1), (Down, 1)],
        DOWN,
        DOWN_AND_NODES,
    ),
    balanced("one of two down, in turn", Haproxy("roundrobin"), &[(OwnKeyAndCache, 1), (Down, 1)], DOWN, &[]),
    balanced("one of three that share down", Haproxy("roundrobin"), &[(SharedKey, 1), (SharedKey, 1), (Down, 1)], DOWN, IDS),
    balanced(
        "one of three that share down, by chance",
        Haproxy("random"),
        &[(SharedKey, 1), (SharedKey, 1), (Down, 1)],
        DOWN,
        IDS,
    ),
    balanced(
        "one of two without TLS 1.3",
        Haproxy("roundrobin"),
        &[(SharedKey, 1), (OnlyTls12, 1)],
        &["node-protocol-differs"],
        IDS,
    ),
    balanced("nginx, two in turn", Stream("", 1), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("nginx, three in turn", Stream("", 1), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("nginx, two workers with two in turn", Stream("", 2), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("nginx, two by least connections", Stream("least_conn;", 1), &[(OwnKey, 1); 2], NODES, IDS),
    balanced("nginx, three by chance", Stream("random;", 1), &[(OwnKey, 1); 3], NODES, IDS),
    balanced("nginx, weighted three to one", Stream("", 1), &[(OwnKey, 3), (OwnKey, 1)], NODES, IDS),
    balanced("nginx, three by source", Stream("hash $remote_addr consistent;", 1), &[(OwnKey, 1); 3], &[], IDS),
    balanced("nginx, a shared key in turn", Stream("", 2), &[(SharedKey, 1); 3], &[], IDS),
    // A connection that finds nobody is handed on.
    balanced("nginx, one of three that share down", Stream("", 1), &[(SharedKey, 1), (SharedKey, 1), (Down, 1)], &[], IDS),
    balanced("tickets off on one of two", Haproxy("roundrobin"), &[(OwnKey, 1), (Nothing, 1)], NODES, NEVER),
];

/// What runs each time.
const USUAL: [&str; 13] = [
    "two in turn",
    "three in turn",
    "five in turn",
    "two by chance",
    "three by chance",
    "five by chance",
    "three by source",
    "weighted three to one",
    "seven by chance",
    "a shared key in turn",
    "one of three down, in turn",
    "nginx, three in turn",
    "nginx, two workers with two in turn",
];

#[test]
fn what_is_said_of_balanced_nodes_is_true() {
    examine(ALL.iter().filter(|it| USUAL.contains(&it.name)));
}

#[test]
#[ignore = "takes some minutes: `just full`"]
fn what_is_said_of_all_balanced_nodes_is_true() {
    examine(ALL.iter().filter(|it| !USUAL.contains(&it.name)));
}

fn examine<'b>(all: impl Iterator<Item = &'b Balanced>) {
    reprise_servers::require!("nginx", "haproxy", STREAM);
    let judged = judged_side_by_side(all.collect(), &[]);
    let wrong: Vec<String> = judged.into_iter().filter(|it| !it.is_true || !it.is_counted).map(|it| it.said).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Each has its own balancer, which counts the connections of all clients, and waits more than it works.
fn judged_side_by_side(all: Vec<&Balanced>, flags: &[&str]) -> Vec<Judged> {
    const AT_ONCE: usize = 3;
    let next = AtomicUsize::new(0);
    let work = || std::iter::from_fn(|| Some(judged(all.get(next.fetch_add(1, Relaxed))?, flags))).collect::<Vec<_>>();
    thread::scope(|scope| {
        let workers = [(); AT_ONCE].map(|()| scope.spawn(work));
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
#[ignore = "takes some minutes: `just full`"]
#[allow(clippy::print_stdout, reason = "`just full` shows the count")]
fn the_number_of_nodes_is_within_its_interval_95_times_of_100() {
    reprise_servers::require!("nginx", "haproxy", STREAM);
    let seeds = std::env::var("REPRISE_SEEDS").map_or(100, |seeds| seeds.parse().unwrap());
    let flags = ["--tls", "1.3", "--rate", "500"];
    let balanced: Vec<Balanced> = (0..seeds).map(some_balanced).collect();
    let judged = judged_side_by_side(balanced.iter().collect(), &flags);
    let untrue: Vec<&str> = judged.iter().filter(|it| !it.is_true).map(|it| it.said.as_str()).collect();
    let uncounted: Vec<&str> = judged.iter().filter(|it| !it.is_counted).map(|it| it.said.as_str()).collect();
    println!("{} of {seeds} within the interval", judged.len() - uncounted.len());
    assert!(untrue.is_empty(), "{}", untrue.join("\n\n"));
    assert!(uncounted.len() * 20 <= judged.len(), "{}", uncounted.join("\n\n"));
}

/// Two to seven nodes with a key each, the same for the same seed.
fn some_balanced(seed: u64) -> Balanced {
    const NODES_EACH: [&[(Node, u8)]; 6] =
        [&[(OwnKey, 1); 2], &[(OwnKey, 1); 3], &[(OwnKey, 1); 4], &[(OwnKey, 1); 5], &[(OwnKey, 1); 6], &[(OwnKey, 1); 7]];
    const BALANCERS: [Balancer; 5] =
        [Haproxy("roundrobin"), Haproxy("random"), Haproxy("leastconn"), Stream("random;", 1), Stream("least_conn;", 1)];
    balanced("drawn", drawn(&BALANCERS, 2 * seed), drawn(&NODES_EACH, 2 * seed + 1), NODES, IDS)
}

/// Of what is said of balanced nodes.
struct Judged {
    is_true: bool,
    is_counted: bool,
    said: String,
}

#[allow(clippy::print_stdout, reason = "`just full` shows what was said of each")]
fn judged(balanced: &Balanced, flags: &[&str]) -> Judged {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let start = |(node, _): &(Node, u8)| {
        let versions = if *node == OnlyTls12 { Versions::Tls12 } else { Versions::Both };
        let is_cached = matches!(node, OwnKeyAndCache | OwnCache);
        let key = if matches!(node, SharedKey | OnlyTls12) { "ssl_session_ticket_key ticket.key;" } else { "" };
        let config = NginxConfig {
            versions,
            session_tickets: !matches!(node, OwnCache | Nothing),
            session_cache: if is_cached { SessionCache::Shared("1m".to_owned()) } else { SessionCache::None },
            http_directives: key.to_owned(),
            files: vec![("ticket.key", vec![7; 80])],
            ..NginxConfig::new(vec![identity.clone()])
        };
        (*node != Down).then(|| Nginx::start(config).unwrap())
    };
    let nodes: Vec<Option<Nginx>> = balanced.nodes.iter().map(start).collect();
    let weighted = nodes.iter().zip(balanced.nodes).map(|(node, (_, weight))| {
        // Port 1 of loopback: nobody listens there.
        let address = node.as_ref().map_or(SocketAddr::from(([127, 0, 0, 1], 1)), RealServer::address);
        (address, *weight)
    });
    let (_balancer, address) = started(&lab, balanced.balancer, weighted.collect());
    let json = lab.path("diagnosis.json");
    let target = format!("localhost:{}", address.port());
    let call = Reprise::new(["diagnose", &target, "--resolve", "127.0.0.1"]).arg("--ca").arg(lab.ca());
    call.args(flags).arg("--json").arg(&json).run();
    let document: DiagnoseDocument = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let [diagnosis] = <[Diagnosis; 1]>::try_from(document.targets).unwrap();
    let accused: Vec<&str> = diagnosis
        .findings
        .iter()
        .filter(|it| it.severity != Severity::Note && it.confidence != Confidence::Possible)
        .map(|it| it.id.as_str())
        .collect();
    let Diagnosis { connections, seconds, .. } = diagnosis;
    println!("{}: {accused:?}, {connections} connections, {seconds:.1} s", balanced.name);
    let is_found = balanced.found.is_empty() || diagnosis.findings.iter().any(|it| balanced.found.contains(&it.id.as_str()));
    let is_true = accused.iter().all(|id| balanced.found.contains(id) || balanced.beside.contains(id));
    let nodes = diagnosis.nodes;
    println!("    {nodes:?}");
    let is_counted = are_counted(balanced, nodes);
    let said = format!("{} of {}: {accused:?}\n{}", balanced.name, balanced.nodes.len(), shown(&diagnosis));
    Judged { is_true: is_found && is_true, is_counted, said }
}

/// Whether the number lies within its interval and the balancer's way is told, where nodes differ by their keys and each connection
/// may reach another; otherwise that nothing wrong is said.
fn are_counted(balanced: &Balanced, nodes: Option<BalancedNodes>) -> bool {
    let count = balanced.nodes.len() as u32;
    let is_alike = |(node, weight): &(Node, u8)| *weight == 1 && matches!(node, OwnKey | OwnKeyAndCache);
    let is_plain = balanced.nodes.iter().all(is_alike);
    let policy = match balanced.balancer {
        Haproxy("roundrobin" | "static-rr" | "leastconn") | Stream("" | "least_conn;", 1) => Some(BalancingPolicy::InTurn),
        Haproxy("random") | Stream("random;", _) => Some(BalancingPolicy::Random),
        // Workers that each take turns are both, or neither.
        Stream("", _) => None,
        // From here, a balancer by source is one node.
        _ => return nodes.is_none(),
    };
    match nodes {
        None => !is_plain,
        Some(nodes) => {
            let is_within = nodes.low <= count && nodes.high.is_none_or(|high| count <= high);
            is_within && (!is_plain || policy.is_none() || nodes.policy.is_none() || nodes.policy == policy)
        }
    }
}

fn started(lab: &Lab, balancer: Balancer, nodes: Vec<(SocketAddr, u8)>) -> (Process, SocketAddr) {
    let program = match balancer {
        Haproxy(_) => "haproxy",
        Stream(..) => "nginx",
    };
    let (log, file) = (lab.path("balancer.log"), lab.path("balancer.cfg"));
    let launch = Launch { program, log: &log, listens: &|| true };
    Process::on_free_port(&launch, |address| {
        let text = match balancer {
            Haproxy(balance) => haproxy(address, balance, &nodes),
            Stream(choice, workers) => stream(lab, address, (choice, workers), &nodes),
        };
        fs::write(&file, text).unwrap();
        let mut command = Command::new(program);
        let arguments: &[&str] = if program == "nginx" { &["-e", "stderr", "-c"] } else { &["-db", "-f"] };
        command.args(arguments).arg(&file);
        Ok(command)
    })
    .unwrap()
}

fn haproxy(address: SocketAddr, balance: &str, nodes: &[(SocketAddr, u8)]) -> String {
    let line =
        |(place, (address, weight)): (usize, &(SocketAddr, u8))| format!("  server s{place} {address} weight {weight}\n");
    let servers: String = nodes.iter().enumerate().map(line).collect();
    format!(
        "defaults\n  mode tcp\n  retries 0\n  timeout connect 2s\n  timeout client 10s\n  timeout server 10s\n\
         listen lab\n  bind {address}\n  balance {balance}\n{servers}"
    )
}

fn stream(lab: &Lab, address: SocketAddr, (choice, workers): (&str, u8), nodes: &[(SocketAddr, u8)]) -> String {
    let servers: String = nodes.iter().map(|(address, weight)| format!("server {address} weight={weight}; ")).collect();
    format!(
        "load_module {STREAM};\ndaemon off;\npid {};\nworker_processes {workers};\nevents {{}}\n\
         stream {{ upstream nodes {{ {choice} {servers} }} server {{ listen {address}; proxy_pass nodes; }} }}\n",
        lab.path("balancer.pid").display()
    )
}

/// Where Debian keeps the module, a package of its own.
const STREAM: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";
