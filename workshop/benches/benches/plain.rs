//! What `reprise compare` says of a library, held against a plain loop over the same library: each side's CPU time for a connection, or
//! for the transfer of 64 KiB, samples of some milliseconds by turns, as a ratio with its interval; and the rate of data beside that of the
//! cipher alone. `cargo bench -p reprise-benches --bench plain` prints; `-- --check` fails where the interval of a ratio leaves its bounds,
//! or where client and server make up too little of their thread's CPU time. It needs a release build of `reprise` and
//! `cargo xtask stacks --system`; with `cargo xtask stacks --source openssl-3.5` it measures that as well.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use reprise_benches::cipher_alone::CipherAlone;
use reprise_benches::rows::{Measured, Row, rows};
use reprise_benches::{Beside, OpenSslArchives, Peer, built_over_openssl};
use reprise_model::document::BulkSender;
use reprise_model::{ServerChain, Version};
use reprise_pairs::{Bulk, Case, Certificates, Job, Keys, LARGEST_RECORD, Prepare, RunPrepared, StackRef};

/// Samples of each row, and as many of the loop.
const SAMPLES: usize = 200;
/// Processes of each: the addresses of its memory make a short handshake in one process up to 4 % slower than in another.
const PROCESSES: usize = 4;
/// How much of the thread's CPU time client and server make up together, at least.
const CHARGED: f64 = 0.97;
/// How often the rate of data is measured beside that of the cipher alone, and transfers of each time.
const RATES: usize = 15;
const TRANSFERS: u32 = 5000;
/// Within which the interval of our rate must lie, relative to the loop's.
const SAME_RATE: [f64; 2] = [0.95, 1.05];

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let target = Path::new(env!("CARGO_BIN_EXE_plain-rustls")).parent().context("no target directory")?;
    let stacks = target.with_file_name("stacks");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted = |row: &Row| wanted.is_empty() || wanted.iter().any(|word| row.case.to_string().contains(word));
    let rows: Vec<Row> = rows().into_iter().filter(is_wanted).collect();
    let certificates = Folders::make(&rows, folder.path())?;
    let mut failures = Vec::new();
    for (name, measured) in
        [("OpenSSL", Measured::OpenSsl), ("OpenSSL 3.5", Measured::OpenSsl35), ("rustls, aws-lc-rs", Measured::Rustls)]
    {
        let archives = match measured {
            Measured::OpenSsl => Some(OpenSslArchives::Installed),
            Measured::OpenSsl35 => match OpenSslArchives::built("openssl-3.5", &stacks) {
                None => {
                    println!("{name}: not measured: cargo xtask stacks --source openssl-3.5 has not built it");
                    continue;
                }
                built => built,
            },
            Measured::Rustls => None,
        };
        let stack = match &archives {
            Some(archives) => StackRef::Plugin(stacks.join(format!("{}.so", archives.plugin()))),
            None => StackRef::BuiltIn("rustls-aws-lc".to_owned()),
        };
        let plain = match &archives {
            Some(archives) => built_over_openssl("openssl", archives, folder.path())?,
            None => target.join("plain-rustls"),
        };
        let mut bench = Bench {
            name,
            rows: rows.iter().filter(|row| row.is_of(measured)).collect(),
            certificates: &certificates,
            peers: Peers::start(&target.join("reprise"), &plain)?,
            programs: (target.join("reprise"), plain),
            stack,
            failures: Vec::new(),
        };
        bench.hold_rows()?;
        if let Some(cipher) = CipherAlone::of(measured) {
            bench.hold_rates(&cipher)?;
        }
        failures.append(&mut bench.failures);
    }
    for failure in &failures {
        println!("{failure}");
    }
    ensure!(failures.is_empty() || !std::env::args().any(|argument| argument == "--check"), "outside the bounds");
    Ok(())
}

/// A library, and the two processes that use it.
struct Bench<'a> {
    name: &'static str,
    rows: Vec<&'a Row>,
    certificates: &'a Folders,
    stack: StackRef,
    programs: (PathBuf, PathBuf),
    peers: Peers,
    failures: Vec<String>,
}

/// A process of `reprise`, and one of the loop.
struct Peers {
    compare: Peer,
    plain: Peer,
}

impl Peers {
    fn start(reprise: &Path, plain: &Path) -> anyhow::Result<Self> {
        let compare = Peer::start(Command::new(reprise).arg("stack-child"))?;
        Ok(Self { compare, plain: Peer::start(&mut Command::new(plain))? })
    }
}

/// What a sample of `reprise compare` has, in nanoseconds.
struct Sample {
    /// Of one connection or transfer, the client's first.
    sides: [u64; 2],
    thread: u64,
    charged: u64,
}

impl Bench<'_> {
    /// Prints a table, and notes what is outside the bounds.
    fn hold_rows(&mut self) -> anyhow::Result<()> {
        let mut pairs = vec![Vec::new(); self.rows.len()];
        let (mut thread, mut charged) = (0, 0);
        for _ in 0..PROCESSES {
            self.peers = Peers::start(&self.programs.0, &self.programs.1)?;
            let cells = self.rows.clone().into_iter().map(|row| self.prepare(row.case)).collect::<Result<Vec<_>, _>>()?;
            // One right after the other: what the machine does meanwhile falls on both.
            for (round, number) in
                reprise_stats::balanced_order(cells.len(), SAMPLES / PROCESSES, 0, 1).into_iter().enumerate()
            {
                let row = self.rows[number];
                let first = if round % 2 == 0 { Some(self.run_plain(row.case, row.count)?) } else { None };
                let ours = self.run_compare(cells[number], row.count)?;
                // A row of data says its own share.
                if row.case.bulk.is_none() {
                    thread += ours.thread;
                    charged += ours.charged;
                }
                pairs[number].push((ours.sides, first.map_or_else(|| self.run_plain(row.case, row.count), Ok)?));
            }
        }
        println!("{}: CPU time beside a plain loop, {SAMPLES} samples of each", self.name);
        for (row, pairs) in self.rows.iter().zip(pairs) {
            for (share, side) in ["client", "server"].into_iter().enumerate() {
                let of_side: Vec<(u64, u64)> = pairs.iter().map(|(ours, plain)| (ours[share], plain[share])).collect();
                let beside = Beside::new(&of_side)?;
                let line = format!("  {side}  {beside}  {}", row.case);
                let bounds = row.bounds[share];
                if !beside.is_within(bounds) {
                    self.failures.push(format!("outside {bounds:?}: {}{line}", self.name));
                }
                println!("{line}");
            }
        }
        if thread == 0 {
            return Ok(());
        }
        let charged = charged as f64 / thread as f64;
        println!("  client and server make up {:.1} % of the thread's CPU time", charged * 100.0);
        if charged < CHARGED {
            self.failures.push(format!("below {CHARGED}: {}, client and server of the thread's CPU time", self.name));
        }
        Ok(())
    }

    /// Prints what the record layer leaves of the cipher's rate, and notes where compare says another rate than the loop.
    fn hold_rates(&mut self, cipher: &CipherAlone) -> anyhow::Result<()> {
        let bulk = Bulk { sender: BulkSender::Server, record: LARGEST_RECORD, hardware: true };
        let of_data = |row: &&&Row| row.case.version == Version::Tls13 && row.case.bulk == Some(bulk);
        let Some(case) = self.rows.iter().find(of_data).map(|row| row.case) else { return Ok(()) };
        let cell = self.prepare(case)?;
        let (mut alone, mut pairs) = (Vec::new(), Vec::new());
        for round in 0..RATES {
            alone.push(cipher.nanoseconds(&mut self.peers.plain, LARGEST_RECORD)?);
            let first = if round % 2 == 0 { Some(self.run_plain(case, TRANSFERS)?) } else { None };
            let ours = self.run_compare(cell, TRANSFERS)?.sides[1];
            pairs.push((ours, first.map_or_else(|| self.run_plain(case, TRANSFERS), Ok)?[1]));
        }
        let beside = Beside::new(&pairs)?;
        let alone = reprise_stats::median(&alone).context("no samples")?;
        let rate = |ns: u64| (1 << 16) as f64 * 1e3 / ns as f64;
        println!(
            "  {cipher}: {:.0} MB/s; the plain loop sends {:.0}, so that its record layer takes {:.1} % of the time; compare {:.0}, {beside}",
            rate(alone),
            rate(beside.plain),
            100.0 - 100.0 * alone as f64 / beside.plain as f64,
            rate(beside.ours),
        );
        if !beside.is_within(SAME_RATE) {
            self.failures.push(format!("outside {SAME_RATE:?}: {}, the rate of data: {beside}", self.name));
        }
        Ok(())
    }

    fn prepare(&mut self, case: Case) -> anyhow::Result<usize> {
        let certificates = self.certificates.of(case)?.1.clone();
        let job = Job { client: self.stack.clone(), server: self.stack.clone(), case, certificates };
        let ready = self.peers.compare.ask_child(&Prepare(job)).with_context(|| format!("{}: {case}", self.name))?;
        Ok(ready.cell)
    }

    fn run_compare(&mut self, cell: usize, count: u32) -> anyhow::Result<Sample> {
        let ran = self.peers.compare.ask_child(&RunPrepared { cell, connections: count })?;
        let sides = [ran.client_ns / u64::from(count), ran.server_ns / u64::from(count)];
        Ok(Sample { sides, thread: ran.thread_ns, charged: ran.charged_ns })
    }

    fn run_plain(&mut self, case: Case, count: u32) -> anyhow::Result<[u64; 2]> {
        let line = reprise_benches::rows::line(case, &self.certificates.of(case)?.0, count);
        self.peers.plain.ask_plain(&line)
    }
}

/// The certificates of each key and chain, for both: in files, and as `reprise compare` is told them.
struct Folders(BTreeMap<(reprise_pairs::Key, ServerChain), (PathBuf, Certificates)>);

impl Folders {
    fn make(rows: &[Row], folder: &Path) -> anyhow::Result<Self> {
        let keys = Keys::make(rows.iter().map(|row| (row.case.key, row.case.chain)))?;
        let mut folders = BTreeMap::new();
        for case in rows.iter().map(|row| row.case) {
            let Case { key, chain, .. } = case;
            let made = keys.of(key, chain).with_context(|| format!("no certificates for {case}"))?;
            let folder = folder.join(format!("{key}-{chain}"));
            std::fs::create_dir_all(&folder)?;
            for (file, text) in [
                ("chain.pem", &made.server_chain),
                ("key.pem", &made.server_key),
                ("root.pem", &made.root),
                ("client-chain.pem", &made.client_chain),
                ("client-key.pem", &made.client_key),
            ] {
                std::fs::write(folder.join(file), text)?;
            }
            folders.insert((key, chain), (folder, made.clone()));
        }
        Ok(Self(folders))
    }

    fn of(&self, case: Case) -> anyhow::Result<&(PathBuf, Certificates)> {
        self.0.get(&(case.key, case.chain)).with_context(|| format!("no certificates for {case}"))
    }
}
