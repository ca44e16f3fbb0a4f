//! What the library costs a server beside what it replaces: rustls' own tickets and cache, and the full handshake that it saves.

use reprise_session_tests::fleet::Fleet;
use reprise_session_tests::process::cpu;
use reprise_session_tests::store::Store;

use crate::load::{connections, load, median};

/// How a server resumes, and what `load` is to make.
struct Side {
    name: &'static str,
    means: &'static str,
    kind: &'static str,
}

const fn side(name: &'static str, means: &'static str, kind: &'static str) -> Side {
    Side { name, means, kind }
}

/// By version: what is replaced, and by what.
const PAIRS: [(&str, Side, Side); 6] = [
    ("1.2", side("rustls' Ticketer", "rustls-tickets", "ticket"), side("ticket, keys shared", "tickets", "ticket")),
    ("1.3", side("rustls' Ticketer", "rustls-tickets", "ticket"), side("ticket, keys shared", "tickets", "ticket")),
    ("1.2", side("rustls' cache", "rustls-ids", "id"), side("ID, session in memory", "memory", "id")),
    ("1.2", side("rustls' cache", "rustls-ids", "id"), side("ID, session in the store", "store", "id")),
    ("1.2", side("full handshake", "off", "full"), side("ID, session in the store", "store", "id")),
    ("1.3", side("full handshake", "off", "full"), side("ticket, session in the store", "store", "ticket")),
];

/// Microseconds of the processor for each connection: the server's, and the store's.
type Cost = [f64; 2];

/// `rounds` of `seconds` with both sides of each pair, in turns.
pub(crate) fn table(reprise: &str, seconds: usize, rounds: usize) -> String {
    let mut costs: Vec<Vec<[Cost; 2]>> = vec![Vec::new(); PAIRS.len()];
    for round in 0..rounds {
        for ((version, replaced, by), costs) in PAIRS.iter().zip(&mut costs) {
            eprintln!("round {} of {rounds}: TLS {version}, {} beside {}", round + 1, by.name, replaced.name);
            let [replaced, by] = [replaced, by].map(|side| once(reprise, seconds, version, side));
            costs.push([replaced, by]);
        }
    }
    let mut text = format!(
        "CPU time of one server for each connection, 64 in flight, beside what is replaced. Medians of {rounds} rounds of {seconds} s, in turns; the \
         ratio is the median of the rounds' ratios.\n\n\
         | TLS | replaced | server | by | server | store | ratio of the servers |\n\
         | --- | --- | --: | --- | --: | --: | --: |\n"
    );
    for ((version, replaced, by), costs) in PAIRS.iter().zip(costs) {
        let of = |figure: fn(&[Cost; 2]) -> f64| median(costs.iter().map(figure).collect());
        text.push_str(&format!(
            "| {version} | {} | {:.0} µs | {} | {:.0} µs | {:.0} µs | {:.2} |\n",
            replaced.name,
            of(|[replaced, _]| replaced[0]),
            by.name,
            of(|[_, by]| by[0]),
            of(|[_, by]| by[1]),
            of(|[replaced, by]| by[0] / replaced[0]),
        ));
    }
    text
}

fn once(reprise: &str, seconds: usize, version: &str, side: &Side) -> Cost {
    let store = Store::start(&[]);
    let settings = match side.means {
        "store" | "tickets" => vec![format!("store={}", store.url())],
        _ => Vec::new(),
    };
    let node = std::env::current_exe().unwrap().with_file_name("session-node");
    let fleet = Fleet::new(node, &[&format!("means={}", side.means)]);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let node = fleet.node(&settings);
    let cpus = || [node.pid(), store.pid()].map(|pid| cpu(pid).as_secs_f64() * 1e6);
    let before = cpus();
    let duration = format!("{seconds}s");
    let flags = ["--tls", version, "--mix", side.kind, "--connections", "64", "--duration", &duration];
    let all = connections(&load(reprise, node.address, &flags));
    let after = cpus();
    [0, 1].map(|part| (after[part] - before[part]) / all)
}
