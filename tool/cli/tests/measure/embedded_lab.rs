//! `reprise measure` without a target: six servers, each resuming as it is labelled.

use reprise_model::document::LabDocument;
use reprise_model::{Kind, Version};

use reprise_harness::Reprise;

const COUNT: u32 = 5;

#[test]
fn each_of_six_servers_resumes_as_it_is_configured() {
    let outcome = Reprise::measure_lab().count(COUNT).args(["--fail-if", "full.n < 2"]).run().exits(0).silently();
    let document: LabDocument = outcome.json();
    let labels: Vec<&str> = document.results.iter().map(|result| result.label.as_str()).collect();
    assert_eq!(labels, ["rsa-2048/off", "rsa-2048/id", "rsa-2048/ticket", "p-256/off", "p-256/id", "p-256/ticket"]);
    outcome.shows(&["rsa-2048", "p-256", "session ID", "ticket", "saved", "interleaved", "not met"]);
    for result in document.results {
        let (key, configuration) = result.label.split_once('/').unwrap();
        let expected = match configuration {
            "off" => vec![(Version::Tls12, Kind::Full), (Version::Tls13, Kind::Full)],
            "id" => series(Kind::Id),
            _ => series(Kind::Ticket),
        };
        let asked: Vec<(Version, Kind)> = result.runs.iter().map(|run| (run.asked.tls, run.asked.kind)).collect();
        assert_eq!(asked, expected, "{}", result.label);
        for run in &result.runs {
            let observed = (run.n, run.observed.kinds.of(run.asked.kind), run.failed);
            assert_eq!(observed, (COUNT.into(), COUNT.into(), 0), "{}", result.label);
        }
        let full = result.run(Version::Tls12, Kind::Full).unwrap();
        assert_eq!(full.observed.peer_key.as_deref(), Some(key));
        // Discovery makes a connection for each version, and a second under TLS 1.2; every sample is one more.
        let all = result.all_connections;
        assert_eq!(all.failed, 0);
        assert!(all.full + all.id + all.ticket >= result.samples.len() as u64 + 3, "{}", result.label);
    }
}

/// TLS 1.3 has no session IDs: a server that stores sessions names them in tickets.
fn series(tls12: Kind) -> Vec<(Version, Kind)> {
    vec![(Version::Tls12, Kind::Full), (Version::Tls12, tls12), (Version::Tls13, Kind::Full), (Version::Tls13, Kind::Ticket)]
}

#[test]
fn flags_choose_what_is_measured() {
    let document: LabDocument =
        Reprise::measure_lab().count(COUNT).args(["--tls", "1.3", "--kinds", "full"]).run().exits(0).silently().json();
    for result in document.results {
        let [run] = &result.runs[..] else { panic!("{} has {} runs", result.label, result.runs.len()) };
        assert_eq!((run.asked.tls, run.asked.kind, run.n), (Version::Tls13, Kind::Full, COUNT.into()));
    }
}

#[test]
fn a_kind_that_servers_lack_is_an_error_if_named() {
    let outcome = Reprise::measure_lab().count(2).args(["--kinds", "id", "--tls", "1.2"]).run().exits(1).says(&[
        "rsa-2048/off: id under TLS 1.2 was observed in 0 of 2 connections",
        "p-256/ticket: id under TLS 1.2 was observed in 0 of 2 connections",
    ]);
    let rows = |words: &str| outcome.page.lines().filter(|line| line.contains("session ID") && line.contains(words)).count();
    assert_eq!(rows("not offered"), 4, "two keys and the servers that do not: {}", outcome.page);
    assert_eq!(rows(""), 6, "{}", outcome.page);
}

#[test]
fn what_fails_for_every_server_is_reported_once() {
    let outcome = Reprise::measure_lab().count(1).args(["--sni", "other.example"]).run().exits(3);
    assert_eq!(outcome.page.matches("is not valid for other.example").count(), 1, "{}", outcome.page);
    assert!(!outcome.page.contains("The handshake"), "{}", outcome.page);
    outcome.shows(&["none: no connection completed"]);
}
