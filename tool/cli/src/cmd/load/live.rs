//! How a load proceeds, on standard error: one line that is written over on a terminal, with a bar, as much of it as there is room for; a
//! line a second otherwise; none if none is wanted.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};

use reprise_load::{LatencyCounts, LoadEnd, LoadObserver, LoadOptions, process_tree_cpu};
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
    /// Of a sweep, the share of connections that offer a session.
    share: Cell<Option<u32>>,
    last: Cell<Told>,
    /// The server's process, where it is known, and what it had used when it was told of last.
    server_pid: Option<u32>,
    server_cpu: Cell<Option<Nanos>>,
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
    pub(crate) fn new(target: &str, options: &LoadOptions) -> Self {
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
            share: Cell::default(),
            last: Cell::default(),
            server_pid: options.server_pid,
            server_cpu: Cell::new(options.server_pid.and_then(process_tree_cpu)),
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

impl LoadObserver for Live {
    fn latencies(&self, so_far: &LatencyCounts) {
        self.latencies.replace(so_far.clone());
    }

    fn proceeded(&self, elapsed: Nanos, completed: u64, failed: u64) {
        let now = Told { elapsed, completed, failed };
        let last = self.last.get();
        if is_quiet() || elapsed.since(last.elapsed).0 < SECOND {
            return;
        }
        let quantile = |share| self.latencies.borrow().quantile_since(&self.last_latencies.borrow(), share);
        let latencies = [quantile(0.5), quantile(0.99)];
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
        let left = left.map(|end| end.since(elapsed));
        let told =
            Second { now, last, latencies, left, warms_up: elapsed <= self.warmup, server: self.server_share(now, last) };
        let rate = self.rate.get().map_or(String::new(), |rate| format!("--rate {rate:.1} "));
        let share = self.share.get().map_or(String::new(), |share| format!("resumed={share} "));
        let head = format!("{} {rate}{share}", self.target);
        self.tell(&told.line(&head, self.is_terminal.then(width)));
        self.last.set(now);
        self.last_latencies.replace(self.latencies.borrow().clone());
    }

    fn tries(&self, rate: f64) {
        self.rate.set(Some(rate));
        self.begin();
        if !is_quiet() {
            self.tell(&format!("{} --rate {rate:.1}  is tried", self.target));
        }
    }

    fn offers(&self, share: u32) {
        self.share.set(Some(share));
        self.begin();
    }
}

impl Live {
    /// Another load begins.
    fn begin(&self) {
        self.last.set(Told::default());
        self.last_latencies.take();
    }

    /// Processors that the server's process tree has used since the last time.
    fn server_share(&self, now: Told, last: Told) -> Option<f64> {
        let used = process_tree_cpu(self.server_pid?)?;
        let before = self.server_cpu.replace(Some(used))?;
        Some(used.since(before).0 as f64 / now.elapsed.since(last.elapsed).0.max(1) as f64)
    }
}

/// Columns of the terminal; of one that does not say, the fewest that are usual.
fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

/// Columns of the bar.
const BAR: usize = 10;

/// What came since the last, at least a second ago.
struct Second {
    now: Told,
    last: Told,
    /// p50 and p99.
    latencies: [Option<Nanos>; 2],
    left: Option<Nanos>,
    warms_up: bool,
    /// Processors that the server used.
    server: Option<f64>,
}

impl Second {
    /// As much as these columns have room for, the least important first left out; all but the bar where it is no terminal.
    fn line(&self, head: &str, columns: Option<usize>) -> String {
        let Told { elapsed, completed, failed } = self.now;
        let since = elapsed.since(self.last.elapsed).0.max(1);
        let rate = (completed.saturating_sub(self.last.completed)) as f64 * SECOND as f64 / since as f64;
        let latency = |it: Option<Nanos>| it.map_or("–".to_owned(), |it| it.to_string());
        let [p50, p99] = self.latencies.map(latency);
        let left = match self.left {
            _ if self.warms_up => ", warming up".to_owned(),
            Some(left) => format!(", {} left", whole_seconds(left)),
            None => String::new(),
        };
        let bar = self.left.filter(|_| columns.is_some()).map(|left| bar(elapsed, left));
        // Each with its rank: the highest goes first.
        let mut parts = vec![
            (4, bar),
            (0, Some(format!("{}{left}", whole_seconds(elapsed)))),
            (0, Some(format!("{rate:.0}/s"))),
            (3, Some(format!("p50 {p50}"))),
            (0, Some(format!("p99 {p99}"))),
            (5, Some(format!("{completed} in all"))),
            (1, (failed > 0).then(|| format!("{failed} failed"))),
            (2, self.server.map(|processors| format!("server {:.0} %", processors * 100.0))),
        ];
        parts.retain(|(_, part)| part.is_some());
        loop {
            let line = parts.iter().filter_map(|(_, part)| part.as_deref()).collect::<Vec<_>>().join("  ");
            let line = format!("{head}{line}");
            let is_too_long = columns.is_some_and(|columns| line.chars().count() >= columns);
            let highest = parts.iter().map(|(rank, _)| *rank).max().filter(|rank| *rank > 0);
            let Some(highest) = highest.filter(|_| is_too_long) else { return line };
            parts.retain(|(rank, _)| *rank != highest);
        }
    }
}

/// `[====      ]`.
fn bar(elapsed: Nanos, left: Nanos) -> String {
    let whole = (elapsed.0.saturating_add(left.0)).max(1);
    let done = (elapsed.0 as f64 / whole as f64 * BAR as f64).round() as usize;
    format!("[{}{}]", "=".repeat(done), " ".repeat(BAR.saturating_sub(done)))
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

    fn told(seconds: u64, completed: u64, failed: u64) -> Told {
        Told { elapsed: Nanos(seconds * SECOND), completed, failed }
    }

    fn second(now: Told, last: Told) -> Second {
        let latencies = [Some(Nanos(1_200_000)), Some(Nanos(12_300_000))];
        Second { now, last, latencies, left: Some(Nanos(7 * SECOND)), warms_up: false, server: None }
    }

    #[test]
    fn a_line_says_what_came_since_the_last_and_what_is_left() {
        let first = Second { warms_up: true, ..second(told(1, 10, 0), Told::default()) };
        assert_eq!(first.line("it ", None), "it 1 s, warming up  10/s  p50 1.20 ms  p99 12.30 ms  10 in all");
        let next = Second { server: Some(0.97), ..second(told(3, 50, 7), told(1, 10, 5)) };
        assert_eq!(
            next.line("it ", Some(200)),
            "it [===       ]  3 s, 7 s left  20/s  p50 1.20 ms  p99 12.30 ms  50 in all  7 failed  server 97 %"
        );
        let last = Second { latencies: [None; 2], left: None, ..second(told(700, 0, 0), told(699, 0, 0)) };
        assert_eq!(last.line("", None), "11 min  0/s  p50 –  p99 –  0 in all");
    }

    #[test]
    fn a_line_fits_the_terminal() {
        let worst = Second {
            latencies: [Some(Nanos(123_400_000)); 2],
            left: Some(Nanos(100 * SECOND)),
            server: Some(127.5),
            ..second(told(500, 99_999_999, 123_456), told(499, 0, 0))
        };
        let head = "x".repeat(LONGEST_TARGET) + " ";
        for columns in [80, 100, 120, 200] {
            assert!(worst.line(&head, Some(columns)).chars().count() < columns, "{columns}");
        }
        assert!(worst.line(&head, Some(200)).contains("[========  ]"));
        assert!(!worst.line(&head, Some(80)).contains("in all"), "the total goes first");
    }
}
