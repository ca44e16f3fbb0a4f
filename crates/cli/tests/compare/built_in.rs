//! Without any plugin: the stacks that are built in.

use serde_json::Value;

use super::{assert_valid, document, reprise, strings};

const SHORT: [&str; 8] = ["compare", "resumption", "--keys", "p-256", "--groups", "x25519", "--samples", "6"];

#[test]
fn built_in_stacks_answer_without_plugins() {
    let (document, output) = document(&mut reprise(&SHORT));
    assert!(output.status.success());
    let rows = document["rows"].as_array().unwrap();
    // rustls with itself, by either provider, and the engine with rustls: 1.2 full, id, ticket; 1.3 full, ticket, the same
    // with a request, early data.
    assert_eq!(rows.len(), 21, "{rows:#?}");
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        let samples = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!(row["kinds"], serde_json::json!({ kind: samples }), "{row:#}");
        assert!(row["client_ns"]["median_ns"].as_u64().unwrap() > 0 && row["server_ns"]["ci95_ns"].is_array(), "{row:#}");
    }
    // What rustls cannot do, and nothing else.
    let without: Vec<&Value> = document["matrix"].as_array().unwrap().iter().filter(|it| it["outcome"] != "works").collect();
    assert!(without.len() == 6 && without.iter().all(|it| it["psk_mode"] == "psk_ke"), "{without:#?}");
    assert_eq!(strings(&document["skipped"], "psk_mode"), ["psk_ke"; 3]);
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
fn early_data_is_compared_with_a_request_after_the_handshake() {
    let (document, _) = document(&mut reprise(&[&SHORT[..], &["--stacks", "rustls-ring", "--tls", "1.3"]].concat()));
    let ratios = document["ratios"].as_array().unwrap();
    let like: Vec<&Value> = ratios.iter().filter(|it| it["from"]["kind"] == "ticket" && it["side"] == "both").collect();
    assert_eq!(like.len(), 1, "{like:#?}");
    assert_eq!((&like[0]["to"]["kind"], &like[0]["from"]["request"]), (&"early".into(), &64.into()), "{like:#?}");
    let rows = document["rows"].as_array().unwrap();
    let sent = |kind: &str, request: u64| {
        let row = rows.iter().find(|row| row["kind"] == kind && row["request"] == request).unwrap();
        row["bytes"]["sent"].as_u64().unwrap()
    };
    // The request and what protects it: header, type, tag.
    assert_eq!(sent("ticket", 64) - sent("ticket", 0), 64 + 5 + 1 + 16);
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
    assert_eq!(csv.lines().count(), 1 + 4 * 3 + 1, "four handshakes, two sides and both; one that is skipped: {csv}");
    assert!(csv.lines().any(|line| line.contains(",early,") && line.ends_with(",psk_dhe_ke,64")), "{csv}");
}

#[test]
fn built_in_stacks_keep_the_contract() {
    for (name, at_least) in [("rustls-aws-lc", 90), ("rustls-ring", 90), ("engine", 30)] {
        let output = reprise(&["stacks", "check", name]).output().unwrap();
        let page = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {page}\n{}", String::from_utf8_lossy(&output.stderr));
        let passed = page.lines().filter(|line| line.starts_with("ok ")).count();
        assert!(passed >= at_least, "{name}: {page}");
    }
}
