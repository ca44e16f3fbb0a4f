//! The processes of both sides, as their parent asks them.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::dialer::{Amount, Dial, Dialed};
use super::server::{Listen, Serve, Served};
use super::side::{PrepareSide, SideReady};
use crate::batch::{Batch, OnAClock};
use crate::child::nothing_prepared;
use crate::failed::{Failed, FailureKind};
use crate::in_memory::Ready;
use crate::job::Job;
use crate::worker::{Launcher, Worker};

/// Each side in a process of its own.
pub struct Apart {
    /// The client's.
    pub client: SideProcess,
    /// The server's.
    pub server: SideProcess,
    /// The numbers that the client and the server have given to a case.
    cells: Vec<[usize; 2]>,
}

/// The process of one side.
pub struct SideProcess {
    /// It.
    pub worker: Worker,
    patience: Duration,
    core: Option<usize>,
    witnesses: bool,
}

impl SideProcess {
    /// One that is started with the first question, and stays on this core.
    pub fn new(launcher: &Launcher, core: Option<usize>, witnesses: bool) -> Self {
        Self { worker: Worker::new(launcher), patience: launcher.patience, core, witnesses }
    }

    /// A socket gives up first: then its process can still say where it hangs.
    fn prepare(&mut self, job: Job, is_client: bool) -> Result<SideReady, Failed> {
        let Self { core, witnesses, patience, .. } = *self;
        self.worker.ask(&PrepareSide { job, is_client, core, witnesses, patience: patience / 2 })
    }
}

impl Apart {
    /// Of two processes.
    pub fn new(client: SideProcess, server: SideProcess) -> Self {
        Self { client, server, cells: Vec::new() }
    }

    pub(crate) fn prepare(&mut self, job: Job) -> Result<Ready, Failed> {
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
    ///
    /// # Errors
    /// Where a side cannot be made ready.
    pub fn prepare_sides(&mut self, job: Job) -> Result<(usize, u64), Failed> {
        let server = self.server.prepare(job.clone(), false)?;
        let client = self.client.prepare(job, true)?;
        self.cells.push([client.cell, server.cell]);
        Ok((self.cells.len() - 1, client.reading_ns.max(server.reading_ns)))
    }

    /// The server listens, the client connects, and once it is done or gone, an empty connection tells the server.
    ///
    /// # Errors
    /// Where a side fails.
    pub fn run(&mut self, cell: usize, amount: Amount) -> Result<Made, Failed> {
        let &[client, server] = self.cells.get(cell).ok_or_else(nothing_prepared)?;
        let port = self.server.worker.ask(&Listen { cell: server })?;
        let served = self.server.worker.post(&Serve { cell: server })?;
        let dialed = self.client.worker.ask(&Dial { cell: client, port, amount });
        // A server that has failed listens no more.
        let _ = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(1));
        let served = self.server.worker.answer(served);
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
pub struct Made {
    connections: Vec<(Dialed, Served)>,
    thread_ns: u64,
    sent: u64,
    received: u64,
}

impl Made {
    /// What counts of it.
    pub fn batch(&self) -> Batch {
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
