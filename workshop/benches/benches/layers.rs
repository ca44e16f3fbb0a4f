//! What `reprise layers` says of OpenSSL, held against a plain client over the same library: CPU time and time of a request that is
//! begun anew at *ctx*, *bio* and *msg*, by turns, as a ratio with its interval. `cargo bench -p reprise-benches --bench layers` prints;
//! `-- --check` fails where the interval of a ratio of CPU time leaves its bounds. It needs a release build of `reprise` and
//! `cargo xtask stacks --system`.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use reprise_benches::{Beside, OpenSslArchives, Peer, built_over_openssl};
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec, Versions};
use reprise_layers::{LevelJob, Material, PrepareLevel, RunLevel};
use reprise_model::{Level, Version};
use reprise_pairs::StackRef;

/// Samples of each level, and as many of the plain client.
const SAMPLES: usize = 200;
/// A level, and the requests of a sample.
const LEVELS: [(Level, u64); 3] = [(Level::Ctx, 10), (Level::Bio, 10), (Level::Msg, 100)];
/// Within which the interval of each ratio must lie.
const BOUNDS: [f64; 2] = [0.95, 1.05];

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let target = Path::new(env!("CARGO_BIN_EXE_handshakes")).parent().context("no target directory")?;
    let authority = Authority::with_key(KeyKind::P256)?;
    let server = EmbeddedServer::start(EmbeddedConfig {
        versions: Versions::Tls13,
        resumption: EmbeddedResumption::Ticket,
        keeps_transport: true,
        ..EmbeddedConfig::new(authority.server(&ServerSpec::new(KeyKind::P256))?)
    })?;
    let root = folder.path().join("root.pem");
    std::fs::write(&root, authority.pem())?;
    let port = server.address().port().to_string();
    let mut plain = Peer::start(
        Command::new(built_over_openssl("layers", &OpenSslArchives::Installed, folder.path())?).arg(&port).arg(&root),
    )?;
    let mut ours = Peer::start(Command::new(target.join("reprise")).arg("stack-child"))?;
    let material = Material::new(&root, None)?;
    for (level, _) in LEVELS {
        ours.ask_child(&PrepareLevel(LevelJob {
            stack: StackRef::Plugin(target.with_file_name("stacks").join("openssl.so")),
            level,
            version: Version::Tls13,
            sessions: None,
            material: material.clone(),
            address: server.address(),
            server_name: "localhost".to_owned(),
            request: format!("HEAD / HTTP/1.1\r\nHost: localhost:{port}\r\nUser-Agent: plain\r\nAccept: */*\r\n\r\n"),
            is_head: true,
            timeout_ms: 10_000,
            helper: None,
        }))?;
    }
    let failures = held_against(&mut ours, &mut plain)?;
    failures.iter().for_each(|failure| println!("{failure}"));
    ensure!(failures.is_empty() || !std::env::args().any(|argument| argument == "--check"), "outside the bounds");
    Ok(())
}

/// Prints a table, and gives what is outside the bounds.
fn held_against(ours: &mut Peer, plain: &mut Peer) -> anyhow::Result<Vec<String>> {
    let mut pairs = vec![Vec::new(); LEVELS.len()];
    // One right after the other: what the machine does meanwhile falls on both.
    for (round, number) in reprise_stats::balanced_order(LEVELS.len(), SAMPLES, 0, 1).into_iter().enumerate() {
        let (level, requests) = LEVELS[number];
        let first = if round % 2 == 0 { Some(plain.ask_plain(&format!("{level} {requests}"))?) } else { None };
        let told = ours.ask_child(&RunLevel { cell: number, requests: requests as u32 })?;
        let ran = [told.cpu_ns / requests, told.wall_ns / requests];
        pairs[number].push((ran, first.map_or_else(|| plain.ask_plain(&format!("{level} {requests}")), Ok)?));
    }
    println!("OpenSSL: a request beside a plain client, {SAMPLES} samples of each");
    let mut failures = Vec::new();
    for ((level, _), pairs) in LEVELS.iter().zip(pairs) {
        for (share, clock) in ["CPU", "time"].into_iter().enumerate() {
            let of_clock: Vec<(u64, u64)> = pairs.iter().map(|(ours, plain)| (ours[share], plain[share])).collect();
            let beside = Beside::new(&of_clock)?;
            let line = format!("  {level} {clock:4}  {beside}");
            if clock == "CPU" && !beside.is_within(BOUNDS) {
                failures.push(format!("outside {BOUNDS:?}:{line}"));
            }
            println!("{line}");
        }
    }
    Ok(failures)
}
