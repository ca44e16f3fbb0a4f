//! The one clock.

use std::time::Instant;

use reprise_model::Nanos;

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
}
