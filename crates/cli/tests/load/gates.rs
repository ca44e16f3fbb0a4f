//! Loads that are held against conditions, and side by side.

use std::path::Path;

use serde_json::Value;

use crate::harness::{document, reprise, server, text};

fn load(directory: &Path, name: &str, arguments: &[&str]) -> (Option<i32>, String, Value) {
    let (json, server) = (directory.join(name), server());
    let address = server.address().to_string();
    let shape = ["load", &address, "-c", "4", "-n", "60", "--quiet", "--json", json.to_str().unwrap()];
    let output = reprise(&[&shape[..], arguments].concat());
    (output.status.code(), text(&output.stderr).to_owned(), document(&json))
}

#[test]
fn a_condition_that_is_met_fails_the_load_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let junit = directory.path().join("junit.xml");
    let conditions = ["--fail-if", "failed > 0", "--fail-if", "latency.p99 > 1ns", "--fail-if", "status.200 < 100%"];
    let arguments = [&conditions[..], &["--junit", junit.to_str().unwrap()]].concat();
    let (code, said, document) = load(directory.path(), "a.json", &arguments);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--fail-if 'latency.p99 > 1ns' is met") && said.contains("full latency p99 is"), "{said}");
    let outcomes: Vec<&str> =
        document["conditions"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["not_met", "met", "not_met"]);
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("tests=\"4\" skipped=\"0\" failures=\"1\" errors=\"0\"") || junit.contains("failures=\"1\""),
        "{junit}"
    );
    assert!(junit.contains("name=\"reached\"") && junit.contains("latency.p99 &gt; 1ns"), "{junit}");
}

#[test]
fn a_load_that_holds_ends_well() {
    let directory = tempfile::tempdir().unwrap();
    let conditions = ["--fail-if", "failed > 0", "--fail-if", "full.tls.p50 > 60s", "--fail-if", "rate < 0.001/s"];
    let (code, said, document) = load(directory.path(), "a.json", &conditions);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{document}");
}

#[test]
fn the_table_has_latencies_of_the_whole_and_of_each_second() {
    let directory = tempfile::tempdir().unwrap();
    let csv = directory.path().join("load.csv");
    let (_, _, document) = load(directory.path(), "a.json", &["--csv", csv.to_str().unwrap()]);
    let csv = std::fs::read_to_string(csv).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0],
        "second,kind,completed,phase,p50_ns,p90_ns,p95_ns,p99_ns,p999_ns,max_ns".split(',').collect::<Vec<_>>()
    );
    let total = rows.iter().find(|row| row[0].is_empty() && row[3] == "total").unwrap();
    let latency = &document["latency_ns"]["full"]["total"];
    for (column, name) in [(4, "p50"), (6, "p95"), (7, "p99"), (9, "max")] {
        assert_eq!(total[column], latency[name].to_string(), "{name}");
    }
    let first = rows.iter().find(|row| row[0] == "0").unwrap();
    assert_eq!((first[1], first[3]), ("full", "total"));
    assert!(first[4].parse::<u64>().unwrap() > 0);
}

#[test]
fn two_loads_stand_side_by_side_and_other_results_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    load(directory.path(), "before.json", &[]);
    load(directory.path(), "after.json", &["--requests", "2"]);
    let side = file("side.json");
    let shown = reprise(&["report", &file("before.json"), &file("after.json"), "--json", &side]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let page = text(&shown.stdout);
    for words in ["before against after", "tls p95", "client cpu", "requests", "ratio"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let document: Value = serde_json::from_slice(&std::fs::read(&side).unwrap()).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.side-by-side.1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    assert!(jsonschema::is_valid(&schema, &document), "{document}");
    let named: Vec<&str> =
        document["differences"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert!(named.contains(&"requests") && named.contains(&"port") && !named.contains(&"groups"), "{named:?}");
    let rows = document["rows"].as_array().unwrap();
    let median = rows.iter().find(|it| it["phase"] == "tls" && it["figure"] == "p50").unwrap();
    let values = median["values"].as_array().unwrap();
    let of = |place: usize| values[place]["value"].as_f64().unwrap();
    assert!((values[1]["ratio"].as_f64().unwrap() - of(1) / of(0)).abs() < 1e-9, "{median}");
    assert!(values[1]["ratio_ci95"].is_array() && values[0]["ratio"].is_null(), "{median}");
    // It is a result as well.
    let again = reprise(&["report", &side, "--csv", "-"]);
    assert!(text(&again.stdout).starts_with("tls,kind,phase,figure,unit,result,value,"), "{}", text(&again.stdout));

    load(directory.path(), "open.json", &["--rate", "400"]);
    let refused = reprise(&["report", &file("before.json"), &file("open.json")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("a closed loop"), "{}", text(&refused.stderr));
    load(directory.path(), "other.json", &["--tls", "1.2"]);
    let refused = reprise(&["report", &file("before.json"), &file("other.json")]);
    assert!(text(&refused.stderr).contains("has 1.3 full"), "{}", text(&refused.stderr));
    let refused = reprise(&["report", &file("before.json"), &side]);
    assert!(text(&refused.stderr).contains("only results of one command"), "{}", text(&refused.stderr));
}
