//! In the child process: connections that stay alive, and by how much each side's turns make the heap grow.

use reprise_connection::End;
use reprise_model::Nanos;
use reprise_stack::{Context, Growth, Heap, SessionPlan, Side, Stack};
use serde::{Deserialize, Serialize};

use super::sessions::weigh_sessions;
use crate::case::REQUEST;
use crate::cell::{Cell, check, side_context};
use crate::clock::CpuClock;
use crate::message::{Failed, Job};
use crate::pair::{Party, Says};

/// Samples of each figure.
pub(super) const SAMPLES: u32 = 10;

/// Connections that are made and ended before any is weighed: what a library makes once is there then.
pub(super) const WARM_UP: usize = 4;

/// More than any flight of a handshake: the harness's own buffers do not grow while a side has its turn.
const ROOM: usize = 1 << 16;

/// More tickets than any server here sends.
const MOST_SESSIONS: usize = 4;

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
    pub(crate) idle: Vec<u64>,
    /// Of a session that is kept; empty where none is.
    pub(crate) session: Vec<u64>,
    /// Code and constants of the files that the stack has brought to the process.
    pub(crate) code: Option<u64>,
}

/// Makes so many connections at least, none of which ends before the last is weighed.
pub(crate) fn weigh([client, server]: [&dyn Stack; 2], job: &Job, connections: u32) -> Result<Weighed, Failed> {
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
            let mut both = Both::connect(heap, &**client_context, &**server_context)?;
            let held = [both.client.growth, both.server.growth];
            both.exchange(heap)?;
            of_client.push(Taken::new(held[0], &both.client));
            of_server.push(Taken::new(held[1], &both.server));
            alive.push(both);
        }
        weighed.client.add(&of_client);
        weighed.server.add(&of_server);
    }
    weighed.connections = alive.len() as u64;
    alive.iter_mut().try_for_each(|both| both.end(heap))?;
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

/// What was freed that was there before is no figure of this connection.
pub(super) fn bytes(grown: i64) -> u64 {
    u64::try_from(grown).unwrap_or_default()
}

/// Both ends of one connection, and what each has taken so far.
pub(super) struct Both {
    pub(super) client: Weighing,
    pub(super) server: Weighing,
}

pub(super) struct Weighing {
    pub(super) party: Party,
    pub(super) growth: Growth,
}

/// Nobody asks for time here.
const CLOCK: CpuClock = CpuClock { reading: Nanos(0) };

impl Both {
    pub(super) fn connect(heap: Heap, client: &dyn Context, server: &dyn Context) -> Result<Self, Failed> {
        let (client, server) = (Weighing::new("the client", client), Weighing::new("the server", server));
        let mut both = Self { client, server };
        both.client.turn(heap, |party| party.begin(CLOCK, SessionPlan::default()))?;
        both.server.turn(heap, |party| party.begin(CLOCK, SessionPlan::default()))?;
        for _ in 0..TURNS {
            if both.client.party.sent.is_empty() && both.server.party.sent.is_empty() {
                break;
            }
            both.server.turn(heap, |party| party.receive(CLOCK, &mut both.client.party.sent))?;
            both.client.turn(heap, |party| party.receive(CLOCK, &mut both.server.party.sent))?;
        }
        match both.client.party.is_ready && both.server.party.is_ready {
            true => Ok(both),
            false => Err(Failed::because("the handshake does not end")),
        }
    }

    /// A little data each way. The harness's own buffers are given back then.
    fn exchange(&mut self, heap: Heap) -> Result<(), Failed> {
        let Self { client, server } = self;
        client.sends_to(heap, server)?;
        server.sends_to(heap, client)?;
        client.hears(heap, server)?;
        for side in [client, server] {
            side.party.sent = Vec::new();
        }
        Ok(())
    }

    /// What is kept of it to be resumed stays.
    pub(super) fn end(&mut self, heap: Heap) -> Result<(), Failed> {
        [&mut self.client, &mut self.server].into_iter().try_for_each(|side| {
            side.turn(heap, |party| {
                party.end(CLOCK, End::Completed);
                Ok(())
            })
        })
    }
}

impl Weighing {
    fn new(name: &'static str, context: &dyn Context) -> Self {
        let mut party = Party::new(name, context.endpoint());
        party.sent.reserve(ROOM);
        party.sessions.reserve(MOST_SESSIONS);
        Self { party, growth: Growth::default() }
    }

    /// Does it: how many bytes of data it has heard.
    fn hears(&mut self, heap: Heap, from: &mut Self) -> Result<usize, Failed> {
        let mut heard = 0;
        self.turn(heap, |party| party.receive_data(CLOCK, &mut from.party.sent, &mut |data| heard += data.len()))?;
        Ok(heard)
    }

    fn sends_to(&mut self, heap: Heap, peer: &mut Self) -> Result<(), Failed> {
        self.turn(heap, |party| party.send(&REQUEST))?;
        match peer.hears(heap, self)? {
            heard if heard == REQUEST.len() => Ok(()),
            heard => Err(peer.party.misheard(REQUEST.len(), heard)),
        }
    }

    fn turn(&mut self, heap: Heap, work: impl FnOnce(&mut Party) -> Result<(), Failed>) -> Result<(), Failed> {
        let (done, growth) = heap.watch(|| work(&mut self.party));
        self.growth.then(growth);
        done
    }
}
