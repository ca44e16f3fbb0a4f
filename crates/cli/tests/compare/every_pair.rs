//! Every client with every server, but for what is known not to work.

use super::plugins::folder;
use super::{document, reprise};

/// A pair that is known not to make a handshake, and why.
struct Known {
    client: &'static str,
    server: &'static str,
    tls: &'static str,
    kind: &'static str,
    reason: &'static str,
}

/// rustls puts nonces of 32 bytes into TLS 1.3 tickets; wolfSSL before 5.6 takes 8 at most (RFC 8446 §4.6.1 allows 255).
const NONCE: &str = "The security parameter is invalid";

const INCOMPATIBLE: &[Known] = &[
    Known { client: "wolfssl", server: "rustls-aws-lc", tls: "1.3", kind: "ticket", reason: NONCE },
    Known { client: "wolfssl", server: "rustls-ring", tls: "1.3", kind: "ticket", reason: NONCE },
];

#[test]
fn every_client_works_with_every_server_but_for_those_known() {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(not_run) => return not_run.announce(),
    };
    let flags = ["compare", "resumption", "--keys", "p-256", "--groups", "secp256r1", "--samples", "1", "--plugins"];
    let (document, output) = document(&mut reprise(&[&flags[..], &[folder.to_str().unwrap()]].concat()));
    assert!(output.status.success());
    let cells = document["matrix"].as_array().unwrap();
    // Eight clients, seven servers; full, by ID, by ticket, and under TLS 1.3 full and by ticket.
    assert_eq!(cells.len(), 8 * 7 * 5);
    let text = |cell: &serde_json::Value, field: &str| cell[field].as_str().unwrap_or_default().to_owned();
    let is = |known: &Known, cell: &serde_json::Value| {
        [("client", known.client), ("server", known.server), ("tls", known.tls), ("kind", known.kind)]
            .iter()
            .all(|(field, value)| cell[field] == *value)
    };
    for cell in cells {
        let works = ["works", "unsupported"].contains(&text(cell, "outcome").as_str());
        match INCOMPATIBLE.iter().find(|known| is(known, cell)) {
            None => assert!(works, "{cell:#}"),
            Some(known) => assert!(text(cell, "reason").contains(known.reason), "is no longer so: {cell:#}"),
        }
    }
    // What they say that they cannot do stands here, so that none gives up unseen.
    let unsupported: Vec<_> = cells.iter().filter(|cell| text(cell, "outcome") == "unsupported").collect();
    let is_lesser = |cell: &&&serde_json::Value| {
        let of = |name: &str| cell["client"] == name || cell["server"] == name;
        of("bearssl") && (cell["tls"] == "1.3" || cell["kind"] == "ticket") || of("mbedtls") && cell["tls"] == "1.3"
    };
    assert_eq!(unsupported.iter().filter(is_lesser).count(), unsupported.len(), "{unsupported:#?}");
}

/// BearSSL's client lists curves in one order, P-256 before X25519, and servers take the first. The P-256 key needs its curve in that list
/// under TLS 1.2, so that X25519 cannot be had: this is no figure, and not one of P-256 either.
#[test]
fn bearssl_cannot_be_held_to_x25519_by_a_p_256_key() {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(not_run) => return not_run.announce(),
    };
    let flags = ["compare", "full", "--tls", "1.2", "--keys", "p-256", "--groups", "x25519", "--samples", "1"];
    let stacks = ["--stacks", "bearssl,rustls-ring", "--plugins", folder.to_str().unwrap()];
    let (document, _) = document(&mut reprise(&[&flags[..], &stacks].concat()));
    let cells = document["matrix"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["client"] == "bearssl" && cell["server"] == "rustls-ring").unwrap();
    assert_eq!(cell["outcome"], "failed");
    assert_eq!(cell["reason"], "the group secp256r1 was negotiated where only x25519 was allowed");
}
