//! In the child process: connections that stay alive, and by how much each side's turns make the heap grow.

use reprise_connection::End;
use reprise_model::Nanos;
use reprise_stack::{Context, Growth, Heap, Plan, Side, Stack};
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, side_context};
use crate::clock::CpuClock;
use crate::message::{Failed, Job};
use crate::pair::Party;

/// Samples of each figure.
const SAMPLES: u32 = 10;

/// Connections that are made and ended before any is weighed: what a library makes once is there then.
const WARM_UP: usize = 4;

/// More than any flight of a handshake: the harness's own buffers do not grow while a side has its turn.
const ROOM: usize = 1 << 16;

/// More than any handshake takes.
const TURNS: usize = 40;

/// What both sides of a job take.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Weighed {
    pub(crate) client: Weights,
    pub(crate) server: Weights,
    pub(crate) connections: u64,
}

/// Samples of one side, in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Weights {
    pub(crate) context: Vec<u64>,
    pub(crate) peak: Vec<u64>,
    pub(crate) held: Vec<u64>,
    /// Code and constants of the files that the stack has brought to the process.
    pub(crate) code: Option<u64>,
}

/// Makes so many connections at least, none of which ends before the last is weighed.
pub(crate) fn weigh([client, server]: [&dyn Stack; 2], job: &Job, connections: u32) -> Result<Weighed, Failed> {
    let heap = Heap::find().ok_or_else(|| Failed::unsupported("nothing counts the heap of its process"))?;
    // What is negotiated is checked here: the others are of the same contexts.
    let mut warm = Cell::new(client, server, job.case, &job.certificates)?;
    for _ in 0..WARM_UP {
        warm.connect()?;
    }
    let (clients, of_client) = contexts(heap, client, Side::Client, job)?;
    let (servers, of_server) = contexts(heap, server, Side::Server, job)?;
    let (Some(client), Some(server)) = (clients.first(), servers.first()) else { return Err(nothing_counted()) };
    let mut weighed = Weighed { client: of_client, server: of_server, connections: 0 };
    let mut alive = Vec::new();
    for _ in 0..SAMPLES {
        let (mut of_client, mut of_server) = (Vec::new(), Vec::new());
        for _ in 0..connections.div_ceil(SAMPLES) {
            let both = Both::connect(heap, &**client, &**server)?;
            of_client.push(both.client.growth);
            of_server.push(both.server.growth);
            alive.push(both);
        }
        weighed.client.add(&of_client);
        weighed.server.add(&of_server);
    }
    weighed.connections = alive.len() as u64;
    for mut both in alive {
        both.client.party.end(both.clock, End::Completed);
        both.server.party.end(both.clock, End::Completed);
    }
    if weighed.client.held.iter().chain(&weighed.server.held).all(|bytes| *bytes == 0) {
        return Err(nothing_counted());
    }
    Ok(weighed)
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

impl Weights {
    /// The means of a sample.
    fn add(&mut self, connections: &[Growth]) {
        let mean = |of: fn(&Growth) -> i64| bytes(connections.iter().map(of).sum::<i64>() / connections.len().max(1) as i64);
        self.peak.push(mean(|growth| growth.peak));
        self.held.push(mean(|growth| growth.grown));
    }
}

/// What was freed that was there before is no figure of this connection.
fn bytes(grown: i64) -> u64 {
    u64::try_from(grown).unwrap_or_default()
}

/// Both ends of one connection, and what each has taken so far.
struct Both {
    client: Weighing,
    server: Weighing,
    clock: CpuClock,
}

struct Weighing {
    party: Party,
    growth: Growth,
}

impl Both {
    fn connect(heap: Heap, client: &dyn Context, server: &dyn Context) -> Result<Self, Failed> {
        let clock = CpuClock { reading: Nanos(0) };
        let mut client = Weighing::new("the client", client);
        let mut server = Weighing::new("the server", server);
        client.turn(heap, |party| party.begin(clock, Plan::default()))?;
        server.turn(heap, |party| party.begin(clock, Plan::default()))?;
        for _ in 0..TURNS {
            if client.party.sent.is_empty() && server.party.sent.is_empty() {
                break;
            }
            server.turn(heap, |party| party.receive(clock, &mut client.party.sent))?;
            client.turn(heap, |party| party.receive(clock, &mut server.party.sent))?;
        }
        for side in [&mut client, &mut server] {
            side.party.sent = Vec::new();
        }
        let both = Self { client, server, clock };
        match both.client.party.is_ready && both.server.party.is_ready {
            true => Ok(both),
            false => Err(Failed::because("the handshake does not end")),
        }
    }
}

impl Weighing {
    fn new(name: &'static str, context: &dyn Context) -> Self {
        let mut party = Party::new(name, context.endpoint());
        party.sent.reserve(ROOM);
        Self { party, growth: Growth::default() }
    }

    fn turn(&mut self, heap: Heap, work: impl FnOnce(&mut Party) -> Result<(), Failed>) -> Result<(), Failed> {
        let (done, growth) = heap.watch(|| work(&mut self.party));
        self.growth.then(growth);
        done
    }
}
