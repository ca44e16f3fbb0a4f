//! `reprise explain`, and a saved diagnosis shown again in every format.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::fs;
use std::path::{Path, PathBuf};

use reprise_harness::Reprise;
use serde_json::Value;

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    Reprise::new(arguments).run().exits(0).page
}

fn published(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/causes").join(page)).unwrap()
}

#[test]
fn explain_prints_the_published_page() {
    assert_eq!(printed(&["explain", "not-offered", "--markdown", "-"]), published("not-offered.md"));
    let page = printed(&["explain", "not-offered"]);
    for part in
        ["What happens", "RFC 5077", "    openssl s_client -connect", "nginx        ssl_session_cache shared:SSL:10m;"]
    {
        assert!(page.contains(part), "{part} is missing in\n{page}");
    }
    assert!(page.lines().filter(|line| !line.starts_with("    ")).all(|line| line.chars().count() <= 100));
}

#[test]
fn explain_alone_lists_every_cause() {
    let list = printed(&["explain"]);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for slug in ["not-offered", "tickets-run-out", "client-never-offers", "nagle", "signature-unverified"] {
        assert!(names.contains(&slug), "{slug}");
    }
    assert!(published("README.md").ends_with(&printed(&["explain", "--markdown", "-"])));
}

#[test]
fn an_unknown_cause_is_a_usage_error_that_names_its_like() {
    for (unknown, like) in [("not-ofered", "similar: not-offered"), ("qqqq", "lists all causes"), ("", "lists all causes")] {
        let outcome = Reprise::new(["explain", unknown]).run().exits(2).says(&[like]);
        assert_eq!(outcome.page, "");
    }
}

/// A diagnosis of two targets, of which one was not reached.
fn saved(folder: &Path) -> PathBuf {
    let finding = serde_json::json!({
        "id": "not-offered", "severity": "fault", "confidence": "certain", "title": "no resumption", "evidence": ["seen"],
        "cost_ns": 1000, "remedy": { "software": "nginx", "text": "ssl_session_tickets on;" },
        "remedies": [{ "software": "nginx", "text": "ssl_session_tickets on;" }],
    });
    let experiment = serde_json::json!({
        "name": "plain", "varies": "nothing", "asked": { "tls": "1.3", "kind": "ticket" }, "repeats": 2, "connections": 4,
        "offered": 3, "resumed": 0, "failed": 0, "separates": ["not-offered", "single-use"], "outcome": "none resumed",
    });
    let target = |target: &str, reached: bool| {
        serde_json::json!({
            "target": target, "subject": "server", "address": null, "software": null, "reached": reached, "failure": null, "incomplete": false,
            "verdict": if reached { "no resumption" } else { "not reached" },
            "findings": if reached { vec![finding.clone()] } else { Vec::new() },
            "experiments": if reached { vec![experiment.clone()] } else { Vec::new() },
            "connections": 4, "seconds": 0.5, "matrix": [], "figures": [], "warnings": [],
        })
    };
    let document = serde_json::json!({
        "schema": "reprise.diagnose/1", "targets": [target("a.example", true), target("b.example", false)],
        "provenance": { "version": "0.1.0", "commit": null, "command": [], "time": "2026-11-22T12:00:00Z", "machine": null,
            "cpu": null, "kernel": null, "libraries": {} },
    });
    let file = folder.join("diagnosis.json");
    fs::write(&file, document.to_string()).unwrap();
    file
}

#[test]
fn a_saved_diagnosis_is_shown_again_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = saved(folder.path());
    let file = file.to_str().unwrap();
    let page = printed(&["report", file]);
    assert!(
        page.contains("a.example: no resumption") && page.contains("not reached") && !page.contains("none resumed"),
        "{page}"
    );
    assert!(printed(&["report", file, "--experiments"]).contains("none resumed, 3 times"));

    let json: Value = serde_json::from_str(&printed(&["report", file, "--json", "-"])).unwrap();
    assert_eq!(json, serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap());
    assert!(printed(&["report", file, "--csv", "-"]).contains("a.example,not-offered,fault,certain"));
    assert!(printed(&["report", file, "--markdown", "-"]).contains("## a.example: no resumption"));
    let sarif: Value = serde_json::from_str(&printed(&["report", file, "--sarif", "-"])).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "not-offered");
    assert!(printed(&["report", file, "--junit", "-"]).contains("<testcase name=\"single-use\" classname=\"a.example\""));

    let (sarif, junit) = (folder.path().join("out.sarif"), folder.path().join("out.xml"));
    let page = printed(&["report", file, "--sarif", sarif.to_str().unwrap(), "--junit", junit.to_str().unwrap()]);
    assert!(page.contains("a.example: no resumption"), "the page is printed beside files");
    assert!(
        fs::read_to_string(sarif).unwrap().contains("2.1.0") && fs::read_to_string(junit).unwrap().contains("<testsuites")
    );
}

#[test]
fn formats_of_a_diagnosis_are_refused_where_they_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = saved(folder.path());
    let file = file.to_str().unwrap();
    let other = folder.path().join("load.json");
    fs::write(&other, r#"{"schema":"reprise.load/1"}"#).unwrap();
    let one = folder.path().join("one").to_str().unwrap().to_owned();
    for (arguments, why) in [
        (&["report", other.to_str().unwrap(), "--sarif", "-"][..], "--sarif applies only to results of diagnose"),
        (&["report", other.to_str().unwrap(), "--experiments"], "--experiments applies only to results of diagnose"),
        (&["report", file, "--sarif", "-", "--json", "-"], "can go to standard output"),
        (&["report", file, "--sarif", &one, "--junit", &one], "name the same file"),
        (&["report", file, "--junit", "/no/such/folder/file"], "cannot write"),
    ] {
        Reprise::new(arguments).run().exits(2).says(&[why]);
    }
    assert!(!Path::new(&one).exists());
}
