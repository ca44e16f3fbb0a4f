//! What `reprise compare --rtt` replays, held against TLS over a real link: two network namespaces joined by TUN devices, with delay, bandwidth
//! and loss between them. `cargo bench -p reprise-benches --bench link` prints; `-- --check` fails where the virtual link is
//! over 5 % from the real one, or under loss its mean over 10 %, or p95 or p99 by more than 10 % and their intervals. It needs root, a release build of `reprise` and `cargo xtask stacks --system`.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use reprise_benches::link::{Client, Conditions, Connected, Ends, Forwarder, Server, SideOptions, in_namespace};
use reprise_compare::{ComparisonPlan, LinkPlan, Scenario, compare, losses, replay};
use reprise_model::document::{CompareDocument, CompareLink, CompareOver, CompareRecording, Provenance};
use reprise_model::{KeyPairs, Kind, PskMode, ServerChain, Version};
use reprise_pairs::{Audience, Case, Certificates, Effort, HandshakePlan, Key, Keys, Launcher, REQUEST, find};
use reprise_stack::{ContextOptions, Pem, SessionMode, SessionPlan, Side, Stack, built_in};
use reprise_wire::NamedGroup;
use rustls_pki_types::UnixTime;

const STACKS: [&str; 2] = ["rustls-aws-lc", "openssl"];
const ROUND_TRIPS_MS: [u64; 4] = [1, 10, 50, 150];
const BANDWIDTHS: [Option<u64>; 2] = [Some(10_000_000), Some(100_000_000)];
/// Connections over each link without loss, one after the other; the median counts.
const CONNECTIONS: usize = 9;
/// Connections over each link with loss. One begins so many times its CPU time after the one before, so that few compute at a time.
const LOST: usize = 1_200;
const SPREAD: u32 = 5;
const LOSS: f64 = 0.01;
/// How far the virtual link may be from the real one.
const MOST: f64 = 0.05;
const MOST_UNDER_LOSS: f64 = 0.10;
const INITCWND: u64 = 10;

fn main() -> anyhow::Result<()> {
    if !nix::unistd::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
        println!("NOT RUN: it takes root and /dev/net/tun");
        return Ok(());
    }
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let mut failures = Vec::new();
    let named: Vec<String> = std::env::args().filter(|argument| STACKS.contains(&argument.as_str())).collect();
    for stack in STACKS.into_iter().filter(|stack| named.is_empty() || named.iter().any(|named| named == stack)) {
        let handshakes = Arc::new(Handshakes::of(stack)?);
        let ends = Ends::default();
        let (is_over, chosen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(usize::MAX)));
        let (of_server, over, choice, served) =
            (Arc::clone(&ends), Arc::clone(&is_over), Arc::clone(&chosen), Arc::clone(&handshakes));
        let (server, begin_server, serving) = in_namespace(move || {
            let server = Server::new("reprise-b", of_server, over)?;
            server.serve(&Handshakes::sides(&served, Side::Server), &choice)
        })?;
        let (told, tells) = std::sync::mpsc::channel();
        let (begin_run, begins) = std::sync::mpsc::channel::<Forwarder>();
        let (dialed, over) = (Arc::clone(&handshakes), Arc::clone(&is_over));
        let (client, begin_client, running) = in_namespace(move || {
            let forwarder = begins.recv()?;
            let client = Client::new("reprise-a", ends)?;
            let run = Run { client, forwarder, handshakes: dialed, chosen };
            let done = run.all(is_quick);
            over.store(true, Ordering::Relaxed);
            let _ = told.send(());
            done
        })?;
        let forwarder = Forwarder::between([(client, "reprise-a"), (server, "reprise-b")])?;
        begin_server.send(()).map_err(|_| anyhow!("the server ended"))?;
        // The server listens before it is asked.
        std::thread::sleep(Duration::from_millis(300));
        begin_run.send(forwarder).map_err(|_| anyhow!("the client ended"))?;
        begin_client.send(()).map_err(|_| anyhow!("the client ended"))?;
        let _ = tells.recv();
        is_over.store(true, Ordering::Relaxed);
        let run = running.join().map_err(|_| anyhow!("the client's thread ended"))?;
        let served = serving.join().map_err(|_| anyhow!("the server's thread ended"))?;
        served.context("the server")?;
        failures.extend(run?);
    }
    failures.iter().for_each(|failure| println!("outside the bounds: {failure}"));
    ensure!(failures.is_empty() || !std::env::args().any(|argument| argument == "--check"), "outside the bounds");
    Ok(())
}

/// Nothing in between.
const DIRECT: Conditions = Conditions { delay: Duration::ZERO, bandwidth: None, loss: 0.0, seed: 0 };

/// The handshakes of one stack, as they were recorded over memory.
struct Handshakes {
    stack: &'static str,
    cases: Vec<Case>,
    keys: Keys,
    recordings: Vec<CompareRecording>,
}

impl Handshakes {
    fn of(stack: &'static str) -> anyhow::Result<Self> {
        let plain = |version, kind| Case::new(version, kind, Key::P256, NamedGroup::X25519, false);
        let mut cases = vec![
            plain(Version::Tls12, Kind::Full),
            plain(Version::Tls12, Kind::Ticket),
            plain(Version::Tls13, Kind::Full),
            plain(Version::Tls13, Kind::Ticket),
            plain(Version::Tls13, Kind::Early),
        ];
        // The chain that takes more than an initial window. OpenSSL 3.0 has no ML-DSA: there it is one of RSA, which takes less.
        cases.push(if stack == "openssl" {
            let case = Case::new(
                Version::Tls13,
                Kind::Full,
                "rsa-4096".parse().map_err(anyhow::Error::msg)?,
                NamedGroup::X25519,
                false,
            );
            case.map(|case| case.with_chain(ServerChain::Three))
        } else {
            Case::new(Version::Tls13, Kind::Full, Key::MlDsa65Chain, NamedGroup::X25519MLKEM768, false)
        });
        let cases: Vec<Case> = cases.into_iter().flatten().collect();
        let keys = Keys::make(cases.iter().map(|case| (case.key, case.chain)))?;
        let document = record(stack, &cases, &keys)?;
        let skipped: Vec<String> = document.skipped.iter().map(|it| it.reason.clone()).collect();
        let recordings = document.links.context("nothing was replayed")?.recordings;
        ensure!(
            recordings.len() == cases.len(),
            "{} of {} handshakes were recorded: {skipped:?}",
            recordings.len(),
            cases.len()
        );
        Ok(Self { stack, cases, keys, recordings })
    }

    fn sides(this: &Arc<Self>, side: Side) -> Vec<SideOptions> {
        let make = |index: usize| -> SideOptions {
            let this = Arc::clone(this);
            Box::new(move || this.context(index, side))
        };
        (0..this.cases.len()).map(make).collect()
    }

    fn context(&self, index: usize, side: Side) -> anyhow::Result<Box<dyn reprise_stack::Context>> {
        let case = self.cases.get(index).context("no such case")?;
        let certificates = self.keys.of(case.key, case.chain).context("no certificates")?;
        let stack = open(self.stack)?;
        let mut groups = vec![case.group().0];
        // RFC 8422 §5.1: under TLS 1.2 the list also says which curves a key may be on.
        if case.version == Version::Tls12 {
            groups.push(NamedGroup::SECP256R1.0);
        }
        Ok(stack.context(&options(side, case, certificates, &groups))?)
    }
}

fn options<'a>(side: Side, case: &'a Case, certificates: &'a Certificates, groups: &'a [u16]) -> ContextOptions<'a> {
    let is_server = side == Side::Server;
    ContextOptions {
        side,
        version: case.version,
        sessions: if case.kind == Kind::Full { SessionMode::Off } else { SessionMode::Ticket },
        suites: std::slice::from_ref(&case.suite),
        groups,
        identity: is_server.then_some(Pem { chain: &certificates.server_chain, key: &certificates.server_key }),
        trust: (!is_server).then_some(certificates.root.as_str()),
        require_client_certificate: false,
        server_name: "localhost",
        psk: None,
        psk_mode: PskMode::PskDheKe,
        max_early_data: if case.kind == Kind::Early { 1 << 14 } else { 0 },
        key_pairs: KeyPairs::Fresh,
        max_fragment: None,
        releases_buffers: false,
        shares_all_groups: false,
        remembers_chains: false,
        date: UnixTime::now(),
    }
}

/// Stacks are kept until the end: a library is loaded once.
fn open(name: &str) -> anyhow::Result<&'static dyn Stack> {
    let built_in = built_in().into_iter().find(|(known, _)| *known == name);
    if let Some((_, stack)) = built_in {
        return Ok(Box::leak(stack));
    }
    let plugin = folder()?.join("stacks").join(format!("{name}.so"));
    Ok(Box::leak(Box::new(reprise_stack::Plugin::load(&plugin)?)))
}

/// Where programs are built to.
fn folder() -> anyhow::Result<PathBuf> {
    let release = Path::new(env!("CARGO_BIN_EXE_handshakes")).parent().context("no target directory")?;
    Ok(release.parent().context("no target directory")?.to_owned())
}

struct Alone;

impl Audience for Alone {
    fn begins(&mut self, _steps: &'static str) {}
    fn proceeded(&mut self, _done: u64, _planned: u64) {}
    fn stops(&self) -> bool {
        false
    }
}

fn record(stack: &str, cases: &[Case], keys: &Keys) -> anyhow::Result<CompareDocument> {
    let stacks: Vec<_> = find(&[folder()?.join("stacks")])?.into_iter().filter(|found| found.name == stack).collect();
    ensure!(!stacks.is_empty(), "no stack '{stack}'");
    let scenario = Scenario::ALL.into_iter().find(|scenario| scenario.name == "resumption").context("no scenario")?;
    let link = CompareLink { rtt_ns: 1_000_000, bandwidth: None, loss: 0.0, initcwnd: INITCWND };
    let plan = ComparisonPlan {
        scenario,
        handshakes: HandshakePlan {
            cases,
            stacks: &stacks,
            crossed: false,
            keys,
            effort: Effort { samples: 2, ..Effort::QUICK },
            seed: 1,
            over: CompareOver::Memory,
        },
        callgrind: None,
        earlier: None,
        links: Some(LinkPlan { links: vec![link], seed: 1 }),
        threads: &[],
        heap_counter: None,
    };
    let launcher = Launcher {
        program: folder()?.join("release/reprise"),
        arguments: vec!["stack-child".into()],
        patience: Duration::from_secs(60),
        environment: Vec::new(),
    };
    compare(&plan, &launcher, Provenance::default(), &mut Alone).map_err(|_| anyhow!("not compared"))
}

/// A client at one end of the link.
struct Run {
    client: Client,
    forwarder: Forwarder,
    handshakes: Arc<Handshakes>,
    /// The server's context, by its number; without one it echoes.
    chosen: Arc<Mutex<usize>>,
}

impl Run {
    fn all(&self, is_quick: bool) -> anyhow::Result<Vec<String>> {
        let mut failures = Vec::new();
        let contexts = Handshakes::sides(&self.handshakes, Side::Client);
        println!(
            "{}, over a real link and over the virtual one, ms until the server has the request",
            self.handshakes.stack
        );
        for (index, make) in contexts.iter().enumerate() {
            let (Some(case), Some(recording)) = (self.handshakes.cases.get(index), self.handshakes.recordings.get(index))
            else {
                bail!("no case")
            };
            let context = make()?;
            for milliseconds in ROUND_TRIPS_MS {
                let delay = Duration::from_micros(milliseconds * 500);
                let rtt_ns = self.round_trip(delay)?.as_nanos() as u64;
                for bandwidth in BANDWIDTHS {
                    let conditions = Conditions { delay, bandwidth, ..DIRECT };
                    let made = self.connect(&*context, index, conditions, CONNECTIONS)?;
                    let made: Vec<Connected> = made.into_iter().flatten().collect();
                    let link = CompareLink { rtt_ns, bandwidth, loss: 0.0, initcwnd: INITCWND };
                    let virtually = replay(&recording.turns, &link, losses(0.0, 0, 0)).context("it does not end")?;
                    let line = Compared {
                        what: format!(
                            "{case}, RTT {:.3} ms, {} Mbit/s",
                            rtt_ns as f64 / 1e6,
                            bandwidth.unwrap_or_default() / 1_000_000
                        ),
                        real: median(made.iter().map(|made| made.request).collect()),
                        virtually: virtually.request_ns,
                    };
                    line.print(MOST, &mut failures);
                }
            }
            let wants_loss = case.kind == Kind::Full && (!is_quick || case.version == Version::Tls13);
            if wants_loss {
                let round_trips: &[u64] = if is_quick { &[50] } else { &[10, 50, 150] };
                for &milliseconds in round_trips {
                    self.under_loss(&*context, index, milliseconds, &mut failures)?;
                }
            }
        }
        Ok(failures)
    }

    /// What a small answer takes with nothing but this delay.
    fn round_trip(&self, delay: Duration) -> anyhow::Result<Duration> {
        self.choose(usize::MAX);
        self.forwarder.set(Conditions { delay, ..DIRECT });
        self.client.round_trip(if delay > Duration::from_millis(10) { 7 } else { 21 })
    }

    fn choose(&self, number: usize) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = number;
    }

    /// So many connections of a case: without loss one after the other.
    fn connect(
        &self,
        context: &dyn reprise_stack::Context,
        index: usize,
        conditions: Conditions,
        count: usize,
    ) -> anyhow::Result<Vec<Option<Connected>>> {
        let case = self.handshakes.cases.get(index).context("no case")?;
        self.choose(index);
        self.forwarder.set(DIRECT);
        let mut stock = if case.kind == Kind::Full { Vec::new() } else { self.client.sessions(context, count)? };
        self.forwarder.set(conditions);
        let mut plans = (0..count).map(|_| {
            let early_data = (case.kind == Kind::Early).then(|| REQUEST.to_vec());
            SessionPlan { session: stock.pop(), early_data }
        });
        if conditions.loss > 0.0 {
            let cpu_ns =
                self.handshakes.recordings.get(index).map(|recording| recording.turns.iter().map(|turn| turn.cpu_ns).sum());
            let gap = SPREAD * Duration::from_nanos(cpu_ns.unwrap_or_default());
            return self.client.connect(context, plans.collect(), gap, &mut Vec::new());
        }
        let mut made = Vec::new();
        for plan in plans.by_ref() {
            made.extend(self.client.connect(context, vec![plan], Duration::ZERO, &mut Vec::new())?);
            // What the last connection still sends is over.
            std::thread::sleep(2 * conditions.delay + Duration::from_millis(2));
        }
        Ok(made)
    }

    /// Many connections, of each of which the same packets are lost as in its replay.
    fn under_loss(
        &self,
        context: &dyn reprise_stack::Context,
        index: usize,
        milliseconds: u64,
        failures: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let (Some(case), Some(recording)) = (self.handshakes.cases.get(index), self.handshakes.recordings.get(index)) else {
            bail!("no case")
        };
        let delay = Duration::from_micros(milliseconds * 500);
        let rtt_ns = self.round_trip(delay)?.as_nanos() as u64;
        let seed = 7;
        let made = self.connect(context, index, Conditions { delay, loss: LOSS, seed, ..DIRECT }, LOST)?;
        let link = CompareLink { rtt_ns, bandwidth: None, loss: LOSS, initcwnd: INITCWND };
        let mut real: Vec<u64> = made.iter().flatten().map(|made| made.request.as_nanos() as u64).collect();
        let mut virtually: Vec<u64> = (0..made.len() as u64)
            .filter_map(|trial| replay(&recording.turns, &link, losses(LOSS, seed, trial)))
            .map(|it| it.request_ns)
            .collect();
        let alike = made.iter().enumerate().filter(|(trial, made)| {
            let replayed = replay(&recording.turns, &link, losses(LOSS, seed, *trial as u64));
            made.zip(replayed).is_some_and(|(made, replayed)| {
                (made.request.as_nanos() as f64 / replayed.request_ns as f64 - 1.0).abs() <= MOST_UNDER_LOSS
            })
        });
        let (alike, given_up) = (alike.count(), made.iter().filter(|made| made.is_none()).count());
        real.sort_unstable();
        virtually.sort_unstable();
        let mean = |times: &[u64]| times.iter().sum::<u64>() / times.len().max(1) as u64;
        println!("    {alike} of {} connections within 10 % of their replays, {given_up} given up", made.len());
        let words = |name: &str| format!("{case}, RTT {milliseconds} ms, 1 % lost, {name}");
        Compared { what: words("mean"), real: mean(&real), virtually: mean(&virtually) }.print(MOST_UNDER_LOSS, failures);
        for (name, share) in [("p95", 0.95), ("p99", 0.99)] {
            let [(real, of_real), (virtually, of_virtual)] = [&real, &virtually].map(|times| quantile(times, share));
            let compared = Compared { what: words(name), real, virtually };
            // A percentile that lies where the lost packets begin is one or the other by chance: its intervals say so.
            let is_within = of_virtual[0] as f64 <= of_real[1] as f64 * (1.0 + MOST_UNDER_LOSS)
                && of_virtual[1] as f64 >= of_real[0] as f64 * (1.0 - MOST_UNDER_LOSS);
            compared.print(if is_within { f64::INFINITY } else { MOST_UNDER_LOSS }, failures);
        }
        Ok(())
    }
}

/// The same over both links.
struct Compared {
    what: String,
    real: u64,
    virtually: u64,
}

impl Compared {
    fn print(&self, most: f64, failures: &mut Vec<String>) {
        let ratio = self.virtually as f64 / self.real as f64;
        let line =
            format!("  {:<75} {:>9.3} {:>9.3}  {ratio:.3}", self.what, self.real as f64 / 1e6, self.virtually as f64 / 1e6);
        println!("{line}");
        if (ratio - 1.0).abs() > most {
            failures.push(line);
        }
    }
}

/// A percentile of sorted times, and its 95 % interval by the order of the times.
fn quantile(times: &[u64], share: f64) -> (u64, [u64; 2]) {
    let count = times.len() as f64;
    let half = 1.96 * (share * (1.0 - share) / count.max(1.0)).sqrt();
    let at = |share: f64| reprise_stats::quantile(times, share.clamp(0.0, 1.0)).unwrap_or_default() as u64;
    (at(share), [at(share - half), at(share + half)])
}

fn median(times: Vec<Duration>) -> u64 {
    let times: Vec<u64> = times.into_iter().map(|time| time.as_nanos() as u64).collect();
    reprise_stats::median(&times).unwrap_or_default()
}
