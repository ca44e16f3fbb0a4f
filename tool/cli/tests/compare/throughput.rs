//! `reprise compare throughput`: bulk data.

use reprise_harness::{Reprise, not_run};
use serde_json::Value;

use super::plugins::folder;

fn run(flags: &str) -> Value {
    let (document, outcome) = Reprise::without_plugins(&format!("compare throughput {flags}")).run_for_json();
    outcome.exits(0);
    document
}

fn rows<'a>(document: &'a Value, is_it: impl Fn(&Value) -> bool + 'a) -> Vec<&'a Value> {
    document["rows"].as_array().unwrap().iter().filter(move |row| is_it(row)).collect()
}

#[test]
fn each_transfer_has_the_records_that_were_asked_for() {
    let document =
        run("--quick --stacks rustls-ring,rustls-aws-lc --tls 1.3 --records 16384,512,100 --suites TLS_AES_128_GCM_SHA256");
    for (record, overhead) in [(16_384, 22), (512, 22), (100, 22)] {
        let of_size = rows(&document, |row| row["bulk"]["record"] == record && row["bulk"]["sender"] == "server");
        assert!(of_size.len() >= 2, "both stacks: {document:#}");
        for row in of_size {
            let bytes = row["bulk"]["bytes"].as_u64().unwrap();
            assert_eq!(bytes % record, 0, "whole records");
            // RFC 9846 §5.2: five bytes of header, one of the type, sixteen of the tag; and nothing else is on its way.
            assert_eq!(row["bytes"]["received"].as_u64(), Some(bytes + bytes / record * overhead), "{row:#}");
            assert_eq!(row["bytes"]["sent"].as_u64(), Some(0));
            assert!(row["server_ns"]["ci95_ns"].is_array() && row["client_ns"]["ci95_ns"].is_array(), "{row:#}");
        }
    }
    let sends = rows(&document, |row| row["bulk"]["sender"] == "client");
    assert!(!sends.is_empty() && sends.iter().all(|row| row["bytes"]["received"] == 0), "{document:#}");
}

/// By a factor that no other load makes up for: AES in software takes ten times as long, and what is around it in a debug build as long.
#[test]
fn a_library_without_aes_instructions_takes_longer() {
    if !is_x86_with_aes() {
        return not_run("a processor with AES instructions");
    }
    let document = run("--quick --stacks rustls-aws-lc,rustls-ring --suites TLS_AES_128_GCM_SHA256 --records 16384");
    let by_hardware = |ratio: &&Value| ratio["from"]["bulk"]["hardware"] == false && ratio["to"]["bulk"]["hardware"] == true;
    let ratios: Vec<&Value> = document["ratios"].as_array().unwrap().iter().filter(by_hardware).collect();
    assert!(!ratios.is_empty() && ratios.iter().all(|ratio| ratio["server"] == "rustls-aws-lc"), "{document:#}");
    assert!(ratios.iter().all(|ratio| ratio["median"].as_f64().unwrap() > 1.5), "{ratios:#?}");
    let mut skipped = document["skipped"].as_array().unwrap().iter();
    let ring = skipped.find(|it| it["client"] == "rustls-ring" && it["bulk"]["hardware"] == false).unwrap();
    assert_eq!(ring["outcome"], "unsupported");
    assert_eq!(ring["reason"], "rustls-ring has no switch for the AES instructions of this CPU");
    let claims = document["claims"].as_array().unwrap();
    let mut judged: Vec<(&str, &str)> = claims
        .iter()
        .map(|claim| (claim["claim"].as_str().unwrap().split(' ').next().unwrap(), claim["verdict"].as_str().unwrap()))
        .collect();
    judged.dedup();
    assert_eq!(judged, [("AES-128-GCM", "same direction"), ("SHA-256", "not decided")], "{claims:#?}");
}

#[test]
fn plugins_send_records_of_the_size_that_they_are_told() {
    let Some(folder) = folder() else { return };
    let command = Reprise::without_plugins("compare throughput --quick --suites TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256 --records 16384,512 --stacks openssl,gnutls,wolfssl,mbedtls,bearssl --plugins").arg(folder);
    let (document, outcome) = command.run_for_json();
    outcome.exits(0);
    for stack in ["openssl", "gnutls", "wolfssl", "mbedtls", "bearssl"] {
        assert!(!rows(&document, |row| row["server"] == stack).is_empty(), "{stack}: {document:#}");
    }
    let outcomes = document["skipped"].as_array().unwrap().iter().map(|it| &it["outcome"]);
    assert!(outcomes.into_iter().all(|outcome| outcome == "unsupported"), "{document:#}");
}

#[test]
fn what_is_no_record_is_refused() {
    Reprise::without_plugins("compare throughput --records 0").run().exits(2);
    Reprise::without_plugins("compare throughput --records 16385").run().exits(2);
    let outcome =
        Reprise::without_plugins("compare throughput --quick --over loopback --stacks rustls-ring --tls 1.3").run();
    outcome.exits(1).shows(&["data in bulk is measured over memory alone"]);
}

fn is_x86_with_aes() -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines().any(|line| line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "aes"))
}
