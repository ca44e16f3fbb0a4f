//! What a child process is asked of a pair whose sides are both in it.

use reprise_model::document::CompareTurn;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::batch::Batch;
use crate::cell::{Cell, ThreadedBatch};
use crate::child::Child;
use crate::failed::Failed;
use crate::job::Job;
use crate::transport::{Connected, Transport};

/// Makes ready: contexts, the first connections, a session to resume.
#[derive(Serialize, Deserialize)]
pub struct Prepare(pub Job);

/// What was made ready, and what the last connection of the warm-up was.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Its number.
    pub cell: usize,
    /// CPU time of both sides of one connection, once warm.
    pub connection_ns: u64,
    /// What a reading of the clock costs, which was taken off.
    pub reading_ns: u64,
    /// Bytes that the client sent.
    pub sent: u64,
    /// Bytes that the server sent.
    pub received: u64,
    /// As [`Connected`] has it.
    pub server_flight: Option<u64>,
    /// Tickets that the server sent; `None` where nobody reads along.
    pub tickets: Option<u64>,
}

impl Ask for Prepare {
    const NAME: &'static str = "Prepare";
    type Answer = Ready;

    fn answer(self, child: &mut Child) -> Result<Ready, Failed> {
        let mut cell = self.0.cell(child)?;
        let (connection, last) = cell.warm()?;
        let reading_ns = cell.transport.clock().reading.0;
        let Connected { sent, received, server_flight, observed, .. } = last;
        let tickets = observed.map(|observed| observed.tickets);
        let cell = child.keep(cell);
        Ok(Ready { cell, connection_ns: connection.0, reading_ns, sent, received, server_flight, tickets })
    }
}

/// Makes so many connections of what was prepared, each as the case says.
#[derive(Serialize, Deserialize)]
pub struct RunPrepared {
    /// Its number.
    pub cell: usize,
    /// How many.
    pub connections: u32,
}

impl Ask for RunPrepared {
    const NAME: &'static str = "RunPrepared";
    type Answer = Batch;

    fn answer(self, child: &mut Child) -> Result<Batch, Failed> {
        child.kept::<Cell>(self.cell)?.run(self.connections)
    }
}

/// Makes so many connections in each of so many threads, over the contexts of what was prepared.
#[derive(Serialize, Deserialize)]
pub struct RunThreads {
    /// Its number.
    pub cell: usize,
    /// How many threads.
    pub threads: u32,
    /// How many connections in each.
    pub connections: u32,
}

impl Ask for RunThreads {
    const NAME: &'static str = "RunThreads";
    type Answer = ThreadedBatch;

    fn answer(self, child: &mut Child) -> Result<ThreadedBatch, Failed> {
        child.kept::<Cell>(self.cell)?.run_threads(self.threads, self.connections)
    }
}

/// Records turn by turn what connections take: how many, and their turns.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record(pub(crate) Job);

impl Ask for Record {
    const NAME: &'static str = "Record";
    type Answer = (u64, Vec<CompareTurn>);

    fn answer(self, child: &mut Child) -> Result<(u64, Vec<CompareTurn>), Failed> {
        self.0.cell(child)?.record()
    }
}
