//! `reprise compare memory`: the heap of connections and contexts.

use std::fs;

use reprise_harness::Reprise;
use serde_json::Value;

use super::plugins::folder;

/// Buffers are as the library has them, where nothing else is asked for.
pub(crate) fn row<'d>(document: &'d Value, stack: &str, side: &str, tls: &str) -> &'d Value {
    with_buffers(document, stack, side, tls, &Value::Null, false).unwrap()
}

fn with_buffers<'d>(
    document: &'d Value,
    stack: &str,
    side: &str,
    tls: &str,
    max_fragment: &Value,
    released: bool,
) -> Option<&'d Value> {
    let mut rows = document["memory"].as_array().unwrap().iter();
    rows.find(|row| {
        (&row["stack"], &row["side"], &row["tls"]) == (&stack.into(), &side.into(), &tls.into())
            && (&row["max_fragment"], &row["releases_buffers"]) == (max_fragment, &released.into())
    })
}

pub(crate) fn bytes(row: &Value, figure: &str) -> u64 {
    let [low, high] = [0, 1].map(|end| row[figure]["ci95"][end].as_u64().unwrap());
    let median = row[figure]["median"].as_u64().unwrap();
    assert!(low <= median && median <= high && row[figure]["samples"].as_array().unwrap().len() == 10, "{row:#}");
    median
}

#[test]
fn each_side_of_each_library_holds_less_than_its_peak() {
    let Some(folder) = folder() else { return };
    let command = Reprise::without_plugins("compare memory --quick --tls 1.2 --plugins").arg(folder);
    let (document, outcome) = command.run_for_json();
    outcome.exits(0);
    let conclusion = document["conclusion"][0].as_str().unwrap();
    assert!(conclusion.starts_with("After its handshake a server connection of TLS 1.2 holds"), "{conclusion}");
    assert!(conclusion.contains(" with rustls-ring (") && conclusion.contains(" with wolfssl ("), "{conclusion}");
    for stack in ["openssl", "gnutls", "wolfssl", "mbedtls", "bearssl", "rustls-ring"] {
        for side in ["client", "server"] {
            let row = row(&document, stack, side, "1.2");
            let (held, peak) = (bytes(row, "held"), bytes(row, "peak"));
            assert_eq!(row["connections"], 100);
            assert!(1000 < held && held <= peak && peak < 1_000_000 && bytes(row, "context") > 1000, "{row:#}");
            // Data is little, and a handshake's memory is given back no later than with it.
            assert!(bytes(row, "idle").abs_diff(held) < 1000, "{row:#}");
            assert_eq!(row["code"].is_null(), stack == "rustls-ring", "{row:#}");
        }
    }
    // BearSSL allocates nothing itself: the connection is one block of the shim's, and rustls has no buffers of a record.
    let [bearssl, rustls] = ["bearssl", "rustls-ring"].map(|stack| row(&document, stack, "server", "1.2"));
    assert_eq!(bytes(bearssl, "held"), bytes(bearssl, "peak"));
    assert!(2 * bytes(rustls, "held") < bytes(bearssl, "held"));
    assert!(document["rows"].as_array().unwrap().is_empty(), "memory is no time");
    // BearSSL's session is one struct of 86 bytes behind its length, and its cache is of a fixed size.
    assert_eq!(bytes(row(&document, "bearssl", "client", "1.2"), "session"), 94);
    assert!(bearssl["session"].is_null() && bytes(row(&document, "openssl", "server", "1.2"), "session") > 200);
}

#[test]
fn small_and_released_buffers_are_smaller_where_there_are_such() {
    let Some(folder) = folder() else { return };
    let command = Reprise::without_plugins("compare memory --quick --records 512 --plugins").arg(folder);
    let (document, outcome) = command.run_for_json();
    outcome.exits(0).shows(&[
        "rustls, ring has no max_fragment_length or record_size_limit",
        "wolfSSL has no call that releases the buffers of an idle connection",
        "With records of at most 512 bytes an idle server connection of TLS 1.2 holds",
        "in place of",
    ]);
    let skipped = document["skipped"].as_array().unwrap().iter();
    assert!(skipped.clone().all(|it| it["outcome"] == "unsupported"), "{:#}", document["skipped"]);
    let small = |stack, side, tls| with_buffers(&document, stack, side, tls, &512.into(), false);
    for side in ["client", "server"] {
        for (stack, tls) in [("openssl", "1.2"), ("openssl", "1.3"), ("bearssl", "1.2")] {
            let (usual, small) = (row(&document, stack, side, tls), small(stack, side, tls).unwrap());
            assert!(bytes(small, "held") + 15_000 < bytes(usual, "held"), "{small:#}");
        }
        // Their buffers are as large as the records, or of a fixed size: Debian's Mbed TLS.
        for (stack, tls) in
            [("gnutls", "1.2"), ("gnutls", "1.3"), ("wolfssl", "1.2"), ("wolfssl", "1.3"), ("mbedtls", "1.2")]
        {
            let (usual, small) = (row(&document, stack, side, tls), small(stack, side, tls).unwrap());
            assert!(bytes(small, "held").abs_diff(bytes(usual, "held")) < 1000, "{small:#}");
        }
        for tls in ["1.2", "1.3"] {
            let released = with_buffers(&document, "openssl", side, tls, &Value::Null, true).unwrap();
            assert!(bytes(released, "idle") + 30_000 < bytes(row(&document, "openssl", side, tls), "idle"), "{released:#}");
            assert!(released["session"].is_null());
        }
    }
    let of_4096 = document["memory"].as_array().unwrap().iter().any(|row| row["max_fragment"] == 4096);
    assert!(!of_4096, "--records narrows");
}

#[test]
fn a_fragment_length_that_no_extension_can_say_is_unsupported() {
    let Some(folder) = folder() else { return };
    let line = "compare memory --quick --tls 1.2 --stacks openssl,gnutls --records 700,300 --plugins";
    let (document, outcome) = Reprise::without_plugins(line).arg(folder).run_for_json();
    outcome.exits(0).shows(&[
        "it does not take TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 with secp256r1 with records of at most 300 bytes",
    ]);
    let has = |stack, most: u64| with_buffers(&document, stack, "server", "1.2", &most.into(), false).is_some();
    // A record size limit has any number from 64 on, GnuTLS from 512 on; RFC 6066 has four.
    assert_eq!([has("gnutls", 700), has("gnutls", 300), has("openssl", 700)], [true, false, false]);
}

#[test]
fn an_interrupted_run_keeps_what_was_weighed() {
    let Some(folder) = folder() else { return };
    let json = tempfile::tempdir().unwrap();
    let json = json.path().join("run.json");
    let line = "compare memory --quick --tls 1.3 --stacks openssl,rustls-ring --records 512";
    let compare = || Reprise::without_plugins(line).arg("--plugins").arg(folder).arg("--json").arg(&json);
    compare().run().exits(0);
    let read = || serde_json::from_slice::<Value>(&fs::read(&json).unwrap()).unwrap();
    let mut document = read();
    // As if it had been interrupted after the first pair, and had found a strange figure.
    let rows = document["memory"].as_array_mut().unwrap();
    let all = rows.len();
    rows.truncate(2);
    rows[1]["held"]["median"] = 4.into();
    document["interrupted"] = true.into();
    fs::write(&json, document.to_string()).unwrap();
    compare().arg("--resume").run().exits(0);
    let whole = read();
    assert_eq!((&whole["interrupted"], &whole["resumed"]), (&Value::Bool(false), &1.into()));
    assert_eq!(whole["memory"].as_array().unwrap().len(), all);
    assert_eq!((&whole["memory"][0], &whole["memory"][1]), (&document["memory"][0], &document["memory"][1]));
}

#[test]
fn nothing_is_weighed_without_the_counter() {
    let command = Reprise::without_plugins("compare memory --quick --tls 1.3 --stacks rustls-ring");
    let outcome = command.run().exits(1);
    outcome.shows(&["unsupported", "'reprise stacks install' builds it"]);
    Reprise::without_plugins("compare memory --instructions").run().exits(2);
}

#[test]
fn memory_is_not_weighed_over_loopback() {
    let Some(folder) = folder() else { return };
    let command = Reprise::without_plugins("compare memory --quick --tls 1.3 --over loopback --stacks openssl --plugins");
    command.arg(folder).run().exits(1).shows(&["the heap is counted over memory alone"]);
}
