//! What `reprise board` measures: images on machines, connection by connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reprise_engine::{Tls12Session, outcome_of};
use reprise_wire::{CipherSuite, NamedGroup};
use sha2::{Digest, Sha256};

use crate::client::{BoardClient, Completed};
use crate::document::{
    BoardHandshake, BuiltImage, CacheCost, Esp8266, Esp8266Requests, FunctionInstructions, KeyRatio, Memory,
    PhaseInstructions, Requests, Witness,
};
use crate::fault::BoardError;
use crate::image::{BoardStack, Cpu, Image, Optimization};
use crate::keys::{BoardKey, NAME};
use crate::line::{Board, BoardReport, ResponseMode, Setup, Slot};
use crate::machine::{CortexM0, Machine, Qemu};
use crate::offers::Offers;

const CLIENT_SEED: u64 = 1;
/// TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 and TLS_ECDHE_RSA_…: what the ESP8266 report's client would have had in common
/// with it.
const AES_256_GCM: [CipherSuite; 2] = [CipherSuite(0xc02c), CipherSuite(0xc030)];

/// One server, and what its clients offer.
#[derive(Clone, Debug)]
pub struct BoardCase {
    /// The image.
    pub image: Image,
    /// In an image with two stacks: which.
    pub stack: u8,
    /// The key of the server's certificate.
    pub key: BoardKey,
    /// What clients offer.
    pub offers: Offers,
}

impl BoardCase {
    fn client(&self) -> BoardClient {
        BoardClient::offering(NAME, &self.offers, CLIENT_SEED)
    }
}

/// Where images come from and go to.
#[derive(Clone, Debug)]
pub struct Firmware {
    /// The folder of the Makefile.
    pub folder: PathBuf,
    /// Where images, intermediate files and the stacks' sources are kept.
    pub output: PathBuf,
}

impl Setup {
    /// The HTTP server with this key, as this image can be: with tickets, where it has them.
    pub fn of(image: Image, key: BoardKey) -> Self {
        Self { tickets: image.tickets, ..Self::usual(key, ResponseMode::Http) }
    }

    /// A server with this key and eight cached sessions.
    pub fn usual(key: BoardKey, answer: ResponseMode) -> Self {
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

impl Firmware {
    /// Builds an image and looks at it.
    pub fn build(&self, image: Image) -> Result<BuiltImage, BoardError> {
        let path = image.build(&self.folder, &self.output)?;
        let sizes = image.sizes(&self.output)?;
        let sha256 = Sha256::digest(read(&path)?).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(BuiltImage { name: image.to_string(), stack: image.stack.title().to_owned(), build: image, sizes, sha256 })
    }

    /// A full handshake and a resumed one, on the Cortex-M0+ model, in `runs` boots.
    pub fn handshakes(&self, case: &BoardCase, runs: u32, clock_hz: u64) -> Result<Vec<BoardHandshake>, BoardError> {
        self.rows(case, runs, clock_hz).map_err(|fault| on(case.image, case.key, fault))
    }

    fn rows(&self, case: &BoardCase, runs: u32, clock_hz: u64) -> Result<Vec<BoardHandshake>, BoardError> {
        let &BoardCase { image, stack, key, .. } = case;
        let setup = Setup { stack, ..Setup::of(image, key) };
        let library = image.stack.libraries().get(usize::from(stack)).copied().unwrap_or(image.stack);
        let mut rows: Vec<BoardHandshake> = Vec::new();
        for _ in 0..runs {
            let mut board = self.boot(image, &setup)?;
            let client = case.client();
            let mut session = None;
            for index in 0..if image.resumes() { 2 } else { 1 } {
                let idle = board.mark()?;
                board.take_profile();
                let completed = as_asked(client.connect(&mut board, Slot(0), session.as_ref())?)?;
                match rows.get_mut(index) {
                    None => {
                        let functions = most(board.take_profile());
                        rows.push(BoardHandshake { functions, ..row(image, library, key, &completed, &idle, clock_hz) });
                    }
                    Some(row) => {
                        row.runs += 1;
                        row.identical &= (row.handshake, row.application) == (completed.handshake, completed.application);
                    }
                }
                if image.resumes() {
                    session = Some(session_of(completed)?);
                }
            }
        }
        Ok(rows)
    }

    /// The same full and resumed connections in QEMU.
    pub fn witness(&self, case: &BoardCase, rows: &[BoardHandshake]) -> Result<Vec<Witness>, BoardError> {
        self.witnesses(case, rows).map_err(|fault| on(case.image, case.key, fault))
    }

    fn witnesses(&self, case: &BoardCase, rows: &[BoardHandshake]) -> Result<Vec<Witness>, BoardError> {
        let &BoardCase { image, key, .. } = case;
        let mut board = Board::start(Qemu::cortex_m(&image.path(&self.output))?, &Setup::of(image, key))?;
        let client = case.client();
        let mut session = None;
        let mut witnesses = Vec::new();
        for row in rows {
            board.mark()?;
            let completed = as_asked(client.connect(&mut board, Slot(0), session.as_ref())?)?;
            witnesses.push(Witness {
                image: image.to_string(),
                key,
                kind: row.kind,
                model_instructions: row.handshake.instructions,
                qemu_instructions: completed.handshake.instructions,
            });
            if image.resumes() {
                session = Some(session_of(completed)?);
            }
        }
        Ok(witnesses)
    }

    /// `requests` requests, each on a connection of its own: new, then reusing the session of one before. In QEMU.
    pub fn requests(&self, case: &BoardCase, answer: ResponseMode, requests: u32) -> Result<Requests, BoardError> {
        let &BoardCase { image, key, .. } = case;
        let mut board = Board::start(Qemu::cortex_m(&image.path(&self.output))?, &Setup::usual(key, answer))?;
        let sums = new_and_reused(&mut board, &case.client(), requests)?;
        let (new_instructions, reused_instructions) = (sums.new.sum(), sums.reused.sum());
        let ratio = new_instructions as f64 / reused_instructions as f64;
        Ok(Requests { image: image.to_string(), key, answer, requests, new_instructions, reused_instructions, ratio })
    }

    /// What the session cache costs those who do not use it, by a full handshake.
    pub fn cache_cost(&self, case: &BoardCase) -> Result<CacheCost, BoardError> {
        let &BoardCase { image: with, key, .. } = case;
        let without = Image { cache: false, ..with };
        let [with_sizes, without_sizes] = [self.build(with)?.sizes.total, self.build(without)?.sizes.total];
        let full = |image, sessions| -> Result<Completed, BoardError> {
            let mut board = self.boot(image, &Setup { sessions, ..Setup::of(image, key) })?;
            as_asked(case.client().connect(&mut board, Slot(0), None)?)
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

    /// Requests as the ESP8266 report made them, in `runs` boots.
    pub fn esp8266(&self, case: Esp8266Case, requests: u32, runs: u32) -> Result<Esp8266Requests, BoardError> {
        let path = Esp8266Case::image().path(&self.output);
        let mut counts = Vec::new();
        for _ in 0..runs {
            let mut board = Board::start(Qemu::lx106(&path)?, &Setup::usual(case.key, case.answer))?;
            let client =
                BoardClient::offering(NAME, &Offers { suites: AES_256_GCM.to_vec(), groups: vec![case.group] }, CLIENT_SEED);
            counts.push(new_and_reused(&mut board, &client, requests)?);
        }
        Ok(esp8266_row(case, requests, &counts))
    }

    /// Boots an image on the Cortex-M0+ model and starts its server.
    pub fn boot(&self, image: Image, setup: &Setup) -> Result<Board<CortexM0>, BoardError> {
        let path = image.path(&self.output);
        Board::start(CortexM0::boot(&image.to_string(), &read(&path)?)?, setup)
    }
}

/// A row of what the ESP8266 report measured: BearSSL on the ESP8266's CPU, with RSA-2048 and P-256, by both servers.
#[derive(Clone, Copy, Debug)]
pub struct Esp8266Case {
    group: NamedGroup,
    answer: ResponseMode,
    key: BoardKey,
}

impl Esp8266Case {
    /// Every row.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for group in [NamedGroup::X25519, NamedGroup::SECP256R1] {
            for answer in [ResponseMode::Fixed, ResponseMode::Http] {
                all.extend([BoardKey::Rsa2048, BoardKey::P256].map(|key| Self { group, answer, key }));
            }
        }
        all
    }

    /// The image that all of them run.
    pub fn image() -> Image {
        Image::usual(Cpu::Lx106, BoardStack::BearSsl, Optimization::Size)
    }

    /// The key of the server's certificate.
    pub fn key(self) -> BoardKey {
        self.key
    }
}

impl Esp8266 {
    /// The rows, and how they compare.
    pub fn of(image: BuiltImage, requests: Vec<Esp8266Requests>) -> Self {
        let ratios = ratios(&requests);
        Self { image, requests, ratios }
    }
}

/// Whether to stop; what was measured so far is kept.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Does jobs on as many threads as there are processors, and keeps their order. The first fault stops what was not begun;
/// so does `stop`.
///
/// # Errors
/// The fault of the first job that failed, unless it was to stop: Ctrl-C ends emulators too.
pub fn side_by_side<J: Sync, R: Send>(
    jobs: Vec<J>,
    stop: Stop<'_>,
    work: impl Fn(&J) -> Result<R, BoardError> + Sync,
) -> Result<Vec<R>, BoardError> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<R, BoardError>>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = work(job);
                    let failed = result.is_err();
                    if failed && stop() {
                        break;
                    }
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
fn new_and_reused<M: Machine>(
    board: &mut Board<M>,
    client: &BoardClient,
    requests: u32,
) -> Result<NewAndReused, BoardError> {
    let mut sums = NewAndReused::default();
    let mut session = None;
    for _ in 0..requests {
        let completed = as_asked(client.connect(board, Slot(0), None)?)?;
        sums.new.add(&completed);
        session = Some(session_of(completed)?);
    }
    for _ in 0..requests {
        sums.reused.add(&as_asked(client.connect(board, Slot(0), session.as_ref())?)?);
    }
    Ok(sums)
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct NewAndReused {
    new: PhaseInstructions,
    reused: PhaseInstructions,
}

impl PhaseInstructions {
    fn add(&mut self, completed: &Completed) {
        self.handshake += completed.handshake.instructions;
        self.request += completed.application.instructions;
        self.round_trips = completed.seen.round_trips;
    }

    /// Of both phases.
    pub fn sum(self) -> u64 {
        self.handshake + self.request
    }

    fn mean(self, count: u32) -> Self {
        let count = u64::from(count.max(1));
        Self { handshake: self.handshake / count, request: self.request / count, round_trips: self.round_trips }
    }
}

fn row(
    image: Image,
    library: BoardStack,
    key: BoardKey,
    completed: &Completed,
    idle: &BoardReport,
    clock_hz: u64,
) -> BoardHandshake {
    let outcome = outcome_of(&completed.facts);
    let cycles = completed.handshake.cycles.map(u128::from);
    let report = &completed.report;
    BoardHandshake {
        image: image.to_string(),
        stack: library.title().to_owned(),
        key,
        kind: outcome.kind,
        cipher: outcome.cipher,
        group: outcome.group,
        signature: outcome.signature,
        round_trips: completed.seen.round_trips,
        handshake: completed.handshake,
        application: completed.application,
        modelled_ns: cycles.map(|cycles| (cycles * 1_000_000_000 / u128::from(clock_hz)) as u64),
        energy_uj: None,
        runs: 1,
        identical: true,
        functions: Vec::new(),
        memory: Memory {
            stack: report.stack,
            connection: report.connection_bytes,
            heap_of_connection: completed.heap_when_ready.saturating_sub(idle.heap),
            heap_peak: report.heap_peak,
            server: report.server_bytes,
            session: report.session_bytes,
        },
    }
}

/// The functions that matter.
fn most(profile: Vec<(String, u64)>) -> Vec<FunctionInstructions> {
    const SHOWN: usize = 8;
    profile.into_iter().take(SHOWN).map(|(name, instructions)| FunctionInstructions { name, instructions }).collect()
}

/// The reported figures in milliseconds a request, new less reused: 100 requests took (184.680 − 6.986) s with RSA, (36.217 −
/// 5.897) s with EC to the raw server, and (185.611 − 7.925) s with RSA to the web server.
fn reported_saving_ms(key: BoardKey, answer: ResponseMode) -> Option<f64> {
    match (key, answer) {
        (BoardKey::Rsa2048, ResponseMode::Fixed) => Some(1776.9),
        (BoardKey::Rsa2048, ResponseMode::Http) => Some(1776.9),
        (BoardKey::P256, ResponseMode::Fixed) => Some(303.2),
        _ => None,
    }
}

fn esp8266_row(case: Esp8266Case, requests: u32, counts: &[NewAndReused]) -> Esp8266Requests {
    let Esp8266Case { group, answer, key } = case;
    let NewAndReused { new, reused } = counts.first().copied().unwrap_or_default();
    let (new, reused) = (new.mean(requests), reused.mean(requests));
    let modelled_saving_ms = new.sum().saturating_sub(reused.sum()) as f64 / 160_000.0;
    let reported_saving_ms = reported_saving_ms(key, answer);
    Esp8266Requests {
        key,
        group: group.to_string(),
        cipher: AES_256_GCM[usize::from(key == BoardKey::Rsa2048)].to_string(),
        answer,
        requests,
        new,
        reused,
        runs: counts.len() as u32,
        identical: counts.windows(2).all(|pair| pair[0] == pair[1]),
        modelled_saving_ms,
        reported_saving_ms,
        cycles_per_instruction: reported_saving_ms.map(|reported| reported / modelled_saving_ms),
    }
}

fn ratios(rows: &[Esp8266Requests]) -> Vec<KeyRatio> {
    let saving = |row: &Esp8266Requests| row.new.sum().saturating_sub(row.reused.sum()) as f64;
    let of_rsa = rows.iter().filter(|row| row.key == BoardKey::Rsa2048);
    let pairs = of_rsa.filter_map(|rsa| {
        let ec =
            rows.iter().find(|row| row.key == BoardKey::P256 && (&row.group, row.answer) == (&rsa.group, rsa.answer))?;
        Some(KeyRatio { group: rsa.group.clone(), answer: rsa.answer, ratio: saving(rsa) / saving(ec) })
    });
    pairs.collect()
}

/// The same fault, with the image and the key that it happened with.
fn on(image: Image, key: BoardKey, fault: BoardError) -> BoardError {
    BoardError::On { place: format!("{image}, {}", key.name()), fault: Box::new(fault) }
}

fn as_asked(completed: Completed) -> Result<Completed, BoardError> {
    let Completed { seen, facts, .. } = &completed;
    if seen.http_status != Some(200) {
        return Err(BoardError::Response);
    }
    let (wanted, observed) = (seen.asked.kind, facts.kind);
    if observed == wanted { Ok(completed) } else { Err(BoardError::Kind { wanted, observed }) }
}

fn session_of(completed: Completed) -> Result<Tls12Session, BoardError> {
    completed.session.ok_or(BoardError::Stopped("session"))
}

fn read(path: &Path) -> Result<Vec<u8>, BoardError> {
    std::fs::read(path).map_err(|error| BoardError::File { path: path.to_owned(), error })
}
