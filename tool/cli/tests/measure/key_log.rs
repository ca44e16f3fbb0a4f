//! `SSLKEYLOGFILE`.

use std::collections::BTreeMap;
use std::fs;

use reprise_lab::EmbeddedResumption;

use reprise_harness::{Lab, Reprise};

#[test]
fn every_connections_secrets_are_appended() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let log = lab.file("keys.log", "# mine\n");
    let outcome = lab.measure(server.address()).count(2).env("SSLKEYLOGFILE", &log).run().exits(0);

    let text = fs::read_to_string(&log).unwrap();
    let mut labels: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [label, random, secret] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        assert!(
            random.len() == 64 && secret.len() >= 64 && [random, secret].iter().all(|hex| is_hexadecimal(hex)),
            "{line}"
        );
        *labels.entry(label).or_default() += 1;
    }
    assert!(text.starts_with("# mine\n"), "what was there is kept");
    let of_version = |version: &str| server.accounts().iter().filter(|account| account.version == version).count() as u64;
    assert_eq!(labels.get("CLIENT_RANDOM"), Some(&of_version("TLSv1.2")));
    for side in ["CLIENT", "SERVER"] {
        for secret in ["HANDSHAKE_TRAFFIC_SECRET", "TRAFFIC_SECRET_0"] {
            let label = format!("{side}_{secret}");
            assert_eq!(labels.get(label.as_str()), Some(&of_version("TLSv1.3")), "{label}");
        }
    }
    let all = outcome.document().all_connections;
    assert_eq!(all.full + all.ticket, server.completed());
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_any_connection() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let outcome = lab.measure(server.address()).env("SSLKEYLOGFILE", lab.directory()).run();
    outcome.exits(2).says(&["cannot write SSLKEYLOGFILE"]);
    assert_eq!(server.completed(), 0);
}

/// As a disk is that fills up.
#[cfg(target_os = "linux")]
#[test]
fn a_log_that_has_no_room_is_told_once_and_costs_no_sample() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let words = "cannot write further secrets to SSLKEYLOGFILE /dev/full: No space left on device";
    let measured = lab.measure(server.address()).count(3).env("SSLKEYLOGFILE", "/dev/full").run().exits(0).says(&[words]);
    assert_eq!(measured.stderr.lines().count(), 1, "{}", measured.stderr);
    assert_eq!(measured.document().all_connections.failed, 0);

    let embedded = Reprise::measure_lab().count(1).args(["--tls", "1.3"]).env("SSLKEYLOGFILE", "/dev/full").run();
    assert_eq!(embedded.exits(0).says(&[words]).stderr.lines().count(), 1);

    let trace = Reprise::new(["trace", &server.address().to_string()]).arg("--ca").arg(lab.ca());
    let trace = trace.arg("--pcap").arg(lab.path("both.pcapng")).env("SSLKEYLOGFILE", "/dev/full").run();
    assert_eq!(trace.exits(0).says(&[words]).stderr.lines().count(), 1);
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
