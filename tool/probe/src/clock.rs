//! The one clock.

use std::time::Instant;

use reprise_model::Nanos;

use crate::interrupt::{Interrupt, SLICE};

/// A monotonic clock, counting from its making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now() }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.origin.elapsed().into()
    }

    /// Lets time pass, unless Ctrl-C comes.
    pub(crate) fn wait_until(&self, time: Nanos, interrupt: &Interrupt) {
        while self.now() < time && !interrupt.is_raised() {
            std::thread::sleep(SLICE.min(time.since(self.now()).into()));
        }
    }
}
