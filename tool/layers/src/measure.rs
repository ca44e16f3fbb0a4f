//! The run: every level of every stack made ready, then measured in turn, then summed up.

use reprise_model::document::{
    ComparedStack, LayersChange, LayersConnection, LayersContext, LayersDifference, LayersDocument, LayersGenerator,
    LayersRow, LayersSkipped, Provenance,
};
use reprise_model::{Kind, KindCounts, Level, Nanos, Version};
use reprise_pairs::{Audience, Described, Failed, FoundStack, Launcher, Row, Run, Worker, describe, statistics};

use crate::job::{LevelJob, ResumedBy};
use crate::level_cell::{LevelReady, PrepareLevel, RunLevel};
use crate::plan::Layers;
use crate::random::{RandomBytes, TimeRandom};
use crate::requests::{LevelBatch, Seen};
use crate::{advice, claims};

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
    let mut levels = Levels { plan, batch, run: Run::default(), warnings: Vec::new() };
    let mut stacks = Vec::new();
    for Described { found, info } in &described {
        match info {
            Ok(info) => {
                stacks.push(info.clone());
                levels.prepare(found, info, launcher, audience);
            }
            Err(failed) => levels.run.skipped.push(skip(&found.name, None, None, false, failed)),
        }
    }
    levels.run.measure(plan.count.div_ceil(batch) as u32, plan.seed, audience);
    let generators = levels.generators(launcher, audience);
    let rows: Vec<LayersRow> = levels.run.rows().filter_map(|level| level.row(plan.seed)).collect();
    let differences = levels.differences();
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
        skipped: levels.run.skipped,
        warnings: levels.warnings,
        interrupted: audience.stops(),
        provenance,
    }
}

/// Every level of every stack.
struct Levels<'a> {
    plan: &'a Layers<'a>,
    batch: u64,
    run: Run<OneLevel>,
    warnings: Vec<String>,
}

/// One row.
struct OneLevel {
    stack: String,
    version: Version,
    level: Level,
    sessions: bool,
    /// The number by which its process knows it.
    number: usize,
    /// How many requests are wanted, and how many a sample is the mean of.
    count: u64,
    batch: u64,
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

impl Levels<'_> {
    /// Each level of each stack has a child process of its own: where one crashes, the others go on.
    fn prepare(&mut self, found: &FoundStack, info: &ComparedStack, launcher: &Launcher, audience: &mut dyn Audience) {
        let speaks = |version: &Version| info.abilities.iter().any(|ability| ability == version.number());
        let newest = [Version::Tls13, Version::Tls12].into_iter().find(speaks);
        let versions = if self.plan.versions.is_empty() { newest.as_slice() } else { self.plan.versions };
        for &version in versions {
            if !speaks(&version) {
                let failed = Failed::unsupported(format!("{} has no TLS {}", info.library, version.number()));
                self.run.skipped.push(skip(&found.name, Some(version), None, false, &failed));
                continue;
            }
            for &level in self.plan.levels {
                let worker = self.run.start(Worker::new(launcher));
                for sessions in [false, true] {
                    // Without a connection there is no session.
                    if audience.stops() || (sessions && level == Level::Load) {
                        continue;
                    }
                    if let Err(failed) = self.add(found, version, level, sessions, worker) {
                        self.run.skipped.push(skip(&found.name, Some(version), Some(level), sessions, &failed));
                    }
                }
            }
        }
    }

    fn add(
        &mut self,
        found: &FoundStack,
        version: Version,
        level: Level,
        sessions: bool,
        worker: usize,
    ) -> Result<(), Failed> {
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
        let Self { plan, batch, run, warnings } = self;
        run.add(worker, |process| {
            let LevelReady { cell: number, connections, status } = process.ask(&PrepareLevel(job))?;
            if let Some(status @ 400..) = status {
                let warning =
                    format!("The server answers with status {status}: what it does for a page may cost more or less.");
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            Ok(OneLevel {
                stack: found.name.clone(),
                version,
                level,
                sessions,
                number,
                count: plan.count,
                batch: *batch,
                samples: Vec::new(),
                requests: 0,
                handshakes: 0,
                uncounted: connections.len() as u64,
                kinds: KindCounts::default(),
                refused: 0,
                not_offered: 0,
                connections: records(&connections).collect(),
            })
        })
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
            let asked = TimeRandom { stack, helper, times: GENERATORS };
            let Ok(processes) = Worker::new(launcher).ask(&asked) else { continue };
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
        let mut cells: Vec<&OneLevel> = self.run.rows().filter(|cell| Level::NESTED.contains(&cell.level)).collect();
        cells.sort_by_key(|cell| (self.place(&cell.stack), cell.version, cell.sessions, cell.level));
        for from in cells {
            let next = self.run.rows().filter(|to| {
                (&to.stack, to.version, to.sessions) == (&from.stack, from.version, from.sessions)
                    && Level::NESTED.contains(&to.level)
                    && to.level > from.level
                    && !to.samples.is_empty()
            });
            let Some(to) = next.min_by_key(|to| to.level) else { continue };
            let change = |time: fn(&[u64; 2]) -> u64| {
                let of = |cell: &OneLevel| cell.samples.iter().map(time).collect::<Vec<u64>>();
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

impl Row for OneLevel {
    type Process = Worker;
    type Skipped = LayersSkipped;

    fn sample(&mut self, worker: &mut Worker) -> Result<(), Failed> {
        let requests = self.batch.min(self.count.saturating_sub(self.requests));
        if requests > 0 {
            let batch = worker.ask(&RunLevel { cell: self.number, requests: requests as u32 })?;
            self.take(&batch, requests);
        }
        Ok(())
    }

    fn skipped(&self, failed: &Failed) -> LayersSkipped {
        skip(&self.stack, Some(self.version), Some(self.level), self.sessions, failed)
    }
}

impl OneLevel {
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

    fn row(&self, seed: u64) -> Option<LayersRow> {
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
            batch: self.batch,
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
