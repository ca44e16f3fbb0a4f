//! A connection that stays alive, and by how much each side's turns make the heap grow.

use reprise_connection::End;
use reprise_model::Nanos;
use reprise_pairs::{CpuClock, Failed, Party, REQUEST};
use reprise_stack::{Context, Growth, Heap, SessionPlan};

/// More than any flight of a handshake: the harness's own buffers do not grow while a side has its turn.
const ROOM: usize = 1 << 16;

/// More tickets than any server here sends.
const MOST_SESSIONS: usize = 4;

/// More than any handshake takes.
const TURNS: usize = 40;

/// Connection ends of one connection, and what each has taken so far.
pub(super) struct Connection {
    pub(super) client: Weighing,
    pub(super) server: Weighing,
}

pub(super) struct Weighing {
    pub(super) party: Party,
    pub(super) growth: Growth,
}

/// Nobody asks for time here.
const CLOCK: CpuClock = CpuClock { reading: Nanos(0) };

impl Connection {
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
    pub(super) fn exchange(&mut self, heap: Heap) -> Result<(), Failed> {
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

/// What was freed that was there before is no figure of this connection.
pub(super) fn bytes(grown: i64) -> u64 {
    u64::try_from(grown).unwrap_or_default()
}
