//! When connections time out: all are given the same time, so the order of their beginning is that of their deadlines, and
//! a linked list over their places is all that it takes.

use reprise_model::Nanos;

/// The deadlines of the places of one thread.
pub(crate) struct Deadlines {
    entries: Vec<Entry>,
    first: usize,
    last: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    at: Nanos,
    before: usize,
    after: usize,
    listed: bool,
}

/// No place.
const NONE: usize = usize::MAX;

impl Deadlines {
    pub(crate) fn new(places: usize) -> Self {
        let entry = Entry { at: Nanos(0), before: NONE, after: NONE, listed: false };
        Self { entries: vec![entry; places], first: NONE, last: NONE }
    }

    /// Adds a place that is not listed; no deadline is earlier than those that were added before.
    pub(crate) fn add(&mut self, place: usize, at: Nanos) {
        self.remove(place);
        let before = self.last;
        let Some(entry) = self.entries.get_mut(place) else { return };
        *entry = Entry { at, before, after: NONE, listed: true };
        match self.entries.get_mut(before) {
            Some(previous) => previous.after = place,
            None => self.first = place,
        }
        self.last = place;
    }

    /// Takes a place out, if it is in.
    pub(crate) fn remove(&mut self, place: usize) {
        let Some(entry) = self.entries.get_mut(place).filter(|entry| entry.listed) else { return };
        entry.listed = false;
        let Entry { before, after, .. } = *entry;
        match self.entries.get_mut(before) {
            Some(previous) => previous.after = after,
            None => self.first = after,
        }
        match self.entries.get_mut(after) {
            Some(next) => next.before = before,
            None => self.last = before,
        }
    }

    pub(crate) fn contains(&self, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| entry.listed)
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.entries.get(self.first).map(|entry| entry.at)
    }

    /// A place whose deadline is over; it is out then.
    pub(crate) fn take_expired(&mut self, now: Nanos) -> Option<usize> {
        let place = self.first;
        self.entries.get(place).filter(|entry| entry.at <= now)?;
        self.remove(place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_expire_in_order_and_those_taken_out_do_not() {
        let mut deadlines = Deadlines::new(5);
        for (turn, place) in [3, 1, 4, 0, 2].into_iter().enumerate() {
            deadlines.add(place, Nanos(10 * (turn as u64 + 1)));
        }
        deadlines.remove(3);
        deadlines.remove(0);
        deadlines.remove(0);
        deadlines.remove(2);
        assert_eq!(deadlines.next(), Some(Nanos(20)));
        assert_eq!(deadlines.take_expired(Nanos(19)), None);
        assert_eq!(deadlines.take_expired(Nanos(99)), Some(1));
        deadlines.add(3, Nanos(60));
        let rest: Vec<usize> = std::iter::from_fn(|| deadlines.take_expired(Nanos(99))).collect();
        assert_eq!(rest, [4, 3]);
        assert_eq!(deadlines.next(), None);
        assert!(!deadlines.contains(4));
    }
}
