//! Each side in a process of its own, over TCP on 127.0.0.1; and instructions of each side's process.

use reprise_harness::Reprise;
use reprise_servers::require;
use serde_json::{Value, json};

use super::strings;

fn compare(flags: &str) -> Reprise {
    Reprise::without_plugins("compare resumption --keys p-256 --groups x25519").flags(flags)
}

fn median(row: &Value, figure: &str) -> u64 {
    row[figure]["median_ns"].as_u64().unwrap()
}

#[test]
fn every_kind_is_made_over_loopback_and_has_time_on_a_clock() {
    let (document, outcome) = compare("--over loopback --samples 6").run_for_json();
    outcome.exits(0);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 21, "{:#}", document["skipped"]);
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        let connections = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!(row["kinds"], json!({ kind: connections }), "{row:#}");
        // A client that is ready has done nearly all that it has to do, and what is not over is not ready.
        let (wall, ready) = (median(row, "wall_ns"), median(row, "ready_ns"));
        assert!(wall >= ready && ready > median(row, "client_ns") / 2, "{row:#}");
        assert_eq!(row["samples"]["wall_ns"].as_array().unwrap().len(), 6);
    }
    let sides = strings(&document["ratios"], "side");
    for side in ["client", "server", "both", "wall", "ready"] {
        assert!(sides.contains(&side), "{side}: {sides:?}");
    }
    assert!(strings(&document["claims"], "claim").iter().any(|claim| claim.contains("at least twice as long")));
}

#[test]
fn memory_has_no_time_on_a_clock() {
    let (document, _) = compare("--stacks rustls-ring --tls 1.3 --samples 1").run_for_json();
    assert_eq!(document["over"], "memory");
    assert!(document["rows"].as_array().unwrap().iter().all(|row| row["wall_ns"].is_null() && row["ready_ns"].is_null()));
    assert!(!strings(&document["ratios"], "side").contains(&"wall"));
}

#[test]
fn instructions_are_counted_for_each_side() {
    require!("valgrind");
    let call = compare("--stacks rustls-ring --tls 1.2 --samples 1 --instructions --timeout 120s");
    let (document, outcome) = call.run_for_json();
    outcome.exits(0);
    assert_eq!(document["skipped"], json!([]));
    let count = |kind: &str, side: &str| {
        let rows = document["rows"].as_array().unwrap();
        rows.iter().find(|row| row["kind"] == kind).unwrap()["instructions"][side].as_u64().unwrap()
    };
    for side in ["client", "server"] {
        // Without signatures and key exchange. An unoptimized build has more around them.
        assert!(count("full", side) > count("id", side), "{side}: {} {}", count("full", side), count("id", side));
        assert!(count("id", side) > 10_000);
    }
}

#[test]
fn without_valgrind_it_says_what_to_install() {
    let outcome = compare("--instructions").env("PATH", "/nonexistent").run().exits(2);
    outcome.says(&["apt-get install valgrind"]);
}
