//! What the turns of a handshake take: the median of connections that were made one after the other.

use reprise_model::document::CompareTurn;

use super::Cell;
use crate::failed::Failed;

/// Connections that are recorded.
const CONNECTIONS: usize = 31;

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
