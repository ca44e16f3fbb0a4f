//! What happens when a part of the cluster is restarted under load.

use std::thread;
use std::time::Duration;

use reprise_model::Version;
use reprise_session_tests::closed_loop::{CLIENTS, ClosedLoop};

use crate::cluster::Cluster;

/// What is resumed how: a name, the setting of the nodes, and the version.
const WAYS: [(&str, &str, Version); 4] = [
    ("none: full handshakes", "off", Version::Tls13),
    ("ID, session in the store (1.2)", "store", Version::Tls12),
    ("ticket, session in the store (1.3)", "store", Version::Tls13),
    ("ticket, keys shared (1.3)", "tickets", Version::Tls13),
];

type Restart = fn(&mut Cluster);

/// What is killed and started again.
const PARTS: [(&str, Restart); 4] = [
    ("one node", |cluster| cluster.restart(2)),
    ("all nodes in turn", |cluster| {
        for number in 0..cluster.nodes.len() {
            cluster.restart(number);
            // As a rolling upgrade does, it waits until the node has its place again.
            thread::sleep(Duration::from_millis(500));
        }
    }),
    ("the store", |cluster| {
        cluster.store.kill();
        cluster.store.start_again();
    }),
    ("HAProxy", |cluster| {
        cluster.balancer.kill();
        cluster.balancer.start_again();
    }),
];

const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(4);
/// From here on all is as it was: on a busy machine, some answers are late.
const RECOVERED: f64 = 0.95;

pub(crate) fn table() -> String {
    let mut text = format!(
        "What {CLIENTS} clients in a closed loop see of a part that is killed and started again at once: connections that broke, sessions that were \
         offered and not resumed, and the time until {:.0} % of the offered ones resumed again.\n\n\
         | restarted | resumption by | connections | broken | sessions lost | as before after |\n\
         | --- | --- | --: | --: | --: | --: |\n",
        100.0 * RECOVERED
    );
    for (part, restart) in PARTS {
        for (way, means, version) in WAYS {
            eprintln!("restart of {part}: {way}");
            text.push_str(&row(part, restart, way, means, version));
        }
    }
    text
}

fn row(part: &str, restart: Restart, way: &str, means: &str, version: Version) -> String {
    let mut cluster = Cluster::start(means);
    let target = [cluster.balancer.address()];
    let mut begun = Duration::ZERO;
    let running = ClosedLoop::run(&cluster.fleet.client(version), &target, |running| {
        thread::sleep(BEFORE);
        begun = running.now();
        restart(&mut cluster);
        thread::sleep(AFTER);
    });
    let end = running.now();
    let lost = running.between(begun, end);
    let recovered = running.recovered_after(begun, end, RECOVERED);
    let (lost, recovered) = match (means, recovered) {
        ("off", _) => ("–".to_owned(), "–".to_owned()),
        (_, Some(after)) => ((lost.offered - lost.resumed).to_string(), format!("{} ms", after.as_millis())),
        (_, None) => ((lost.offered - lost.resumed).to_string(), "not at all".to_owned()),
    };
    format!("| {part} | {way} | {} | {} | {lost} | {recovered} |\n", running.connections(), running.failures().len())
}
