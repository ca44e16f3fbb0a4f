//! Without any plugin: the stacks that are built in.

use reprise_harness::{Outcome, Reprise};
use serde_json::Value;

use super::strings;

fn compare(flags: &str) -> Reprise {
    Reprise::without_plugins("compare resumption --keys p-256 --groups x25519 --samples 6").flags(flags)
}

#[test]
fn built_in_stacks_answer_without_plugins() {
    let (document, outcome) = compare("").run_for_json();
    outcome.exits(0);
    let rows = document["rows"].as_array().unwrap();
    // rustls with itself, by either provider, and the engine with rustls: 1.2 full, id, ticket; 1.3 full, ticket, the same
    // with a request, early data.
    assert_eq!(rows.len(), 21, "{rows:#?}");
    for row in rows {
        let kind = row["kind"].as_str().unwrap();
        let samples = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!(row["kinds"], serde_json::json!({ kind: samples }), "{row:#}");
        assert!(row["client_ns"]["median_ns"].as_u64().unwrap() > 0 && row["server_ns"]["ci95_ns"].is_array(), "{row:#}");
        let threads = &row["threads"];
        assert!(threads["thread_ns"].as_u64().unwrap() > threads["charged_ns"].as_u64().unwrap(), "{row:#}");
    }
    // What rustls cannot do, and nothing else.
    let without: Vec<&Value> = document["matrix"].as_array().unwrap().iter().filter(|it| it["outcome"] != "works").collect();
    assert!(without.len() == 6 && without.iter().all(|it| it["psk_mode"] == "psk_ke"), "{without:#?}");
    assert_eq!(strings(&document["skipped"], "psk_mode"), ["psk_ke"; 3]);
    let clock = &document["clock"];
    let charged = clock["charged_ns"].as_f64().unwrap() / clock["thread_ns"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&charged), "{clock}");
    let of_rows = |what: &str| rows.iter().map(|row| row["threads"][what].as_u64().unwrap()).sum::<u64>();
    assert_eq!((&clock["thread_ns"], &clock["charged_ns"]), (&of_rows("thread_ns").into(), &of_rows("charged_ns").into()));
}

#[test]
fn resuming_costs_a_tls12_server_less() {
    let (document, _) = compare("--stacks rustls-aws-lc --tls 1.2").run_for_json();
    let ratios = document["ratios"].as_array().unwrap();
    let saves = |ratio: &&Value| ratio["side"] == "server" && ratio["from"]["kind"] == "full";
    let saved: Vec<f64> = ratios.iter().filter(saves).map(|ratio| ratio["median"].as_f64().unwrap()).collect();
    assert_eq!(saved.len(), 2, "by ID and by ticket");
    // Without signature and key exchange: cheaper on any machine, though an unoptimized build has its own costs.
    assert!(saved.iter().all(|ratio| *ratio > 1.1), "{saved:?}");
}

#[test]
fn early_data_is_compared_with_a_request_after_the_handshake() {
    let (document, _) = compare("--stacks rustls-ring --tls 1.3").run_for_json();
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
    // A ticket on each connection that is resumed or may be, none on others; the page has no row with more.
    let tickets: Vec<_> = rows.iter().map(|row| (row["kind"] != "full", row["tickets"].as_u64())).collect();
    assert!(tickets.iter().all(|(resumes, tickets)| *tickets == Some(u64::from(*resumes))), "{tickets:?}");
}

#[test]
fn the_page_says_how_to_add_stacks() {
    let how = "These stacks are built in. 'reprise stacks install'";
    compare("--stacks rustls-ring --tls 1.3").run().shows(&[how, "rustls-ring"]);
}

#[test]
fn a_plugin_that_does_not_load_was_found_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.so"), "no library").unwrap();
    for stacks in ["broken", "rustls-ring,broken"] {
        let outcome = compare("--tls 1.3 --stacks").args([stacks, "--plugins"]).arg(folder.path()).run();
        let outcome = outcome.shows(&["warning", "cannot load"]);
        assert!(!outcome.page.contains("built in"), "{}", outcome.page);
    }
}

#[test]
fn a_saved_result_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("compare.json");
    let first = compare("--stacks rustls-ring --tls 1.3 --json").arg(&json).run().exits(0);
    let again = || Reprise::line("report").arg(&json);
    assert_eq!(again().run().page, first.page);
    let csv = again().args(["--csv", "-"]).run().page;
    assert_eq!(csv.lines().count(), 1 + 4 * 3 + 1, "four handshakes, two sides and both; one that is skipped: {csv}");
    assert!(csv.lines().any(|line| line.contains(",early,") && line.contains(",psk_dhe_ke,64,fresh,1,")), "{csv}");
}

#[test]
fn built_in_stacks_keep_the_contract() {
    for (name, at_least) in [("rustls-aws-lc", 90), ("rustls-ring", 90), ("engine", 30)] {
        let Outcome { page, .. } = Reprise::without_plugins("stacks check").arg(name).run().exits(0);
        let passed = page.lines().filter(|line| line.starts_with("ok ")).count();
        assert!(passed >= at_least, "{name}: {page}");
    }
}

#[test]
fn what_no_stack_can_do_is_skipped_and_never_zero() {
    let call = Reprise::without_plugins("compare full --stacks rustls-ring --keys rsa-2048 --groups ffdhe2048");
    let (document, outcome) = call.run_for_json();
    assert_eq!(outcome.code, 1, "nothing was measured");
    assert_eq!(document["rows"], serde_json::json!([]));
    assert_eq!(strings(&document["skipped"], "outcome"), ["unsupported", "unsupported"]);
    assert!(document["skipped"][0]["reason"].as_str().unwrap().contains("the client: it has no suite"), "{document:#}");
}

#[test]
fn the_list_of_stacks_is_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.so");
    std::fs::write(&file, "no library").unwrap();
    let (document, outcome) = Reprise::without_plugins("stacks --plugin").arg(&file).run_for_json();
    outcome.exits(1).says(&["1 of them cannot be used"]);
    assert_eq!(document["schema"], "reprise.stacks/1");
    assert_eq!(strings(&document["stacks"], "name"), ["rustls-aws-lc", "rustls-ring", "engine"]);
    assert_eq!(strings(&document["broken"], "name"), ["mine"]);
    assert_eq!(document["broken"][0]["file"], file.to_str().unwrap());
    let available = document["available"].as_array().unwrap().iter();
    let how = |name: &str| available.clone().find(|it| it["name"] == name).unwrap()["install"].as_str().unwrap().to_owned();
    assert_eq!(how("openssl-3.5"), "reprise stacks install openssl-3.5");
    let gnutls = how("gnutls");
    let is_installed = std::path::Path::new("/usr/include/gnutls/gnutls.h").exists();
    assert_eq!(gnutls.strip_prefix("apt-get install libgnutls28-dev; ").is_none(), is_installed, "{gnutls}");
    assert!(gnutls.ends_with("reprise stacks install gnutls"), "{gnutls}");
}
