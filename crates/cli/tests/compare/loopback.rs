//! Each side in a process of its own, over TCP on 127.0.0.1; and instructions of each side's process.

use reprise_servers::missing;
use serde_json::{Value, json};

use super::{assert_valid, document, reprise, strings};

const SHORT: [&str; 6] = ["compare", "resumption", "--keys", "p-256", "--groups", "x25519"];

fn median(row: &Value, figure: &str) -> u64 {
    row[figure]["median_ns"].as_u64().unwrap()
}

#[test]
fn every_kind_is_made_over_loopback_and_has_time_on_a_clock() {
    let (document, output) = document(&mut reprise(&[&SHORT[..], &["--over", "loopback", "--samples", "6"]].concat()));
    assert!(output.status.success());
    assert_valid(&document);
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
    let narrow = [&SHORT[..], &["--stacks", "rustls-ring", "--tls", "1.3", "--samples", "1"]].concat();
    let (document, _) = document(&mut reprise(&narrow));
    assert_eq!(document["over"], "memory");
    assert!(document["rows"].as_array().unwrap().iter().all(|row| row["wall_ns"].is_null() && row["ready_ns"].is_null()));
    assert!(!strings(&document["ratios"], "side").contains(&"wall"));
}

#[test]
fn instructions_are_counted_for_each_side() {
    if let Some(not_run) = missing("valgrind") {
        return not_run.announce();
    }
    let flags = ["--stacks", "rustls-ring", "--tls", "1.2", "--samples", "1", "--instructions", "--timeout", "120s"];
    let (document, output) = document(&mut reprise(&[&SHORT[..], &flags].concat()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_valid(&document);
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
    let output = reprise(&[&SHORT[..], &["--instructions"]].concat()).env("PATH", "/nonexistent").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("apt-get install valgrind"), "{said}");
}
