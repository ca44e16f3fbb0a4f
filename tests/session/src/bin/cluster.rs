//! A store of IDs against tickets on five processes: what each costs the servers and the store.
//!
//! `session-cluster REPRISE [SECONDS] [ROUNDS]`: REPRISE is the program `reprise`, whose `load` measures; prints a table in
//! Markdown. All five processes listen on one port, so a session comes back to another process four times of five.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use std::net::TcpListener;
use std::process::{Command, Stdio};

use reprise_session_tests::fleet::Fleet;
use reprise_session_tests::process::cpu;
use reprise_session_tests::store::{Store, program};
use serde_json::Value;

/// What is resumed how: a name, the nodes' settings, the flags of `load`, and the kind that must be observed.
const WAYS: [(&str, &str, &[&str], &str); 6] = [
    ("full, TLS 1.2", "means=off", &["--tls", "1.2", "--mix", "full"], "full"),
    ("ID in the store, TLS 1.2", "means=store", &["--tls", "1.2", "--mix", "id"], "id"),
    ("ticket, TLS 1.2", "means=tickets", &["--tls", "1.2", "--mix", "ticket"], "ticket"),
    ("full, TLS 1.3", "means=off", &["--tls", "1.3", "--mix", "full"], "full"),
    ("session in the store, TLS 1.3", "means=store", &["--tls", "1.3", "--mix", "ticket"], "ticket"),
    ("ticket, TLS 1.3", "means=tickets", &["--tls", "1.3", "--mix", "ticket"], "ticket"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let reprise = arguments.first().expect("session-cluster REPRISE [SECONDS] [ROUNDS]");
    let number = |index: usize, default: usize| arguments.get(index).map_or(default, |text| text.parse().unwrap());
    let (seconds, rounds) = (number(1, 5), number(2, 3));
    let node = std::env::current_exe().unwrap().with_file_name("session-node");
    let mut measured = vec![Vec::new(); WAYS.len()];
    for round in 0..rounds {
        for offset in 0..WAYS.len() {
            let index = (round + offset) % WAYS.len();
            eprintln!("round {}: {}", round + 1, WAYS[index].0);
            measured[index].push(measure(reprise, &node, seconds, index));
        }
    }
    println!("Five processes and {}, medians of {rounds} rounds of {seconds} s, in turns.\n", program().unwrap());
    println!(
        "| what is resumed | handshakes/s | resumed | server CPU | store CPU | store operations | store bytes | p50 | p99 |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for ((name, ..), rounds) in WAYS.iter().zip(&measured) {
        let of = |figure: fn(&Measured) -> f64| median(rounds.iter().map(figure).collect());
        println!(
            "| {name} | {:.0} | {:.1} % | {:.0} µs | {:.0} µs | {:.2} | {:.0} | {:.2} ms | {:.2} ms |",
            of(|round| round.rate),
            of(|round| round.resumed * 100.0),
            of(|round| round.server_us),
            of(|round| round.store_us),
            of(|round| round.operations),
            of(|round| round.bytes),
            of(|round| round.p50_ms),
            of(|round| round.p99_ms),
        );
    }
}

/// Per handshake, but for the rate.
#[derive(Clone)]
struct Measured {
    rate: f64,
    resumed: f64,
    server_us: f64,
    store_us: f64,
    operations: f64,
    bytes: f64,
    p50_ms: f64,
    p99_ms: f64,
}

fn measure(reprise: &str, node: &std::path::Path, seconds: usize, index: usize) -> Measured {
    let (_, means, flags, kind) = WAYS[index];
    let store = Store::start(&[]);
    let url = format!("store={}", store.url());
    // Off needs no store; others get it.
    let settings: &[&str] = if means == "means=off" { &[means] } else { &[means, &url, "budget=1000", "refresh=1000"] };
    let fleet = Fleet::new(node, settings);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nodes = fleet.five(&[&format!("listen=127.0.0.1:{port}")]);
    let (store_before, operations, bytes) = (cpu(store.pid()), operations(&store), bytes(&store));
    let before: Vec<_> = nodes.iter().map(|node| cpu(node.pid())).collect();
    let result = fleet.folder().join("load.json");
    let mut command = Command::new(reprise);
    command.args(["load", &format!("127.0.0.1:{port}"), "--connections", "16", "--duration", &format!("{seconds}s")]);
    command.args(flags).arg("--json").arg(&result).stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "load failed");
    let servers: f64 = nodes.iter().zip(before).map(|(node, before)| (cpu(node.pid()) - before).as_secs_f64()).sum();
    let stores = (cpu(store.pid()) - store_before).as_secs_f64();
    let document: Value = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
    assert_eq!(document["errors"], Value::Object(Default::default()), "no handshake fails");
    let completed = document["completed"].as_object().unwrap();
    let all: f64 = completed.values().map(|count| count.as_f64().unwrap()).sum();
    let latency = &document["latency_ns"][kind]["tls"];
    Measured {
        rate: document["rate"]["mean"].as_f64().unwrap(),
        resumed: if kind == "full" { 0.0 } else { completed[kind].as_f64().unwrap() / all },
        server_us: servers / all * 1e6,
        store_us: stores / all * 1e6,
        operations: (self::operations(&store) - operations) as f64 / all,
        bytes: (self::bytes(&store) - bytes) as f64 / all,
        p50_ms: latency["p50"].as_f64().unwrap() / 1e6,
        p99_ms: latency["p99"].as_f64().unwrap() / 1e6,
    }
}

fn operations(store: &Store) -> u64 {
    store.figure("total_commands_processed")
}

fn bytes(store: &Store) -> u64 {
    store.figure("total_net_input_bytes") + store.figure("total_net_output_bytes")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
