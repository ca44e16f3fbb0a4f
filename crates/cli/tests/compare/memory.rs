//! `reprise compare memory`: the heap of connections and contexts.

use std::fs;
use std::path::Path;
use std::process::Command;

use reprise_harness::Reprise;
use reprise_servers::require;
use serde_json::Value;

use super::plugins::folder;

fn row<'d>(document: &'d Value, stack: &str, side: &str, tls: &str) -> &'d Value {
    let mut rows = document["memory"].as_array().unwrap().iter();
    rows.find(|row| row["stack"] == stack && row["side"] == side && row["tls"] == tls).unwrap()
}

fn bytes(row: &Value, figure: &str) -> u64 {
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
            assert_eq!(row["code"].is_null(), stack == "rustls-ring", "{row:#}");
        }
    }
    // BearSSL allocates nothing itself: the connection is one block of the shim's, and rustls has no buffers of a record.
    let [bearssl, rustls] = ["bearssl", "rustls-ring"].map(|stack| row(&document, stack, "server", "1.2"));
    assert_eq!(bytes(bearssl, "held"), bytes(bearssl, "peak"));
    assert!(2 * bytes(rustls, "held") < bytes(bearssl, "held"));
    assert!(document["rows"].as_array().unwrap().is_empty(), "memory is no time");
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

/// Two runs of unlike many connections differ by what the connections hold, and by the 16 KiB that Reprise has for each end of a plugin's.
#[test]
#[ignore = "takes a minute: just full"]
fn massif_counts_the_same() {
    require!("valgrind");
    let Some(folder) = folder() else { return };
    for stack in ["openssl", "wolfssl"] {
        let command = format!("compare memory --quick --tls 1.3 --stacks {stack} --plugins");
        let (document, _) = Reprise::without_plugins(&command).arg(folder).run_for_json();
        let held: u64 = ["client", "server"].map(|side| bytes(row(&document, stack, side, "1.3"), "held")).iter().sum();
        let [few, many] = [&["--quick"][..], &[]].map(|more| massif(stack, folder, more));
        let counted = (many - few) as f64 / 900.0 - 2.0 * 16_384.0;
        let ratio = counted / held as f64;
        assert!((0.97..1.03).contains(&ratio), "{stack}: massif {counted:.0} bytes, Reprise {held}");
    }
}

/// The most bytes of the child process that makes the connections; it counts nothing itself then.
fn massif(stack: &str, plugins: &Path, more: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--trace-children=yes", "--tool=massif", "--peak-inaccuracy=0.0"]);
    command.arg(format!("--massif-out-file={}/%p", folder.path().display())).arg(env!("CARGO_BIN_EXE_reprise"));
    command.args(["compare", "memory", "--tls", "1.3", "--timeout", "300", "--stacks", stack, "--plugins"]).arg(plugins);
    command.args(more).output().unwrap();
    let files = fs::read_dir(folder.path()).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let heaps = files.flat_map(|file| {
        let sizes = file.lines().filter_map(|line| line.strip_prefix("mem_heap_B=")?.parse::<u64>().ok());
        sizes.collect::<Vec<_>>()
    });
    heaps.max().unwrap()
}
