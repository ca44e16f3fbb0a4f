//! Instructions of the client per handshake, counted by valgrind's callgrind, against those on record: a gate against
//! regressions. This valgrind hides newer CPU extensions, so the counts are no costs.
//!
//! `cargo bench --bench instructions` compares; `-- --record` writes `workshop/benches/instructions.txt` anew.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use reprise_compare::Callgrind;

/// A program, and what it is asked for.
type Scenario = (&'static str, &'static str);

/// The engine's handshakes by themselves; those of the load generator with sockets and all.
const SCENARIOS: [Scenario; 8] = [
    ("handshakes", "full-1.3"),
    ("handshakes", "ticket-1.3"),
    ("handshakes", "full-1.2"),
    ("handshakes", "id-1.2"),
    ("load", "full-1.3"),
    ("load", "ticket-1.3"),
    ("load", "full-1.2"),
    ("load", "ticket-1.2"),
];
/// More than this above the record fails. The server's randomness moves the client's count by about half a percent.
const TOLERANCE: f64 = 1.05;
/// Two runs of different length: their difference is free of what the program does only once.
const SHORT: u64 = 10;
const LONG: u64 = 160;

fn main() -> anyhow::Result<()> {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let Ok(_) = Callgrind::find() else {
        if std::env::var_os("REPRISE_REQUIRE_SERVERS").is_some() {
            bail!("valgrind is missing, and REPRISE_REQUIRE_SERVERS is set");
        }
        println!("NOT RUN: needs valgrind");
        return Ok(());
    };
    let counted = SCENARIOS
        .iter()
        .map(|&scenario| Ok((name(scenario), count(scenario)?)))
        .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
    if std::env::args().any(|argument| argument == "--record") {
        let lines: String = counted.iter().map(|(scenario, count)| format!("{scenario} {count}\n")).collect();
        fs::write(&record, lines).context("cannot write the record")?;
        println!("recorded");
        return Ok(());
    }

    let text = fs::read_to_string(&record).context("no record: make one with -- --record")?;
    let mut regressed = Vec::new();
    for (scenario, now) in counted {
        let before: u64 = recorded(&text, &scenario).with_context(|| format!("{scenario} is not on record"))?;
        let ratio = now as f64 / before as f64;
        println!("{scenario:<15} {now:>9} instructions a handshake, {before:>9} on record, ratio {ratio:.3}");
        if ratio > TOLERANCE {
            regressed.push(scenario);
        }
    }
    if regressed.is_empty() { Ok(()) } else { bail!("more instructions than on record: {}", regressed.join(", ")) }
}

/// As it stands in the record: the engine's without their program.
fn name((program, scenario): Scenario) -> String {
    if program == "handshakes" { scenario.to_owned() } else { format!("{program}-{scenario}") }
}

/// The client's instructions in one handshake.
fn count(scenario: Scenario) -> anyhow::Result<u64> {
    let short = total(scenario, SHORT)?;
    let long = total(scenario, LONG)?;
    Ok((long.saturating_sub(short)) / (LONG - SHORT))
}

fn total((program, scenario): Scenario, handshakes: u64) -> anyhow::Result<u64> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("callgrind.out");
    let output = Command::new("valgrind")
        .args(Callgrind::arguments(&out))
        .args(["--toggle-collect=*client_start*", "--toggle-collect=*client_turn*", "--toggle-collect=*worker*Worker*run*"])
        .arg(if program == "load" { env!("CARGO_BIN_EXE_load") } else { env!("CARGO_BIN_EXE_handshakes") })
        .args([scenario, &handshakes.to_string()])
        .output()
        .context("cannot run valgrind")?;
    if !output.status.success() {
        bail!("valgrind failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Callgrind::total(&out).context("callgrind counted nothing")
}

fn recorded(text: &str, scenario: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(scenario)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}
