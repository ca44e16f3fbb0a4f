//! How a load proceeds, on standard error: one line that is written over on a terminal, a line a second otherwise, none if
//! none is wanted.

use std::cell::Cell;
use std::io::{IsTerminal, Write};

use reprise_load::Observer;
use reprise_trace::Nanos;

/// The view.
pub(crate) struct Live {
    is_quiet: bool,
    is_terminal: bool,
    last: Cell<Told>,
}

/// What was told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    elapsed: Nanos,
    completed: u64,
    failed: u64,
}

const SECOND: u64 = 1_000_000_000;

impl Live {
    pub(crate) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, is_terminal: std::io::stderr().is_terminal(), last: Cell::default() }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        if self.is_terminal && !self.is_quiet {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
        }
    }
}

impl Observer for Live {
    fn proceeded(&self, elapsed: Nanos, completed: u64, failed: u64) {
        if self.is_quiet {
            return;
        }
        let mut last = self.last.get();
        // Another run has begun.
        if elapsed < last.elapsed {
            last = Told::default();
            self.last.set(last);
        }
        let since = elapsed.since(last.elapsed).0;
        if since < SECOND {
            return;
        }
        let rate = (completed.saturating_sub(last.completed)) as f64 * SECOND as f64 / since as f64;
        let new_failures = failed.saturating_sub(last.failed);
        let line = format!(
            "{:>4} s  {rate:>9.0} /s  {completed:>10} completed  {failed:>6} failed (+{new_failures})",
            elapsed.0 / SECOND
        );
        // Standard error may be closed; the load goes on all the same.
        let _ = if self.is_terminal {
            let mut out = anstream::stderr();
            write!(out, "\r\x1b[K{line}").and_then(|()| out.flush())
        } else {
            writeln!(anstream::stderr(), "{line}")
        };
        self.last.set(Told { elapsed, completed, failed });
    }
}
