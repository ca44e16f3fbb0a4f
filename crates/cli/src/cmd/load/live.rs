//! How a load proceeds, on standard error: one line that is written over on a terminal, a line a second otherwise, none if
//! none is wanted.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};

use reprise_load::{LatencyCounts, LoadEnd, Observer, Options};
use reprise_model::Nanos;

use crate::progress::is_quiet;

/// The view.
pub(crate) struct Live {
    is_terminal: bool,
    target: String,
    /// What begins before is in no figure of the result, though it is counted here.
    warmup: Nanos,
    /// When the load ends, the warm-up included.
    end: LoadEnd,
    /// Of a search, the rate that it tries.
    rate: Cell<Option<f64>>,
    last: Cell<Told>,
    latencies: RefCell<LatencyCounts>,
    last_latencies: RefCell<LatencyCounts>,
}

/// What was told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    elapsed: Nanos,
    completed: u64,
    failed: u64,
}

const SECOND: u64 = 1_000_000_000;

/// The longest name of a target that leaves room for the rest on 80 columns.
const LONGEST_TARGET: usize = 16;

impl Live {
    pub(crate) fn new(target: &str, options: &Options) -> Self {
        let warmup = Nanos::from(options.warmup);
        let shown = match target.char_indices().nth(LONGEST_TARGET) {
            Some(_) => target.chars().take(LONGEST_TARGET - 1).chain(['…']).collect(),
            None => target.to_owned(),
        };
        Self {
            is_terminal: std::io::stderr().is_terminal(),
            target: shown,
            warmup,
            end: options.end,
            rate: Cell::default(),
            last: Cell::default(),
            latencies: RefCell::default(),
            last_latencies: RefCell::default(),
        }
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
        if self.is_terminal && !is_quiet() {
            let _ = write!(anstream::stderr(), "\r\x1b[K");
        }
    }
}

impl Observer for Live {
    fn latencies(&self, so_far: &LatencyCounts) {
        self.latencies.replace(so_far.clone());
    }

    fn proceeded(&self, elapsed: Nanos, completed: u64, failed: u64) {
        let now = Told { elapsed, completed, failed };
        let last = self.last.get();
        if is_quiet() || elapsed.since(last.elapsed).0 < SECOND {
            return;
        }
        let p99 = self.latencies.borrow().quantile_since(&self.last_latencies.borrow(), 0.99);
        let left = match self.end {
            // A search gives each rate as long as it needs.
            _ if self.rate.get().is_some() => None,
            LoadEnd::After(duration) => Some(self.warmup + Nanos::from(duration)),
            // At the pace so far.
            LoadEnd::Count(count) => {
                let whole = u128::from(elapsed.0) * u128::from(count) / u128::from(completed.max(1));
                Some(Nanos(u64::try_from(whole).unwrap_or(u64::MAX)))
            }
        };
        let told = now.since(last, p99, left.map(|end| end.since(elapsed)), elapsed <= self.warmup);
        let rate = self.rate.get().map_or(String::new(), |rate| format!("--rate {rate:.1} "));
        self.tell(&format!("{} {rate}{told}", self.target));
        self.last.set(now);
        self.last_latencies.replace(self.latencies.borrow().clone());
    }

    fn tries(&self, rate: f64) {
        self.rate.set(Some(rate));
        self.last.set(Told::default());
        self.last_latencies.take();
        if !is_quiet() {
            self.tell(&format!("{} --rate {rate:.1}  is tried", self.target));
        }
    }
}

impl Told {
    /// What came since the last, at least a second ago.
    fn since(self, last: Self, p99: Option<Nanos>, left: Option<Nanos>, warms_up: bool) -> String {
        let Self { elapsed, completed, failed } = self;
        let since = elapsed.since(last.elapsed).0.max(1);
        let rate = (completed.saturating_sub(last.completed)) as f64 * SECOND as f64 / since as f64;
        let p99 = p99.map_or("–".to_owned(), |p99| p99.to_string());
        let left = match left {
            _ if warms_up => ", warming up".to_owned(),
            Some(left) => format!(", {} left", whole_seconds(left)),
            None => String::new(),
        };
        let failures = if failed == 0 { String::new() } else { format!("  {failed} failed") };
        format!("{}{left}  {rate:.0}/s  p99 {p99}{failures}", whole_seconds(elapsed))
    }
}

/// "8 s", "12 min".
fn whole_seconds(Nanos(ns): Nanos) -> String {
    match ns.div_ceil(SECOND) {
        seconds @ 0..=599 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_came_since_the_last_and_what_is_left() {
        let told = |seconds: u64, completed, failed| Told { elapsed: Nanos(seconds * SECOND), completed, failed };
        let line = |now: Told, last, warms_up| now.since(last, Some(Nanos(12_300_000)), Some(Nanos(7 * SECOND)), warms_up);
        let first = line(told(1, 10, 0), Told::default(), true);
        assert_eq!(first, "1 s, warming up  10/s  p99 12.30 ms");
        let second = line(told(3, 50, 7), told(1, 10, 5), false);
        assert_eq!(second, "3 s, 7 s left  20/s  p99 12.30 ms  7 failed");
        assert_eq!(told(700, 0, 0).since(told(699, 0, 0), None, None, false), "11 min  0/s  p99 –");
    }

    #[test]
    fn a_line_fits_eighty_columns() {
        let worst = Told { elapsed: Nanos(500 * SECOND), completed: 99_999_999, failed: 123_456 };
        let last = Told { elapsed: Nanos(499 * SECOND), ..Told::default() };
        let line = worst.since(last, Some(Nanos(123_400_000)), Some(Nanos(100 * SECOND)), false);
        assert!(LONGEST_TARGET + 1 + line.chars().count() <= 80, "{line}");
    }
}
