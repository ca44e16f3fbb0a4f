//! A level of one stack, in the child process: made ready, then run some requests at a time.

use std::rc::Rc;

use reprise_pairs::{Ask, Child, Failed, StackRef};
use reprise_stack::Stack;
use serde::{Deserialize, Serialize};

use crate::inside::Inside;
use crate::job::LevelJob;
use crate::process::Processes;
use crate::requests::{LevelBatch, Seen};

/// Makes a level ready: the first requests, a session.
#[derive(Serialize, Deserialize)]
pub struct PrepareLevel(pub LevelJob);

/// A level that was made ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LevelReady {
    /// Its number.
    pub cell: usize,
    /// The handshakes that were made for it.
    pub connections: Vec<Seen>,
    /// The status of the first response.
    pub status: Option<u16>,
}

impl Ask for PrepareLevel {
    const NAME: &'static str = "PrepareLevel";
    type Answer = LevelReady;

    fn answer(self, child: &mut Child) -> Result<LevelReady, Failed> {
        let mut level = LevelCell::new(self.0, |stack| child.stack(stack))?;
        let (status, connections) = level.warm_up()?;
        Ok(LevelReady { cell: child.keep(level), connections, status })
    }
}

/// Makes so many requests at that level.
#[derive(Serialize, Deserialize)]
pub struct RunLevel {
    /// Its number.
    pub cell: usize,
    /// How many.
    pub requests: u32,
}

impl Ask for RunLevel {
    const NAME: &'static str = "RunLevel";
    type Answer = LevelBatch;

    fn answer(self, child: &mut Child) -> Result<LevelBatch, Failed> {
        child.kept::<LevelCell>(self.cell)?.run(self.requests)
    }
}

/// One level of one stack.
enum LevelCell {
    /// This process makes the requests itself.
    Inside(Box<Inside>),
    /// A small C program makes each.
    Outside(Processes),
}

impl LevelCell {
    /// `open` loads a stack.
    fn new(job: LevelJob, open: impl FnOnce(&StackRef) -> Result<Rc<dyn Stack>, Failed>) -> Result<Self, Failed> {
        if job.level.is_of_processes() {
            return Processes::new(job).map(Self::Outside);
        }
        let stack = open(&job.stack)?;
        Inside::new(job, stack).map(|inside| Self::Inside(Box::new(inside)))
    }

    /// The first requests, which are not counted: the status of the response, and their handshakes.
    fn warm_up(&mut self) -> Result<(Option<u16>, Vec<Seen>), Failed> {
        match self {
            Self::Inside(inside) => inside.warm_up(),
            Self::Outside(processes) => processes.warm_up(),
        }
    }

    fn run(&mut self, requests: u32) -> Result<LevelBatch, Failed> {
        match self {
            Self::Inside(inside) => inside.run(requests),
            Self::Outside(processes) => processes.run(requests),
        }
    }
}
