//! The run: every operation of every stack made ready, then measured in turn, then summed up.

use reprise_lab::LabError;
use reprise_model::document::{
    CompareOver, CompareRow, ComparedStack, Provenance, SpeedDocument, SpeedHardware, SpeedRow, SpeedSkipped,
};
use reprise_pairs::{
    Audience, Described, Failed, FoundStack, Launcher, Row, Run, Worker, describe, without_cpu_instructions,
};

use crate::catalogue::Primitive;
use crate::cost::cost;
use crate::handshakes::all_handshakes;
use crate::job::PrimitiveJob;
use crate::plan::SpeedPlan;
use crate::primitive_cell::{PreparePrimitive, PrimitiveReady, RunPrimitive};
use crate::signers::Signers;
use crate::tcp::tcp;
use crate::{floor, prediction, rules};

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
    let mut operations = Operations { plan, keys: &keys, run: Run::default() };
    audience.begins("stacks prepared");
    for (done, Described { found, info }) in describe(plan.stacks, launcher).iter().enumerate() {
        audience.proceeded(done as u64, plan.stacks.len() as u64);
        match info {
            Ok(info) => {
                document.stacks.push(info.clone());
                operations.prepare(found, info, launcher, audience);
            }
            Err(failed) => operations.run.skipped.push(skip(&found.name, None, true, failed)),
        }
    }
    // Half of the samples of each operation before the handshakes and half behind them: a machine that grows faster or slower meanwhile would
    // make every prediction wrong.
    let behind = if plan.floor { plan.effort.samples / 2 } else { 0 };
    operations.measure(plan.effort.samples - behind, audience);
    let made = if plan.floor { all_handshakes(plan, launcher, audience) } else { Vec::new() };
    operations.measure(behind, audience);
    let run = operations.run;
    document.rows = run.rows().filter_map(|cell| cell.row(plan.seed)).collect();
    let names: Vec<&str> = document.stacks.iter().map(|stack| stack.name.as_str()).collect();
    document.rules = rules::rules(&document.rows, &names);
    document.hardware = hardware(&run, plan.seed);
    document.skipped = run.skipped;
    if plan.floor && !audience.stops() {
        document.tcp = tcp(plan, launcher);
        let in_memory = made.iter().find(|(over, _)| *over == CompareOver::Memory);
        let in_memory: &[CompareRow] = in_memory.map(|(_, rows)| rows.as_slice()).unwrap_or_default();
        document.floors = floor::floors(&document.rows, in_memory);
        let predictions = made.iter().flat_map(|(over, rows)| prediction::predictions(&document.rows, rows, *over));
        document.predictions = predictions.collect();
    }
    document.interrupted = audience.stops();
    Ok(document)
}

/// The operations of all stacks.
struct Operations<'a> {
    plan: &'a SpeedPlan<'a>,
    keys: &'a Signers,
    run: Run<Repeated>,
}

/// One row.
struct Repeated {
    stack: String,
    primitive: Primitive,
    instructions: bool,
    /// The number by which its process knows it.
    number: usize,
    batch: u64,
    /// CPU time of each sample, of the whole batch.
    samples: Vec<u64>,
}

impl Operations<'_> {
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
            Err(failed) => self.run.skipped.push(skip(&found.name, None, false, &failed)),
        }
    }

    fn add_all(&mut self, found: &FoundStack, launcher: &Launcher, instructions: bool, audience: &dyn Audience) {
        let worker = self.run.start(Worker::new(launcher));
        let before = self.run.skipped.len();
        for primitive in self.plan.primitives.iter().filter(|it| instructions || it.has_instructions()) {
            if audience.stops() {
                return;
            }
            if let Err(failed) = self.add(found, *primitive, instructions, worker) {
                self.run.skipped.push(skip(&found.name, Some(primitive), instructions, &failed));
            }
        }
        // Where it has nothing at all, for one reason, that is said once.
        let has_any = self.run.rows().any(|row| row.stack == found.name && row.instructions == instructions);
        let skipped = &mut self.run.skipped;
        if let [first, rest @ ..] = skipped.get(before..).unwrap_or_default()
            && !has_any
            && rest.iter().all(|it| it.reason == first.reason)
        {
            let whole = SpeedSkipped { operation: None, algorithm: None, ..first.clone() };
            skipped.truncate(before);
            skipped.push(whole);
        }
    }

    fn add(&mut self, found: &FoundStack, primitive: Primitive, instructions: bool, worker: usize) -> Result<(), Failed> {
        let Primitive { operation, number: algorithm, length, .. } = primitive;
        let (stack, key) = (found.at.clone(), self.keys.of(primitive.key));
        let sample_ns = self.plan.effort.sample_ns;
        self.run.add(worker, |process| {
            let job = PrimitiveJob { stack, operation, algorithm, length, key };
            let PrimitiveReady { cell: number, once_ns } = process.ask(&PreparePrimitive(job))?;
            let batch = (sample_ns / once_ns.max(1)).clamp(1, primitive.most_at_once());
            let (stack, samples) = (found.name.clone(), Vec::new());
            Ok(Repeated { stack, primitive, instructions, number, batch, samples })
        })
    }

    fn measure(&mut self, samples: u32, audience: &mut dyn Audience) {
        if samples > 0 {
            audience.begins("samples");
            self.run.measure(samples, self.plan.seed, audience);
        }
    }
}

impl Row for Repeated {
    type Process = Worker;
    type Skipped = SpeedSkipped;

    fn sample(&mut self, worker: &mut Worker) -> Result<(), Failed> {
        self.samples.push(worker.ask(&RunPrimitive { cell: self.number, count: self.batch })?);
        Ok(())
    }

    fn skipped(&self, failed: &Failed) -> SpeedSkipped {
        skip(&self.stack, Some(&self.primitive), self.instructions, failed)
    }
}

impl Repeated {
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

/// Each operation without the CPU's instructions over the same with them. Both have batches of their own.
fn hardware(run: &Run<Repeated>, seed: u64) -> Vec<SpeedHardware> {
    let without = run.rows().filter(|row| !row.instructions);
    let ratio = |without: &Repeated| {
        let is_same = |it: &&Repeated| it.instructions && it.stack == without.stack && it.primitive == without.primitive;
        let with = run.rows().find(is_same)?;
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
