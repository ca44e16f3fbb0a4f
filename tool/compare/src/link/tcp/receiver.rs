//! What has arrived, and when it is acknowledged.

use super::{MS, MSS, Time};

/// How long an acknowledgement waits for data that can take it along (`TCP_ATO_MIN`).
const DELAY: Time = 40 * MS;
/// So many acknowledgements at the beginning wait for nothing, so that the peer's window opens (`TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;

/// The receiving half.
pub(super) struct Receiver {
    /// The first byte that has not arrived.
    next: u64,
    /// What has arrived beyond it, in order.
    beyond: Vec<(u64, u64)>,
    /// The byte up to which an acknowledgement was sent.
    acknowledged: u64,
    quick: u32,
    /// Whether this end answers what it receives: then an acknowledgement waits for the answer.
    answers: bool,
    last_at: Option<Time>,
    /// When an acknowledgement waits no longer.
    due: Option<Time>,
    /// Whether one is owed whatever has arrived in order.
    owes: bool,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            next: 0,
            beyond: Vec::new(),
            acknowledged: 0,
            quick: QUICK,
            answers: false,
            last_at: None,
            due: None,
            owes: false,
        }
    }
}

impl Receiver {
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Whether something has arrived that no acknowledgement has told of.
    pub(super) fn owes(&self) -> bool {
        self.owes
    }

    /// Whether what arrives is to be acknowledged at once.
    pub(super) fn receive(&mut self, now: Time, start: u64, end: u64) -> bool {
        if start == end {
            return false;
        }
        self.last_at = Some(now);
        self.owes = true;
        if start != self.next || !self.beyond.is_empty() {
            self.keep(start, end);
            return true;
        }
        self.next = end;
        if self.next - self.acknowledged > MSS {
            return true;
        }
        if !self.answers && self.quick > 0 {
            self.quick -= 1;
            return true;
        }
        self.due = self.due.or(Some(now + DELAY));
        false
    }

    /// Keeps what arrives out of order, or again.
    fn keep(&mut self, start: u64, end: u64) {
        self.beyond.push((start, end));
        self.beyond.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (start, end) in self.beyond.drain(..).filter(|(_, end)| *end > self.next) {
            match merged.last_mut().filter(|last| start <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => merged.push((start, end)),
            }
        }
        if merged.first().is_some_and(|(start, _)| *start <= self.next) {
            self.next = merged.remove(0).1;
        }
        self.beyond = merged;
    }

    /// This end sends data.
    pub(super) fn replies(&mut self, now: Time) {
        self.answers |= self.last_at.is_some_and(|last| now - last < DELAY);
    }

    /// What a packet that is sent now acknowledges.
    pub(super) fn acknowledgement(&mut self) -> (u64, Vec<(u64, u64)>) {
        (self.acknowledged, self.due, self.owes) = (self.next, None, false);
        (self.next, self.beyond.clone())
    }
}
