//! `reprise explain RESULT`: the critical path of what was measured against a real server, and what a change would bring.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::fs;
use std::path::{Path, PathBuf};

use reprise_harness::{Lab, Reprise};
use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::document::{ExplainDocument, ExplainPath, ExplainSide, LoadDocument};
use reprise_model::{Kind, Operation, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};

/// What is built in alone, so that these tests need no plugin.
const NO_PLUGINS: [&str; 2] = ["--plugins", "no-plugins-are-here"];

/// A result of `measure` of the lab's server, RSA or not as it comes.
fn measured(lab: &Lab) -> PathBuf {
    let server = lab.server(EmbeddedResumption::Ticket);
    // ring has no ML-KEM.
    let outcome = lab.measure(server.address()).args(["--groups", "x25519"]).count(6).run().exits(0);
    lab.file("measure.json", outcome.json.unwrap())
}

fn explained(file: &Path, flags: &[&str]) -> ExplainDocument {
    let file = file.to_str().unwrap();
    let arguments = [&["explain", file, "--json", "-"][..], &NO_PLUGINS, flags].concat();
    serde_json::from_str(&Reprise::new(arguments).run().exits(0).page).unwrap()
}

fn path(document: &ExplainDocument, tls: Version, kind: Kind) -> &ExplainPath {
    let is_it = |path: &&ExplainPath| (path.tls, path.kind, path.changes.is_empty()) == (tls, kind, true);
    document.paths.iter().find(is_it).unwrap()
}

/// Of a path: whose each operation is, without the network.
fn operations(path: &ExplainPath) -> Vec<(ExplainSide, Operation)> {
    path.steps.iter().filter_map(|step| Some((step.side, step.operation?))).collect()
}

#[test]
fn each_handshake_is_laid_out_in_the_order_of_time() {
    let lab = Lab::new();
    let document = explained(&measured(&lab), &["--server-stack", "rustls-ring"]);
    assert_eq!((document.schema.as_str(), document.server_assumed), (ExplainDocument::SCHEMA, false));
    let full = path(&document, Version::Tls13, Kind::Full);
    assert_eq!(
        operations(full),
        [
            (ExplainSide::Client, Operation::KeyPair),
            (ExplainSide::Server, Operation::KeyPair),
            (ExplainSide::Server, Operation::Agree),
            (ExplainSide::Server, Operation::Hkdf),
            (ExplainSide::Server, Operation::Sign),
            (ExplainSide::Server, Operation::Hkdf),
            (ExplainSide::Client, Operation::Agree),
            (ExplainSide::Client, Operation::Hkdf),
            (ExplainSide::Client, Operation::Verify),
            (ExplainSide::Client, Operation::Hkdf),
        ]
    );
    assert!(operations(path(&document, Version::Tls12, Kind::Ticket)).iter().all(|(_, it)| *it == Operation::Prf));
    for path in &document.paths {
        let sides = [ExplainSide::Client, ExplainSide::Network, ExplainSide::Server].map(|side| path.share_of(side));
        assert!((sides.iter().sum::<f64>() - path.path_ns).abs() < 1.0, "{path:?}");
        assert!((sides[1] - (path.round_trips * path.round_trip_ns) as f64).abs() < 1.0, "{path:?}");
        let sum = path.path_ns + path.unexplained_ns;
        assert!((sum - path.measured_ns.unwrap() as f64).abs() < 1.0, "{path:?}");
        let begins: Vec<f64> = path.steps.iter().map(|step| step.begin_ns).collect();
        assert!(begins.is_sorted(), "{begins:?}");
    }
}

#[test]
fn a_server_of_known_processor_time_is_above_the_floor() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let measure = lab.measure(nginx.address()).count(60).args(["--server-pid", &nginx.pid().to_string()]);
    let document = explained(&lab.file("measure.json", measure.run().exits(0).json.unwrap()), &[]);
    let server = document.server.unwrap();
    assert!(server.operations_ns > 10_000.0 && server.tcp_ns > 1_000.0, "{server:?}");
    assert!(server.ratio > 1.0, "no server costs less than the floor: {server:?}");
    assert_eq!(explained(&measured(&lab), &[]).server, None, "nobody named its process");

    let load = |flags: &str| {
        let load = Reprise::load(nginx.address()).flags("--duration 1s -c 4 --mix full=1,ticket=1").flags(flags);
        lab.file("load.json", load.run().exits(0).json.unwrap())
    };
    let ca = lab.ca();
    let named = load(&format!("--server-pid {} --verify --ca {} --sni localhost", nginx.pid(), ca.display()));
    let result: LoadDocument = serde_json::from_str(&fs::read_to_string(&named).unwrap()).unwrap();
    let full = result.handshakes.iter().find(|it| it.kind == Kind::Full).unwrap();
    assert_eq!(full.peer_key.as_deref(), Some("p-256"));
    let document = explained(&named, &[]);
    let server = document.server.unwrap();
    assert!(document.paths.is_empty() && server.ratio > 1.0 && server.operations_ns > 10_000.0, "{server:?}");
    let refused = |file: &Path, flags: &[&str], why: &str| {
        let arguments = [&["explain", file.to_str().unwrap()][..], &NO_PLUGINS, flags].concat();
        Reprise::new(arguments).run().exits(2).says(&[why]);
    };
    refused(&named, &["--what-if", "key=p-384"], "no critical path that could change");
    refused(&load(""), &[], "run it with --server-pid");
    refused(&load(&format!("--server-pid {}", nginx.pid())), &[], "run it with --verify");
}

#[test]
fn a_change_is_predicted_with_an_interval() {
    let lab = Lab::new();
    let document = explained(&measured(&lab), &["--what-if", "key=rsa-4096,rtt=80ms"]);
    let changed = document.paths.last().unwrap();
    assert_eq!(changed.changes, ["key=rsa-4096", "rtt=80.00 ms"]);
    let full = path(&document, Version::Tls13, Kind::Full);
    assert_eq!((changed.tls, changed.kind, changed.key.as_deref()), (Version::Tls13, Kind::Full, Some("rsa-4096")));
    assert!((changed.unexplained_ns - full.unexplained_ns).abs() < 1.0, "the rest stays as it was");
    let (predicted, [low, high]) = (changed.predicted_ns.unwrap(), changed.predicted_ci95_ns.unwrap());
    assert!(low < predicted && predicted < high && predicted > 80e6, "{low} {predicted} {high}");
    let error = changed.model_error_ns.unwrap();
    assert!(error > 0.0 && (high - low) / 2.0 >= error, "the model's error is in the interval: {error} {low} {high}");
    let farther = explained(&measured(&lab), &["--what-if", "rtt=80ms"]);
    assert_eq!(farther.paths.last().unwrap().model_error_ns, Some(0.0), "it changes no operation");
    let signing = |path: &ExplainPath| {
        path.steps.iter().find(|step| step.operation == Some(Operation::Sign)).map(|step| step.took_ns).unwrap()
    };
    // RSA with 4096 bits signs far slower than any key of the lab, whatever the machine.
    assert!(signing(changed) > 3.0 * signing(full), "{changed:?}");
    let ticket = explained(&measured(&lab), &["--what-if", "kind=ticket,tls=1.2,key=p-256"]);
    assert!(ticket.warnings.iter().any(|it| it.starts_with("key=p-256 changes nothing")), "{:?}", ticket.warnings);
    assert!(operations(ticket.paths.last().unwrap()).iter().all(|(_, it)| *it == Operation::Prf));
}

#[test]
fn a_trace_has_its_path_too_and_every_format_shows_it() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let file = lab.path("trace.json");
    lab.trace(server.address()).args(["--json", file.to_str().unwrap()]).run().exits(0);
    let document = explained(&file, &[]);
    assert_eq!((document.of.as_str(), document.server_assumed), ("reprise.trace/1", true));
    let [csv, markdown, html] = ["path.csv", "path.md", "path.html"].map(|name| lab.path(name).to_str().unwrap().to_owned());
    let formats = ["--csv", &csv, "--markdown", &markdown, "--html", &html];
    let page = Reprise::new([&["explain", file.to_str().unwrap()][..], &NO_PLUGINS, &formats].concat()).run().exits(0).page;
    // Where a line ends depends on the figures.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("The longest operation is the") && page.contains('█'), "{page}");
    assert!(fs::read_to_string(csv).unwrap().starts_with("tls,kind,changes,measured_ns,predicted_ns,path_ns"));
    for shown in [markdown, html] {
        assert!(fs::read_to_string(shown).unwrap().contains("The critical path"));
    }
}

#[test]
fn what_has_no_path_is_a_clear_error() {
    let lab = Lab::new();
    let file = measured(&lab);
    let measured = file.to_str().unwrap();
    let wrong = lab.file("wrong.json", "{\"schema\": \"reprise.speed/1\"}");
    let broken = lab.file("broken.json", "{");
    for (arguments, words) in [
        (&["explain", wrong.to_str().unwrap()][..], "only results of measure, trace and load can be explained"),
        (&["explain", broken.to_str().unwrap()], "is not a result of reprise"),
        (&["explain", "none-there.json"], "cannot read none-there.json"),
        (&["explain", measured, "--server-stack", "none-such"], "unknown stack 'none-such'; available: rustls-aws-lc"),
        (&["explain", measured, "--what-if", "key=dsa"], "unknown 'dsa'; known: rsa-2048"),
        (&["explain", measured, "--what-if", "kind=id"], "TLS 1.3 has no id"),
        (&["explain", "nagle", "--what-if", "rtt=1s"], "are for a result: name its file"),
        (&["explain", "nagle", "--json", "-"], "a cause has --markdown and --html alone"),
    ] {
        let outcome = Reprise::new([arguments, &NO_PLUGINS].concat()).run();
        assert_ne!(outcome.code, 0, "{arguments:?}");
        outcome.says(&[words]);
    }
}
