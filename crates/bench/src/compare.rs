//! The run: every pair and handshake made ready, then measured in turn, then summed up.

use std::collections::BTreeMap;

use reprise_trace::document::{
    CompareCase, CompareClock, CompareDocument, CompareMatrixCell, CompareRatio, CompareRow, CompareSide, CompareSkipped,
    ComparedStack, Provenance, Statistics, Traffic,
};
use reprise_trace::{Bytes, Kind, KindCounts, PskMode, Version};

use crate::case::Case;
use crate::claims;
use crate::keys::{Certificates, Keys};
use crate::message::{Answer, Batch, Failed, Job, Outcome, Request, StackInfo};
use crate::scenario::Scenario;
use crate::stacks::{Found, StackRef};
use crate::worker::{Launcher, Worker};

/// What is to be compared.
pub struct Comparison<'a> {
    /// Its name.
    pub scenario: Scenario,
    /// Its handshakes.
    pub cases: &'a [Case],
    /// The stacks.
    pub stacks: &'a [Found],
    /// Whether each client is measured with each server, or each stack with itself alone.
    pub crossed: bool,
    /// Certificates of the keys of all cases.
    pub keys: &'a Keys,
    /// How much.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Samples of each pair and handshake.
    pub samples: u32,
    /// CPU time that one sample is to take, in nanoseconds: as many connections as that makes.
    pub sample_ns: u64,
}

impl Effort {
    /// What intervals of a per cent or two take.
    pub const USUAL: Self = Self { samples: 30, sample_ns: 10_000_000 };
    /// Enough for an order of the stacks.
    pub const QUICK: Self = Self { samples: 10, sample_ns: 4_000_000 };
}

/// Whoever waits for it.
pub trait Audience {
    /// So many steps of so many are done.
    fn proceeded(&mut self, done: u64, planned: u64);
    /// Whether it is to stop, with what there is.
    fn stops(&self) -> bool;
}

/// Most connections that a sample is the mean of.
const MOST_CONNECTIONS: u64 = 256;

/// Describes, prepares, measures and sums up. What fails is in the document, as skipped.
pub fn compare(
    comparison: &Comparison<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> CompareDocument {
    let (stacks, mut skipped) = (comparison.describe(launcher), Vec::new());
    let usable: Vec<&Described<'_>> = stacks.iter().filter(|stack| stack.info.is_ok()).collect();
    let mut measured = Measured::prepare(comparison, &usable, launcher, audience, &mut skipped);
    measured.run(comparison, audience, &mut skipped);
    let matrix = matrix(comparison, &usable, launcher, audience);
    let rows: Vec<CompareRow> = measured.cells.iter().filter_map(|cell| cell.row(comparison.seed)).collect();
    let ratios = measured.ratios(comparison.seed);
    for stack in &stacks {
        if let Err(failed) = &stack.info {
            skipped.extend(
                comparison.cases.iter().take(1).map(|case| skip(&stack.found.name, &stack.found.name, case, failed)),
            );
        }
    }
    CompareDocument {
        schema: CompareDocument::SCHEMA.to_owned(),
        scenario: comparison.scenario.name().to_owned(),
        clock: measured.clock,
        seed: comparison.seed,
        claims: claims::held_against(&ratios),
        stacks: usable.iter().filter_map(|stack| stack.document()).collect(),
        rows,
        ratios,
        skipped,
        matrix,
        interrupted: audience.stops(),
        provenance,
    }
}

/// What each of these stacks is, or why nobody can tell: each is loaded in a process of its own.
pub fn describe(stacks: &[Found], launcher: &Launcher) -> Vec<(Found, Result<StackInfo, Failed>)> {
    let describe = |found: &Found| match Worker::new(launcher).ask(&Request::Describe(found.at.clone())) {
        Ok(Answer::Described(info)) => Ok(info),
        Ok(_) => Err(Failed::new(Outcome::Broken, "its process answers something else")),
        Err(failed) => Err(failed),
    };
    stacks.iter().map(|found| (found.clone(), describe(found))).collect()
}

/// A stack, and what its process said of it.
struct Described<'a> {
    found: &'a Found,
    info: Result<StackInfo, Failed>,
}

impl Comparison<'_> {
    fn describe(&self, launcher: &Launcher) -> Vec<Described<'_>> {
        let infos = describe(self.stacks, launcher).into_iter().map(|(_, info)| info);
        self.stacks.iter().zip(infos).map(|(found, info)| Described { found, info }).collect()
    }
}

impl Described<'_> {
    fn document(&self) -> Option<ComparedStack> {
        let info = self.info.as_ref().ok()?;
        Some(ComparedStack {
            name: self.found.name.clone(),
            library: info.library.clone(),
            version: info.version.clone(),
            flags: info.flags.clone(),
            abilities: info.abilities.clone(),
            file: match &self.found.at {
                StackRef::BuiltIn(_) => None,
                StackRef::Plugin(path) => Some(path.display().to_string()),
            },
            sha256: info.sha256.clone(),
        })
    }

    fn can(&self, ability: &str) -> bool {
        self.info.as_ref().is_ok_and(|info| info.abilities.iter().any(|known| known == ability))
    }
}

/// The cells, and the child process of each pair.
struct Measured<'a> {
    workers: Vec<Worker>,
    cells: Vec<Cell<'a>>,
    clock: CompareClock,
}

/// One handshake of one pair.
struct Cell<'a> {
    client: &'a str,
    server: &'a str,
    case: Case,
    worker: usize,
    number: usize,
    connections: u64,
    psk_mode: Option<PskMode>,
    bytes: Traffic,
    kinds: KindCounts,
    /// Of each sample that was of the kind asked for: the client's and the server's mean.
    samples: Vec<[u64; 2]>,
    is_lost: bool,
}

impl<'a> Measured<'a> {
    fn prepare(
        comparison: &Comparison<'_>,
        stacks: &[&Described<'a>],
        launcher: &Launcher,
        audience: &mut dyn Audience,
        skipped: &mut Vec<CompareSkipped>,
    ) -> Self {
        let mut measured = Self {
            workers: Vec::new(),
            cells: Vec::new(),
            clock: CompareClock { reading_ns: 0, thread_ns: 0, charged_ns: 0 },
        };
        for (client, server) in pairs(stacks, comparison.crossed) {
            measured.workers.push(Worker::new(launcher));
            for case in comparison.cases {
                if audience.stops() {
                    return measured;
                }
                let Some(certificates) = comparison.keys.of(case.key) else { continue };
                if let Err(failed) = measured.add(comparison, (client, server), *case, certificates) {
                    skipped.push(skip(&client.found.name, &server.found.name, case, &failed));
                }
            }
        }
        measured
    }

    fn add(
        &mut self,
        comparison: &Comparison<'_>,
        (client, server): (&Described<'a>, &Described<'a>),
        case: Case,
        certificates: &Certificates,
    ) -> Result<(), Failed> {
        let worker = self.workers.len() - 1;
        let asked = match self.workers.last_mut() {
            Some(worker) => worker.ask(&job(client.found, server.found, case, certificates))?,
            None => return Ok(()),
        };
        let Answer::Prepared { cell, connection_ns, reading_ns, observed, sent, received } = asked else {
            return Err(Failed::new(Outcome::Broken, "its process answers something else"));
        };
        self.clock.reading_ns = self.clock.reading_ns.max(reading_ns);
        self.cells.push(Cell {
            client: &client.found.name,
            server: &server.found.name,
            case,
            worker,
            number: cell,
            connections: (comparison.effort.sample_ns / connection_ns.max(1)).clamp(1, MOST_CONNECTIONS),
            psk_mode: observed.psk_mode,
            bytes: Traffic { sent: Bytes(sent), received: Bytes(received) },
            kinds: KindCounts::default(),
            samples: Vec::new(),
            is_lost: false,
        });
        Ok(())
    }

    /// Samples in a random order in which each cell precedes each equally often.
    fn run(&mut self, comparison: &Comparison<'_>, audience: &mut dyn Audience, skipped: &mut Vec<CompareSkipped>) {
        let samples = comparison.effort.samples as usize;
        let order = reprise_stats::balanced_order(self.cells.len(), samples, 0, comparison.seed);
        let planned = order.len() as u64;
        for (done, index) in order.into_iter().enumerate() {
            if audience.stops() {
                return;
            }
            audience.proceeded(done as u64, planned);
            let Some(cell) = self.cells.get_mut(index).filter(|cell| !cell.is_lost) else { continue };
            let Some(worker) = self.workers.get_mut(cell.worker) else { continue };
            match cell.sample(worker) {
                Ok(batch) => {
                    self.clock.thread_ns += batch.thread_ns;
                    self.clock.charged_ns += batch.client_ns + batch.server_ns;
                }
                Err(failed) => {
                    cell.is_lost = true;
                    skipped.push(skip(cell.client, cell.server, &cell.case, &failed));
                }
            }
        }
    }

    /// Resumed against full, and TLS 1.2 against 1.3, each within one pair.
    fn ratios(&self, seed: u64) -> Vec<CompareRatio> {
        let mut ratios = Vec::new();
        for from in &self.cells {
            for to in self.cells.iter().filter(|to| from.compares_with(to)) {
                for (side, time) in SIDES {
                    let of = |cell: &Cell<'_>| cell.samples.iter().map(time).collect::<Vec<u64>>();
                    ratios.extend(reprise_stats::ratio(&of(from), &of(to), seed).map(|ratio| CompareRatio {
                        client: from.client.to_owned(),
                        server: from.server.to_owned(),
                        side,
                        from: document_case(&from.case),
                        to: document_case(&to.case),
                        median: ratio.median,
                        ci95: ratio.ci95.map(|(low, high)| [low, high]),
                    }));
                }
            }
        }
        ratios
    }
}

/// What of a sample is a side's.
type Share = fn(&[u64; 2]) -> u64;

const SIDES: [(CompareSide, Share); 3] = [
    (CompareSide::Client, |[client, _]| *client),
    (CompareSide::Server, |[_, server]| *server),
    (CompareSide::Both, |[client, server]| client + server),
];

impl Cell<'_> {
    fn sample(&mut self, worker: &mut Worker) -> Result<Batch, Failed> {
        let connections = self.connections as u32;
        let Answer::Ran(batch) = worker.ask(&Request::Run { cell: self.number, connections })? else {
            return Err(Failed::new(Outcome::Broken, "its process answers something else"));
        };
        for &(kind, count) in &batch.kinds {
            (0..count).for_each(|_| self.kinds.add(kind));
        }
        // A mean over kinds would hide the one that was not asked for: such a sample is counted, and not among the figures.
        if batch.kinds == [(self.case.kind, connections)] {
            self.samples.push([batch.client_ns / self.connections, batch.server_ns / self.connections]);
        }
        Ok(batch)
    }

    fn row(&self, seed: u64) -> Option<CompareRow> {
        let statistics = |time: Share| {
            let values: Vec<u64> = self.samples.iter().map(time).collect();
            reprise_stats::summarize(&values, seed).map(statistics)
        };
        let [client, server, both] = SIDES.map(|(_, time)| statistics(time));
        Some(CompareRow {
            client: self.client.to_owned(),
            server: self.server.to_owned(),
            case: document_case(&self.case),
            psk_mode: self.psk_mode,
            n: self.samples.len() as u64,
            connections: self.connections,
            kinds: self.kinds.clone(),
            client_ns: client?,
            server_ns: server?,
            both_ns: both?,
            bytes: self.bytes,
        })
    }

    /// What a reader would compare: the full handshake with the resumed one; one version with the next; without client
    /// authentication with it; a TLS 1.2 resumption, which has no key exchange, with a TLS 1.3 one in any group.
    fn compares_with(&self, to: &Self) -> bool {
        let (from, with) = (&self.case, &to.case);
        if (self.client, self.server, from.key) != (to.client, to.server, with.key) {
            return false;
        }
        let same_group = from.group == with.group;
        let same_version = from.version == with.version;
        let versions = from.version == Version::Tls12 && with.version == Version::Tls13;
        let resumed = from.kind == Kind::Full && with.kind != Kind::Full && same_version;
        let both_resumed = from.kind != Kind::Full && with.kind != Kind::Full;
        let newer = versions && (from.kind == with.kind && same_group || both_resumed);
        let authenticated = same_version && from.kind == with.kind && !from.mutual && with.mutual;
        if from.mutual == with.mutual { resumed && same_group || newer } else { authenticated && same_group }
    }
}

fn pairs<'d, 'a>(stacks: &[&'d Described<'a>], crossed: bool) -> Vec<(&'d Described<'a>, &'d Described<'a>)> {
    let servers = || stacks.iter().copied().filter(|stack| stack.can("server"));
    let of_client = |client: &'d Described<'a>| -> Vec<_> {
        let own = servers().filter(|server| crossed || server.found == client.found);
        let mut own: Vec<_> = own.map(|server| (client, server)).collect();
        // Who is no server is measured with the first that there is.
        if own.is_empty() {
            own.extend(servers().next().map(|server| (client, server)));
        }
        own
    };
    stacks.iter().copied().filter(|stack| stack.can("client")).flat_map(of_client).collect()
}

/// Every client with every server, one handshake of each version and kind: by the key and the group that most can.
fn matrix(
    comparison: &Comparison<'_>,
    stacks: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> Vec<CompareMatrixCell> {
    let mut wanted: BTreeMap<(Version, Kind), Case> = BTreeMap::new();
    for case in comparison.cases.iter().filter(|case| !case.mutual) {
        let known = wanted.entry((case.version, case.kind)).or_insert(*case);
        // Finite fields and hybrids are what many lack.
        if known.group >= 256 && case.group < 256 {
            *known = *case;
        }
    }
    let pairs = pairs(stacks, true);
    let planned = (pairs.len() * wanted.len()) as u64;
    let mut cells = Vec::new();
    for (client, server) in pairs {
        let mut worker = Worker::new(launcher);
        for (&(tls, kind), case) in &wanted {
            if audience.stops() {
                return cells;
            }
            audience.proceeded(cells.len() as u64, planned);
            let Some(certificates) = comparison.keys.of(case.key) else { continue };
            let failed = worker.ask(&job(client.found, server.found, *case, certificates)).err();
            cells.push(CompareMatrixCell {
                client: client.found.name.clone(),
                server: server.found.name.clone(),
                tls,
                kind,
                outcome: failed.as_ref().map_or("works", |failed| failed.outcome.name()).to_owned(),
                reason: failed.map(|failed| failed.reason),
            });
        }
    }
    cells
}

fn job(client: &Found, server: &Found, case: Case, certificates: &Certificates) -> Request {
    let (client, server) = (client.at.clone(), server.at.clone());
    Request::Prepare(Box::new(Job { client, server, case, certificates: certificates.clone() }))
}

fn skip(client: &str, server: &str, case: &Case, failed: &Failed) -> CompareSkipped {
    CompareSkipped {
        client: client.to_owned(),
        server: server.to_owned(),
        case: document_case(case),
        outcome: failed.outcome.name().to_owned(),
        reason: failed.reason.clone(),
    }
}

fn document_case(case: &Case) -> CompareCase {
    CompareCase {
        tls: case.version,
        kind: case.kind,
        key: case.key.name().to_owned(),
        group: case.group().to_string(),
        cipher: case.suite().to_string(),
        mutual: case.mutual,
    }
}

fn statistics(summary: reprise_stats::Summary) -> Statistics {
    Statistics {
        median_ns: summary.median,
        ci95_ns: summary.ci95.map(|(low, high)| [low, high]),
        mean_ns: summary.mean,
        min_ns: summary.min,
        max_ns: summary.max,
        p90_ns: summary.p90,
        p99_ns: summary.p99,
    }
}
