//! What the turns of a handshake take: the median of connections that were made one after the other.

use std::thread;
use std::time::Duration;

use reprise_model::Nanos;
use reprise_model::document::{CompareReached, CompareSide, CompareTurn};
use reprise_stack::Side;

use crate::cell::Cell;
use crate::clock::CpuClock;
use crate::message::Failed;
use crate::pair::{Pair, Party, lengths};

/// Connections that are recorded.
const CONNECTIONS: usize = 31;
/// What lies between two turns, as over a network: whoever has waited finds other things in the CPU's caches.
const PAUSE: Duration = Duration::from_millis(1);

impl Cell {
    /// The turns of one connection, the client's request in it: their CPU time is the median of those that took as many turns, all other
    /// figures are the last one's; and how many those are.
    pub(crate) fn record(&mut self) -> Result<(u64, Vec<CompareTurn>), Failed> {
        self.warm()?;
        let mut recorded: Vec<Vec<CompareTurn>> = Vec::new();
        for _ in 0..CONNECTIONS {
            self.pregenerate(1)?;
            self.transport.recording = Some(Vec::new());
            let made = self.connect();
            recorded.extend(self.transport.recording.take());
            made?;
        }
        let last = recorded.last().cloned().unwrap_or_default();
        recorded.retain(|turns| turns.len() == last.len());
        let median = |index: usize| {
            let times: Vec<u64> = recorded.iter().filter_map(|turns| turns.get(index)).map(|turn| turn.cpu_ns).collect();
            reprise_stats::median(&times).unwrap_or_default()
        };
        let turns = last.iter().enumerate().map(|(index, turn)| CompareTurn { cpu_ns: median(index), ..*turn });
        Ok((recorded.len() as u64, turns.collect()))
    }
}

impl Pair {
    /// A side takes what its peer has sent record by record, each in a turn of its own.
    pub(crate) fn hand_over_by_record(&mut self, to: Side) -> Result<(), Failed> {
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
    pub(crate) fn turn(
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
