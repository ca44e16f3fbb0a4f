//! The child processes of one pair of stacks: one over memory, one for each side over loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use reprise_model::document::CompareTurn;

use crate::message::{
    Amount, Batch, Dialed, DialedConnections, Failed, FailureKind, Job, OnAClock, Ready, Request, Served, ServedConnections,
    SideJob, SideReady,
};
use crate::worker::{Launcher, Worker};

/// The child processes of one pair of stacks.
pub(crate) enum Children {
    /// Both sides in one thread.
    Together(Worker),
    /// Each side in a process of its own.
    Apart(Box<Apart>),
}

impl Children {
    pub(crate) fn prepare(&mut self, job: Job) -> Result<Ready, Failed> {
        match self {
            Self::Apart(apart) => apart.prepare(job),
            Self::Together(worker) => worker.ask(&Request::Prepare(Box::new(job))),
        }
    }

    /// What the turns of a handshake take, and of how many connections that is; over memory alone.
    pub(crate) fn record(&mut self, job: Job) -> Result<(u64, Vec<CompareTurn>), Failed> {
        match self {
            Self::Apart(_) => Err(Failed::unsupported("turns are recorded over memory alone")),
            Self::Together(worker) => worker.ask(&Request::Record(Box::new(job))),
        }
    }

    /// Makes so many connections of what was prepared.
    pub(crate) fn run(&mut self, cell: usize, connections: u32) -> Result<Batch, Failed> {
        match self {
            Self::Apart(apart) => apart.run(cell, Amount::Counted(connections)).map(|made| made.batch()),
            Self::Together(worker) => worker.ask(&Request::Run { cell, connections }),
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
    fn prepare(&mut self, job: Job, is_client: bool) -> Result<SideReady, Failed> {
        let Self { core, witnesses, patience, .. } = *self;
        let job = SideJob { job, is_client, core, witnesses, patience: patience / 2 };
        self.worker.ask(&Request::PrepareSide(Box::new(job)))
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
        Ok(Ready { cell, connection_ns, reading_ns, sent, received, server_flight: None, tickets: None })
    }

    /// Both contexts, and no connection: the number, and what a reading of the clock costs.
    pub(crate) fn prepare_sides(&mut self, job: Job) -> Result<(usize, u64), Failed> {
        let server = self.server.prepare(job.clone(), false)?;
        let client = self.client.prepare(job, true)?;
        self.cells.push([client.cell, server.cell]);
        Ok((self.cells.len() - 1, client.reading_ns.max(server.reading_ns)))
    }

    /// The server listens, the client connects, and once it is done or gone, an empty connection tells the server.
    pub(crate) fn run(&mut self, cell: usize, amount: Amount) -> Result<Made, Failed> {
        let unknown = || Failed::broken("nothing is prepared under this number");
        let &[client, server] = self.cells.get(cell).ok_or_else(unknown)?;
        let port: u16 = self.server.worker.ask(&Request::Listen { cell: server })?;
        self.server.worker.post(&Request::Serve { cell: server })?;
        let dialed: Result<DialedConnections, Failed> =
            self.client.worker.ask(&Request::Dial { cell: client, port, amount });
        // A server that has failed listens no more.
        let _ = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(1));
        let served: Result<ServedConnections, Failed> = self.server.worker.answer();
        let (dialed, served) = match (dialed, served) {
            (Ok(dialed), Ok(served)) => (dialed, served),
            (Err(failed), Ok(_)) | (Ok(_), Err(failed)) => return Err(failed),
            (Err(client), Err(server)) => return Err(of_both(client, server)),
        };
        if dialed.connections.len() != served.connections.len() {
            return Err(Failed::broken("the client and the server count different numbers of connections"));
        }
        Ok(Made {
            connections: dialed.connections.into_iter().zip(served.connections).collect(),
            thread_ns: dialed.thread_ns + served.thread_ns,
            sent: dialed.sent,
            received: dialed.received,
        })
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
        None => Failed::because(format!("{}; {}", client.reason, server.reason)),
    }
}
