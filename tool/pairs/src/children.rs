//! The child processes of one pair of stacks: one over memory, one for each side over loopback.

use reprise_model::document::{CompareOver, CompareTurn};

use crate::batch::Batch;
use crate::failed::Failed;
use crate::in_memory::{Prepare, Ready, Record, RunPrepared};
use crate::job::Job;
use crate::loopback::{Amount, Apart, SideProcess};
use crate::worker::{Launcher, Worker};

/// The child processes of one pair of stacks.
pub enum Children {
    /// Both sides in one thread.
    Together(Worker),
    /// Each side in a process of its own.
    Apart(Box<Apart>),
}

impl Children {
    /// Started with the first question; over loopback each stays on its core.
    pub(crate) fn new(over: CompareOver, launcher: &Launcher, cores: Option<[usize; 2]>) -> Self {
        match over {
            CompareOver::Memory => Self::Together(Worker::new(launcher)),
            CompareOver::Loopback => {
                let [client, server] = cores.map_or([None; 2], |cores| cores.map(Some));
                let side = |core| SideProcess::new(launcher, core, true);
                Self::Apart(Box::new(Apart::new(side(client), side(server))))
            }
        }
    }

    pub(crate) fn prepare(&mut self, job: Job) -> Result<Ready, Failed> {
        match self {
            Self::Apart(apart) => apart.prepare(job),
            Self::Together(worker) => worker.ask(&Prepare(job)),
        }
    }

    /// What the turns of a handshake take, and of how many connections that is; over memory alone.
    ///
    /// # Errors
    /// Where the handshake fails.
    pub fn record(&mut self, job: Job) -> Result<(u64, Vec<CompareTurn>), Failed> {
        match self {
            Self::Apart(_) => Err(Failed::unsupported("turns are recorded over memory alone")),
            Self::Together(worker) => worker.ask(&Record(job)),
        }
    }

    /// Makes so many connections of what was prepared.
    pub(crate) fn run(&mut self, cell: usize, connections: u32) -> Result<Batch, Failed> {
        match self {
            Self::Apart(apart) => apart.run(cell, Amount::Counted(connections)).map(|made| made.batch()),
            Self::Together(worker) => worker.ask(&RunPrepared { cell, connections }),
        }
    }
}
