//! How often connections are begun, to which addresses, and what they cost the client.

use std::time::{Duration, Instant};

use reprise_harness::Lab;
use reprise_lab::EmbeddedResumption;
use reprise_model::{Kind, Version};

#[test]
fn connections_begin_at_a_rate() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let begun = Instant::now();
    let document = lab.measure(server.address()).count(3).args(["--rate", "20"]).run().exits(0).document();
    let counted = document.runs.iter().map(|run| run.n).sum::<u64>();
    assert!(counted >= 6, "{counted} connections");
    // A wait may take longer, and never less.
    assert!(begun.elapsed() >= Duration::from_millis(50 * (counted - 1)), "{counted} connections in {:?}", begun.elapsed());
    lab.measure(server.address()).args(["--rate", "0"]).run().exits(2).says(&["invalid rate '0'"]);
}

#[test]
fn addresses_of_one_family_alone_are_used() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let port = server.address().port();
    let document = lab.measure(format!("localhost:{port}")).count(1).arg("-4").run().exits(0).document();
    assert_eq!(document.target.address.as_deref(), Some("127.0.0.1"));
    // Either there is no ::1, or nobody listens there.
    lab.measure(format!("localhost:{port}")).count(1).arg("-6").run().exits(3);
    lab.measure(server.address()).arg("-6").run().exits(2).says(&["127.0.0.1 is no IPv6 address"]);
    lab.measure(format!("localhost:{port}"))
        .args(["-6", "--resolve", "127.0.0.1"])
        .run()
        .exits(2)
        .says(&["is no IPv6 address"]);
    lab.measure(server.address()).args(["-4", "-6"]).run().exits(2).says(&["cannot be used with"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_connection_takes_processor_time_of_the_client() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab.measure(server.address()).count(20).arg("-v").run().exits(0);
    for (version, kind) in [(Version::Tls12, Kind::Full), (Version::Tls13, Kind::Full), (Version::Tls13, Kind::Ticket)] {
        let run = outcome.measured(version, kind);
        let cpu = run.client_cpu_ns.unwrap();
        let total = run.phases[&reprise_model::Phase::Total].max_ns;
        assert!(cpu.user + cpu.system > 0, "{version} {kind}: {cpu:?}");
        assert!(cpu.user + cpu.system < 20 * total, "{version} {kind}: {cpu:?} of {total} ns");
    }
    outcome.shows(&["µs of processor time for a connection, user + system"]);
}
