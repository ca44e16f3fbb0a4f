//! The run: every level of every stack made ready, then measured in turn, then summed up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use reprise_model::document::{
    ComparedStack, LayersChange, LayersConnection, LayersContext, LayersDifference, LayersDocument, LayersGenerator,
    LayersRow, LayersSkipped, Provenance,
};
use reprise_model::{Kind, KindCounts, Level, Nanos, Version};

use super::advice;
use super::material::Material;
use super::message::{LevelBatch, LevelJob, LevelReady, RandomBytes, ResumedBy, Seen};
use crate::claims;
use crate::compare::{describe, statistics};
use crate::comparison::{Audience, in_turn};
use crate::message::{Failed, Request};
use crate::stacks::FoundStack;
use crate::worker::{Launcher, Worker};

/// What is to be measured.
pub struct Layers<'a> {
    /// The server.
    pub peer: RemoteServer,
    /// The levels, with and without sessions.
    pub levels: &'a [Level],
    /// The versions; without any, the newest of each stack.
    pub versions: &'a [Version],
    /// How to resume TLS 1.2 sessions.
    pub resumed_by: ResumedBy,
    /// The clients.
    pub stacks: &'a [FoundStack],
    /// What contexts are made of.
    pub material: &'a Material,
    /// The kind of the client's key, for the page.
    pub client_key: Option<String>,
    /// Requests per row.
    pub count: u64,
    /// Maximum time to wait for the server.
    pub timeout: Duration,
    /// The program of the levels of processes.
    pub helper: Option<PathBuf>,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// A server, and what is asked of it.
pub struct RemoteServer {
    /// As the page names it.
    pub target: String,
    /// Where it is.
    pub address: SocketAddr,
    /// The name that its certificate is for.
    pub name: String,
    /// The method of the request.
    pub method: String,
    /// The request, whole.
    pub request: String,
    /// The delay that was added to each way.
    pub delay: Option<Duration>,
}

/// Most requests of which a sample is the mean.
const LARGEST_BATCH: u64 = 10;

/// Processes whose generator is timed.
const GENERATORS: u32 = 30;

/// Samples that are wanted before samples are made of several requests.
const SAMPLES: u64 = 100;

/// Describes, prepares, measures and sums up. What fails is in the document, as skipped.
pub fn layers(
    plan: &Layers<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> LayersDocument {
    let batch = (plan.count / SAMPLES).clamp(1, LARGEST_BATCH);
    let described = describe(plan.stacks, launcher);
    let mut run = Run { plan, batch, workers: Vec::new(), cells: Vec::new(), skipped: Vec::new(), warnings: Vec::new() };
    let mut stacks = Vec::new();
    for (found, info) in &described {
        match info {
            Ok(info) => {
                stacks.push(info.clone());
                run.prepare(found, info, launcher, audience);
            }
            Err(failed) => run.skipped.push(skip(&found.name, None, None, false, failed)),
        }
    }
    run.measure(audience);
    let generators = run.generators(launcher, audience);
    let rows: Vec<LayersRow> = run.cells.iter().filter_map(|cell| cell.row(plan.seed, batch)).collect();
    let differences = run.differences();
    LayersDocument {
        schema: LayersDocument::SCHEMA.to_owned(),
        target: plan.peer.target.clone(),
        address: plan.peer.address.to_string(),
        count: plan.count,
        method: plan.peer.method.clone(),
        delay_ns: plan.peer.delay.map(Nanos::from),
        context: LayersContext {
            trusted: plan.material.certificates() as u64,
            files: plan.material.files() as u64,
            client_key: plan.client_key.clone(),
            encrypted: plan.material.is_encrypted(),
        },
        seed: plan.seed,
        stacks,
        claims: claims::of_levels(&rows, &differences),
        advice: advice::of(&rows, &differences),
        rows,
        differences,
        generators,
        skipped: run.skipped,
        warnings: run.warnings,
        interrupted: audience.stops(),
        provenance,
    }
}

struct Run<'a> {
    plan: &'a Layers<'a>,
    batch: u64,
    workers: Vec<Worker>,
    cells: Vec<Cell>,
    skipped: Vec<LayersSkipped>,
    warnings: Vec<String>,
}

/// One row.
struct Cell {
    stack: String,
    version: Version,
    level: Level,
    sessions: bool,
    worker: usize,
    number: usize,
    is_lost: bool,
    /// Of each sample, CPU time and time of one request.
    samples: Vec<[u64; 2]>,
    requests: u64,
    handshakes: u64,
    uncounted: u64,
    kinds: KindCounts,
    refused: u64,
    not_offered: u64,
    connections: Vec<LayersConnection>,
}

impl Run<'_> {
    /// Each level of each stack has a child process of its own: where one crashes, the others go on.
    fn prepare(&mut self, found: &FoundStack, info: &ComparedStack, launcher: &Launcher, audience: &mut dyn Audience) {
        let speaks = |version: &Version| info.abilities.iter().any(|ability| ability == version.number());
        let newest = [Version::Tls13, Version::Tls12].into_iter().find(speaks);
        let versions = if self.plan.versions.is_empty() { newest.as_slice() } else { self.plan.versions };
        for &version in versions {
            if !speaks(&version) {
                let failed = Failed::unsupported(format!("{} has no TLS {}", info.library, version.number()));
                self.skipped.push(skip(&found.name, Some(version), None, false, &failed));
                continue;
            }
            for &level in self.plan.levels {
                self.workers.push(Worker::new(launcher));
                for sessions in [false, true] {
                    // Without a connection there is no session.
                    if audience.stops() || (sessions && level == Level::Load) {
                        continue;
                    }
                    if let Err(failed) = self.add(found, version, level, sessions) {
                        self.skipped.push(skip(&found.name, Some(version), Some(level), sessions, &failed));
                    }
                }
            }
        }
    }

    fn add(&mut self, found: &FoundStack, version: Version, level: Level, sessions: bool) -> Result<(), Failed> {
        let resumed_by = if version == Version::Tls13 { ResumedBy::Ticket } else { self.plan.resumed_by };
        let peer = &self.plan.peer;
        let job = LevelJob {
            stack: found.at.clone(),
            level,
            version,
            sessions: sessions.then_some(resumed_by),
            material: self.plan.material.clone(),
            address: peer.address,
            server_name: peer.name.clone(),
            request: peer.request.clone(),
            is_head: peer.method.eq_ignore_ascii_case("HEAD"),
            timeout_ms: self.plan.timeout.as_millis() as u64,
            helper: self.plan.helper.clone(),
        };
        let worker = self.workers.len() - 1;
        let Some(process) = self.workers.get_mut(worker) else { return Ok(()) };
        let LevelReady { cell: number, connections, status } = process.ask(&Request::PrepareLevel(Box::new(job)))?;
        if let Some(status @ 400..) = status {
            let warning = format!("The server answers with status {status}: what it does for a page may cost more or less.");
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.cells.push(Cell {
            stack: found.name.clone(),
            version,
            level,
            sessions,
            worker,
            number,
            is_lost: false,
            samples: Vec::new(),
            requests: 0,
            handshakes: 0,
            uncounted: connections.len() as u64,
            kinds: KindCounts::default(),
            refused: 0,
            not_offered: 0,
            connections: records(&connections).collect(),
        });
        Ok(())
    }

    fn measure(&mut self, audience: &mut dyn Audience) {
        let Self { plan, batch, workers, cells, skipped, .. } = self;
        let samples = plan.count.div_ceil(*batch) as usize;
        in_turn(cells.len(), samples, plan.seed, audience, |index| {
            let Some(cell) = cells.get_mut(index).filter(|cell| !cell.is_lost) else { return };
            let Some(worker) = workers.get_mut(cell.worker) else { return };
            let requests = (*batch).min(plan.count - cell.requests.min(plan.count));
            if requests == 0 {
                return;
            }
            match worker.ask(&Request::RunLevel { cell: cell.number, requests: requests as u32 }) {
                Ok(batch) => cell.take(&batch, requests),
                Err(failed) => cell.lose(&failed, skipped),
            }
        });
    }

    /// What the random generator of each plugin costs a new process.
    fn generators(&self, launcher: &Launcher, audience: &mut dyn Audience) -> Vec<LayersGenerator> {
        let mut generators = Vec::new();
        let starts = self.plan.levels.iter().any(|level| level.is_of_processes());
        for found in self.plan.stacks.iter().filter(|_| starts) {
            let (stack, helper) = (found.at.clone(), self.plan.helper.clone());
            if audience.stops() {
                break;
            }
            // Not every plugin shows its generator.
            let request = Request::TimeRandom { stack, helper, times: GENERATORS };
            let Ok(processes) = Worker::new(launcher).ask::<Vec<RandomBytes>>(&request) else { continue };
            let sum_up = |of: fn(&RandomBytes) -> u64| {
                let values: Vec<u64> = processes.iter().map(of).collect();
                reprise_stats::summarize(&values, self.plan.seed).map(statistics)
            };
            let [init, first, next] = [sum_up(|it| it.init_ns), sum_up(|it| it.first_ns), sum_up(|it| it.next_ns)];
            if let (Some(init_ns), Some(first_ns), Some(next_ns)) = (init, first, next) {
                generators.push(LayersGenerator { stack: found.name.clone(), init_ns, first_ns, next_ns });
            }
        }
        generators
    }

    /// Where a stack stands in the tables.
    fn place(&self, stack: &str) -> Option<usize> {
        self.plan.stacks.iter().position(|found| found.name == stack)
    }

    /// Each level against the next that was measured: of one stack and version first without sessions, then with them.
    fn differences(&self) -> Vec<LayersDifference> {
        let mut differences = Vec::new();
        let mut cells: Vec<&Cell> = self.cells.iter().filter(|cell| Level::NESTED.contains(&cell.level)).collect();
        cells.sort_by_key(|cell| (self.place(&cell.stack), cell.version, cell.sessions, cell.level));
        for from in cells {
            let next = self.cells.iter().filter(|to| {
                (&to.stack, to.version, to.sessions) == (&from.stack, from.version, from.sessions)
                    && Level::NESTED.contains(&to.level)
                    && to.level > from.level
                    && !to.samples.is_empty()
            });
            let Some(to) = next.min_by_key(|to| to.level) else { continue };
            let change = |time: fn(&[u64; 2]) -> u64| {
                let of = |cell: &Cell| cell.samples.iter().map(time).collect::<Vec<u64>>();
                reprise_stats::difference(&of(from), &of(to), self.plan.seed).map(|found| LayersChange {
                    median_ns: found.median.round() as i64,
                    ci95_ns: found.ci95.map(|[low, high]| [low.floor() as i64, high.ceil() as i64]),
                })
            };
            if let (Some(cpu_ns), Some(wall_ns)) = (change(|[cpu, _]| *cpu), change(|[_, wall]| *wall)) {
                differences.push(LayersDifference {
                    stack: from.stack.clone(),
                    tls: from.version,
                    sessions: from.sessions,
                    from: from.level,
                    to: to.level,
                    cpu_ns,
                    wall_ns,
                });
            }
        }
        differences
    }
}

impl Cell {
    fn take(&mut self, batch: &LevelBatch, requests: u64) {
        self.samples.push([batch.cpu_ns / requests, batch.wall_ns / requests]);
        self.requests += requests;
        self.handshakes += batch.connections.len() as u64;
        self.uncounted += batch.uncounted.len() as u64;
        // At msg the connections are not counted, and their kinds are what there is to be seen.
        let kinds = if self.level == Level::Msg { &batch.uncounted } else { &batch.connections };
        kinds.iter().for_each(|seen| self.kinds.add(seen.kind));
        if self.sessions {
            let full = || kinds.iter().filter(|seen| seen.kind == Kind::Full);
            self.refused += full().filter(|seen| seen.offered).count() as u64;
            self.not_offered += full().filter(|seen| !seen.offered).count() as u64;
        }
        self.connections.extend(records(&batch.uncounted));
        self.connections.extend(records(&batch.connections));
    }

    fn lose(&mut self, failed: &Failed, skipped: &mut Vec<LayersSkipped>) {
        self.is_lost = true;
        skipped.push(skip(&self.stack, Some(self.version), Some(self.level), self.sessions, failed));
    }

    fn row(&self, seed: u64, batch: u64) -> Option<LayersRow> {
        let sum_up = |time: fn(&[u64; 2]) -> u64| {
            let values: Vec<u64> = self.samples.iter().map(time).collect();
            reprise_stats::summarize(&values, seed).map(statistics)
        };
        Some(LayersRow {
            stack: self.stack.clone(),
            tls: self.version,
            level: self.level,
            sessions: self.sessions,
            n: self.samples.len() as u64,
            batch,
            requests: self.requests,
            handshakes: self.handshakes,
            uncounted: self.uncounted,
            kinds: self.kinds.clone(),
            refused: self.refused,
            not_offered: self.not_offered,
            cpu_ns: sum_up(|[cpu, _]| *cpu)?,
            wall_ns: sum_up(|[_, wall]| *wall)?,
            connections: self.connections.clone(),
        })
    }
}

fn records(connections: &[Seen]) -> impl Iterator<Item = LayersConnection> + '_ {
    connections.iter().map(|seen| LayersConnection { local_port: seen.port, kind: seen.kind })
}

fn skip(stack: &str, tls: Option<Version>, level: Option<Level>, sessions: bool, failed: &Failed) -> LayersSkipped {
    LayersSkipped {
        stack: stack.to_owned(),
        tls,
        level,
        sessions,
        outcome: failed.outcome.name().to_owned(),
        reason: failed.reason.clone(),
    }
}
