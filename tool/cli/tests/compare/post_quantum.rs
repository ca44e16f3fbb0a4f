//! `reprise compare post-quantum`: what ML-KEM and ML-DSA cost, by stacks that are built in.

use reprise_harness::Reprise;
use serde_json::Value;

fn compare(flags: &str) -> Reprise {
    Reprise::without_plugins("compare post-quantum").flags(flags)
}

/// The rows of a stack, by what of a handshake tells them apart here.
fn row<'d>(document: &'d Value, client: &str, handshake: &str) -> &'d Value {
    let rows = document["rows"].as_array().unwrap();
    let name = |row: &Value| {
        let words: Vec<&str> = ["kind", "key", "group"].iter().map(|field| row[*field].as_str().unwrap()).collect();
        let retried = if row["retried"] == true { " retried" } else { "" };
        words.join(" ") + retried + if row["hybrid_share"] == true { " + hybrid share" } else { "" }
    };
    let found = rows.iter().find(|row| row["client"] == client && name(row) == handshake);
    found.unwrap_or_else(|| panic!("no row {handshake} of {client}: {:#?}", rows.iter().map(name).collect::<Vec<_>>()))
}

fn bytes(row: &Value, field: &str) -> u64 {
    row["bytes"][field].as_u64().unwrap()
}

#[test]
fn ml_kem_and_ml_dsa_have_rows_with_bytes_and_flights() {
    let keys = "--keys p-256,ml-dsa-44,ml-dsa-65,ml-dsa-65-chain,p-256-by-ml-dsa-65 --samples 6";
    let (document, outcome) = compare(keys).run_for_json();
    outcome.exits(0);
    for row in document["rows"].as_array().unwrap() {
        assert!(row["client_ns"]["ci95_ns"].is_array() && row["server_ns"]["ci95_ns"].is_array(), "{row:#}");
        let kind = row["kind"].as_str().unwrap();
        let connections = row["n"].as_u64().unwrap() * row["connections"].as_u64().unwrap();
        assert_eq!(row["kinds"], serde_json::json!({ kind: connections }), "{row:#}");
    }
    for client in ["rustls-aws-lc", "engine"] {
        let classical = row(&document, client, "full p-256 x25519");
        let hybrid = row(&document, client, "full p-256 X25519MLKEM768");
        // An encapsulation key of ML-KEM-768 has 1184 bytes, a ciphertext 1088 (FIPS 203 table 3), a signature of ECDSA a few more or less.
        assert_eq!(bytes(hybrid, "sent") - bytes(classical, "sent"), 1184, "{client}");
        assert!((1080..1096).contains(&(bytes(hybrid, "received") - bytes(classical, "received"))), "{client}");
        let two_shares = row(&document, client, "full p-256 x25519 + hybrid share");
        // A key share of the hybrid, its group and length, and the group in the list of those that are supported.
        assert_eq!(bytes(two_shares, "sent") - bytes(classical, "sent"), 1184 + 32 + 4 + 2, "{client}");
        assert!(bytes(two_shares, "received").abs_diff(bytes(classical, "received")) < 8, "{client}");
        let retried = row(&document, client, "full p-256 X25519MLKEM768 retried");
        assert!(bytes(retried, "sent") > bytes(hybrid, "sent") + 100, "two ClientHellos: {retried:#}");
        assert!(bytes(retried, "received") > bytes(hybrid, "received") + 50, "and a HelloRetryRequest: {retried:#}");
    }
    let client = "rustls-aws-lc";
    for group in ["secp256r1", "SecP256r1MLKEM768", "MLKEM768"] {
        row(&document, client, &format!("ticket p-256 {group}"));
    }
    let flight = |handshake: &str| row(&document, client, handshake)["server_flight"].as_u64().unwrap();
    let of_key = |key: &str| flight(&format!("full {key} X25519MLKEM768"));
    // Two signatures of the sizes of FIPS 204 table 2, and a public key: leaf and CertificateVerify; one signature; four and two keys.
    assert!(of_key("ml-dsa-44") > of_key("p-256") + 2 * 2420 + 1312 - 500);
    assert!(of_key("ml-dsa-65") > of_key("p-256") + 2 * 3309 + 1952 - 500);
    assert!(of_key("p-256-by-ml-dsa-65") > of_key("p-256") + 3309 - 200);
    assert!(of_key("ml-dsa-65") < 14_600 && of_key("ml-dsa-65-chain") > 14_600);
    assert!(flight("ticket ml-dsa-65-chain X25519MLKEM768") < 2000, "no certificate");
    let conclusion = document["conclusion"].to_string();
    for words in ["X25519MLKEM768 instead of x25519", "HelloRetryRequest", "14600 bytes (RFC 6928): a round trip more"] {
        assert!(conclusion.contains(words), "{words}: {conclusion}");
    }
    let claims = document["claims"].as_array().unwrap();
    let of_shares = claims.iter().filter(|it| it["claim"].as_str().unwrap().contains("two key shares"));
    let decided: Vec<_> = of_shares.map(|it| (it["stack"].as_str().unwrap(), it["measured"].is_number())).collect();
    let expected = [("rustls-aws-lc", true), ("engine → rustls-aws-lc", true), ("rustls-ring", false)];
    assert_eq!(decided, expected, "{claims:#?}");
    is_said_to_be_unsupported(&document);
}

/// What a library lacks it says, or its ClientHello does; nothing fails.
fn is_said_to_be_unsupported(document: &Value) {
    let skipped = document["skipped"].as_array().unwrap();
    assert!(skipped.iter().all(|it| it["outcome"] == "unsupported"), "{skipped:#?}");
    let reasons = |client: &str, field: &str, value: &str| -> Vec<&str> {
        let such = skipped.iter().filter(|it| it["client"] == client && it[field] == value);
        such.map(|it| it["reason"].as_str().unwrap()).collect()
    };
    let of_ring = reasons("rustls-ring", "group", "MLKEM768");
    assert!(of_ring.len() == 2 && of_ring.iter().all(|it| it.ends_with("it has no group MLKEM768")), "{of_ring:?}");
    assert_eq!(reasons("engine", "key", "ml-dsa-44"), ["the client offers no signatures of ML-DSA"; 2]);
}

#[test]
fn a_page_says_how_many_round_trips_a_flight_takes() {
    let flags = "--stacks rustls-aws-lc --keys p-256,ml-dsa-65-chain --groups X25519MLKEM768 --samples 1 -v";
    let page = compare(flags).run().exits(0).page;
    let of_flights = page.split_once("Bytes of one connection, and round trips").unwrap().1.split_once("RFC").unwrap().0;
    let round_trips = |handshake: &str| {
        let line = of_flights.lines().find(|line| line.starts_with(&format!("1.3 {handshake} "))).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(round_trips("full p-256 X25519MLKEM768"), "0");
    assert_eq!(round_trips("full p-256 X25519MLKEM768 retried"), "1");
    assert_eq!(round_trips("full ml-dsa-65-chain X25519MLKEM768"), "1");
    assert_eq!(round_trips("ticket ml-dsa-65-chain X25519MLKEM768"), "0");
}

#[test]
fn over_loopback_a_retry_is_seen_too() {
    let flags = "--over loopback --stacks rustls-aws-lc --keys p-256 --groups X25519MLKEM768 --samples 2";
    let (document, outcome) = compare(flags).run_for_json();
    outcome.exits(0);
    let retried = row(&document, "rustls-aws-lc", "full p-256 X25519MLKEM768 retried");
    assert!(retried["server_flight"].is_null() && retried["wall_ns"]["median_ns"].as_u64().unwrap() > 0, "{retried:#}");
}

#[test]
fn what_does_not_exist_is_refused() {
    let refused = |flags: &str| compare(flags).run().exits(2).stderr;
    assert!(refused("--keys ml-dsa-66").contains("ml-dsa-65-chain"), "the known ones are named");
    let under_tls12 = refused("--tls 1.2 --keys ml-dsa-44");
    assert!(under_tls12.contains("no handshake"), "{under_tls12}");
}
