//! `reprise compare psk`: external PSKs against certificates.

use reprise_harness::Reprise;
use serde_json::{Value, json};

use super::plugins::folder;
use super::strings;

/// Rows by what of a handshake tells them apart.
fn handshakes(rows: &Value, stack: &str) -> Vec<String> {
    let of_stack = rows.as_array().unwrap().iter().filter(|row| row["client"] == stack && row["kind"] == "psk");
    let name = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
        [text("tls"), text("group"), text("cipher"), text("psk_mode")].join(" ")
    };
    let mut names: Vec<String> = of_stack.map(name).collect();
    names.sort();
    names
}

const PLAIN: &str = "1.2 none TLS_PSK_WITH_AES_128_GCM_SHA256 -";
const DHE: &str = "1.2 ffdhe2048 TLS_DHE_PSK_WITH_AES_128_GCM_SHA256 -";
const ECDHE: &str = "1.2 secp256r1 TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA256 -";
const ECDHE_GCM: &str = "1.2 secp256r1 TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256 -";
const DHE_13: &str = "1.3 ffdhe2048 TLS_AES_128_GCM_SHA256 psk_dhe_ke";
const ECDHE_13: &str = "1.3 secp256r1 TLS_AES_128_GCM_SHA256 psk_dhe_ke";
const KE_13: &str = "1.3 secp256r1 TLS_AES_128_GCM_SHA256 psk_ke";

#[test]
fn each_library_makes_the_psk_handshakes_that_it_has() {
    let Some(folder) = folder() else { return };
    let (document, outcome) = Reprise::without_plugins("compare psk --samples 6 --plugins").arg(folder).run_for_json();
    outcome.exits(0);
    let rows = &document["rows"];
    assert_eq!(handshakes(rows, "openssl"), [DHE, PLAIN, ECDHE, DHE_13, ECDHE_13, KE_13]);
    assert_eq!(handshakes(rows, "gnutls"), [DHE, PLAIN, ECDHE, DHE_13, ECDHE_13, KE_13]);
    assert_eq!(handshakes(rows, "wolfssl"), [DHE, ECDHE, ECDHE_GCM, DHE_13, ECDHE_13, KE_13]);
    assert_eq!(handshakes(rows, "mbedtls"), [DHE, PLAIN, ECDHE]);
    assert_eq!(handshakes(rows, "engine"), [ECDHE_13, KE_13], "with the first server that has a PSK");
    assert!(handshakes(rows, "rustls-ring").is_empty() && handshakes(rows, "bearssl").is_empty());
    for row in rows.as_array().unwrap().iter().filter(|row| row["kind"] == "psk") {
        let connections = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!((&row["kinds"], &row["key"]), (&json!({ "psk": connections }), &"none".into()), "{row:#}");
    }
    // What a library lacks it says, and nothing fails.
    assert!(strings(&document["skipped"], "outcome").iter().all(|outcome| *outcome == "unsupported"), "{document:#}");
    let reason = |stack: &str, cipher: &str| {
        let skipped = document["skipped"].as_array().unwrap().iter();
        let mut it = skipped.filter(|it| it["client"] == stack && it["kind"] == "psk" && it["cipher"] == cipher);
        it.next().unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("rustls-ring", "TLS_AES_128_GCM_SHA256"), "rustls, ring has no external PSKs that Reprise uses");
    let gcm = "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256";
    assert_eq!(reason("openssl", gcm), format!("the client: it does not take {gcm} with secp256r1"));
    saves_the_servers_signature(&document);
    is_held_against_what_was_published(&document);
}

/// A PSK without a key exchange leaves nothing but hashes: cheaper in any library, on any machine.
fn saves_the_servers_signature(document: &Value) {
    let ratios = document["ratios"].as_array().unwrap();
    for stack in ["openssl", "gnutls", "mbedtls"] {
        let is_it = |it: &&Value| it["client"] == stack && it["from"]["kind"] == "full" && it["to"]["group"] == "none";
        let saved: Vec<&Value> = ratios.iter().filter(is_it).filter(|it| it["side"] == "server").collect();
        assert_eq!(saved.len(), 3, "RSA in two groups and ECDSA: {saved:#?}");
        assert!(saved.iter().all(|it| it["median"].as_f64().unwrap() > 1.5), "{saved:#?}");
    }
    // Like with like: a key exchange with one in the same group, none with none.
    for it in ratios.iter().filter(|it| it["from"]["kind"] == "psk" && it["from"]["tls"] != it["to"]["tls"]) {
        let is_alike = it["from"]["group"] == it["to"]["group"] && it["to"]["psk_mode"] == "psk_dhe_ke";
        assert!(is_alike || it["from"]["group"] == "none" && it["to"]["psk_mode"] == "psk_ke", "{it:#}");
    }
}

fn is_held_against_what_was_published(document: &Value) {
    for (claim, published) in [("by PSK with DH is 25 %", 1.25), ("by PSK with ECDH P-256 is 15 %", 1.15)] {
        let claims = document["claims"].as_array().unwrap().iter();
        let of_it: Vec<&Value> = claims.filter(|it| it["claim"].as_str().unwrap().contains(claim)).collect();
        for stack in ["openssl", "gnutls", "wolfssl"] {
            assert!(of_it.iter().any(|it| it["stack"].as_str().unwrap().starts_with(stack)), "{claim}, {stack}: {of_it:#?}");
        }
        assert!(of_it.iter().all(|it| it["published"] == published), "{of_it:#?}");
    }
}

#[test]
fn clients_and_servers_share_a_psk_across_libraries() {
    let Some(folder) = folder() else { return };
    let call = Reprise::without_plugins("compare psk --keys p-256 --groups secp256r1 --samples 1 --plugins");
    let (document, _) = call.arg(folder).run_for_json();
    let cells: Vec<&Value> = document["matrix"].as_array().unwrap().iter().filter(|it| it["kind"] == "psk").collect();
    let works = |tls: &str, client: &str, server: &str| {
        let is_pair = |it: &&&Value| it["tls"] == tls && it["client"] == client && it["server"] == server;
        let of_pair: Vec<&&Value> = cells.iter().filter(is_pair).collect();
        !of_pair.is_empty() && of_pair.iter().all(|it| it["outcome"] == "works")
    };
    for client in ["openssl", "gnutls", "wolfssl", "mbedtls"] {
        for server in ["openssl", "gnutls", "wolfssl", "mbedtls"] {
            assert!(works("1.2", client, server), "{client} with {server}: {cells:#?}");
        }
    }
    for client in ["openssl", "gnutls", "wolfssl", "engine"] {
        for server in ["openssl", "gnutls", "wolfssl"] {
            assert!(works("1.3", client, server), "{client} with {server}: {cells:#?}");
        }
    }
}

#[test]
fn a_psk_is_compared_over_loopback_too() {
    let Some(folder) = folder() else { return };
    let line = "compare psk --over loopback --keys p-256 --groups secp256r1 --stacks openssl --samples 2 --plugins";
    let (document, _) = Reprise::without_plugins(line).arg(folder).run_for_json();
    assert_eq!(handshakes(&document["rows"], "openssl"), [PLAIN, ECDHE, ECDHE_13, KE_13]);
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["wall_ns"]["median_ns"].as_u64().unwrap() > 0), "{rows:#?}");
}
