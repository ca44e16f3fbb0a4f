//! How a load ends when its target dies, when somebody has seen enough, and when this machine has no more to give.

use std::process::Command;

use reprise_harness::{Lab, Reprise, Running, program, wait_until};
use reprise_lab::{EmbeddedServer, Versions};

use crate::load::harness::{count, document, document_in, in_a_network_of_its_own, outcome, server, sum, warns};

/// A load of this server, once some connections have completed.
fn under_way(server: &EmbeddedServer, flags: &str) -> Running {
    let mut running = Reprise::load(server.address()).flags(flags).start();
    wait_until("20 connections", || {
        assert!(!running.has_ended(), "it ended before its time");
        server.accounts().len() >= 20
    });
    running
}

#[test]
fn a_target_that_dies_and_stays_dead_is_exit_status_3() {
    let server = server();
    let running = under_way(&server, "--duration 4s -c 4");
    drop(server);
    let document = document(&running.finish().exits(3).says(&["stopped responding"]));
    assert!(count(&document, "completed", "full") > 0, "the results are kept");
    assert!(count(&document, "errors", "connection_refused") >= 3, "{}", document["errors"]);
    assert!(warns(&document, "gone"));
}

#[test]
fn a_server_without_the_version_is_exit_status_3() {
    for (versions, asked, instead) in
        [(Versions::Tls12, "1.3", "TLS 1.3: use --tls 1.2"), (Versions::Tls13, "1.2", "TLS 1.2: use --tls 1.3")]
    {
        let server = Lab::new().server_with(|config| config.versions = versions);
        let document = document(&Reprise::load(server.address()).args(["--tls", asked]).count(8).run().exits(3));
        let warning = format!("8 × alert_protocol_version: the server refuses {instead}");
        assert!(warns(&document, &warning), "{}", document["warnings"]);
    }
}

#[test]
fn ctrl_c_in_the_warm_up_shows_no_empty_table() {
    let server = server();
    let running = under_way(&server, "--warmup 60m --duration 2h -c 4");
    running.interrupt();
    let outcome = running.finish().exits(130).shows(&["excluded from the counts below", "Incomplete"]);
    assert!(!outcome.page.contains("outcome"), "{}", outcome.page);
}

#[test]
fn more_connections_than_descriptors_are_told_before_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let script = r#"ulimit -n 40 && exec "$@""#;
    let load = ["load", &address, "-n", "100", "-c", "64", "--json", json.to_str().unwrap()];
    let outcome = outcome(Command::new("bash").args(["-c", script, "bash"]).arg(program()).args(load)).exits(0);
    let document = document_in(&json);
    assert_eq!((count(&document, "completed", "full"), sum(&document, "errors")), (100, 0), "{}", document["errors"]);
    // One number in all places.
    let room = document["asked"]["connections"].as_u64().unwrap();
    let told = format!("{room} concurrent connections, not 64: the limit is 40 open descriptors");
    assert!((1..40).contains(&room) && warns(&document, &told), "{told}: {}", document["warnings"]);
    assert!(outcome.stderr.starts_with(&format!("reprise: {told}")), "{}", outcome.stderr);
    outcome.shows(&[&format!("{room} connections at once, 1 request each")]);
}

#[test]
fn ports_that_wait_are_named_before_they_run_out() {
    reprise_servers::require!("openssl", "ip");
    // An address of this machine that is not loopback's: nobody's consent is asked for, and its ports are not used again before their
    // time.
    let script = r#"
        echo '40000 40099' > /proc/sys/net/ipv4/ip_local_port_range
        ip address add 10.9.9.1/32 dev lo
        serve openssl s_server -accept 10.9.9.1:8443 -cert "$certificate" -key "$key" -www -quiet
        for close in fin rst; do
            "$reprise" load 10.9.9.1:8443 -n 60 -c 1 --close $close --json $close.json
        done
    "#;
    let directory = tempfile::tempdir().unwrap();
    if in_a_network_of_its_own(directory.path(), script).is_none() {
        return;
    }
    for (close, named) in [("fin", true), ("rst", false)] {
        let document = document_in(&directory.path().join(format!("{close}.json")));
        assert_eq!((count(&document, "completed", "full"), sum(&document, "errors")), (60, 0), "{}", document["errors"]);
        assert_eq!(warns(&document, "100 local ports are in TIME_WAIT"), named, "{close}: {}", document["warnings"]);
    }
}

#[test]
fn ports_that_run_out_are_counted_and_named() {
    reprise_servers::require!("openssl", "ip");
    let script = r#"
        echo '40000 40007' > /proc/sys/net/ipv4/ip_local_port_range
        serve openssl s_server -accept 127.0.0.1:8443 -cert "$certificate" -key "$key" -www -quiet
        "$reprise" load 127.0.0.1:8443 -n 60 -c 32 --json ports.json
    "#;
    let directory = tempfile::tempdir().unwrap();
    if in_a_network_of_its_own(directory.path(), script).is_none() {
        return;
    }
    let document = document_in(&directory.path().join("ports.json"));
    assert!(count(&document, "completed", "full") > 0, "{}", document["completed"]);
    assert!(count(&document, "errors", "ports_exhausted") > 0, "{}", document["errors"]);
    assert_eq!(sum(&document, "completed") + sum(&document, "errors"), 60);
    assert!(warns(&document, "ip_local_port_range"));
}
