//! `reprise explain`, and a saved diagnosis shown again in every format.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::fs;
use std::path::{Path, PathBuf};

use reprise_harness::{Lab, Reprise};
use reprise_lab::EmbeddedResumption;
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

/// A diagnosis of two targets: one that does not resume, and one that was not reached.
fn saved(lab: &Lab) -> (PathBuf, String) {
    let server = lab.server(EmbeddedResumption::Off);
    let call = lab.diagnose(server.address()).arg("127.0.0.1:1").args(["--tls", "1.3", "--rate", "1000"]);
    (lab.file("diagnosis.json", call.run().exits(1).json.unwrap()), server.address().to_string())
}

#[test]
fn a_saved_diagnosis_is_shown_again_in_every_format() {
    let lab = Lab::new();
    let (file, target) = saved(&lab);
    let file = file.to_str().unwrap();
    let page = printed(&["report", file]);
    assert!(page.contains(&format!("{target}: ")) && page.contains("not reached"), "{page}");
    assert!(printed(&["report", file, "--experiments"]).len() > page.len(), "with every experiment");

    let json: Value = serde_json::from_str(&printed(&["report", file, "--json", "-"])).unwrap();
    assert_eq!(json, serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap());
    assert!(printed(&["report", file, "--csv", "-"]).contains(&format!("{target},not-offered,fault,likely")));
    assert!(printed(&["report", file, "--markdown", "-"]).contains(&format!("## {target}: ")));
    let sarif: Value = serde_json::from_str(&printed(&["report", file, "--sarif", "-"])).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "not-offered");
    assert!(
        printed(&["report", file, "--junit", "-"])
            .contains(&format!("<testcase name=\"not-offered\" classname=\"{target}\""))
    );

    let (sarif, junit) = (lab.path("out.sarif"), lab.path("out.xml"));
    let page = printed(&["report", file, "--sarif", sarif.to_str().unwrap(), "--junit", junit.to_str().unwrap()]);
    assert!(page.contains(&format!("{target}: ")), "the page is printed beside files");
    assert!(
        fs::read_to_string(sarif).unwrap().contains("2.1.0") && fs::read_to_string(junit).unwrap().contains("<testsuites")
    );
}

#[test]
fn formats_of_a_diagnosis_are_refused_where_they_do_not_fit() {
    let lab = Lab::new();
    let (file, _) = saved(&lab);
    let file = file.to_str().unwrap();
    let other = lab.file("load.json", r#"{"schema":"reprise.load/1"}"#);
    let one = lab.path("one").to_str().unwrap().to_owned();
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
