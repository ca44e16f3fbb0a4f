//! `reprise compare pregenerate`: key pairs of the server made ahead or reused, and chains that are longer, stored or known.

use reprise_harness::Reprise;
use serde_json::Value;

use super::plugins::folder;

/// Rows or what was skipped, by what of a full handshake tells them apart.
fn prepared(list: &Value, stack: &str) -> Vec<String> {
    let of_stack = list.as_array().unwrap().iter().filter(|it| it["client"] == stack && it["kind"] == "full");
    let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
    let mut all: Vec<String> =
        of_stack.map(|it| [text(it, "tls"), text(it, "key_pairs"), text(it, "chain")].join(" ")).collect();
    all.sort();
    all
}

fn is_prepared(it: &Value, stack: &str, key_pairs: &str, chain: &str) -> bool {
    it["client"] == stack && it["key_pairs"] == key_pairs && it["chain"] == chain && it["tls"] == "1.3"
}

/// Of the first such row or reason.
fn of<'v>(list: &'v Value, stack: &str, key_pairs: &str, chain: &str) -> &'v Value {
    list.as_array().unwrap().iter().find(|it| is_prepared(it, stack, key_pairs, chain)).unwrap()
}

#[test]
fn what_is_ready_before_the_handshake_is_told_apart() {
    let line = "compare pregenerate --keys p-256 --stacks rustls-aws-lc,rustls-ring --samples 6";
    let (document, outcome) = Reprise::without_plugins(line).run_for_json();
    outcome.exits(0);
    let rows = &document["rows"];
    let without_reuse = ["1.2 ahead 1", "1.2 fresh 1", "1.3 ahead 1", "1.3 fresh 1"];
    let chains = ["1.3 fresh 2", "1.3 fresh 3", "1.3 fresh cached", "1.3 fresh stored"];
    let expected = |more: &[&'static str]| {
        let mut all = [&without_reuse[..], &chains, more].concat();
        all.sort_unstable();
        all
    };
    assert_eq!(prepared(rows, "rustls-aws-lc"), expected(&["1.2 reused 1", "1.3 reused 1"]));
    assert_eq!(prepared(rows, "rustls-ring"), expected(&[]), "its keys end with their use");
    let reason = of(&document["skipped"], "rustls-ring", "reused", "1")["reason"].as_str().unwrap();
    assert!(reason.contains("no call, in this build, that lets a server use one key pair"), "{reason}");
    for row in rows.as_array().unwrap() {
        assert!(row["n"] == 6 && row["server_ns"]["ci95_ns"].is_array(), "{row:#}");
        // What was moved is told, and nothing was moved elsewhere.
        assert_eq!(row["ahead_ns"].as_u64().is_some_and(|ns| ns > 0), row["key_pairs"] == "ahead", "{row:#}");
    }
    chains_are_what_the_wire_has(rows);
    compares_like_with_like(&document);
}

/// Each certificate has some hundred bytes; one that is stored is not sent, and one that is known is.
fn chains_are_what_the_wire_has(rows: &Value) {
    for stack in ["rustls-aws-lc", "rustls-ring"] {
        let received = |chain| of(rows, stack, "fresh", chain)["bytes"]["received"].as_u64().unwrap();
        assert!(received("2") > received("1") + 200 && received("3") > received("2") + 200, "{rows:#}");
        assert!(received("stored").abs_diff(received("1")) < 100, "{rows:#}");
        assert!(received("cached").abs_diff(received("2")) < 100, "{rows:#}");
    }
}

fn compares_like_with_like(document: &Value) {
    let ratios = document["ratios"].as_array().unwrap();
    let mut changes: Vec<String> = Vec::new();
    for ratio in ratios.iter().filter(|it| it["client"] == "rustls-aws-lc" && it["side"] == "client") {
        assert_eq!(ratio["from"]["tls"], ratio["to"]["tls"], "{ratio:#}");
        let of = |field: &str| format!("{} {}", ratio[field]["key_pairs"], ratio[field]["chain"]).replace('"', "");
        changes.push(format!("{} {}, {}", ratio["from"]["tls"], of("from"), of("to")).replace('"', ""));
    }
    changes.sort();
    assert_eq!(
        changes,
        [
            "1.2 fresh 1, ahead 1",
            "1.2 fresh 1, reused 1",
            "1.3 fresh 1, ahead 1",
            "1.3 fresh 1, fresh 2",
            "1.3 fresh 1, fresh 3",
            "1.3 fresh 1, reused 1",
            "1.3 fresh 2, fresh cached",
            "1.3 fresh 2, fresh stored",
        ]
    );
    let claims = document["claims"].as_array().unwrap();
    let decided = |it: &&Value| it["verdict"] != "not decided";
    assert!(claims.iter().filter(decided).all(|it| it["published"] == 1.04 && it["measured"].is_f64()), "{claims:#?}");
    assert!(claims.iter().any(|it| it["published"] == 1.07 && it["why"].is_string() && it["measured"].is_null()));
}

#[test]
fn a_reused_pair_is_named_as_a_risk() {
    let line = "compare pregenerate --keys p-256 --tls 1.3 --stacks rustls-aws-lc --samples 1";
    let page = Reprise::without_plugins(line).run().exits(0).page;
    assert!(page.contains("no forward"), "{page}");
    assert!(page.contains("1.3 full p-256 secp256r1 chain of 3"), "{page}");
}

#[test]
fn each_library_says_what_it_has_no_call_for() {
    let Some(folder) = folder() else { return };
    let line = "compare pregenerate --stacks openssl,gnutls,wolfssl,mbedtls,bearssl --samples 6 --plugins";
    let (document, outcome) = Reprise::without_plugins(line).arg(folder).run_for_json();
    outcome.exits(0);
    let skipped = &document["skipped"];
    assert!(skipped.as_array().unwrap().iter().all(|it| it["outcome"] == "unsupported"), "{skipped:#}");
    let ahead: Vec<&Value> = document["rows"].as_array().unwrap().iter().filter(|it| it["key_pairs"] == "ahead").collect();
    // A server's of TLS 1.3 alone, and on curves alone: RSA, ECDSA and by PSK.
    assert_eq!(ahead.len(), 3, "{ahead:#?}");
    for row in &ahead {
        assert!(row["client"] == "wolfssl" && row["tls"] == "1.3" && row["group"] == "secp256r1", "{row:#}");
    }
    for stack in ["openssl", "gnutls"] {
        let reason = of(skipped, stack, "ahead", "1")["reason"].as_str().unwrap();
        assert!(reason.ends_with("has no call that makes a server's key pair before the ClientHello"), "{reason}");
    }
    let claims = document["claims"].as_array().unwrap();
    let of_wolfssl = |published: f64| {
        let is_it = |it: &&Value| it["stack"].as_str().unwrap().starts_with("wolfssl") && it["published"] == published;
        claims.iter().find(is_it).unwrap()
    };
    for published in [1.2, 1.3] {
        let claim = of_wolfssl(published);
        assert_eq!(claim["verdict"], "not decided", "{claim:#}");
        assert!(claim["why"].as_str().unwrap().contains("discards a DH key pair"), "{claim:#}");
    }
    assert!(of_wolfssl(1.04)["measured"].is_f64() && of_wolfssl(1.07)["measured"].is_f64(), "{claims:#?}");
}

#[test]
fn over_loopback_no_pair_is_made_ahead() {
    let line = "compare pregenerate --over loopback --keys p-256 --tls 1.3 --stacks rustls-aws-lc --samples 1";
    let (document, _) = Reprise::without_plugins(line).run_for_json();
    let reason = of(&document["skipped"], "rustls-aws-lc", "ahead", "1")["reason"].as_str().unwrap();
    assert_eq!(reason, "over loopback, no key pairs are made ahead: measure it over memory");
    assert!(prepared(&document["rows"], "rustls-aws-lc").contains(&"1.3 reused 1".to_owned()), "{document:#}");
}
