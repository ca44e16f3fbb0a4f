//! `--baseline`: what changed, read off real servers; files that are none are refused before any connection.

use std::fs;

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::document::{Change, Comparison, MeasureDocument};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};
use serde_json::Value;

use reprise_harness::{Lab, Reprise};

fn comparison(document: MeasureDocument) -> Comparison {
    *document.baseline.unwrap()
}

#[test]
fn phases_are_compared_by_the_samples_of_both() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let earlier = lab.measure(server.address()).count(8).run().exits(0);
    let file = lab.file("before.json", earlier.json.as_ref().unwrap());
    let outcome = lab.measure(server.address()).count(8).arg("--baseline").arg(&file).run().exits(0);
    let document = outcome.document();
    let comparison = comparison(document.clone());
    assert_eq!(comparison.warnings, [""; 0]);
    assert_eq!(comparison.provenance.map(|it| it.time), Some(earlier.document().provenance.time));
    let of = |kind, phase| {
        *comparison.phases.iter().find(|it| (it.tls, it.kind, it.phase) == (Version::Tls13, kind, phase)).unwrap()
    };
    for kind in [Kind::Full, Kind::Ticket] {
        let tls = of(kind, Phase::Tls);
        assert_eq!((tls.n_before, tls.n_after), (8, 8));
        assert_eq!(tls.before, earlier.measured(Version::Tls13, kind).phases[&Phase::Tls]);
        assert_eq!(tls.after, document.run(Version::Tls13, kind).unwrap().phases[&Phase::Tls]);
        let ([low, high], ratio) = (tls.ci95.unwrap(), tls.ratio.unwrap());
        assert!(low <= ratio && ratio <= high, "{tls:?}");
        assert_eq!(tls.change, Change::of(tls.ci95));
    }
    let shown = outcome.shows(&["Against", "change"]);
    let markdown = lab.path("page.md");
    Reprise::new(["report"]).arg(lab.file("now.json", shown.json.unwrap())).arg("--markdown").arg(&markdown).run().exits(0);
    assert!(fs::read_to_string(markdown).unwrap().contains("## Against"));
}

#[test]
fn the_lab_is_compared_server_by_server() {
    let lab = Lab::new();
    let earlier = Reprise::measure_lab().count(2).run().exits(0).json.unwrap();
    let file = lab.file("before.json", earlier);
    let outcome = Reprise::measure_lab().count(2).arg("--baseline").arg(file).run().exits(0);
    let document: Value = serde_json::from_str(outcome.json.as_deref().unwrap()).unwrap();
    for result in document["results"].as_array().unwrap() {
        assert_eq!(result["baseline"]["warnings"], serde_json::json!([]), "{}", result["label"]);
        assert!(!result["baseline"]["phases"].as_array().unwrap().is_empty());
    }
    outcome.shows(&["Too few samples to tell a change from chance"]);
}

#[test]
fn a_calibration_stands_beside_the_samples() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let document = lab.measure(server.address()).count(8).run().exits(0).document();
    let calibration = document.calibration.unwrap();
    assert_eq!([Kind::Full, Kind::Ticket].map(|kind| calibration.run(kind).unwrap().n), [16, 16]);
    assert!(calibration.samples.iter().map(|sample| sample.after).eq(1..=32), "one after each connection");
    assert_eq!(server.completed(), document.all_connections.total(), "none of it reaches the target");
}

#[test]
fn several_baselines_are_compared_at_once() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let files =
        ["1", "2", "3"].map(|name| lab.file(name, lab.measure(server.address()).count(8).run().exits(0).json.unwrap()));
    let outcome = lab.measure(server.address()).count(8).arg("--baseline").args(&files).run().exits(0);
    let compared = comparison(outcome.document());
    assert_eq!(compared.files.len(), 3);
    assert!(
        compared
            .phases
            .iter()
            .all(|it| it.n_before == 24 && it.own.is_some() == (it.phase != Phase::Connect) || it.phase == Phase::Receive)
    );
    assert_eq!(compared.controls.len(), 2);
    assert!(compared.verdict.is_some());
    outcome.shows(&["Against 3 results, the last of them"]);
    let two = Reprise::new(["measure", "--baseline"]).args(&files).arg("localhost:1").run().exits(2);
    two.says(&["put it before --baseline"]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_servers_processor_time_is_counted_and_judged() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    // A process of its own: this one's children end, and take their time with them.
    let server = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let pid = server.pid().to_string();
    let measure = || lab.measure(server.address()).count(60).args(["--server-pid", &pid]);
    let before = lab.file("before.json", measure().run().exits(0).json.unwrap());
    let outcome = measure().arg("--baseline").arg(before).args(["--fail-if", "baseline.server_cpu > -100%"]).run().exits(1);
    let document = outcome.says(&["baseline.server_cpu is "]).document();
    let cpu = document.server_cpu.unwrap();
    assert_eq!(cpu.connections, document.all_connections.total());
    assert!(cpu.per_connection_ns > 1_000, "a handshake takes no time? {cpu:?}");
    lab.measure(server.address()).args(["--server-pid", "4000000000"]).run().exits(2).says(&["no such process"]);
}

#[test]
fn a_file_that_is_no_baseline_is_refused_before_any_connection() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let earlier = lab.measure(server.address()).count(1).run().exits(0).json.unwrap();
    let seen = server.completed();
    let without = |field: &str| {
        let mut document: Value = serde_json::from_str(&earlier).unwrap();
        document.as_object_mut().unwrap().remove(field);
        document.to_string()
    };
    for (contents, words) in [
        ("reprise".to_owned(), "is not a result of reprise"),
        (earlier.replace("reprise.measure/1", "reprise.measure/2"), "from another version of reprise"),
        (earlier.replace("reprise.measure/1", "reprise.lab/7"), "from another version of reprise"),
        (earlier.replace("reprise.measure/1", "reprise.load/1"), "not a result of measure"),
        (earlier.replace("reprise.measure/1", "reprise.lab/1"), "of the embedded lab"),
        (without("runs"), "claims to be reprise.measure/1, but does not match"),
    ] {
        let file = lab.file("baseline.json", contents);
        lab.measure(server.address()).arg("--baseline").arg(file).run().exits(2).says(&["--baseline", words]);
    }
    let file = lab.file("of-target.json", &earlier);
    Reprise::new(["measure", "--baseline"]).arg(file).run().exits(2).says(&["a result of one target: add it"]);
    let absent = lab.path("absent.json");
    lab.measure(server.address()).arg("--baseline").arg(&absent).run().exits(2).says(&["cannot read", "absent.json"]);
    lab.measure(server.address()).arg("--baseline").arg(lab.directory()).run().exits(2).says(&["cannot read"]);
    assert_eq!((server.completed(), server.failures().len()), (seen, 0));
}
