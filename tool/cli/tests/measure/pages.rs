//! Results as pages: every command writes one that an HTML validator and an accessibility checker accept, and what a server says
//! stays text. `REPRISE_PAGES=FOLDER` keeps the pages, to be looked at.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use reprise_lab::EmbeddedResumption;
use serde_json::Value;

use reprise_harness::{Lab, Outcome, Reprise, not_run};

/// Where `npm ci --ignore-scripts` puts the checkers.
const CHECKERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workshop/pages");

/// However many plugins there are.
const STACKS: &str = "rustls-aws-lc,rustls-ring";

const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/documents");

#[test]
fn the_page_of_every_command_is_valid_accessible_and_laid_out() {
    let lab = Lab::new();
    let folder = std::env::var_os("REPRISE_PAGES").map_or_else(|| lab.directory().to_owned(), PathBuf::from);
    let page = |name: &str| folder.join(format!("{name}.html"));
    let server = lab.server(EmbeddedResumption::Ticket);
    let other = lab.server(EmbeddedResumption::Off);
    let (target, other, ca) = (server.address().to_string(), other.address().to_string(), lab.ca());
    let ca = ca.to_str().unwrap();
    let mut pages = Vec::new();
    let mut write = |name: &str, arguments: &[&str]| {
        Reprise::new(arguments).arg("--html").arg(page(name)).run().exits(0);
        pages.push(page(name));
    };
    write("measure", &["measure", &target, "--ca", ca, "--count", "20"]);
    write("lab", &["measure", "--count", "10"]);
    write("trace", &["trace", &target, "--ca", ca]);
    write("diagnose", &["diagnose", &target, "--ca", ca, "--experiments"]);
    write("explain", &["explain", "not-offered"]);
    write("causes", &["explain"]);
    if cfg!(target_os = "linux") {
        write("load", &["load", &target, "--duration", "3s", "--mix", "full=1,ticket=1"]);
        write("load-step", &["load", &target, "--duration", "1s", "--rate", "50", "--step", "p90=1s"]);
        write("compare", &["compare", "resumption", "--quick", "--keys", "p-256", "--tls", "1.3", "--stacks", STACKS]);
        write("layers", &["layers", "--count", "10", "--stacks", STACKS]);
    }
    // Measuring boards takes minutes; tool/cli/tests/board.rs does.
    for name in [
        "away",
        "board",
        "refused",
        "mutual",
        "ticket-refused",
        "compare",
        "layers",
        "load",
        "speed",
        "explain",
        "lab",
        "diagnose-haproxy",
        "diagnose-nodes",
        "diagnose-client",
    ] {
        write(&format!("report-{name}"), &["report", &format!("{DOCUMENTS}/{name}.json")]);
    }
    let side_by_side = ["nginx", "refused"].map(|name| format!("{DOCUMENTS}/{name}.json"));
    write("report-two", &["report", &side_by_side[0], &side_by_side[1]]);
    write("isolation", &["diagnose", "--isolation", &target, &other, "--ca", ca]);
    hostile(&page("hostile"));
    pages.push(page("hostile"));

    if !Path::new(CHECKERS).join("node_modules").exists() || !is_installed("node") || !is_installed("java") {
        return not_run("node, java and 'npm ci --ignore-scripts' in workshop/pages");
    }
    check("check.js", &pages);
    if !is_installed("chromium") {
        return not_run("chromium");
    }
    check("layout.js", &pages);
}

fn check(script: &str, pages: &[PathBuf]) {
    let checked = Command::new("node").arg(script).args(pages).current_dir(CHECKERS).output().unwrap();
    let said = [checked.stdout, checked.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(checked.status.success(), "{said}");
}

fn is_installed(program: &str) -> bool {
    // Java's flag has one hyphen.
    let flag = if program == "java" { "-version" } else { "--version" };
    Command::new(program).arg(flag).output().is_ok_and(|output| output.status.success())
}

/// The page of a server that refuses STARTTLS in words of its own.
fn hostile(page: &Path) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all("554 \"'></title><script>alert(1)</script>\u{202e}\r\n".as_bytes());
        }
    });
    let arguments = ["measure", &address, "--starttls", "smtp", "--timeout", "2s", "--html"];
    Reprise::new(arguments).arg(page).run().exits(3)
}

#[test]
fn an_archive_joins_the_servers_account_by_port() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let har = lab.path("result.har");
    let outcome = lab.measure(server.address()).count(3).arg("--har").arg(&har).run().exits(0);
    let archive: Value = serde_json::from_str(&fs::read_to_string(&har).unwrap()).unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    let samples = outcome.document().samples;
    assert_eq!(entries.len(), samples.len());
    for sample in samples {
        let entry = entries.iter().find(|entry| entry["connection"] == sample.local_port.to_string().as_str()).unwrap();
        assert_eq!((&entry["request"]["method"], &entry["response"]["status"]), (&"GET".into(), &200.into()));
        assert_eq!(entry["serverIPAddress"], "127.0.0.1");
        assert!(entry["comment"].as_str().unwrap().contains(&format!("observed: {}", sample.kind)), "{entry}");
        let tls = sample.phases.tls.unwrap().0 as f64 / 1e6;
        assert_eq!(entry["timings"]["ssl"], tls);
    }
    let traced = lab.path("trace.har");
    let target = server.address().to_string();
    Reprise::new(["trace", &target, "--ca"]).arg(lab.ca()).arg("--har").arg(&traced).run().exits(0);
    let archive: Value = serde_json::from_str(&fs::read_to_string(&traced).unwrap()).unwrap();
    assert_eq!(archive["log"]["entries"].as_array().unwrap().len(), 2);
}
