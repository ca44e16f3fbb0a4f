//! In the child process: connections that stay alive, and by how much each side's turns make the heap grow.

use reprise_pairs::{Ask, Cell, Child, Failed, Job, Says, check, side_context};
use reprise_stack::{Context, Growth, Heap, Side, Stack};
use serde::{Deserialize, Serialize};

use super::code::{brought, mapped_files};
use super::connection::{Connection, Weighing, bytes};
use super::sessions::weigh_sessions;
use super::{SAMPLES, WARM_UP};

/// Keeps so many connections alive, and counts what each side takes of the heap.
#[derive(Serialize, Deserialize)]
pub struct Weigh {
    /// The pair.
    pub job: Job,
    /// How many.
    pub connections: u32,
}

impl Ask for Weigh {
    const NAME: &'static str = "Weigh";
    type Answer = Weighed;

    fn answer(self, child: &mut Child) -> Result<Weighed, Failed> {
        let job = &self.job;
        let before = mapped_files();
        let client = child.stack(&job.client)?;
        let of_client = brought(&before);
        let before = mapped_files();
        let server = child.stack(&job.server)?;
        let of_server = if job.client == job.server { of_client } else { brought(&before) };
        let mut weighed = weigh([&*client, &*server], job, self.connections)?;
        (weighed.client.code, weighed.server.code) = (of_client, of_server);
        Ok(weighed)
    }
}

/// What both sides of a job take.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Weighed {
    /// The client.
    pub client: Weights,
    /// The server.
    pub server: Weights,
    /// Connections that were alive at once.
    pub connections: u64,
}

/// Samples of one side, in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Weights {
    /// Of a context.
    pub context: Vec<u64>,
    /// Of a connection, at most.
    pub peak: Vec<u64>,
    /// Of one once its handshake is complete.
    pub held: Vec<u64>,
    /// Of one after a little data each way.
    pub idle: Vec<u64>,
    /// Of a session that is kept; empty where none is.
    pub session: Vec<u64>,
    /// Code and constants of the files that the stack has brought to the process.
    pub code: Option<u64>,
}

/// Makes so many connections at least, none of which ends before the last is weighed.
fn weigh([client, server]: [&dyn Stack; 2], job: &Job, connections: u32) -> Result<Weighed, Failed> {
    let heap = Heap::find().ok_or_else(|| Failed::unsupported("nothing counts the heap of its process"))?;
    warm_up([client, server], job)?;
    let (clients, of_client) = contexts(heap, client, Side::Client, job)?;
    let (servers, of_server) = contexts(heap, server, Side::Server, job)?;
    let (Some(client_context), Some(server_context)) = (clients.first(), servers.first()) else {
        return Err(nothing_counted());
    };
    let mut weighed = Weighed { client: of_client, server: of_server, connections: 0 };
    let mut alive = Vec::new();
    for _ in 0..SAMPLES {
        let (mut of_client, mut of_server) = (Vec::new(), Vec::new());
        for _ in 0..connections.div_ceil(SAMPLES) {
            let mut connection = Connection::connect(heap, &**client_context, &**server_context)?;
            let held = [connection.client.growth, connection.server.growth];
            connection.exchange(heap)?;
            of_client.push(Taken::new(held[0], &connection.client));
            of_server.push(Taken::new(held[1], &connection.server));
            alive.push(connection);
        }
        weighed.client.add(&of_client);
        weighed.server.add(&of_server);
    }
    weighed.connections = alive.len() as u64;
    alive.iter_mut().try_for_each(|connection| connection.end(heap))?;
    drop(alive);
    if weighed.client.held.iter().chain(&weighed.server.held).all(|bytes| *bytes == 0) {
        return Err(nothing_counted());
    }
    [weighed.client.session, weighed.server.session] = weigh_sessions(heap, [client, server], job)?;
    Ok(weighed)
}

/// What is negotiated is checked here, on the wire: the others are of the same contexts.
fn warm_up([client, server]: [&dyn Stack; 2], job: &Job) -> Result<(), Failed> {
    let mut warm = Cell::new(client, server, job.case, &job.certificates)?;
    for _ in 0..WARM_UP {
        warm.connect()?;
    }
    // Several records, where they are to be small.
    let data = vec![0; 4 * usize::from(job.case.max_fragment.unwrap_or(1))];
    let connected = warm.transport.connect_and(None, Says::Nothing, |pair| pair.exchange(&data))?;
    connected.observed.map_or(Ok(()), |seen| check(job.case, seen, connected.accounts, false))
}

/// Under another tool that replaces malloc, the counters stand still.
fn nothing_counted() -> Failed {
    Failed::unsupported("the heap of its process is not counted: its malloc is another's")
}

fn contexts(heap: Heap, stack: &dyn Stack, side: Side, job: &Job) -> Result<(Vec<Box<dyn Context>>, Weights), Failed> {
    let (mut contexts, mut weights) = (Vec::new(), Weights::default());
    for _ in 0..SAMPLES {
        let (context, growth) = heap.watch(|| side_context(stack, side, job.case, &job.certificates));
        contexts.push(context?);
        weights.context.push(bytes(growth.grown));
    }
    Ok((contexts, weights))
}

/// What one side of one connection takes.
struct Taken {
    peak: i64,
    held: i64,
    idle: i64,
}

impl Taken {
    fn new(after_handshake: Growth, now: &Weighing) -> Self {
        Self { peak: after_handshake.peak, held: after_handshake.grown, idle: now.growth.grown }
    }
}

impl Weights {
    /// The means of a sample.
    fn add(&mut self, connections: &[Taken]) {
        let of = |figure: fn(&Taken) -> i64| mean(connections.iter().map(figure));
        self.peak.push(of(|taken| taken.peak));
        self.held.push(of(|taken| taken.held));
        self.idle.push(of(|taken| taken.idle));
    }
}

fn mean(of_each: impl ExactSizeIterator<Item = i64>) -> u64 {
    let count = of_each.len().max(1) as i64;
    bytes(of_each.sum::<i64>() / count)
}
