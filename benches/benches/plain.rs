//! What `reprise compare` says of a library, held against a plain loop over the same library: each side's CPU time for a connection,
//! samples of some ten milliseconds by turns, as a ratio with its interval. `cargo bench -p reprise-benches --bench plain` prints;
//! `-- --check` fails where the interval of a server leaves its bounds, or where client and server make up too little of their
//! thread's CPU time. It needs a release build of `reprise` and `cargo xtask stacks --system`.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use reprise_benches::{Beside, Peer, built_over_openssl};
use reprise_compare::{Bulk, Case, Key, StackRef};
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::document::BulkSender;
use reprise_model::{Kind, Version};
use reprise_wire::NamedGroup;
use serde_json::{Value, json};

/// Samples of each handshake, and as many of the loop.
const SAMPLES: usize = 200;
type Measured = (Version, Kind, Option<u16>, u32, [f64; 2]);
/// What is measured, connections or transfers of a sample, and within which bounds the interval of its ratio must lie: a full handshake;
/// one that is resumed, is short, and made of turns that the reading of a clock is a part of; and data that the server sends in records
/// of so many bytes.
const CASES: [Measured; 8] = [
    (Version::Tls12, Kind::Full, None, 6, [0.97, 1.03]),
    (Version::Tls12, Kind::Id, None, 80, [0.93, 1.07]),
    (Version::Tls12, Kind::Ticket, None, 80, [0.93, 1.07]),
    (Version::Tls13, Kind::Full, None, 6, [0.97, 1.03]),
    (Version::Tls13, Kind::Ticket, None, 10, [0.93, 1.07]),
    (Version::Tls12, Kind::Full, Some(16384), 200, [0.95, 1.10]),
    (Version::Tls13, Kind::Full, Some(16384), 200, [0.95, 1.10]),
    (Version::Tls13, Kind::Full, Some(512), 50, [0.95, 1.10]),
];
/// How much of the thread's CPU time client and server make up together, at least.
const CHARGED: f64 = 0.97;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let target = Path::new(env!("CARGO_BIN_EXE_plain-rustls")).parent().context("no target directory")?;
    let plugin = target.with_file_name("stacks").join("openssl.so");
    let mut failures = Vec::new();
    for (name, stack, plain) in [
        ("OpenSSL", StackRef::Plugin(plugin), built_over_openssl("openssl", folder.path())?),
        ("rustls, aws-lc-rs", StackRef::BuiltIn("rustls-aws-lc".to_owned()), target.join("plain-rustls")),
    ] {
        let certificates = Certificates::make(folder.path())?;
        let mut plain = Peer::start(Command::new(plain).args(certificates.files))?;
        let mut compare = Peer::start(Command::new(target.join("reprise")).arg("stack-child"))?;
        for (version, kind, record, ..) in CASES {
            let case = Case::new(version, kind, Key::P256, NamedGroup::SECP256R1, false).context("no such case")?;
            let bulk = record.map(|record| Bulk { sender: BulkSender::Server, record, hardware: true });
            let case = bulk.map_or(case, |bulk| case.with_bulk(bulk));
            let job = json!({ "client": stack, "server": stack, "case": case, "certificates": certificates.texts });
            compare.ask_child(&json!({ "Prepare": job }))?;
        }
        failures.extend(held_against(name, &mut compare, &mut plain)?);
    }
    for failure in &failures {
        println!("{failure}");
    }
    ensure!(failures.is_empty() || !std::env::args().any(|argument| argument == "--check"), "outside the bounds");
    Ok(())
}

/// Prints a table, and gives what is outside the bounds.
fn held_against(name: &str, compare: &mut Peer, plain: &mut Peer) -> anyhow::Result<Vec<String>> {
    let mut pairs = vec![Vec::new(); CASES.len()];
    let (mut thread, mut charged) = (0, 0);
    // One right after the other: what the machine does meanwhile falls on both.
    for (round, number) in reprise_stats::balanced_order(CASES.len(), SAMPLES, 0, 1).into_iter().enumerate() {
        let (version, kind, record, connections, _) = CASES[number];
        let ask_plain =
            |plain: &mut Peer| plain.ask_plain(&format!("{} {} {connections}", version.number(), named(kind, record)));
        let first = if round % 2 == 0 { Some(ask_plain(plain)?) } else { None };
        let ran = compare.ask_child(&json!({ "Run": { "cell": number, "connections": connections } }))?;
        let of = |field: &str| ran.get(field).and_then(Value::as_u64).with_context(|| format!("no {field} in {ran}"));
        let (client, server) = (of("client_ns")?, of("server_ns")?);
        // A row of data says its own share.
        if record.is_none() {
            thread += of("thread_ns")?;
            charged += client + server;
        }
        let ours = [client, server].map(|ns| ns / u64::from(connections));
        pairs[number].push((ours, first.map_or_else(|| ask_plain(plain), Ok)?));
    }
    println!("{name}: CPU time of a connection beside a plain loop, {SAMPLES} samples of each");
    let mut failures = Vec::new();
    for ((version, kind, record, _, bounds), pairs) in CASES.iter().zip(pairs) {
        for (share, side) in ["client", "server"].into_iter().enumerate() {
            let of_side: Vec<(u64, u64)> = pairs.iter().map(|(ours, plain)| (ours[share], plain[share])).collect();
            let beside = Beside::new(&of_side)?;
            let line = format!("  {version} {:6} {side}  {beside}", named(*kind, *record));
            if side == "server" && !beside.is_within(*bounds) {
                failures.push(format!("outside {bounds:?}: {name}{line}"));
            }
            println!("{line}");
        }
    }
    let charged = charged as f64 / thread as f64;
    println!("  client and server make up {:.1} % of the thread's CPU time", charged * 100.0);
    if charged < CHARGED {
        failures.push(format!("below {CHARGED}: {name}, client and server of the thread's CPU time"));
    }
    Ok(failures)
}

/// As the plain programs know it.
fn named(kind: Kind, record: Option<u16>) -> String {
    record.map_or_else(|| kind.name().to_owned(), |record| format!("b{record}"))
}

/// The same for both, as PEM and in files.
struct Certificates {
    texts: Value,
    files: [PathBuf; 3],
}

impl Certificates {
    fn make(folder: &Path) -> anyhow::Result<Self> {
        let authority = Authority::with_key(KeyKind::P256)?;
        let server = authority.server(&ServerSpec::new(KeyKind::P256))?;
        let (chain, key, root) = (server.chain_pem(), server.key_pem(), authority.pem());
        let files = ["chain.pem", "key.pem", "root.pem"].map(|name| folder.join(name));
        for (file, text) in files.iter().zip([chain, key, &root]) {
            std::fs::write(file, text)?;
        }
        let texts = json!({ "root": root, "server_chain": chain, "server_key": key, "client_chain": "", "client_key": "", "psk": [] });
        Ok(Self { texts, files })
    }
}
