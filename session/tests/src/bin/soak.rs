//! Five processes for a long time, with rotation every 20 s and the store killed every minute: no handshake fails, and neither
//! memory nor descriptors grow. `session-soak [MINUTES]`, 20 by default.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use reprise_model::{Kind, Version};
use reprise_session_tests::client::{FULL, visit};
use reprise_session_tests::fleet::Fleet;
use reprise_session_tests::process::{descriptors, memory};
use reprise_session_tests::store::Store;

/// How much more memory a node may have at the end than after the warm-up, in KiB: arenas of threads that came and went.
const GROWTH: u64 = 8 * 1024;

fn main() {
    let minutes: u64 = std::env::args().nth(1).map_or(20, |text| text.parse().unwrap());
    let node = std::env::current_exe().unwrap().with_file_name("session-node");
    let mut store = Store::start(&[]);
    let url = format!("store={}", store.url());
    let fleet = Fleet::new(node, &[&url, "means=store", "lifetime=10", "period=20", "budget=200"]);
    let nodes = fleet.five(&[]);
    let (is_over, full, resumed) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let usage = || nodes.iter().map(|node| (memory(node.pid()), descriptors(node.pid()))).collect::<Vec<_>>();
    let mut baseline = Vec::new();
    thread::scope(|scope| {
        for version in [Version::Tls12, Version::Tls13] {
            let (fleet, nodes, is_over, full, resumed) = (&fleet, &nodes, &is_over, &full, &resumed);
            scope.spawn(move || {
                let client = fleet.client(version);
                let mut offer = FULL;
                let mut index = 0;
                while !is_over.load(Ordering::Relaxed) {
                    index += 1;
                    // It panics where a handshake fails.
                    let visited = visit(nodes[index % nodes.len()].address, &client, offer, "/").unwrap();
                    let count = if visited.kind == Kind::Full { full } else { resumed };
                    count.fetch_add(1, Ordering::Relaxed);
                    offer = if visited.sessions.is_empty() { FULL } else { visited.offer() };
                }
            });
        }
        let begun = Instant::now();
        for minute in 1..=minutes {
            thread::sleep(Duration::from_secs(50));
            store.kill();
            thread::sleep(Duration::from_secs(5));
            store.start_again();
            thread::sleep(Duration::from_secs(5));
            let used = usage();
            println!(
                "minute {minute}: {} full, {} resumed; memory in KiB and descriptors {used:?}",
                full.load(Ordering::Relaxed),
                resumed.load(Ordering::Relaxed)
            );
            if baseline.is_empty() {
                baseline = used;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        println!("{:?}", begun.elapsed());
    });
    thread::sleep(Duration::from_secs(2));
    for (node, ((before_memory, before_open), (now_memory, now_open))) in nodes.iter().zip(baseline.iter().zip(usage())) {
        assert_eq!(fleet.ask(node, "/failed"), "0", "handshakes failed");
        assert!(now_memory <= before_memory + GROWTH, "memory grew from {before_memory} to {now_memory} KiB");
        assert!(now_open <= before_open + 2, "descriptors grew from {before_open} to {now_open}");
    }
    assert!(resumed.load(Ordering::Relaxed) > full.load(Ordering::Relaxed), "mostly resumed");
    println!("no handshake failed; neither memory nor descriptors grew");
}
