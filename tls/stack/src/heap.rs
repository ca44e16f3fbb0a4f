//! The counters of `tls/stacks/heap/heap.c`, where it is preloaded to this process.
#![allow(unsafe_code)]

use libloading::os::unix::Library;

type Read = unsafe extern "C" fn() -> usize;
type Begin = unsafe extern "C" fn();

/// The bytes of this process's heap, as their callers asked for them.
#[derive(Clone, Copy)]
pub struct Heap {
    live: Read,
    peak: Read,
    begin_peak: Begin,
}

impl Heap {
    /// `None` where nobody counts.
    pub fn find() -> Option<Self> {
        let process = Library::this();
        // SAFETY: heap.c defines the symbols as functions of these types, and nobody else uses their names. What is preloaded is never unloaded.
        unsafe {
            Some(Self {
                live: *process.get::<Read>(b"reprise_heap_live").ok()?,
                peak: *process.get::<Read>(b"reprise_heap_peak").ok()?,
                begin_peak: *process.get::<Begin>(b"reprise_heap_begin_peak").ok()?,
            })
        }
    }

    /// Bytes that are allocated now.
    pub fn live(self) -> usize {
        // SAFETY: it reads a counter.
        unsafe { (self.live)() }
    }

    /// Does it: by how many bytes the heap grew, and by how many at most meanwhile.
    pub fn watch<T>(self, work: impl FnOnce() -> T) -> (T, Growth) {
        let before = self.live();
        // SAFETY: it sets a counter.
        unsafe { (self.begin_peak)() };
        let done = work();
        // SAFETY: it reads a counter.
        let peak = unsafe { (self.peak)() };
        let grown = self.live() as i64 - before as i64;
        (done, Growth { grown, peak: peak.saturating_sub(before) as i64 })
    }
}

/// By how many bytes the heap grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// In the end; below zero where more was freed.
    pub grown: i64,
    /// At most.
    pub peak: i64,
}

impl Growth {
    /// What follows on it.
    pub fn then(&mut self, next: Self) {
        self.peak = self.peak.max(self.grown + next.peak);
        self.grown += next.grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_above_what_was_there_before() {
        let mut all = Growth::default();
        all.then(Growth { grown: 100, peak: 300 });
        all.then(Growth { grown: -50, peak: 10 });
        assert_eq!(all, Growth { grown: 50, peak: 300 });
        all.then(Growth { grown: 0, peak: 400 });
        assert_eq!(all, Growth { grown: 50, peak: 450 });
    }

    #[test]
    fn nobody_counts_where_nothing_is_preloaded() {
        assert!(Heap::find().is_none());
    }
}
