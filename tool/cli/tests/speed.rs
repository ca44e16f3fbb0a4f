//! `reprise speed`: operations of real libraries, and the floor below their handshakes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::process::{Command, Output};

use reprise_model::Operation;
use reprise_model::document::{CompareOver, SpeedDocument, SpeedPrediction, SpeedRow};

/// The program, on what is built in and on the plugins of a folder that is not there, so that these tests need none.
fn speed(arguments: &[&str]) -> Output {
    let nowhere = std::env::temp_dir().join("reprise-no-plugins");
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.arg("speed").args(arguments).arg("--plugins").arg(nowhere).output().unwrap()
}

fn document(arguments: &[&str]) -> SpeedDocument {
    let output = speed(&[arguments, &["--quick", "--json", "-"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn no_handshake_lies_under_the_floor() {
    let document = document(&["--no-software"]);
    assert_eq!(document.schema, SpeedDocument::SCHEMA);
    assert_eq!(document.floors.len(), 16, "eight handshakes, two sides");
    for floor in &document.floors {
        assert!(floor.operations.iter().all(|need| need.once_ns > 0.0 && need.times > 0), "{floor:?}");
        assert!(!floor.handshakes.is_empty(), "{floor:?}");
        let under: Vec<_> = floor.handshakes.iter().filter(|it| (it.median_ns as f64) < floor.floor_ns).collect();
        assert!(under.is_empty(), "{} {} {}: {} ns, {under:?}", floor.tls, floor.kind, floor.side, floor.floor_ns);
    }
    for prediction in &document.predictions {
        let is_other = (&prediction.key, &prediction.group) != (&prediction.from_key, &prediction.from_group);
        assert!(is_other && prediction.predicted_ns > 0.0, "{prediction:?}");
    }
    let of_ring = document.predictions.iter().filter(|it| it.stack == "rustls-ring").count();
    assert_eq!(of_ring, 6, "two full ones of each version, and two resumptions of TLS 1.3");
    assert!(document.predictions.iter().all(|it| it.over == CompareOver::Memory), "loopback was not asked for");
    // Of either stack that is built in and measured, RSA signs slower than it verifies.
    let rule = document.rules.iter().find(|rule| rule.less == "verify rsa-2048").unwrap();
    let holds: Vec<_> = rule.stacks.iter().map(|it| (it.stack.as_str(), it.holds, it.decided_by.as_str())).collect();
    assert_eq!(holds, [("rustls-aws-lc", true, "sign rsa-2048"), ("rustls-ring", true, "sign rsa-2048")]);
    let tcp = document.tcp.unwrap();
    assert!(tcp.client.median_ns > 0.0 && tcp.server.median_ns > 0.0);
}

#[test]
fn handshakes_are_predicted_over_loopback_too() {
    let document = document(&["--no-software", "--over", "loopback", "--stacks", "rustls-ring,rustls-aws-lc"]);
    let over = |over| document.predictions.iter().filter(move |it| it.over == over);
    let named = |it: &SpeedPrediction| (it.stack.clone(), it.tls, it.kind, it.key.clone(), it.group.clone());
    let [memory, loopback] = CompareOver::ALL.map(|it| over(it).map(named).collect::<Vec<_>>());
    assert!(memory == loopback && memory.len() == 13, "{memory:?}\n{loopback:?}");
    for prediction in &document.predictions {
        let error = prediction.predicted_ns / prediction.measured_ns - 1.0;
        assert!((error - prediction.error).abs() < 1e-9, "{prediction:?}");
        assert_eq!(prediction.missing.is_some(), error.abs() > 0.1, "what is far off says what is missing: {prediction:?}");
    }
    // A debugger, a busy machine: half off is no prediction any more, whatever the machine.
    let near = document.predictions.iter().filter(|it| it.error.abs() < 0.5).count();
    assert!(near > document.predictions.len() / 2, "{:?}", document.predictions);
    // Two processes and the kernel between them take longer than both sides' libraries.
    let took = |it| over(it).map(|prediction| prediction.measured_ns).sum::<f64>();
    assert!(took(CompareOver::Loopback) > took(CompareOver::Memory));
}

#[test]
fn an_exchange_from_nothing_costs_what_its_parts_cost_in_rustls() {
    let document = document(&["key-pair", "agree", "exchange", "verify", "verify-new-key", "--algorithms", "x25519,p-256"]);
    for stack in ["rustls-ring", "rustls-aws-lc"] {
        let cost = |operation, algorithm| document.row(stack, operation, algorithm, true).unwrap().once.median_ns;
        let parts = 2.0 * (cost(Operation::KeyPair, "x25519") + cost(Operation::Agree, "x25519"));
        let ratio = cost(Operation::Exchange, "x25519") / parts;
        assert!((0.5..2.0).contains(&ratio), "{stack}: its parts begin from nothing too: {ratio}");
        let ratio = cost(Operation::VerifyNewKey, "p-256") / cost(Operation::Verify, "p-256");
        assert!((0.5..2.0).contains(&ratio), "{stack}: it reads the key each time: {ratio}");
    }
}

#[test]
fn operations_and_algorithms_narrow_it() {
    let document = document(&["sign", "verify", "--algorithms", "rsa-2048,p-256"]);
    let rows: Vec<_> = document.rows.iter().filter(|row| row.stack == "rustls-ring").collect();
    let names = |row: &&SpeedRow| format!("{} {}", row.operation, row.algorithm);
    assert_eq!(
        rows.iter().map(names).collect::<Vec<_>>(),
        ["sign rsa-2048", "sign p-256", "verify rsa-2048", "verify p-256"]
    );
    assert!(document.floors.is_empty(), "the floor needs every operation");
    // To verify by RSA is far cheaper than to sign, whatever the machine.
    let cost = |row: &SpeedRow| row.once.median_ns;
    assert!(cost(rows[0]) > 5.0 * cost(rows[2]), "{rows:?}");
}

/// Every machine that this runs on has instructions for AES; the switch is known of x86-64 alone.
#[test]
#[cfg(target_arch = "x86_64")]
fn without_instructions_aes_is_slower() {
    let document = document(&["seal", "--stacks", "rustls-aws-lc,rustls-ring"]);
    let hardware: Vec<_> = document.hardware.iter().map(|it| (it.stack.as_str(), it.algorithm.as_str())).collect();
    assert_eq!(hardware, [("rustls-aws-lc", "aes-128-gcm"), ("rustls-aws-lc", "aes-256-gcm")]);
    assert!(document.hardware.iter().all(|it| it.ratio > 2.0), "{:?}", document.hardware);
    let no_switch = document.skipped.iter().find(|it| it.stack == "rustls-ring").unwrap();
    assert!(!no_switch.instructions && no_switch.reason.contains("no switch"), "{no_switch:?}");
}

#[test]
fn what_a_stack_has_not_is_said() {
    let document = document(&["encapsulate", "--stacks", "rustls-ring,rustls-aws-lc"]);
    assert!(document.rows.iter().all(|row| row.stack == "rustls-aws-lc" && row.operation == Operation::Encapsulate));
    let skipped: Vec<_> = document.skipped.iter().filter(|it| it.stack == "rustls-ring").collect();
    assert_eq!(skipped.len(), 1, "it has no KEM at all: said once");
    assert!(skipped[0].outcome == "unsupported" && skipped[0].operation.is_none(), "{skipped:?}");
}

#[test]
fn wrong_names_have_clear_errors() {
    for (arguments, words) in [
        (&["--algorithms", "rot13"][..], "unknown algorithm 'rot13'; known: rsa-2048, rsa-3072"),
        (&["hash", "--algorithms", "x25519"], "none of these operations has one of these algorithms"),
        (&["--stacks", "none-such"], "unknown stack 'none-such'"),
        (&["hash", "--over", "loopback"], "'--over loopback' is for handshakes: remove '--no-floor'"),
        (&["knit"], "invalid value 'knit'"),
        (&["encapsulate", "--stacks", "rustls-ring", "--quick"], "no stack has any of these operations"),
    ] {
        let output = speed(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn every_format_has_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, markdown, html) = (file("speed.csv"), file("speed.md"), file("speed.html"));
    let output = speed(&["hkdf", "--quick", "--csv", &csv, "--markdown", &markdown, "--html", &html]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let csv = std::fs::read_to_string(csv).unwrap();
    assert!(csv.starts_with("stack,operation,algorithm,instructions,outcome,bytes,n,batch,median_ns"), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("rustls-ring,hkdf,sha-256,true,measured,,6,")), "{csv}");
    for page in [markdown, html] {
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("HKDF-Expand") && page.contains("rustls-ring"), "{page}");
    }
}
