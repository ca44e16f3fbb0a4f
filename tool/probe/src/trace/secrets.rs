//! The secrets of traced connections, for the capture that holds them.

use std::sync::{Arc, Mutex, PoisonError};

use reprise_engine::{KeyLog, key_log_line};
use zeroize::Zeroizing;

/// Collects key log lines, and hands them on to a log of the user's own.
pub(super) struct Secrets {
    lines: Mutex<Zeroizing<String>>,
    next: Option<Arc<dyn KeyLog>>,
}

impl Secrets {
    pub(super) fn new(next: Option<Arc<dyn KeyLog>>) -> Self {
        Self { lines: Mutex::default(), next }
    }

    /// What was collected so far.
    pub(super) fn take(&self) -> Zeroizing<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeyLog for Secrets {
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        let line = Zeroizing::new(key_log_line(label, client_random, secret));
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // A String that grows leaves its old place behind as it was: the new one is made, and the old one zeroed.
        *lines = Zeroizing::new([lines.as_str(), line.as_str(), "\n"].concat());
        if let Some(next) = &self.next {
            next.log(label, client_random, secret);
        }
    }
}
