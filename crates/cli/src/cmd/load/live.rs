//! How a load proceeds, on standard error: one line that is written over on a terminal, a line a second otherwise, none if
//! none is wanted.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use reprise_load::Observer;
use reprise_trace::Nanos;

/// The view.
pub(crate) struct Live {
    is_quiet: bool,
    is_terminal: bool,
    /// What begins before is in no figure of the result, though it is counted here.
    warmup: Nanos,
    /// Of a search, the rate that it tries.
    rate: Cell<Option<f64>>,
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
    pub(crate) fn new(is_quiet: bool, warmup: Duration) -> Self {
        let (is_terminal, warmup) = (std::io::stderr().is_terminal(), Nanos::from(warmup));
        Self { is_quiet, is_terminal, warmup, rate: Cell::default(), last: Cell::default() }
    }

    /// Standard error may be closed; the load goes on all the same.
    fn tell(&self, line: &str) {
        let _ = if self.is_terminal {
            let mut out = anstream::stderr();
            write!(out, "\r\x1b[K{line}").and_then(|()| out.flush())
        } else {
            writeln!(anstream::stderr(), "{line}")
        };
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
        let last = self.last.get();
        let now = Told { elapsed, completed, failed };
        let Some(line) = now.since(last, self.warmup) else { return };
        let line = self.rate.get().map_or(String::new(), |rate| format!("--rate {rate:.1}  ")) + &line;
        self.tell(&line);
        self.last.set(now);
    }

    fn tries(&self, rate: f64) {
        self.rate.set(Some(rate));
        self.last.set(Told::default());
        if !self.is_quiet {
            self.tell(&format!("--rate {rate:.1}  is tried"));
        }
    }
}

impl Told {
    /// What is told after what was told before; `None` until a second has passed.
    fn since(self, last: Self, warmup: Nanos) -> Option<String> {
        let Self { elapsed, completed, failed } = self;
        let since = elapsed.since(last.elapsed).0;
        if since < SECOND {
            return None;
        }
        let rate = (completed.saturating_sub(last.completed)) as f64 * SECOND as f64 / since as f64;
        let new_failures = failed.saturating_sub(last.failed);
        let warms_up = if elapsed <= warmup { "  warming up" } else { "" };
        Some(format!(
            "{:>4} s  {rate:>9.0} /s  {completed:>10} completed  {failed:>6} failed (+{new_failures}){warms_up}",
            elapsed.0 / SECOND
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_second_says_what_came_since_the_last_and_that_a_warm_up_does_not_count() {
        let told = |millis: u64, completed, failed| Told { elapsed: Nanos(millis * 1_000_000), completed, failed };
        let line = |now: Told, last| now.since(last, Nanos(SECOND));
        assert_eq!(line(told(999, 10, 0), Told::default()), None);
        let first = line(told(1_000, 10, 0), Told::default()).unwrap();
        assert!(first.contains("   1 s         10 /s") && first.ends_with("0 failed (+0)  warming up"), "{first}");
        let second = line(told(3_000, 50, 7), told(1_000, 10, 5)).unwrap();
        assert!(second.contains("   3 s         20 /s") && second.ends_with("7 failed (+2)"), "{second}");
    }
}
