//! `--baseline` and `--fail-if`.

use std::path::Path;

use reprise_harness::{Outcome, Reprise};
use serde_json::Value;

fn compare() -> Reprise {
    Reprise::without_plugins("compare resumption --keys p-256 --groups x25519 --tls 1.2 --stacks rustls-ring,rustls-aws-lc")
}

fn measured(samples: &str, extra: &[&str]) -> (Value, Outcome) {
    compare().args(["--samples", samples]).args(extra).run_for_json()
}

#[test]
fn conditions_decide_the_exit_code() {
    let met = ["--fail-if", "server.rustls-ring.1.2.full.median > 1ns", "--fail-if", "resumed.rustls-ring.ratio.high > 0.1"];
    let (document, outcome) = measured("6", &met);
    outcome
        .exits(1)
        .says(&["'server.rustls-ring.1.2.full.median > 1ns' is met", "rustls-ring 1.2 id p-256 x25519: both ratio"]);
    assert_eq!(document["conditions"][0]["outcome"], "met");
    let not_met =
        ["--fail-if", "client.rustls-aws-lc.p-256.x25519 > 10s", "--fail-if", "failed > 0", "--fail-if", "kinds < 100%"];
    let (document, outcome) = measured("1", &not_met);
    outcome.exits(0);
    assert!(document["conditions"].as_array().unwrap().iter().all(|it| it["outcome"] == "not_met"));
}

#[test]
fn what_cannot_be_told_is_refused_before_anything_is_measured() {
    for (condition, why) in [
        ("server.openssl.full > 1ms", "a stack (rustls-aws-lc, rustls-ring)"),
        ("1.3.full > 1ms", "excludes it"),
        ("wall.full > 1ms", "it needs --over loopback"),
        ("instructions > 5", "it needs --instructions"),
        ("baseline.server.change > 5%", "it needs --baseline FILE"),
    ] {
        compare().args(["--fail-if", condition]).run().exits(2).says(&[why]);
    }
}

/// The same with one stack's times and hash as a former build of it might have had them.
fn earlier(document: &Value, stack: &str, times: f64, file: &Path) {
    let mut earlier = document.clone();
    for it in earlier["stacks"].as_array_mut().unwrap().iter_mut().filter(|it| it["name"] == stack) {
        it["version"] = "0.0.1".into();
    }
    for row in earlier["rows"].as_array_mut().unwrap().iter_mut().filter(|row| row["client"] == stack) {
        for list in ["client_ns", "server_ns"] {
            for sample in row["samples"][list].as_array_mut().unwrap() {
                *sample = ((sample.as_u64().unwrap() as f64 * times) as u64).into();
            }
            for figure in ["median_ns", "mean_ns", "min_ns", "max_ns", "p90_ns", "p99_ns"] {
                row[list][figure] = ((row[list][figure].as_u64().unwrap() as f64 * times) as u64).into();
            }
            row[list]["ci95_ns"] = Value::Null;
        }
    }
    std::fs::write(file, earlier.to_string()).unwrap();
}

#[test]
fn a_stack_that_became_dearer_is_told_from_the_machine() {
    let (document, _) = measured("12", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("earlier.json");
    // As if it had taken a fourth of the time: more than any machine changes by from one run to the next.
    earlier(&document, "rustls-ring", 0.25, &file);
    let file = file.to_str().unwrap();
    let gate = ["--baseline", file, "--fail-if", "baseline.server.rustls-ring.full.change > 50%"];
    let (document, outcome) = measured("12", &gate);
    outcome.exits(1).says(&["beside rustls-aws-lc"]);
    let baseline = &document["baseline"];
    assert_eq!(baseline["stacks"][0]["name"], "rustls-ring");
    let of = |stack: &str| {
        let changes = baseline["changes"].as_array().unwrap();
        changes.iter().find(|it| it["client"] == stack && it["side"] == "server" && it["kind"] == "full").unwrap().clone()
    };
    assert_eq!(of("rustls-ring")["own"]["beside"], "rustls-aws-lc");
    // What is the same in both has no stack beside it that is, too: the other one changed.
    assert_eq!(of("rustls-aws-lc")["own"], Value::Null);
}

#[test]
fn what_is_no_comparison_is_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("measure.json");
    std::fs::write(&file, r#"{"schema":"reprise.measure/1"}"#).unwrap();
    compare().arg("--baseline").arg(&file).run().exits(2).says(&["not a result of compare"]);
}
