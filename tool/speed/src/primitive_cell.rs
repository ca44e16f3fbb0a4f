//! In the child process: an operation that was made ready and checked.

use reprise_model::Nanos;
use reprise_pairs::{Ask, Child, CpuClock, Failed};
use reprise_stack::{PrimitiveOptions, ReadyPrimitive, Stack};
use serde::{Deserialize, Serialize};

use crate::check;
use crate::job::PrimitiveJob;

/// Makes an operation ready.
#[derive(Serialize, Deserialize)]
pub(crate) struct PreparePrimitive(pub(crate) PrimitiveJob);

/// An operation that was made ready.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PrimitiveReady {
    pub(crate) cell: usize,
    /// CPU time of one, once warm.
    pub(crate) once_ns: u64,
}

impl Ask for PreparePrimitive {
    const NAME: &'static str = "PreparePrimitive";
    type Answer = PrimitiveReady;

    fn answer(self, child: &mut Child) -> Result<PrimitiveReady, Failed> {
        let stack = child.stack(&self.0.stack)?;
        let mut primitive = PrimitiveCell::new(&*stack, &self.0)?;
        let once_ns = primitive.warm_up()?;
        Ok(PrimitiveReady { cell: child.keep(primitive), once_ns })
    }
}

/// Does it so many times: CPU time of all of them in nanoseconds.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunPrimitive {
    pub(crate) cell: usize,
    pub(crate) count: u64,
}

impl Ask for RunPrimitive {
    const NAME: &'static str = "RunPrimitive";
    type Answer = u64;

    fn answer(self, child: &mut Child) -> Result<u64, Failed> {
        child.kept::<PrimitiveCell>(self.cell)?.run(self.count)
    }
}

/// An operation that was made ready.
struct PrimitiveCell {
    primitive: Box<dyn ReadyPrimitive>,
    clock: CpuClock,
}

/// Before each sample, so many that do not count, and no more than a quarter of it: another operation has had the caches, and what a library
/// remembers of a key.
const WARM_UP: u64 = 4;

impl PrimitiveCell {
    /// Makes it ready, and checks what it comes to.
    fn new(stack: &dyn Stack, job: &PrimitiveJob) -> Result<Self, Failed> {
        let PrimitiveJob { operation, algorithm, length, .. } = *job;
        let options = PrimitiveOptions { operation, algorithm, length, key: job.key.as_deref() };
        let mut primitive = stack.primitive(&options)?;
        primitive.prepare(1)?;
        primitive.run(1)?;
        check::output(job, &primitive.output()?)?;
        Ok(Self { primitive, clock: CpuClock::calibrated() })
    }

    /// What one takes.
    fn warm_up(&mut self) -> Result<u64, Failed> {
        self.run(WARM_UP)?;
        Ok(self.run(WARM_UP)? / WARM_UP)
    }

    /// CPU time of so many.
    fn run(&mut self, count: u64) -> Result<u64, Failed> {
        let (mut spent, warm_up, count) = (Nanos(0), WARM_UP.min(count / 4) as usize, count as usize);
        self.primitive.prepare(warm_up)?;
        self.primitive.run(warm_up)?;
        self.primitive.prepare(count)?;
        self.clock.time(&mut spent, || self.primitive.run(count))?;
        Ok(spent.0)
    }
}
