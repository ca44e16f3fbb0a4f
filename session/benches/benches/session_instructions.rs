//! Instructions of a server per handshake, counted by valgrind's callgrind: rustls alone, this library switched off, on, and on with a
//! store that nodes share. Fails above the bounds. This valgrind hides newer CPU extensions, so the counts are no costs.

#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::fs;
use std::process::Command;

use anyhow::{Context, bail};

const SCENARIOS: [&str; 6] = ["full-1.3", "ticket-1.3", "stored-1.3", "full-1.2", "ticket-1.2", "id-1.2"];
const HOW: [&str; 3] = ["off", "on", "shared"];
/// A shared store's entries are sealed, which those of rustls' memory cache are not: of a resumption by session ID, the cheapest of
/// handshakes, half of the difference is SHA-256, in a valgrind that hides the processor's instructions for it.
const BOUNDS: [f64; 3] = [1.01, 1.03, 1.15];
/// Two runs of different length: their difference is free of what the program does only once.
const SHORT: u64 = 10;
const LONG: u64 = 110;

fn main() -> anyhow::Result<()> {
    let Ok(_) = Command::new("valgrind").arg("--version").output() else {
        if std::env::var_os("REPRISE_REQUIRE_SERVERS").is_some() {
            bail!("valgrind is missing, and REPRISE_REQUIRE_SERVERS is set");
        }
        println!("NOT RUN: needs valgrind");
        return Ok(());
    };
    let mut above = Vec::new();
    for scenario in SCENARIOS {
        let plain = count("plain", scenario)?;
        let mut line = format!("{scenario:<11} {plain:>9} instructions by rustls alone");
        for (how, bound) in HOW.into_iter().zip(BOUNDS) {
            let more = count(how, scenario)? as i64 - plain as i64;
            let ratio = 1.0 + more as f64 / plain as f64;
            write!(line, "; {how} {more:+} ({ratio:.4})")?;
            if ratio > bound {
                above.push(format!("{scenario} {how}"));
            }
        }
        println!("{line}");
    }
    if above.is_empty() { Ok(()) } else { bail!("above {BOUNDS:?}: {}", above.join(", ")) }
}

fn count(how: &str, scenario: &str) -> anyhow::Result<u64> {
    let [short, long] = [SHORT, LONG].map(|handshakes| total(how, scenario, handshakes));
    Ok(long?.saturating_sub(short?) / (LONG - SHORT))
}

fn total(how: &str, scenario: &str, handshakes: u64) -> anyhow::Result<u64> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*server_begin*", "--toggle-collect=*server_turn*"])
        .args(["--toggle-collect=*server_end*", &format!("--callgrind-out-file={}", out.display())])
        .arg(env!("CARGO_BIN_EXE_session-handshakes"))
        .args([how, scenario, &handshakes.to_string()])
        .output()
        .context("cannot run valgrind")?;
    if !output.status.success() {
        bail!("valgrind failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let profile = fs::read_to_string(&out).context("callgrind wrote nothing")?;
    let totals = profile.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    totals.and_then(|count| count.trim().parse().ok()).context("callgrind's file has no totals")
}
