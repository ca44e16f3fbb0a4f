//! The messages of two handshakes as steps: what both have stands on one rung, in the order in which each happened.

use std::collections::HashSet;

use reprise_model::document::{Trace, TracedConnection};
use reprise_model::{Direction, Event, What};

/// The messages of a trace in the order of its ladder, those of the handshake and those after it: each of the first connection
/// beside its counterpart on the second.
pub(super) fn paired(trace: &Trace) -> [Vec<Pair<'_>>; 2] {
    let skipped: HashSet<usize> = trace.skipped.iter().map(|skipped| skipped.index).collect();
    let (handshake, rest) = trace.full.as_ref().map(|full| steps(full, &skipped)).unwrap_or_default();
    let (second, second_rest) = trace.resumed.as_ref().map(|it| steps(it, &HashSet::new())).unwrap_or_default();
    [pairs(&handshake, &second), pairs(&rest, &second_rest)]
}

/// One message, or several records of application data in a row.
#[derive(Clone, Copy)]
pub(super) struct Step<'t> {
    pub(super) event: &'t Event,
    pub(super) count: u64,
    pub(super) size: u64,
    pub(super) is_skipped: bool,
    /// Whether it left before the server had said anything.
    pub(super) is_early: bool,
}

impl Step<'_> {
    /// Which way it went, and whether under encryption.
    pub(super) fn arrow(&self) -> &'static str {
        match (self.event.direction, self.event.encrypted) {
            (Direction::Sent, false) => "→",
            (Direction::Sent, true) => "⇒",
            (Direction::Received, false) => "←",
            (Direction::Received, true) => "⇐",
        }
    }

    pub(super) fn name(&self) -> &str {
        if self.is_early { "early data" } else { self.event.what.name() }
    }

    fn has_counterpart(&self, other: &Self) -> bool {
        !self.is_skipped && self.event.direction == other.event.direction && self.event.what == other.event.what
    }
}

/// The handshake, and what came after it.
fn steps<'t>(connection: &'t TracedConnection, skipped: &HashSet<usize>) -> (Vec<Step<'t>>, Vec<Step<'t>>) {
    let mut parts = (Vec::new(), Vec::new());
    let answered = connection.events.iter().position(|event| event.direction == Direction::Received);
    for (index, event) in connection.events.iter().enumerate() {
        let part = if index < connection.handshake_events { &mut parts.0 } else { &mut parts.1 };
        match part.last_mut() {
            Some(Step { event: last, count, size, .. })
                if event.what == What::ApplicationData && last.what == event.what && last.direction == event.direction =>
            {
                *count += 1;
                *size = size.saturating_add(event.size.0);
            }
            _ => {
                let is_early = event.what == What::ApplicationData && answered.is_none_or(|answered| index < answered);
                let is_skipped = skipped.contains(&index);
                part.push(Step { event, count: 1, size: event.size.0, is_skipped, is_early });
            }
        }
    }
    parts
}

/// What stands on one rung: at least one of the two.
pub(super) type Pair<'t> = (Option<Step<'t>>, Option<Step<'t>>);

/// A longest common subsequence stands on common rungs; the order of each side is kept.
fn pairs<'t>(first: &[Step<'t>], second: &[Step<'t>]) -> Vec<Pair<'t>> {
    let lengths = common_lengths(first, second);
    let length = |row: usize, column: usize| lengths.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default();
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    loop {
        pairs.push(match (first.get(row).copied(), second.get(column).copied()) {
            (None, None) => return pairs,
            (Some(left), Some(right)) if left.has_counterpart(&right) => {
                (row, column) = (row + 1, column + 1);
                (Some(left), Some(right))
            }
            (left @ Some(_), right) if right.is_none() || length(row + 1, column) >= length(row, column + 1) => {
                row += 1;
                (left, None)
            }
            (_, right) => {
                column += 1;
                (None, right)
            }
        });
    }
}

/// For each pair of places, how many steps the rest of both sides can share.
fn common_lengths(first: &[Step<'_>], second: &[Step<'_>]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; second.len() + 1]];
    for left in first.iter().rev() {
        let below = lengths.last().cloned().unwrap_or_default();
        let mut row = vec![0; second.len() + 1];
        for (column, right) in second.iter().enumerate().rev() {
            let of = |row: &[usize], column: usize| row.get(column).copied().unwrap_or_default();
            let length = if left.has_counterpart(right) {
                of(&below, column + 1) + 1
            } else {
                of(&below, column).max(of(&row, column + 1))
            };
            if let Some(cell) = row.get_mut(column) {
                *cell = length;
            }
        }
        lengths.push(row);
    }
    lengths.reverse();
    lengths
}
