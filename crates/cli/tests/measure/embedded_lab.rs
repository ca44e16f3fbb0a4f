//! `reprise measure` without a target: six servers, each resuming as it is labelled.

use reprise_model::document::{LabDocument, MeasureDocument};
use reprise_model::{Kind, Version};

use reprise_harness::Reprise;

const COUNT: u32 = 5;

fn measure(arguments: &[&str]) -> LabDocument {
    let outcome = Reprise::measure_lab().count(COUNT).args(arguments).run().exits(0).silently();
    serde_json::from_str(outcome.json.as_deref().unwrap()).unwrap()
}

#[test]
fn six_servers_by_name() {
    let labels: Vec<String> = measure(&[]).results.into_iter().map(|result| result.label).collect();
    assert_eq!(labels, ["rsa-2048/off", "rsa-2048/id", "rsa-2048/ticket", "p-256/off", "p-256/id", "p-256/ticket"]);
}

#[test]
fn each_resumes_as_it_is_configured() {
    for result in measure(&[]).results {
        let (key, configuration) = result.label.split_once('/').unwrap();
        let expected = match configuration {
            "off" => vec![(Version::Tls12, Kind::Full), (Version::Tls13, Kind::Full)],
            "id" => lanes(Kind::Id),
            _ => lanes(Kind::Ticket),
        };
        let asked: Vec<(Version, Kind)> = result.runs.iter().map(|run| (run.asked.tls, run.asked.kind)).collect();
        assert_eq!(asked, expected, "{}", result.label);
        for run in &result.runs {
            assert_eq!((run.n, run.observed.kinds.of(run.asked.kind)), (COUNT.into(), COUNT.into()), "{}", result.label);
            assert_eq!(run.failed, 0);
        }
        let full = result.run(Version::Tls12, Kind::Full).unwrap();
        assert_eq!(full.observed.peer_key.as_deref(), Some(key));
        assert_adds_up(&result);
    }
}

/// TLS 1.3 has no session IDs: a server that stores sessions names them in tickets.
fn lanes(tls12: Kind) -> Vec<(Version, Kind)> {
    vec![(Version::Tls12, Kind::Full), (Version::Tls12, tls12), (Version::Tls13, Kind::Full), (Version::Tls13, Kind::Ticket)]
}

/// Discovery makes a connection for each version, and a second under TLS 1.2; every sample is one more.
fn assert_adds_up(result: &MeasureDocument) {
    let all = result.all_connections;
    assert_eq!(all.failed, 0);
    assert!(all.full + all.id + all.ticket >= result.samples.len() as u64 + 3, "{}", result.label);
}

#[test]
fn flags_choose_what_is_measured() {
    for result in measure(&["--tls", "1.3", "--kinds", "full"]).results {
        let [run] = &result.runs[..] else { panic!("{} has {} runs", result.label, result.runs.len()) };
        assert_eq!((run.asked.tls, run.asked.kind, run.n), (Version::Tls13, Kind::Full, COUNT.into()));
    }
}

#[test]
fn a_kind_that_one_server_lacks_is_an_error_if_named() {
    let outcome = Reprise::measure_lab().count(2).args(["--kinds", "id"]).run();
    outcome.exits(1).says(&[
        "rsa-2048/off: id under TLS 1.2 was observed in 0 of 2 connections",
        "p-256/ticket: id under TLS 1.2 was observed in 0 of 2 connections",
    ]);
}

#[test]
fn the_page_compares_new_and_reused() {
    let outcome = Reprise::measure_lab().count(COUNT).run().exits(0).silently();
    outcome.shows(&["rsa-2048", "p-256", "session ID", "ticket", "saved", "interleaved"]);
}

#[test]
fn resumptions_that_were_measured_alone_stand_on_the_page() {
    let outcome = Reprise::measure_lab().count(2).args(["--kinds", "id", "--tls", "1.2"]).run().exits(1);
    let rows = |words: &str| outcome.page.lines().filter(|line| line.contains("session ID") && line.contains(words)).count();
    assert_eq!(rows("not offered"), 2 * 4, "two tables of two keys and the servers that do not: {}", outcome.page);
    assert_eq!(rows(""), 2 * 6, "{}", outcome.page);
}

#[test]
fn what_fails_for_every_server_is_reported_once() {
    let outcome = Reprise::measure_lab().count(1).args(["--sni", "other.example"]).run().exits(3);
    assert_eq!(outcome.page.matches("is not valid for other.example").count(), 1, "{}", outcome.page);
    assert!(!outcome.page.contains("The handshake"), "{}", outcome.page);
    outcome.shows(&["none: no connection completed"]);
}
