//! Turn by turn: what each record costs who takes it, with a pause before it.

use std::thread;
use std::time::Duration;

use reprise_model::Nanos;
use reprise_model::document::{CompareReached, CompareSide, CompareTurn};
use reprise_stack::Side;

use super::Pair;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::party::{Party, lengths};

/// What lies between two turns, as over a network: whoever has waited finds other things in the CPU's caches.
const PAUSE: Duration = Duration::from_millis(1);

impl Pair {
    /// A side takes what its peer has sent record by record, each in a turn of its own.
    pub(super) fn hand_over_by_record(&mut self, to: Side) -> Result<(), Failed> {
        let from = if to == Side::Server { &mut self.client } else { &mut self.server };
        let flight = std::mem::take(&mut from.sent);
        // What is no record is left for the library to refuse.
        let lengths = lengths(&flight).unwrap_or_else(|| vec![flight.len()]);
        let mut bytes = flight.into_iter();
        for length in lengths {
            let mut record: Vec<u8> = bytes.by_ref().take(length).collect();
            self.turn(to, length as u64, |side, clock| side.receive(clock, &mut record))?;
        }
        Ok(())
    }

    /// One side does something: it is recorded where that is asked for, after a pause.
    pub(super) fn turn(
        &mut self,
        which: Side,
        takes: u64,
        work: impl FnOnce(&mut Party, CpuClock) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let clock = self.clock;
        let (party, side) = match which {
            Side::Client => (&mut self.client, CompareSide::Client),
            Side::Server => (&mut self.server, CompareSide::Server),
        };
        let Some(turns) = &mut self.recording else { return work(party, clock) };
        thread::sleep(PAUSE);
        // What is left of the connection before is not this one's.
        let is_first = turns.iter().all(|turn| turn.side != side);
        let before = if is_first { Progress::default() } else { Progress::of(party) };
        work(party, clock)?;
        let after = Progress::of(party);
        let reaches = match (after.has_request && !before.has_request, after.is_ready && !before.is_ready) {
            (true, _) if side == CompareSide::Server => CompareReached::Request,
            (_, true) => CompareReached::Ready,
            _ => CompareReached::Nothing,
        };
        let (cpu_ns, sends) = (after.spent.since(before.spent).0, after.sent - before.sent);
        turns.push(CompareTurn { side, takes, cpu_ns, sends, reaches });
        Ok(())
    }
}

/// How far a side is in its connection.
#[derive(Default)]
struct Progress {
    sent: u64,
    spent: Nanos,
    is_ready: bool,
    has_request: bool,
}

impl Progress {
    fn of(party: &Party) -> Self {
        let (sent, spent, is_ready) = (party.sent.len() as u64, party.spent, party.is_ready);
        Self { sent, spent, is_ready, has_request: party.has_request() }
    }
}
