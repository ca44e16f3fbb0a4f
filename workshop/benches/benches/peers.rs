//! Client CPU per full TLS 1.3 handshake, verification on, side by side with `openssl s_time` against the same nginx:
//! interleaved, medians, as a ratio. `cargo bench --bench peers` prints; `-- --check` fails above the bound.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_servers::{Nginx, NginxConfig, RealServer, missing};

const ROUNDS: usize = 7;
const HANDSHAKES: u32 = 2000;
/// Our user CPU per handshake, at most this part of the peer's.
const BOUND: f64 = 0.4;

fn main() -> anyhow::Result<()> {
    for program in ["nginx", "openssl"] {
        if let Some(not_run) = missing(program) {
            not_run.announce();
            return Ok(());
        }
    }
    let authority = Authority::new()?;
    let server = Nginx::start(NginxConfig::new(vec![authority.server(&ServerSpec::new(KeyKind::P256))?]))?;
    let folder = tempfile::tempdir()?;
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, authority.pem())?;
    let target = server.address().to_string();

    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..ROUNDS {
        ours.push(reprise(&target, &ca)?);
        theirs.push(s_time(&target, &ca)?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours / theirs;
    println!("full TLS 1.3, P-256, certificate verified, user CPU per handshake, medians of {ROUNDS} interleaved rounds");
    println!("reprise measure   {:7.1} µs", ours * 1e6);
    println!("openssl s_time    {:7.1} µs", theirs * 1e6);
    println!("ratio             {ratio:7.2}");
    if std::env::args().any(|argument| argument == "--check") && ratio > BOUND {
        bail!("the ratio is above {BOUND}");
    }
    Ok(())
}

/// Seconds of user CPU per handshake; the whole process counts, statistics and output included.
fn reprise(target: &str, ca: &Path) -> anyhow::Result<f64> {
    let program = Path::new(env!("CARGO_BIN_EXE_handshakes")).with_file_name("reprise");
    let mut command = Command::new(program);
    command.args(["measure", target, "--tls", "1.3", "--kinds", "full", "--csv", "-"]);
    command.args(["--count", &HANDSHAKES.to_string(), "--ca"]).arg(ca);
    let (user, _) = user_seconds(&mut command)?;
    Ok(user / f64::from(HANDSHAKES))
}

fn s_time(target: &str, ca: &Path) -> anyhow::Result<f64> {
    let mut command = Command::new("openssl");
    command
        .args(["s_time", "-new", "-tls1_3", "-verify", "5", "-time", "1", "-www", "/", "-connect", target, "-CAfile"])
        .arg(ca);
    let (user, printed) = user_seconds(&mut command)?;
    let count = printed.lines().find_map(|line| line.split_once(" connections in ")?.0.trim().parse::<f64>().ok());
    Ok(user / count.context("s_time printed no count")?)
}

/// User CPU of a whole process, by the shell's own account of its children, and what it printed.
fn user_seconds(command: &mut Command) -> anyhow::Result<(f64, String)> {
    let mut shell = Command::new("bash");
    shell.args(["-c", "TIMEFORMAT='user=%3U'; time \"$@\"", "time"]).arg(command.get_program()).args(command.get_args());
    let output = shell.stdin(Stdio::null()).output().context("cannot run bash")?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{command:?} failed: {errors}");
    }
    let user = errors.lines().rev().find_map(|line| line.strip_prefix("user=")?.trim().parse().ok());
    Ok((user.context("no time from bash")?, printed))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
