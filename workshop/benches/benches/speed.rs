//! What `reprise speed` says of OpenSSL's operations, held against `openssl speed` of the same version, by turns: CPU time of one, as a ratio
//! with its interval. `cargo bench -p reprise-benches --bench speed` prints; `-- --check` fails where an interval leaves its bounds. It
//! needs a release build of `reprise`, the `openssl` program and `cargo xtask stacks --system`.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use reprise_benches::Beside;
use serde_json::Value;

/// Turns.
const ROUNDS: usize = 9;
/// Within which the interval of a ratio must lie.
const BOUNDS: [f64; 2] = [0.95, 1.05];
/// Ours is PSS, whose mask takes nine more hashes: a microsecond, which shows where verifying takes fifteen. `openssl speed` has PKCS #1 v1.5.
const BOUNDS_OF_PSS: [f64; 2] = [0.95, 1.10];
/// `openssl speed` takes longer than a plain loop over the same calls of EVP.
const BOUNDS_OF_AEAD: [f64; 2] = [0.85, 1.05];

/// An operation as both name it: ours, OpenSSL's arguments, and in which field of its line it is.
struct Same {
    operation: &'static str,
    algorithm: &'static str,
    openssl: &'static [&'static str],
    line: &'static str,
    field: usize,
    /// Of what the field has the number of a second: bytes of one operation, or 1.
    unit: f64,
    bounds: [f64; 2],
}

const fn each(
    operation: &'static str,
    algorithm: &'static str,
    openssl: &'static [&'static str],
    line: &'static str,
    field: usize,
) -> Same {
    Same { operation, algorithm, openssl, line, field, unit: 1.0, bounds: BOUNDS }
}

const fn bulk(operation: &'static str, algorithm: &'static str, openssl: &'static [&'static str]) -> Same {
    Same { operation, algorithm, openssl, line: "+F:", field: 3, unit: 16384.0, bounds: BOUNDS }
}

/// The fields of `openssl speed -mr`: operations of a second, or bytes.
const SAME: [Same; 12] = [
    each("sign", "rsa-2048", &["rsa2048"], "+F2:", 3),
    Same { bounds: BOUNDS_OF_PSS, ..each("verify", "rsa-2048", &["rsa2048"], "+F2:", 4) },
    each("sign", "rsa-4096", &["rsa4096"], "+F2:", 3),
    each("sign", "p-256", &["ecdsap256"], "+F4:", 3),
    each("verify", "p-256", &["ecdsap256"], "+F4:", 4),
    each("sign", "ed25519", &["ed25519"], "+F6:", 4),
    each("verify", "ed25519", &["ed25519"], "+F6:", 5),
    each("agree", "x25519", &["ecdhx25519"], "+F5:", 3),
    each("agree", "secp256r1", &["ecdhp256"], "+F5:", 3),
    Same { bounds: BOUNDS_OF_AEAD, ..bulk("seal", "aes-128-gcm", &["-bytes", "16384", "-aead", "-evp", "aes-128-gcm"]) },
    bulk("hash", "sha-256", &["-bytes", "16384", "-evp", "sha256"]),
    bulk("hash", "sha-384", &["-bytes", "16384", "-evp", "sha384"]),
];

fn main() -> anyhow::Result<()> {
    let target = Path::new(env!("CARGO_BIN_EXE_handshakes")).parent().context("no target directory")?;
    let (reprise, plugins) = (target.join("reprise"), target.with_file_name("stacks"));
    println!("OpenSSL: CPU time of an operation, `reprise speed` over `openssl speed`, {ROUNDS} rounds");
    let mut failures = Vec::new();
    for same in &SAME {
        let mut pairs = Vec::new();
        for _ in 0..ROUNDS {
            let theirs = openssl(same)?;
            pairs.push((ours(&reprise, &plugins, same)?, theirs));
        }
        let beside = Beside::new(&pairs)?;
        let line = format!("  {} {}  {beside}", same.operation, same.algorithm);
        if !beside.is_within(same.bounds) {
            failures.push(format!("outside {:?}:{line}", same.bounds));
        }
        println!("{line}");
    }
    failures.iter().for_each(|failure| println!("{failure}"));
    ensure!(failures.is_empty() || !std::env::args().any(|argument| argument == "--check"), "outside the bounds");
    Ok(())
}

/// Nanoseconds of one.
fn ours(reprise: &Path, plugins: &Path, same: &Same) -> anyhow::Result<u64> {
    let mut command = Command::new(reprise);
    command.args(["speed", same.operation, "--algorithms", same.algorithm, "--stacks", "openssl", "--no-software"]);
    let output = command.args(["--samples", "200", "--json", "-", "--plugins"]).arg(plugins).output()?;
    let document: Value = serde_json::from_slice(&output.stdout).context("no document")?;
    let median = document.pointer("/rows/0/once/median_ns").and_then(Value::as_f64);
    Ok(median.with_context(|| format!("no figure of {} {}", same.operation, same.algorithm))? as u64)
}

/// Likewise.
fn openssl(same: &Same) -> anyhow::Result<u64> {
    let output = Command::new("openssl").args(["speed", "-mr", "-seconds", "1"]).args(same.openssl).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line =
        text.lines().find(|line| line.starts_with(same.line)).with_context(|| format!("no {} in {text}", same.line))?;
    let field = line.split(':').nth(same.field).and_then(|field| field.parse::<f64>().ok());
    let field = field.with_context(|| format!("no field {} in {line}", same.field))?;
    Ok((same.unit / field * 1e9) as u64)
}
