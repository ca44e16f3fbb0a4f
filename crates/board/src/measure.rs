//! What `reprise board` measures: images on machines, connection by connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reprise_engine::Tls12Session;
use reprise_trace::Kind;
use reprise_wire::{CipherSuite, NamedGroup};
use sha2::{Digest, Sha256};

use crate::client::{Client, NAME, Visit};
use crate::document::{BuiltImage, CacheCost, Esp8266, Esp8266Requests, Handshake, KeyRatio, Memory, Requests, Witness};
use crate::fault::Fault;
use crate::image::{Cpu, Image, Optimization, Stack};
use crate::keys::Key;
use crate::line::{Answer, Board, Report, Setup, Slot};
use crate::machine::{CortexM0, Machine, Qemu};

/// What every client of every measurement asks for.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: board.example\r\nConnection: close\r\n\r\n";
const CLIENT_SEED: u64 = 1;
/// TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 and TLS_ECDHE_RSA_…: what seed 000's client would have had in common with it.
const AES_256_GCM: [CipherSuite; 2] = [CipherSuite(0xc02c), CipherSuite(0xc030)];

/// Where images come from and go to.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// The folder of the Makefile.
    pub firmware: PathBuf,
    /// Where images, intermediate files and the stacks' sources are kept.
    pub output: PathBuf,
}

impl Setup {
    /// A server with this key and eight cached sessions.
    pub fn usual(key: Key, answer: Answer) -> Self {
        Self {
            certificates: key.certificate().to_owned(),
            key: key.private_key().to_owned(),
            answer,
            sessions: Some(8),
            tickets: false,
            lifetime: 300,
            handshake_ms: 0,
            idle_ms: 0,
            stack: 0,
            seed: 1,
        }
    }
}

impl Workshop {
    /// Builds an image and looks at it.
    pub fn build(&self, image: Image) -> Result<BuiltImage, Fault> {
        let path = image.build(&self.firmware, &self.output)?;
        let sizes = image.sizes(&self.output)?;
        let sha256 = Sha256::digest(read(&path)?).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(BuiltImage { name: image.to_string(), stack: image.stack.title().to_owned(), build: image, sizes, sha256 })
    }

    /// A full handshake and a resumed one, on the Cortex-M0+ model, in `runs` boots.
    pub fn handshakes(&self, image: Image, stack: u8, key: Key, runs: u32, clock_hz: u64) -> Result<Vec<Handshake>, Fault> {
        self.rows(image, stack, key, runs, clock_hz).map_err(|fault| fault.on(image, key))
    }

    fn rows(&self, image: Image, stack: u8, key: Key, runs: u32, clock_hz: u64) -> Result<Vec<Handshake>, Fault> {
        let setup = Setup { stack, ..Setup::usual(key, Answer::Http) };
        let mut rows: Vec<Handshake> = Vec::new();
        for _ in 0..runs {
            let mut board = self.boot(image, &setup)?;
            let idle = board.mark()?;
            let client = Client::common(CLIENT_SEED);
            let full = client.visit(&mut board, Slot(0), None, REQUEST)?;
            let mut visits = vec![(expect(Kind::Full, full.clone())?, idle)];
            if image.cache {
                let session = session_of(&full)?;
                let idle = board.mark()?;
                visits.push((expect(Kind::Id, client.visit(&mut board, Slot(0), Some(session), REQUEST)?)?, idle));
            }
            for (index, (visit, idle)) in visits.iter().enumerate() {
                match rows.get_mut(index) {
                    None => rows.push(row(image, key, visit, idle, clock_hz)),
                    Some(row) => {
                        row.runs += 1;
                        row.identical &= (row.handshake, row.application) == (visit.handshake, visit.application);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The same full and resumed connections in QEMU.
    pub fn witness(&self, image: Image, key: Key, rows: &[Handshake]) -> Result<Vec<Witness>, Fault> {
        self.witnesses(image, key, rows).map_err(|fault| fault.on(image, key))
    }

    fn witnesses(&self, image: Image, key: Key, rows: &[Handshake]) -> Result<Vec<Witness>, Fault> {
        let setup = Setup::usual(key, Answer::Http);
        let mut board = Board::start(Qemu::cortex_m(&image.path(&self.output))?, &setup)?;
        let client = Client::common(CLIENT_SEED);
        let mut session = None;
        let mut witnesses = Vec::new();
        for row in rows {
            board.mark()?;
            let visit = expect(row.kind, client.visit(&mut board, Slot(0), session.take(), REQUEST)?)?;
            witnesses.push(Witness {
                image: image.to_string(),
                key,
                kind: row.kind,
                model_instructions: row.handshake.instructions,
                qemu_instructions: visit.handshake.instructions,
            });
            session = visit.session;
        }
        Ok(witnesses)
    }

    /// `requests` requests, each on a connection of its own: new, then reusing the session of one before. In QEMU.
    pub fn requests(&self, image: Image, key: Key, answer: Answer, requests: u32) -> Result<Requests, Fault> {
        let mut board = Board::start(Qemu::cortex_m(&image.path(&self.output))?, &Setup::usual(key, answer))?;
        let (new, reused) = new_and_reused(&mut board, &Client::common(CLIENT_SEED), requests)?;
        let ratio = new as f64 / reused as f64;
        let (new_instructions, reused_instructions) = (new, reused);
        Ok(Requests { image: image.to_string(), key, answer, requests, new_instructions, reused_instructions, ratio })
    }

    /// What the session cache costs those who do not use it, by BearSSL's full handshake.
    pub fn cache_cost(&self, key: Key) -> Result<CacheCost, Fault> {
        let with = Image::usual(Cpu::CortexM0, Stack::BearSsl, Optimization::Size);
        let without = Image { cache: false, ..with };
        let [with_sizes, without_sizes] = [self.build(with)?.sizes.total, self.build(without)?.sizes.total];
        let full = |image, sessions| -> Result<Visit, Fault> {
            let mut board = self.boot(image, &Setup { sessions, ..Setup::usual(key, Answer::Http) })?;
            expect(Kind::Full, Client::common(CLIENT_SEED).visit(&mut board, Slot(0), None, REQUEST)?)
        };
        let on = full(with, Some(8))?;
        Ok(CacheCost {
            key,
            without_instructions: full(without, None)?.handshake.instructions,
            off_instructions: full(with, None)?.handshake.instructions,
            on_instructions: on.handshake.instructions,
            flash: with_sizes.flash as i64 - without_sizes.flash as i64,
            ram: with_sizes.ram as i64 - without_sizes.ram as i64,
            session: on.report.session_bytes,
        })
    }

    /// Seed 000: BearSSL on the ESP8266's CPU, RSA-2048 and P-256, new and reused, both servers, in `runs` boots.
    pub fn esp8266(&self, requests: u32, runs: u32, stop: &AtomicBool) -> Result<Esp8266, Fault> {
        let image = Image::usual(Cpu::Lx106, Stack::BearSsl, Optimization::Size);
        let built = self.build(image)?;
        let path = image.path(&self.output);
        let mut jobs = Vec::new();
        for group in [NamedGroup::X25519, NamedGroup::SECP256R1] {
            for answer in [Answer::Fixed, Answer::Http] {
                jobs.extend([Key::Rsa2048, Key::P256].map(|key| (group, answer, key)));
            }
        }
        let rows = side_by_side(jobs, stop, |&(group, answer, key)| {
            let mut counts = Vec::new();
            for _ in 0..runs {
                let mut board = Board::start(Qemu::lx106(&path)?, &Setup::usual(key, answer))?;
                let client = Client::offering(NAME, &AES_256_GCM, &[group], CLIENT_SEED);
                counts.push(new_and_reused(&mut board, &client, requests)?);
            }
            Ok(esp8266_row(group, answer, key, requests, &counts))
        })?;
        let ratios = ratios(&rows);
        Ok(Esp8266 { image: built, requests: rows, ratios })
    }

    /// Boots an image on the Cortex-M0+ model and starts its server.
    pub fn boot(&self, image: Image, setup: &Setup) -> Result<Board<CortexM0>, Fault> {
        let path = image.path(&self.output);
        Board::start(CortexM0::boot(&image.to_string(), &read(&path)?)?, setup)
    }
}

/// Does jobs on as many threads as there are processors, and keeps their order. The first fault stops what was not begun;
/// so does `stop`.
pub fn side_by_side<J: Sync, R: Send>(
    jobs: Vec<J>,
    stop: &AtomicBool,
    work: impl Fn(&J) -> Result<R, Fault> + Sync,
) -> Result<Vec<R>, Fault> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<R, Fault>>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = work(job);
                    let failed = result.is_err();
                    if let Ok(mut done) = done.lock() {
                        done.insert(index, result);
                    }
                    if failed {
                        next.store(jobs.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default().into_values().collect()
}

/// The instructions of `requests` connections with full handshakes, and of as many that resume.
fn new_and_reused<M: Machine>(board: &mut Board<M>, client: &Client, requests: u32) -> Result<(u64, u64), Fault> {
    let mut new = 0;
    let mut session = None;
    for _ in 0..requests {
        let visit = expect(Kind::Full, client.visit(board, Slot(0), None, REQUEST)?)?;
        new += visit.whole().instructions;
        session = visit.session;
    }
    let mut reused = 0;
    for _ in 0..requests {
        let visit = expect(Kind::Id, client.visit(board, Slot(0), session.clone(), REQUEST)?)?;
        reused += visit.whole().instructions;
    }
    Ok((new, reused))
}

fn row(image: Image, key: Key, visit: &Visit, idle: &Report, clock_hz: u64) -> Handshake {
    let cycles = visit.handshake.cycles.map(u128::from);
    let report = &visit.report;
    Handshake {
        image: image.to_string(),
        key,
        kind: visit.outcome.kind,
        cipher: visit.outcome.cipher.clone(),
        group: visit.outcome.group.clone(),
        signature: visit.outcome.signature.clone(),
        handshake: visit.handshake,
        application: visit.application,
        modelled_ns: cycles.map(|cycles| (cycles * 1_000_000_000 / u128::from(clock_hz)) as u64),
        runs: 1,
        identical: true,
        memory: Memory {
            stack: report.stack,
            connection: report.connection_bytes,
            heap_of_connection: visit.heap_when_ready.saturating_sub(idle.heap),
            heap_peak: report.heap_peak,
            server: report.server_bytes,
            session: report.session_bytes,
        },
    }
}

/// The seed's figures in milliseconds a request, new less reused: 100 requests took (184.680 − 6.986) s with RSA, (36.217 −
/// 5.897) s with EC to the raw server, and (185.611 − 7.925) s with RSA to the web server.
fn reported_saving_ms(key: Key, answer: Answer) -> Option<f64> {
    match (key, answer) {
        (Key::Rsa2048, Answer::Fixed) => Some(1776.9),
        (Key::Rsa2048, Answer::Http) => Some(1776.9),
        (Key::P256, Answer::Fixed) => Some(303.2),
        _ => None,
    }
}

fn esp8266_row(group: NamedGroup, answer: Answer, key: Key, requests: u32, counts: &[(u64, u64)]) -> Esp8266Requests {
    let (new, reused) = counts.first().copied().unwrap_or_default();
    let requests_u64 = u64::from(requests.max(1));
    let (new_instructions, reused_instructions) = (new / requests_u64, reused / requests_u64);
    let modelled_saving_ms = new_instructions.saturating_sub(reused_instructions) as f64 / 160_000.0;
    let reported_saving_ms = reported_saving_ms(key, answer);
    Esp8266Requests {
        key,
        group: group.to_string(),
        cipher: AES_256_GCM[usize::from(key == Key::Rsa2048)].to_string(),
        answer,
        requests,
        new_instructions,
        reused_instructions,
        identical: counts.windows(2).all(|pair| pair[0] == pair[1]),
        modelled_saving_ms,
        reported_saving_ms,
        cycles_per_instruction: reported_saving_ms.map(|reported| reported / modelled_saving_ms),
    }
}

fn ratios(rows: &[Esp8266Requests]) -> Vec<KeyRatio> {
    let saving = |row: &Esp8266Requests| row.new_instructions.saturating_sub(row.reused_instructions) as f64;
    let of_rsa = rows.iter().filter(|row| row.key == Key::Rsa2048);
    let pairs = of_rsa.filter_map(|rsa| {
        let ec = rows.iter().find(|row| row.key == Key::P256 && (&row.group, row.answer) == (&rsa.group, rsa.answer))?;
        Some(KeyRatio { group: rsa.group.clone(), answer: rsa.answer, ratio: saving(rsa) / saving(ec) })
    });
    pairs.collect()
}

fn expect(wanted: Kind, visit: Visit) -> Result<Visit, Fault> {
    let observed = visit.outcome.kind;
    let answered = visit.response.starts_with(b"HTTP/1.1 200 OK\r\n");
    if !answered {
        return Err(Fault::Stopped("without the response that was asked for"));
    }
    if observed == wanted { Ok(visit) } else { Err(Fault::Kind { wanted, observed }) }
}

fn session_of(visit: &Visit) -> Result<Tls12Session, Fault> {
    visit.session.clone().ok_or(Fault::Stopped("without giving a session"))
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    std::fs::read(path).map_err(|error| Fault::File { path: path.to_owned(), error })
}
