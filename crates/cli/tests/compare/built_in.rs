//! Without any plugin: the stacks that are built in.

use serde_json::Value;

use super::{document, reprise, strings};

const SHORT: [&str; 8] = ["compare", "resumption", "--keys", "p-256", "--groups", "x25519", "--samples", "6"];

#[test]
fn built_in_stacks_answer_without_plugins() {
    let (document, output) = document(&mut reprise(&SHORT));
    assert!(output.status.success());
    let rows = document["rows"].as_array().unwrap();
    // rustls with itself, by either provider, and the engine with rustls: 1.2 full, id, ticket; 1.3 full, ticket.
    assert_eq!(rows.len(), 15, "{rows:#?}");
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        let samples = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!(row["kinds"], serde_json::json!({ kind: samples }), "{row:#}");
        assert!(row["client_ns"]["median_ns"].as_u64().unwrap() > 0 && row["server_ns"]["ci95_ns"].is_array(), "{row:#}");
    }
    assert!(strings(&document["matrix"], "outcome").iter().all(|outcome| *outcome == "works"));
    assert_eq!(document["skipped"], serde_json::json!([]));
    let clock = &document["clock"];
    let charged = clock["charged_ns"].as_f64().unwrap() / clock["thread_ns"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&charged), "{clock}");
    assert_valid(&document);
}

#[test]
fn resuming_costs_a_tls12_server_less() {
    let (document, _) = document(&mut reprise(&[&SHORT[..], &["--stacks", "rustls-aws-lc", "--tls", "1.2"]].concat()));
    let ratios = document["ratios"].as_array().unwrap();
    let saves = |ratio: &&Value| ratio["side"] == "server" && ratio["from"]["kind"] == "full";
    let saved: Vec<f64> = ratios.iter().filter(saves).map(|ratio| ratio["median"].as_f64().unwrap()).collect();
    assert_eq!(saved.len(), 2, "by ID and by ticket");
    // Without signature and key exchange: cheaper on any machine, though an unoptimized build has its own costs.
    assert!(saved.iter().all(|ratio| *ratio > 1.1), "{saved:?}");
}

#[test]
fn the_page_says_how_to_add_stacks() {
    let output = reprise(&[&SHORT[..], &["--stacks", "rustls-ring", "--tls", "1.3"]].concat()).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("cargo xtask stacks --system") && page.contains("rustls-ring"), "{page}");
}

#[test]
fn a_saved_result_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("compare.json");
    let narrow = [&SHORT[..], &["--stacks", "rustls-ring", "--tls", "1.3", "--json", json.to_str().unwrap()]].concat();
    let first = reprise(&narrow).output().unwrap();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let again = reprise(&["report", json.to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&first.stdout));
    let csv = reprise(&["report", json.to_str().unwrap(), "--csv", "-"]).output().unwrap();
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert_eq!(csv.lines().count(), 1 + 2 * 3, "a full and a resumed handshake, two sides and both: {csv}");
}

fn assert_valid(document: &Value) {
    let schema = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.compare.1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn built_in_stacks_keep_the_contract() {
    for (name, at_least) in [("rustls-aws-lc", 30), ("rustls-ring", 30), ("engine", 8)] {
        let output = reprise(&["stacks", "check", name]).output().unwrap();
        let page = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {page}\n{}", String::from_utf8_lossy(&output.stderr));
        let passed = page.lines().filter(|line| line.starts_with("ok ")).count();
        assert!(passed >= at_least, "{name}: {page}");
    }
}
