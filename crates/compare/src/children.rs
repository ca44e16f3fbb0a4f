//! The child processes of one pair of stacks: one over memory, one for each side over loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::message::{Amount, Answer, Batch, Dialed, Failed, FailureKind, Job, OnAClock, Request, Served, SideJob};
use crate::worker::{Launcher, Worker};

/// The child processes of one pair of stacks.
pub(crate) enum Children {
    /// Both sides in one thread.
    Together(Worker),
    /// Each side in a process of its own.
    Apart(Box<Apart>),
}

/// What was made ready, and what the last connection of the warm-up was.
pub(crate) struct Ready {
    pub(crate) cell: usize,
    pub(crate) connection_ns: u64,
    pub(crate) reading_ns: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Children {
    pub(crate) fn prepare(&mut self, job: Job) -> Result<Ready, Failed> {
        match self {
            Self::Apart(apart) => apart.prepare(job),
            Self::Together(worker) => match worker.ask(&Request::Prepare(Box::new(job)))? {
                Answer::Prepared { cell, connection_ns, reading_ns, sent, received } => {
                    Ok(Ready { cell, connection_ns, reading_ns, sent, received })
                }
                _ => Err(something_else()),
            },
        }
    }

    /// Makes so many connections of what was prepared.
    pub(crate) fn run(&mut self, cell: usize, connections: u32) -> Result<Batch, Failed> {
        match self {
            Self::Apart(apart) => apart.run(cell, Amount::Counted(connections)).map(|made| made.batch()),
            Self::Together(worker) => match worker.ask(&Request::Run { cell, connections })? {
                Answer::Ran(batch) => Ok(batch),
                _ => Err(something_else()),
            },
        }
    }
}

/// Each side in a process of its own.
pub(crate) struct Apart {
    pub(crate) client: SideProcess,
    pub(crate) server: SideProcess,
    /// The numbers that the client and the server have given to a case.
    cells: Vec<[usize; 2]>,
}

/// The process of one side.
pub(crate) struct SideProcess {
    pub(crate) worker: Worker,
    patience: Duration,
    core: Option<usize>,
    witnesses: bool,
}

impl SideProcess {
    pub(crate) fn new(launcher: &Launcher, core: Option<usize>, witnesses: bool) -> Self {
        Self { worker: Worker::new(launcher), patience: launcher.patience, core, witnesses }
    }

    /// A socket gives up first: then its process can still say where it hangs.
    fn prepare(&mut self, job: Job, is_client: bool) -> Result<(usize, u64), Failed> {
        let Self { core, witnesses, patience, .. } = *self;
        let job = SideJob { job, is_client, core, witnesses, patience: patience / 2 };
        match self.worker.ask(&Request::PrepareSide(Box::new(job)))? {
            Answer::SideReady { cell, reading_ns } => Ok((cell, reading_ns)),
            _ => Err(something_else()),
        }
    }
}

impl Apart {
    pub(crate) fn new(client: SideProcess, server: SideProcess) -> Self {
        Self { client, server, cells: Vec::new() }
    }

    fn prepare(&mut self, job: Job) -> Result<Ready, Failed> {
        let (cell, reading_ns) = self.prepare_sides(job)?;
        let made = self.run(cell, Amount::WarmUp)?;
        let (sent, received) = (made.sent, made.received);
        // By CPU time, which does not depend on who else has work for these cores.
        let warm = made.connections.iter().skip(made.connections.len() / 2);
        let costs: Vec<u64> = warm.map(|(dialed, served)| dialed.client_ns + served.server_ns).collect();
        let connection_ns = reprise_stats::median(&costs).unwrap_or_default();
        Ok(Ready { cell, connection_ns, reading_ns, sent, received })
    }

    /// Both contexts, and no connection: the number, and what a reading of the clock costs.
    pub(crate) fn prepare_sides(&mut self, job: Job) -> Result<(usize, u64), Failed> {
        let (server, of_server) = self.server.prepare(job.clone(), false)?;
        let (client, of_client) = self.client.prepare(job, true)?;
        self.cells.push([client, server]);
        Ok((self.cells.len() - 1, of_client.max(of_server)))
    }

    /// The server listens, the client connects, and once it is done or gone, an empty connection tells the server.
    pub(crate) fn run(&mut self, cell: usize, amount: Amount) -> Result<Made, Failed> {
        let Some(&[client, server]) = self.cells.get(cell) else { return Err(something_else()) };
        let Answer::Listening { port } = self.server.worker.ask(&Request::Listen { cell: server })? else {
            return Err(something_else());
        };
        self.server.worker.post(&Request::Serve { cell: server })?;
        let dialed = self.client.worker.ask(&Request::Dial { cell: client, port, amount });
        // A server that has failed listens no more.
        let _ = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(1));
        let served = self.server.worker.answer();
        match (dialed, served) {
            (
                Ok(Answer::Dialed { connections: dialed, thread_ns: of_client, sent, received }),
                Ok(Answer::Served { connections: served, thread_ns: of_server }),
            ) if dialed.len() == served.len() => Ok(Made {
                connections: dialed.into_iter().zip(served).collect(),
                thread_ns: of_client + of_server,
                sent,
                received,
            }),
            (Ok(_), Ok(_)) => Err(something_else()),
            (Err(failed), Ok(_)) | (Ok(_), Err(failed)) => Err(failed),
            (Err(client), Err(server)) => Err(of_both(client, server)),
        }
    }
}

/// Connections over loopback, as both sides have them.
pub(crate) struct Made {
    pub(crate) connections: Vec<(Dialed, Served)>,
    thread_ns: u64,
    sent: u64,
    received: u64,
}

impl Made {
    /// What counts of it.
    pub(crate) fn batch(&self) -> Batch {
        let mut batch = Batch {
            thread_ns: self.thread_ns,
            charged_ns: self.connections.iter().map(|(dialed, served)| dialed.client_ns + served.server_ns).sum(),
            ..Batch::default()
        };
        let (mut walls, mut readies) = (Vec::new(), Vec::new());
        for (dialed, served) in self.connections.iter().filter(|(dialed, _)| dialed.is_counted) {
            batch.client_ns += dialed.client_ns;
            batch.server_ns += served.server_ns;
            if let Some(kind) = dialed.kind.or(served.kind) {
                batch.count(kind);
            }
            walls.push(dialed.on_a_clock.wall_ns);
            readies.push(dialed.on_a_clock.ready_ns);
        }
        let medians = reprise_stats::median(&walls).zip(reprise_stats::median(&readies));
        batch.on_a_clock = medians.map(|(wall_ns, ready_ns)| OnAClock { wall_ns, ready_ns });
        batch
    }
}

/// What failed at both ends: the worse of the two, or both where each only says no.
fn of_both(client: Failed, server: Failed) -> Failed {
    let order =
        [FailureKind::Crashed, FailureKind::Hung, FailureKind::Broken, FailureKind::Contradicted, FailureKind::Unsupported];
    let worst = order.into_iter().find(|outcome| client.outcome == *outcome || server.outcome == *outcome);
    match worst {
        Some(worst) if server.outcome == worst => Failed::new(worst, format!("the server: {}", server.reason)),
        Some(worst) => Failed::new(worst, format!("the client: {}", client.reason)),
        None => Failed::new(FailureKind::Failed, format!("{}; {}", client.reason, server.reason)),
    }
}

pub(crate) fn something_else() -> Failed {
    Failed::new(FailureKind::Broken, "its process answers something else")
}
