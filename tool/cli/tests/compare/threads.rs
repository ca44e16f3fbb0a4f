//! `compare resumption --threads`: the same handshakes in several threads over one context.

use reprise_harness::Reprise;
use serde_json::{Value, json};

use super::{plugins, strings};

const LINE: &str = "compare resumption --keys p-256 --groups secp256r1 --samples 2 --threads 2,1,2 --stacks";

/// Full, and resumed by ID and by ticket under TLS 1.2; full and by ticket under TLS 1.3.
const HANDSHAKES: usize = 5;

/// Every row's counts are those of its threads; each handshake has one with each number of threads.
fn check(document: &Value, handshakes: usize) {
    let rows = document["scaling"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * handshakes, "{rows:#?}");
    assert!(document["scaling"]["processors"].as_u64().unwrap() > 0 && document["rows"] == json!([]), "{document:#}");
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        let [threads, connections, n] = ["threads", "connections", "n"].map(|name| row[name].as_u64().unwrap());
        assert!([1, 2].contains(&threads) && n == 2 && connections >= 8, "{row:#}");
        assert_eq!(row["kinds"], json!({ kind: threads * connections * n }), "{row:#}");
        let medians = ["client_ns", "server_ns", "wall_ns"].map(|name| row[name]["median_ns"].as_u64().unwrap());
        assert!(medians.iter().all(|ns| *ns > 0) && row["rate"].as_f64().unwrap() > 0.0, "{row:#}");
        let scaling = row["scaling"]["median"].as_f64().unwrap();
        assert!(if threads == 1 { scaling == 1.0 } else { scaling > 0.0 }, "{row:#}");
        let [all, charged] = ["thread_ns", "charged_ns"].map(|name| row["cpu"][name].as_u64().unwrap());
        assert!(all > charged && charged > 0, "{row:#}");
    }
}

#[test]
fn threads_of_rustls_share_one_context() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("threads.json");
    let call = Reprise::without_plugins(LINE).args(["rustls-ring", "--json"]).arg(&json);
    call.run().exits(0).shows(&[
        "Threads over one context",
        "per thread",
        "scaling",
        "2 threads on one context of each side",
    ]);
    let document: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    check(&document, HANDSHAKES);
    // rustls has no PSK without a key exchange.
    assert_eq!(strings(&document["skipped"], "psk_mode"), ["psk_ke"]);
    let csv = Reprise::line("report").arg(&json).args(["--csv", "-"]).run().page;
    assert_eq!(
        csv.lines().count(),
        1 + 2 * HANDSHAKES * 3 + 1,
        "client, server and wall of each; one that is skipped: {csv}"
    );
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(
        header.ends_with(",threads,connections_per_second,scaling,scaling_ci95_low,scaling_ci95_high,hybrid_share"),
        "{header}"
    );
}

#[test]
fn threads_of_plugins_share_where_they_say_so() {
    let Some(folder) = plugins::folder() else { return };
    let line = || Reprise::without_plugins(LINE).arg("openssl,bearssl").arg("--plugins").arg(folder);
    let (document, outcome) = line().run_for_json();
    outcome.exits(0);
    // And by a ticket without a key exchange.
    check(&document, HANDSHAKES + 1);
    let skipped = document["skipped"].as_array().unwrap();
    let unshared =
        skipped.iter().filter(|it| it["reason"].as_str().unwrap().contains("several threads may use one context"));
    let mut stacks: Vec<_> = unshared.map(|it| (it["client"].as_str().unwrap(), it["outcome"].as_str().unwrap())).collect();
    stacks.dedup();
    assert_eq!(stacks, [("bearssl", "unsupported")], "{skipped:#?}");
}

#[test]
fn more_threads_than_processors_are_said() {
    let threads = std::thread::available_parallelism().unwrap().get() + 1;
    let line = "compare resumption --tls 1.3 --keys p-256 --groups secp256r1 --samples 1 --stacks rustls-ring --threads";
    let said = format!("up to {threads} threads were asked for");
    let outcome = Reprise::without_plugins(line).arg(threads.to_string()).run().exits(0).shows(&[&said, "warning"]);
    assert!(!outcome.page.contains("as many connections a second as one thread"), "{}", outcome.page);
}

#[test]
fn numbers_of_threads_are_checked() {
    for wrong in ["0", "x", "1000", "1,,2"] {
        let outcome = Reprise::without_plugins("compare resumption --threads").arg(wrong).run().exits(2);
        outcome.says(&["invalid value", "--threads"]);
    }
    let refused =
        |flags: &str, words: &str| Reprise::without_plugins(&format!("compare {flags}")).run().exits(2).says(&[words]);
    refused("full --threads 2", "'--threads' is of 'resumption', not of 'full'");
    refused("resumption --threads 2 --over loopback", "remove '--over loopback'");
    refused("resumption --threads 2 --instructions", "cannot be used with");
    refused("resumption --threads 2 --rtt 1ms", "cannot be used with");
}
