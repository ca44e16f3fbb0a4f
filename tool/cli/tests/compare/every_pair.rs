//! Every client with every server, but for what a library says that it cannot do.

use std::path::Path;

use reprise_harness::Reprise;

use super::plugins::{folder, of_sources};

#[test]
fn every_client_works_with_every_server() {
    if let Some(folder) = folder() {
        check(folder, 5);
    }
}

#[test]
#[ignore = "of sources, that are built first: just full"]
fn every_source_client_works_with_every_server() {
    let (folder, _) = of_sources();
    let plugins = std::fs::read_dir(&folder)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "so"));
    check(&folder, plugins.count());
}

fn check(folder: &Path, plugins: usize) {
    let call = Reprise::without_plugins("compare resumption --keys p-256 --groups secp256r1 --samples 1 --plugins");
    let (document, outcome) = call.arg(folder).run_for_json();
    outcome.exits(0);
    let cells = document["matrix"].as_array().unwrap();
    // rustls twice, and the engine, which is no server; full, by ID, by ticket, and under TLS 1.3 full, by ticket
    // with a key exchange and without, with early data.
    assert_eq!(cells.len(), (plugins + 3) * (plugins + 2) * 7);
    let text = |cell: &serde_json::Value, field: &str| cell[field].as_str().unwrap_or_default().to_owned();
    let wrong: Vec<_> =
        cells.iter().filter(|cell| !["works", "unsupported"].contains(&text(cell, "outcome").as_str())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // What they say that they cannot do stands here, so that none gives up unseen.
    let unsupported: Vec<_> = cells.iter().filter(|cell| text(cell, "outcome") == "unsupported").collect();
    let is_lesser = |cell: &&&serde_json::Value| {
        let of = |name: &str| text(cell, "client").starts_with(name) || text(cell, "server").starts_with(name);
        let is_old_mbedtls = |name: String| name == "mbedtls" || name.starts_with("mbedtls-2");
        let has_no_13 = of("bearssl") || is_old_mbedtls(text(cell, "client")) || is_old_mbedtls(text(cell, "server"));
        let is_psk_ke = cell["psk_mode"] == "psk_ke";
        // rustls and Mbed TLS 3.6 put nonces of 32 bytes into TLS 1.3 tickets (RFC 9846 §4.7.1 allows 255). wolfSSL takes 8, unless it is
        // built with WOLFSSL_TICKET_NONCE_MALLOC, as Debian's is not.
        let has_long_nonces = ["rustls", "mbedtls-3"].iter().any(|name| text(cell, "server").starts_with(name));
        let is_cut_off = text(cell, "reason").contains("no ticket whose nonce is longer than 8 bytes");
        let has_neither = ["aws-lc", "boringssl", "s2n", "mbedtls-3"].into_iter().any(of);
        of("bearssl") && cell["kind"] == "ticket"
            || has_no_13 && cell["tls"] == "1.3"
            || of("rustls") && is_psk_ke
            || of("wolfssl") && cell["kind"] == "early"
            || cell["client"] == "wolfssl" && has_long_nonces && cell["tls"] == "1.3" && is_cut_off
            || has_neither && (is_psk_ke || cell["kind"] == "early")
    };
    assert_eq!(unsupported.iter().filter(is_lesser).count(), unsupported.len(), "{unsupported:#?}");
}

/// BearSSL's client lists curves in one order, P-256 before X25519, and servers take the first. The P-256 key needs its curve in that list
/// under TLS 1.2, so that X25519 cannot be had: this is no figure, and not one of P-256 either.
#[test]
fn bearssl_cannot_be_held_to_x25519_by_a_p_256_key() {
    let Some(folder) = folder() else { return };
    let call = Reprise::without_plugins("compare full --tls 1.2 --keys p-256 --groups x25519 --samples 1");
    let (document, _) = call.flags("--stacks bearssl,rustls-ring --plugins").arg(folder).run_for_json();
    let cells = document["matrix"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["client"] == "bearssl" && cell["server"] == "rustls-ring").unwrap();
    assert_eq!(cell["outcome"], "failed");
    assert_eq!(cell["reason"], "the group secp256r1 was negotiated where only x25519 was allowed");
}
