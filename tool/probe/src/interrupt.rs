//! Ctrl-C: a flag that is looked at wherever something waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a wait looks at Ctrl-C.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Set from a signal handler's thread, seen by whatever waits. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks whatever runs to stop and to keep what it has.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
