//! The run: every pair and handshake made ready, then measured in turn, then summed up.

use reprise_model::document::{
    CompareCase, CompareClock, CompareDocument, CompareInstructions, CompareOver, ComparePlan, CompareRatio,
    CompareRecording, CompareRow, CompareSamples, CompareSide, CompareSkipped, CompareThreads, ComparedStack, Provenance,
    Statistics, Traffic,
};
use reprise_model::{Bytes, KeyPairs, Kind, KindCounts};

use crate::bulk::{Bulk, without_aes_instructions};
use crate::callgrind::Callgrind;
use crate::case::{Case, REQUEST};
use crate::children::{Apart, Children, SideProcess};
use crate::comparison::{Audience, ComparisonPlan, Described, in_turn, job};
use crate::conclusion::conclusion;
use crate::keys::Certificates;
use crate::matrix::matrix;
use crate::message::{Failed, Job, Request};
use crate::resume::{self, OtherRun};
use crate::stacks::FoundStack;
use crate::worker::{Launcher, Worker};
use crate::{claims, cores, memory};

/// Most connections that a sample is the mean of.
const MOST_CONNECTIONS: u64 = 256;

/// Describes, prepares, measures and sums up. What fails is in the document, as skipped.
///
/// # Errors
/// If the earlier result is of another run.
pub fn compare(
    comparison: &ComparisonPlan<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> Result<CompareDocument, OtherRun> {
    let stacks = comparison.describe(launcher, audience);
    let usable: Vec<&Described<'_>> = stacks.iter().filter(|stack| stack.info.is_ok()).collect();
    let mut document = comparison.begin(&usable, provenance);
    if let Some(earlier) = comparison.earlier {
        resume::check(earlier, &document)?;
        // Links are replayed after all else.
        if !earlier.interrupted && comparison.links.is_none() {
            return Ok(earlier.clone());
        }
        (document.clock, document.resumed) = (earlier.clock, earlier.resumed + 1);
    }
    if comparison.scenario.weighs() {
        (document.memory, document.skipped) = memory::rows(comparison, &usable, launcher, audience);
    } else {
        measure(&mut document, comparison, &usable, launcher, audience);
    }
    document.conclusion = conclusion(&comparison.scenario, &document);
    for stack in &stacks {
        if let Err(failed) = &stack.info {
            let case = comparison.cases.iter().take(1);
            document.skipped.extend(case.map(|case| skip(&stack.found.name, &stack.found.name, case, failed)));
        }
    }
    document.interrupted = audience.stops();
    Ok(document)
}

/// Times of every pair and handshake, and what they say.
fn measure(
    document: &mut CompareDocument,
    comparison: &ComparisonPlan<'_>,
    usable: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) {
    let mut measured = Measured::prepare(comparison, usable, launcher, audience, document.clock);
    measured.run(comparison, audience);
    document.matrix = matrix(comparison, usable, launcher, audience);
    measured.count(comparison, launcher, audience);
    document.links = comparison.links.as_ref().map(|links| {
        let recordings = measured.record(audience);
        links.replay(recordings, || audience.stops())
    });
    document.rows = measured.cells.iter().filter_map(|cell| cell.row(comparison.seed)).collect();
    document.ratios = measured.ratios(comparison);
    document.claims = claims::of_versions(&document.ratios, comparison.over);
    document.claims.extend(claims::of_pairs_ahead(&document.ratios, &measured.skipped));
    document.claims.extend(claims::of_servers(&document.stacks, &measured.server_times(), comparison.seed));
    document.claims.extend(claims::of_hardware(&document.ratios));
    document.skipped = measured.skipped;
    document.clock = measured.clock;
    document.cores = measured.cores.map(|cores| cores.map(|core| core as u64));
}

/// What each of these stacks is, or why nobody can tell: each is loaded in a process of its own.
pub fn describe(stacks: &[FoundStack], launcher: &Launcher) -> Vec<(FoundStack, Result<ComparedStack, Failed>)> {
    stacks.iter().map(|found| (found.clone(), describe_one(found, launcher))).collect()
}

fn describe_one(found: &FoundStack, launcher: &Launcher) -> Result<ComparedStack, Failed> {
    Worker::new(launcher).ask(&Request::Describe(found.clone()))
}

impl ComparisonPlan<'_> {
    fn describe(&self, launcher: &Launcher, audience: &mut dyn Audience) -> Vec<Described<'_>> {
        audience.begins("stacks loaded");
        let mut described = Vec::new();
        for found in self.stacks {
            audience.proceeded(described.len() as u64, self.stacks.len() as u64);
            described.push(Described { found, info: describe_one(found, launcher) });
        }
        described
    }

    /// The document without any figure.
    fn begin(&self, stacks: &[&Described<'_>], provenance: Provenance) -> CompareDocument {
        let plan = ComparePlan {
            samples: u64::from(self.effort.samples),
            sample_ns: self.effort.sample_ns,
            crossed: self.crossed,
            instructions: self.callgrind.is_some(),
            cases: self.cases.iter().map(Case::document).collect(),
        };
        CompareDocument {
            schema: CompareDocument::SCHEMA.to_owned(),
            scenario: self.scenario.name.to_owned(),
            over: self.over,
            plan: Some(plan),
            resumed: 0,
            cores: None,
            clock: CompareClock::default(),
            seed: self.seed,
            conclusion: Vec::new(),
            stacks: stacks.iter().filter_map(|stack| stack.info.clone().ok()).collect(),
            rows: Vec::new(),
            memory: Vec::new(),
            ratios: Vec::new(),
            links: None,
            skipped: Vec::new(),
            matrix: Vec::new(),
            claims: Vec::new(),
            counting: self.callgrind.map(Callgrind::document),
            baseline: None,
            conditions: Vec::new(),
            interrupted: false,
            provenance,
        }
    }

    /// What was measured of a row before it was interrupted.
    fn earlier_row(&self, client: &str, server: &str, case: &Case) -> Option<&CompareRow> {
        let case = case.document();
        let is_it = |row: &&CompareRow| (row.client.as_str(), row.server.as_str(), &row.case) == (client, server, &case);
        self.earlier?.rows.iter().find(is_it)
    }

    /// The child processes of one pair.
    fn children(&self, launcher: &Launcher, cores: Option<[usize; 2]>) -> Children {
        match self.over {
            CompareOver::Memory => Children::Together(Worker::new(launcher)),
            CompareOver::Loopback => {
                let [client, server] = cores.map_or([None; 2], |cores| cores.map(Some));
                let side = |core| SideProcess::new(launcher, core, true);
                Children::Apart(Box::new(Apart::new(side(client), side(server))))
            }
        }
    }
}

/// The cells, and the child process of each pair.
struct Measured<'a> {
    children: Vec<Children>,
    cells: Vec<Cell<'a>>,
    clock: CompareClock,
    cores: Option<[usize; 2]>,
    skipped: Vec<CompareSkipped>,
}

/// One handshake of one pair.
struct Cell<'a> {
    client: &'a str,
    server: &'a str,
    case: Case,
    /// Whose child processes make it, and by which number they know it.
    pair: usize,
    number: usize,
    connections: u64,
    bytes: Traffic,
    server_flight: Option<Bytes>,
    tickets: Option<u64>,
    kinds: KindCounts,
    /// How many samples were taken before this run was resumed.
    taken: u64,
    /// Those that were of the kind asked for.
    samples: CompareSamples,
    instructions: Option<CompareInstructions>,
    threads: CompareThreads,
    /// CPU time of key pairs that were made ahead of all these connections.
    ahead_ns: u64,
    job: Job,
    is_lost: bool,
}

impl<'a> Measured<'a> {
    fn prepare(
        comparison: &ComparisonPlan<'_>,
        stacks: &[&Described<'a>],
        launcher: &Launcher,
        audience: &mut dyn Audience,
        clock: CompareClock,
    ) -> Self {
        let mut measured = Self {
            children: Vec::new(),
            cells: Vec::new(),
            clock,
            skipped: Vec::new(),
            cores: if comparison.over == CompareOver::Loopback { cores::two() } else { None },
        };
        let pairs = comparison.pairs(stacks, comparison.crossed);
        let planned = (pairs.len() * comparison.cases.len()) as u64;
        audience.begins("handshakes prepared");
        for (index, (client, server)) in pairs.into_iter().enumerate() {
            // What keeps a library from the AES instructions is in the environment of its process.
            let mut without_hardware = None;
            measured.children.push(comparison.children(launcher, measured.cores));
            let with_hardware = measured.children.len() - 1;
            for (place, case) in comparison.cases.iter().enumerate() {
                if audience.stops() {
                    return measured;
                }
                audience.proceeded((index * comparison.cases.len() + place) as u64, planned);
                let Some(certificates) = comparison.keys.of(case.key, case.chain) else { continue };
                let of_case = if case.bulk.is_some_and(|bulk| !bulk.hardware) {
                    let begin = || measured.begin_without_hardware(comparison, (client, server), launcher);
                    without_hardware.get_or_insert_with(begin).clone()
                } else {
                    Ok(with_hardware)
                };
                let added =
                    of_case.and_then(|of_case| measured.add(comparison, (client, server), *case, certificates, of_case));
                if let Err(failed) = added {
                    measured.skipped.push(skip(&client.found.name, &server.found.name, case, &failed));
                }
            }
        }
        measured
    }

    /// Child processes of a pair whose libraries are told to leave this CPU's AES instructions alone: their number.
    fn begin_without_hardware(
        &mut self,
        comparison: &ComparisonPlan<'_>,
        (client, server): (&Described<'a>, &Described<'a>),
        launcher: &Launcher,
    ) -> Result<usize, Failed> {
        let mut launcher = launcher.clone();
        for side in [client, server] {
            let variables = without_aes_instructions(&side.found.at, side.info.as_ref().map_err(Failed::clone)?)?;
            launcher.environment.extend(variables.iter().map(|&(name, value)| (name, value.into())));
        }
        self.children.push(comparison.children(&launcher, self.cores));
        Ok(self.children.len() - 1)
    }

    fn add(
        &mut self,
        comparison: &ComparisonPlan<'_>,
        (client, server): (&Described<'a>, &Described<'a>),
        case: Case,
        certificates: &Certificates,
        pair: usize,
    ) -> Result<(), Failed> {
        let Some(children) = self.children.get_mut(pair) else { return Ok(()) };
        let job = job(client.found, server.found, case, certificates);
        let ready = children.prepare(job.clone())?;
        let earlier = comparison.earlier_row(&client.found.name, &server.found.name, &case);
        let connections = (comparison.effort.sample_ns / ready.connection_ns.max(1)).clamp(1, MOST_CONNECTIONS);
        self.clock.reading_ns = self.clock.reading_ns.max(ready.reading_ns);
        self.cells.push(Cell {
            client: &client.found.name,
            server: &server.found.name,
            case,
            pair,
            number: ready.cell,
            connections: earlier.map_or(connections, |row| row.connections),
            bytes: Traffic { sent: Bytes(ready.sent), received: Bytes(ready.received), first_flight: None },
            server_flight: ready.server_flight.map(Bytes),
            tickets: ready.tickets,
            taken: earlier.map(resume::samples_taken).unwrap_or_default(),
            kinds: earlier.map(|row| row.kinds.clone()).unwrap_or_default(),
            samples: earlier.map(|row| row.samples.clone()).unwrap_or_default(),
            instructions: earlier.and_then(|row| row.instructions),
            threads: earlier.and_then(|row| row.threads).unwrap_or_default(),
            ahead_ns: earlier.and_then(|row| Some(row.ahead_ns? * row.kinds.total())).unwrap_or_default(),
            job,
            is_lost: false,
        });
        Ok(())
    }

    fn run(&mut self, comparison: &ComparisonPlan<'_>, audience: &mut dyn Audience) {
        let Self { cells, children, clock, skipped, .. } = self;
        audience.begins("samples");
        in_turn(cells.len(), comparison.effort.samples as usize, comparison.seed, audience, |index| {
            let Some(cell) = cells.get_mut(index).filter(|cell| !cell.is_lost) else { return };
            if cell.taken > 0 {
                cell.taken -= 1;
                return;
            }
            let Some(children) = children.get_mut(cell.pair) else { return };
            match cell.sample(children) {
                Ok(threads) => clock.threads += threads,
                Err(failed) => {
                    cell.is_lost = true;
                    skipped.push(skip(cell.client, cell.server, &cell.case, &failed));
                }
            }
        });
    }

    /// Of each stack with itself.
    fn server_times(&self) -> Vec<claims::ServerTime> {
        let own = self.cells.iter().filter(|cell| cell.client == cell.server);
        own.map(|cell| {
            let samples = cell.samples.server_ns.clone();
            claims::ServerTime { stack: cell.server.to_owned(), case: cell.case, samples }
        })
        .collect()
    }

    /// Instructions of each row that has none yet. Without them it keeps its figures, and the reason is among what was skipped.
    fn count(&mut self, comparison: &ComparisonPlan<'_>, launcher: &Launcher, audience: &mut dyn Audience) {
        let Some(callgrind) = comparison.callgrind else { return };
        let planned = self.cells.len() as u64;
        audience.begins("handshakes counted");
        for (done, cell) in self.cells.iter_mut().enumerate() {
            if audience.stops() {
                return;
            }
            audience.proceeded(done as u64, planned);
            if cell.is_lost || cell.instructions.is_some() {
                continue;
            }
            match callgrind.count(launcher, &cell.job) {
                Ok(count) => cell.instructions = Some(count),
                Err(failed) => self.skipped.push(skip(cell.client, cell.server, &cell.case, &failed)),
            }
        }
    }

    /// Turn by turn, every handshake with the client's request in it.
    fn record(&mut self, audience: &mut dyn Audience) -> Vec<CompareRecording> {
        let (planned, mut recordings) = (self.cells.len() as u64, Vec::new());
        audience.begins("handshakes recorded");
        // Each has a request in it: one of the scenario's own would come twice.
        let is_told_apart = |cell: &Cell<'_>| cell.case.request && cell.case.kind != Kind::Early;
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| !cell.is_lost && !is_told_apart(cell));
        for (done, cell) in cells {
            if audience.stops() {
                break;
            }
            audience.proceeded(done as u64, planned);
            let Some(children) = self.children.get_mut(cell.pair) else { continue };
            let job = Job { case: cell.case.with_request(), ..cell.job.clone() };
            match children.record(job) {
                Ok((n, turns)) => recordings.push(CompareRecording {
                    client: cell.client.to_owned(),
                    server: cell.server.to_owned(),
                    case: cell.case.document(),
                    n,
                    turns,
                }),
                Err(failed) => self.skipped.push(skip(cell.client, cell.server, &cell.case, &failed)),
            }
        }
        recordings
    }

    /// Each within one pair.
    fn ratios(&self, comparison: &ComparisonPlan<'_>) -> Vec<CompareRatio> {
        let mut ratios = Vec::new();
        for from in &self.cells {
            let of_pair = self.cells.iter().filter(|to| (from.client, from.server) == (to.client, to.server));
            for to in of_pair.filter(|to| (comparison.scenario.compares)(&from.case, &to.case)) {
                for side in CompareSide::ALL {
                    let (before, after) = (from.samples.of(side), to.samples.of(side));
                    ratios.extend(reprise_stats::ratio(&before, &after, comparison.seed).map(|ratio| CompareRatio {
                        client: from.client.to_owned(),
                        server: from.server.to_owned(),
                        side,
                        from: from.case.document(),
                        to: to.case.document(),
                        median: ratio.median,
                        ci95: ratio.ci95,
                    }));
                }
            }
        }
        ratios
    }
}

impl Cell<'_> {
    fn sample(&mut self, children: &mut Children) -> Result<CompareThreads, Failed> {
        let connections = self.connections as u32;
        let batch = children.run(self.number, connections)?;
        let threads = CompareThreads { thread_ns: batch.thread_ns, charged_ns: batch.charged_ns };
        self.threads += threads;
        self.ahead_ns += batch.ahead_ns;
        for &(kind, count) in &batch.kinds {
            (0..count).for_each(|_| self.kinds.add(kind));
        }
        // A mean over kinds would hide the one that was not asked for: such a sample is counted, and not among the figures.
        if batch.kinds == [(self.case.kind, connections)] {
            self.samples.client_ns.push(batch.client_ns / self.connections);
            self.samples.server_ns.push(batch.server_ns / self.connections);
            self.samples.wall_ns.extend(batch.on_a_clock.map(|it| it.wall_ns));
            self.samples.ready_ns.extend(batch.on_a_clock.map(|it| it.ready_ns));
        }
        Ok(threads)
    }

    fn row(&self, seed: u64) -> Option<CompareRow> {
        let of = |side| reprise_stats::summarize(&self.samples.of(side), seed).map(statistics);
        Some(CompareRow {
            client: self.client.to_owned(),
            server: self.server.to_owned(),
            case: self.case.document(),
            n: self.samples.client_ns.len() as u64,
            connections: self.connections,
            kinds: self.kinds.clone(),
            client_ns: of(CompareSide::Client)?,
            server_ns: of(CompareSide::Server)?,
            both_ns: of(CompareSide::Both)?,
            wall_ns: of(CompareSide::Wall),
            ready_ns: of(CompareSide::Ready),
            instructions: self.instructions,
            bytes: self.bytes,
            threads: (self.threads.thread_ns > 0).then_some(self.threads),
            samples: self.samples.clone(),
            ahead_ns: (self.case.key_pairs == KeyPairs::Ahead).then(|| self.ahead_ns / self.kinds.total().max(1)),
            server_flight: self.server_flight,
            tickets: self.tickets,
        })
    }
}

pub(crate) fn skip(client: &str, server: &str, case: &Case, failed: &Failed) -> CompareSkipped {
    CompareSkipped {
        client: client.to_owned(),
        server: server.to_owned(),
        case: case.document(),
        outcome: failed.outcome.name().to_owned(),
        reason: failed.reason.clone(),
    }
}

impl Case {
    /// It as documents have it.
    pub fn document(&self) -> CompareCase {
        CompareCase {
            tls: self.version,
            kind: self.kind,
            key: self.key.name().to_owned(),
            group: self.group_name(),
            cipher: self.suite().to_string(),
            mutual: self.mutual,
            psk_mode: self.psk_mode(),
            bulk: self.bulk.map(Bulk::document),
            request: if self.request { REQUEST.len() as u64 } else { 0 },
            key_pairs: self.key_pairs,
            chain: self.chain,
            retried: self.retried,
            max_fragment: self.max_fragment.map(u64::from),
            releases_buffers: self.releases_buffers,
        }
    }
}

pub(crate) fn statistics(summary: reprise_stats::Summary) -> Statistics {
    Statistics {
        median_ns: summary.median,
        ci95_ns: summary.ci95,
        mean_ns: summary.mean,
        min_ns: summary.min,
        max_ns: summary.max,
        p90_ns: summary.p90,
        p95_ns: Some(summary.p95),
        p99_ns: summary.p99,
    }
}
