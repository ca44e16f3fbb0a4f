//! The run: every operation of every stack made ready, then measured in turn, then summed up.

use reprise_lab::{Authority, KeyKind, LabError, ServerSpec};
use reprise_model::document::{
    CompareDocument, CompareOver, ComparedStack, Provenance, SpeedCost, SpeedDocument, SpeedHardware, SpeedRow,
    SpeedSkipped, SpeedTcp,
};

use super::catalogue::Primitive;
use super::message::{PrimitiveJob, PrimitiveReady, TcpCost};
use super::{floor, prediction, rules};
use crate::bulk::without_cpu_instructions;
use crate::case::Case;
use crate::compare::{compare, describe};
use crate::comparison::{Audience, ComparisonPlan, Effort, in_turn};
use crate::keys::Keys;
use crate::message::{Failed, Request};
use crate::scenario::Scenario;
use crate::stacks::FoundStack;
use crate::worker::{Launcher, Worker};

/// What is to be measured.
pub struct SpeedPlan<'a> {
    /// The operations.
    pub primitives: &'a [Primitive],
    /// The stacks.
    pub stacks: &'a [FoundStack],
    /// How much.
    pub effort: Effort,
    /// Whether also without the CPU's instructions, where a library has a switch for them.
    pub without_instructions: bool,
    /// Whether handshakes are measured too, and the floor is shown below them.
    pub floor: bool,
    /// What handshakes are predicted over: loopback beside memory, or memory alone.
    pub over: CompareOver,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// How many times as long a sample of handshakes takes as one of an operation: it has to bring all of its code and data into the caches that
/// another process has had.
const AS_LONG: u64 = 5;

/// Connections of TCP that a sample is the mean of.
const TCP_CONNECTIONS: u32 = 100;

/// Describes, prepares, measures and sums up. What fails is in the document, as skipped.
///
/// # Errors
/// Where the lab cannot make a key.
pub fn speed(
    plan: &SpeedPlan<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> Result<SpeedDocument, LabError> {
    let keys = Signers::make(plan.primitives)?;
    let mut document = SpeedDocument {
        schema: SpeedDocument::SCHEMA.to_owned(),
        samples: u64::from(plan.effort.samples),
        sample_ns: plan.effort.sample_ns,
        seed: plan.seed,
        provenance,
        ..SpeedDocument::default()
    };
    let mut run = Run { plan, keys: &keys, workers: Vec::new(), cells: Vec::new(), skipped: Vec::new() };
    audience.begins("stacks prepared");
    for (done, (found, info)) in describe(plan.stacks, launcher).iter().enumerate() {
        audience.proceeded(done as u64, plan.stacks.len() as u64);
        match info {
            Ok(info) => {
                document.stacks.push(info.clone());
                run.prepare(found, info, launcher, audience);
            }
            Err(failed) => run.skipped.push(skip(&found.name, None, true, failed)),
        }
    }
    // Half of the samples of each operation before the handshakes and half behind them: a machine that grows faster or slower meanwhile would
    // make every prediction wrong.
    let behind = if plan.floor { plan.effort.samples / 2 } else { 0 };
    run.measure(plan.effort.samples - behind, audience);
    let made = if plan.floor { all_handshakes(plan, launcher, &document.provenance, audience) } else { Vec::new() };
    run.measure(behind, audience);
    document.rows = run.cells.iter().filter_map(|cell| cell.row(plan.seed)).collect();
    let names: Vec<&str> = document.stacks.iter().map(|stack| stack.name.as_str()).collect();
    document.rules = rules::rules(&document.rows, &names);
    document.hardware = hardware(&run.cells, plan.seed);
    document.skipped = run.skipped;
    if plan.floor && !audience.stops() {
        document.tcp = tcp(plan, launcher);
        let in_memory = made.iter().find(|it| it.over == CompareOver::Memory);
        document.floors = floor::floors(&document.rows, in_memory);
        document.predictions = made.iter().flat_map(|it| prediction::predictions(&document.rows, it)).collect();
    }
    document.interrupted = audience.stops();
    Ok(document)
}

/// Keys of who signs, in PEM.
struct Signers(Vec<(KeyKind, String)>);

impl Signers {
    fn make(primitives: &[Primitive]) -> Result<Self, LabError> {
        let mut kinds: Vec<KeyKind> = primitives.iter().filter_map(|primitive| primitive.key).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let authority = Authority::new()?;
        let signer = |kind| Ok((kind, authority.server(&ServerSpec::new(kind))?.key_pem().to_owned()));
        Ok(Self(kinds.into_iter().map(signer).collect::<Result<_, LabError>>()?))
    }

    fn of(&self, kind: Option<KeyKind>) -> Option<String> {
        self.0.iter().find(|(known, _)| Some(*known) == kind).map(|(_, pem)| pem.clone())
    }
}

struct Run<'a> {
    plan: &'a SpeedPlan<'a>,
    keys: &'a Signers,
    workers: Vec<Worker>,
    cells: Vec<Cell>,
    skipped: Vec<SpeedSkipped>,
}

/// One row.
struct Cell {
    stack: String,
    primitive: Primitive,
    instructions: bool,
    worker: usize,
    number: usize,
    batch: u64,
    is_lost: bool,
    /// CPU time of each sample, of the whole batch.
    samples: Vec<u64>,
}

impl Run<'_> {
    /// A child process for each stack, and one that leaves the CPU's instructions alone: libraries look for them once.
    fn prepare(&mut self, found: &FoundStack, info: &ComparedStack, launcher: &Launcher, audience: &mut dyn Audience) {
        self.add_all(found, launcher, true, audience);
        let has_instructions = self.plan.primitives.iter().any(Primitive::has_instructions);
        if !self.plan.without_instructions || !has_instructions {
            return;
        }
        match without_cpu_instructions(&found.at, info) {
            Ok(variables) => {
                let mut launcher = launcher.clone();
                launcher.environment.extend(variables.iter().map(|&(name, value)| (name, value.into())));
                self.add_all(found, &launcher, false, audience);
            }
            Err(failed) => self.skipped.push(skip(&found.name, None, false, &failed)),
        }
    }

    fn add_all(&mut self, found: &FoundStack, launcher: &Launcher, instructions: bool, audience: &dyn Audience) {
        self.workers.push(Worker::new(launcher));
        let before = self.skipped.len();
        for primitive in self.plan.primitives.iter().filter(|it| instructions || it.has_instructions()) {
            if audience.stops() {
                return;
            }
            if let Err(failed) = self.add(found, *primitive, instructions) {
                self.skipped.push(skip(&found.name, Some(primitive), instructions, &failed));
            }
        }
        // Where it has nothing at all, for one reason, that is said once.
        let has_any = self.cells.iter().any(|cell| cell.stack == found.name && cell.instructions == instructions);
        if let [first, rest @ ..] = self.skipped.get(before..).unwrap_or_default()
            && !has_any
            && rest.iter().all(|it| it.reason == first.reason)
        {
            let whole = SpeedSkipped { operation: None, algorithm: None, ..first.clone() };
            self.skipped.truncate(before);
            self.skipped.push(whole);
        }
    }

    fn add(&mut self, found: &FoundStack, primitive: Primitive, instructions: bool) -> Result<(), Failed> {
        let Primitive { operation, number: algorithm, length, .. } = primitive;
        let (stack, key) = (found.at.clone(), self.keys.of(primitive.key));
        let worker = self.workers.len() - 1;
        let Some(process) = self.workers.get_mut(worker) else { return Ok(()) };
        let job = PrimitiveJob { stack, operation, algorithm, length, key };
        let PrimitiveReady { cell: number, once_ns } = process.ask(&Request::PreparePrimitive(Box::new(job)))?;
        let batch = (self.plan.effort.sample_ns / once_ns.max(1)).clamp(1, primitive.most_at_once());
        let (stack, samples) = (found.name.clone(), Vec::new());
        self.cells.push(Cell { stack, primitive, instructions, worker, number, batch, is_lost: false, samples });
        Ok(())
    }

    fn measure(&mut self, samples: u32, audience: &mut dyn Audience) {
        if samples == 0 {
            return;
        }
        let Self { plan, workers, cells, skipped, .. } = self;
        audience.begins("samples");
        in_turn(cells.len(), samples as usize, plan.seed, audience, |index| {
            let Some(cell) = cells.get_mut(index).filter(|cell| !cell.is_lost) else { return };
            let Some(worker) = workers.get_mut(cell.worker) else { return };
            match worker.ask(&Request::RunPrimitive { cell: cell.number, count: cell.batch }) {
                Ok(spent_ns) => cell.samples.push(spent_ns),
                Err(failed) => {
                    cell.is_lost = true;
                    skipped.push(skip(&cell.stack, Some(&cell.primitive), cell.instructions, &failed));
                }
            }
        });
    }
}

impl Cell {
    fn row(&self, seed: u64) -> Option<SpeedRow> {
        Some(SpeedRow {
            stack: self.stack.clone(),
            operation: self.primitive.operation,
            algorithm: self.primitive.algorithm.to_owned(),
            bytes: self.primitive.bytes(),
            instructions: self.instructions,
            n: self.samples.len() as u64,
            batch: self.batch,
            once: cost(&self.samples, self.batch, seed)?,
        })
    }
}

/// What one costs, of samples of so many.
fn cost(samples: &[u64], batch: u64, seed: u64) -> Option<SpeedCost> {
    let summary = reprise_stats::summarize(samples, seed)?;
    // A hundredth of a nanosecond is far below what a sample tells.
    let once = |ns: u64| (ns as f64 / batch as f64 * 100.0).round() / 100.0;
    let ci95_ns = summary.ci95.map(|ends| ends.map(once));
    Some(SpeedCost { median_ns: once(summary.median), ci95_ns, min_ns: once(summary.min) })
}

/// Each operation without the CPU's instructions over the same with them. Both have batches of their own.
fn hardware(cells: &[Cell], seed: u64) -> Vec<SpeedHardware> {
    let without = cells.iter().filter(|cell| !cell.instructions);
    let ratio = |without: &Cell| {
        let is_same = |it: &&Cell| it.instructions && it.stack == without.stack && it.primitive == without.primitive;
        let with = cells.iter().find(is_same)?;
        let ratio = reprise_stats::ratio(&without.samples, &with.samples, seed)?;
        let per_operation = with.batch as f64 / without.batch as f64;
        Some(SpeedHardware {
            stack: without.stack.clone(),
            operation: without.primitive.operation,
            algorithm: without.primitive.algorithm.to_owned(),
            ratio: ratio.median * per_operation,
            ci95: ratio.ci95.map(|ends| ends.map(|bound| bound * per_operation)),
        })
    };
    without.filter_map(ratio).collect()
}

/// What the kernel takes for a connection of TCP.
pub(crate) fn tcp(plan: &SpeedPlan<'_>, launcher: &Launcher) -> Option<SpeedTcp> {
    let mut worker = Worker::new(launcher);
    let ask = |_| worker.ask::<TcpCost>(&Request::TcpConnections { count: TCP_CONNECTIONS }).ok();
    let samples: Vec<TcpCost> = (0..plan.effort.samples).filter_map(ask).collect();
    let of = |side: fn(&TcpCost) -> u64| cost(&samples.iter().map(side).collect::<Vec<_>>(), 1, plan.seed);
    Some(SpeedTcp { client: of(|it| it.client_ns)?, server: of(|it| it.server_ns)? })
}

/// The handshakes that are predicted, over memory and what else the plan says.
fn all_handshakes(
    plan: &SpeedPlan<'_>,
    launcher: &Launcher,
    provenance: &Provenance,
    audience: &mut dyn Audience,
) -> Vec<CompareDocument> {
    let cases = floor::cases();
    let transports = CompareOver::ALL.into_iter().filter(|over| *over == CompareOver::Memory || *over == plan.over);
    let made = transports.filter_map(|over| {
        (!audience.stops())
            .then(|| handshakes(&SpeedPlan { over, ..*plan }, &cases, false, launcher, provenance, audience))?
    });
    made.collect()
}

/// Handshakes of each stack with itself, or also with each other, over what the plan says.
pub(crate) fn handshakes(
    plan: &SpeedPlan<'_>,
    cases: &[Case],
    crossed: bool,
    launcher: &Launcher,
    provenance: &Provenance,
    audience: &mut dyn Audience,
) -> Option<CompareDocument> {
    let keys = Keys::make(cases.iter().map(|case| (case.key, case.chain))).ok()?;
    let scenario = Scenario::ALL.into_iter().next()?;
    let comparison = ComparisonPlan {
        scenario,
        cases,
        stacks: plan.stacks,
        crossed,
        keys: &keys,
        effort: Effort { sample_ns: plan.effort.sample_ns * AS_LONG, ..plan.effort },
        seed: plan.seed,
        over: plan.over,
        callgrind: None,
        earlier: None,
        links: None,
        heap_counter: None,
    };
    compare(&comparison, launcher, provenance.clone(), audience).ok()
}

fn skip(stack: &str, primitive: Option<&Primitive>, instructions: bool, failed: &Failed) -> SpeedSkipped {
    SpeedSkipped {
        stack: stack.to_owned(),
        operation: primitive.map(|it| it.operation),
        algorithm: primitive.map(|it| it.algorithm.to_owned()),
        instructions,
        outcome: failed.outcome.name().to_owned(),
        reason: failed.reason.clone(),
    }
}
