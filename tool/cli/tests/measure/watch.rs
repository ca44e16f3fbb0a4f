//! `--every`: rounds as lines, a target that goes and comes back, metrics that a scraper can read.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

use openmetrics_parser::openmetrics::parse_openmetrics;
use openmetrics_parser::{MetricsExposition, OpenMetricsType, OpenMetricsValue};
use reprise_lab::{EmbeddedResumption, EmbeddedServer};
use reprise_model::document::{LabDocument, MeasureDocument};

use reprise_harness::{Lab, Reprise, wait_until};

fn watch(lab: &Lab, target: SocketAddr, json: &Path) -> Reprise {
    let arguments =
        ["measure", &target.to_string(), "--every", "50ms", "--count", "2", "--timeout", "5s"].map(str::to_owned);
    Reprise::new(arguments).arg("--ca").arg(lab.ca()).arg("--json").arg(json)
}

fn rounds(json: &Path) -> Vec<MeasureDocument> {
    let text = fs::read_to_string(json).unwrap_or_default();
    // The last line may be on its way.
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_round_is_a_line_of_json_and_a_line_for_people() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let json = lab.path("watch.jsonl");
    let page = watch(&lab, server.address(), &json).args(["--repeats", "3"]).run().exits(0).silently().page;
    let documents = rounds(&json);
    assert_eq!((documents.len(), page.lines().count()), (3, 3));
    for (document, line) in documents.iter().zip(page.lines()) {
        assert_eq!(document.samples.len(), 8);
        assert!(line.starts_with(&document.provenance.time) && line.contains(&document.label), "{line}");
        assert!(line.contains("1.2: full") && line.contains("1.3: full") && line.contains("ticket"), "{line}");
    }
    let claimed: u64 = documents.iter().map(|it| it.all_connections.full + it.all_connections.ticket).sum();
    assert_eq!(server.completed(), claimed);
}

#[test]
fn a_watch_goes_on_where_the_last_one_stopped() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let json = lab.path("watch.jsonl");
    for _ in 0..2 {
        watch(&lab, server.address(), &json).args(["--repeats", "1"]).run().exits(0);
    }
    assert_eq!(rounds(&json).len(), 2);
    // A line that a crash has cut off costs that line and no other.
    let mut text = fs::read(&json).unwrap();
    text.truncate(text.len() - 7);
    fs::write(&json, &text).unwrap();
    watch(&lab, server.address(), &json).args(["--repeats", "1"]).run().exits(0);
    let text = fs::read_to_string(&json).unwrap();
    let whole: Vec<bool> = text.lines().map(|line| serde_json::from_str::<MeasureDocument>(line).is_ok()).collect();
    assert_eq!(whole, [true, false, true]);
}

#[test]
fn what_is_no_list_of_results_is_not_appended_to() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    for contents in ["precious\n", "{\n  \"schema\": \"reprise.measure/1\"\n}\n", "{"] {
        let json = lab.file("other", contents);
        watch(&lab, server.address(), &json).run().exits(2).says(&["not a file with one result per line"]);
        assert_eq!(fs::read_to_string(json).unwrap(), contents);
    }
    assert_eq!(server.completed(), 0);
}

#[test]
fn a_document_on_standard_output_is_alone_there() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let outcome = watch(&lab, server.address(), Path::new("-")).args(["--repeats", "2"]).run().exits(0).silently();
    let documents: Vec<MeasureDocument> = outcome.page.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 2);
    watch(&lab, server.address(), Path::new("-")).run_into_closed_pipe().exits(0).silently();
}

#[test]
fn the_lab_can_be_watched() {
    let lab = Lab::new();
    let json = lab.path("lab.jsonl");
    let arguments = ["measure", "--count", "1", "--every", "50ms", "--repeats", "2", "--json"];
    let outcome = Reprise::new(arguments).arg(&json).run().exits(0).silently();
    let documents: Vec<LabDocument> =
        fs::read_to_string(json).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((documents.len(), documents[1].results.len()), (2, 6));
    assert_eq!(outcome.page.lines().count(), 2);
}

#[test]
fn a_target_that_is_down_is_told_and_does_not_end_the_watch() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let address = server.address();
    let (json, port) = (lab.path("watch.jsonl"), free_port());
    let running = watch(&lab, address, &json).arg("--metrics").arg(port.to_string()).start();
    let is_up = |document: &MeasureDocument| !document.runs.is_empty() && document.failures.is_empty();
    wait_until("a round", || rounds(&json).last().is_some_and(is_up));
    drop(server);
    wait_until("a round without the target", || rounds(&json).last().is_some_and(|it| it.runs.is_empty()));
    wait_until("metrics that say so", || number(&scrape(port), "reprise_up") == 0.0);
    let server = lab.server_with(|config| config.listen = address);
    wait_until("the target's return", || rounds(&json).last().is_some_and(is_up));
    wait_until("metrics that say so", || number(&scrape(port), "reprise_up") == 1.0);
    assert!(number(&scrape(port), "reprise_rounds_down") >= 1.0);
    interrupt(running, &server);
}

#[cfg(unix)]
#[track_caller]
fn interrupt(running: reprise_harness::Running, server: &EmbeddedServer) {
    assert!(server.completed() > 0);
    running.interrupt();
    let outcome = running.finish().exits(130);
    assert!(outcome.page.contains("down: cannot connect to"), "{}", outcome.page);
}

#[cfg(not(unix))]
fn interrupt(running: reprise_harness::Running, _server: &EmbeddedServer) {
    drop(running);
}

#[test]
fn down_in_every_round_is_a_failure() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let address = server.address();
    drop(server);
    let json = lab.path("watch.jsonl");
    watch(&lab, address, &json).args(["--repeats", "2"]).run().exits(3).says(&["cannot connect"]);
    assert_eq!(rounds(&json).len(), 2, "each round is kept with its reason");
}

#[test]
fn conditions_are_judged_in_every_round() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let json = lab.path("watch.jsonl");
    let outcome = watch(&lab, server.address(), &json).args(["--repeats", "3", "--fail-if", "full.tls > 1ns"]).run();
    let outcome = outcome.exits(1).says(&["3 of 3 rounds failed the check"]);
    assert_eq!(outcome.stderr.matches("--fail-if 'full.tls > 1ns' is met").count(), 3);
    for round in rounds(&json) {
        assert_eq!(round.conditions.len(), 1, "each round keeps what came of it");
    }
}

#[test]
fn metrics_are_openmetrics() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (json, port) = (lab.path("watch.jsonl"), free_port());
    let arguments = ["--fail-if", "full.tls > 1ns", "--metrics"];
    let running = watch(&lab, server.address(), &json).args(arguments).arg(port.to_string()).start();
    wait_until("two rounds", || rounds(&json).len() > 1);
    wait_until("metrics of two rounds", || number(&scrape(port), "reprise_rounds") > 1.0);
    let response = request(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (head, text) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{head}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let parsed = parse(text);
    let phases = &parsed.families["reprise_phase_seconds"];
    assert_eq!((phases.unit.as_str(), phases.family_type == OpenMetricsType::Gauge), ("seconds", true));
    let mut labels = phases.get_label_names().to_vec();
    labels.sort();
    assert_eq!(labels, ["kind", "phase", "quantile", "target", "tls"]);
    // Two versions, two kinds, all phases but `resolve`, five quantiles.
    assert_eq!(phases.iter_samples().count(), 2 * 2 * 5 * 5);
    assert_eq!(parsed.families["reprise_connections"].family_type, OpenMetricsType::Counter);
    assert!(number(&parsed, "reprise_conditions_met") > 1.0);
    for name in ["reprise_resumption_ratio", "reprise_round_trips", "reprise_traffic_bytes", "reprise_build"] {
        assert!(parsed.families.contains_key(name), "{name}: {text}");
    }
    let head_only = request(port, "HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head_only.starts_with("HTTP/1.1 200 OK") && head_only.ends_with("\r\n\r\n"));
    for (asked, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
        ("nonsense\r\n\r\n", "400"),
        (&"x".repeat(8192), "400"),
    ] {
        assert!(request(port, asked).starts_with(&format!("HTTP/1.1 {status} ")), "{asked:.40}");
    }
    drop(running);
}

#[test]
fn an_address_that_is_taken_is_told_before_any_connection() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let json = lab.path("watch.jsonl");
    for address in [address.as_str(), "127.0.0.1", "nowhere.invalid:1"] {
        let outcome = watch(&lab, server.address(), &json).args(["--metrics", address]).run().exits(2);
        outcome.says(&["--metrics: cannot listen on", address]);
    }
    assert_eq!(server.completed(), 0);
}

type Exposition = MetricsExposition<OpenMetricsType, OpenMetricsValue>;

#[track_caller]
fn parse(text: &str) -> Exposition {
    parse_openmetrics(text).unwrap_or_else(|error| panic!("{error:?} in\n{text}"))
}

fn scrape(port: u16) -> Exposition {
    let response = request(port, "GET /metrics HTTP/1.1\r\n\r\n");
    parse(response.split_once("\r\n\r\n").unwrap().1)
}

/// The only or the first sample of a family; -1 where there is none yet.
fn number(metrics: &Exposition, name: &str) -> f64 {
    let sample =
        metrics.families.get(name).and_then(|family| family.iter_samples().next().map(|sample| sample.value.clone()));
    match sample {
        Some(OpenMetricsValue::Gauge(value)) => value.as_f64(),
        Some(OpenMetricsValue::Counter(counter)) => counter.value.as_f64(),
        _ => -1.0,
    }
}

fn request(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
