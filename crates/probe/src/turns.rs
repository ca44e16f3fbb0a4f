//! Measures several targets in turns: what drifts while they are measured, drifts for all of them alike.
//!
//! Each target has a thread of its own and its own schedule, and only the one whose turn it is runs. The turn goes on after every
//! counted connection, in seeded random rounds in which each target comes as often as it has series.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use reprise_connection::Target;

use crate::interrupt::Interrupt;
use crate::measure::{Measurement, measure};
use crate::observer::Observer;
use crate::options::Options;

/// How often the observer is told: seldom, since telling takes processor time beside the measurement.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Measures every target as [`measure`] does, a connection of one after a connection of another. The measurements are in the order
/// of the targets; the observer is told of all of them together.
pub fn measure_in_turns(
    targets: &[(Target, Options)],
    seed: u64,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Vec<Measurement> {
    let (calls, called): (Vec<_>, Vec<_>) = targets.iter().map(|_| channel()).unzip();
    let table = Table { rounds: Mutex::new(Rounds::new(targets.len(), seed)), calls };
    let accounts: Vec<Account> = targets.iter().map(|_| Account::default()).collect();
    let watching = thread::current();
    thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .zip(called)
            .zip(&accounts)
            .enumerate()
            .map(|(place, (((target, options), called), account))| {
                let (table, watching) = (&table, watching.clone());
                scope.spawn(move || {
                    let seat = Seat { place, table, called, account, count: options.count.into() };
                    seat.wait();
                    let measurement = measure(target, options, &seat, interrupt);
                    drop(seat);
                    watching.unpark();
                    measurement
                })
            })
            .collect();
        table.call_next();
        while !running.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(TOLD_EVERY);
            let sum = |count: fn(&Account) -> &AtomicU64| accounts.iter().map(|it| count(it).load(Ordering::Relaxed)).sum();
            observer.proceeded(sum(|it| &it.done), sum(|it| &it.planned));
        }
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// How far one target's measurement is.
#[derive(Default)]
struct Account {
    done: AtomicU64,
    planned: AtomicU64,
}

/// Whose turn it is.
struct Table {
    rounds: Mutex<Rounds>,
    calls: Vec<Sender<()>>,
}

/// One target at the table.
struct Seat<'a> {
    place: usize,
    table: &'a Table,
    called: Receiver<()>,
    account: &'a Account,
    /// Connections of each series.
    count: u64,
}

impl Table {
    fn call_next(&self) {
        // A poisoned lock holds a round like any other.
        let next = self.rounds.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some(call) = next.and_then(|next| self.calls.get(next)) {
            // Who is called has not left: it waits for this.
            let _ = call.send(());
        }
    }
}

impl Seat<'_> {
    fn wait(&self) {
        // The table has every caller as long as anybody sits at it.
        let _ = self.called.recv();
    }

    fn tell(&self, series: usize) {
        self.table.rounds.lock().unwrap_or_else(PoisonError::into_inner).set(self.place, series);
    }
}

impl Observer for Seat<'_> {
    fn proceeded(&self, done: u64, planned: u64) {
        self.account.done.store(done, Ordering::Relaxed);
        self.account.planned.store(planned, Ordering::Relaxed);
        self.tell(usize::try_from(planned.div_ceil(self.count.max(1))).unwrap_or(1).max(1));
        self.table.call_next();
        self.wait();
    }
}

/// Whatever ended its measurement: the others go on.
impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.tell(0);
        self.table.call_next();
    }
}

/// The order of turns.
struct Rounds {
    /// How often each target's turn comes in a round: once until it is known how many series it has, and not once it is done.
    series: Vec<usize>,
    /// What is left of this round.
    round: Vec<usize>,
    seed: u64,
}

impl Rounds {
    fn new(targets: usize, seed: u64) -> Self {
        Self { series: vec![1; targets], round: Vec::new(), seed }
    }

    fn set(&mut self, place: usize, series: usize) {
        if let Some(known) = self.series.get_mut(place) {
            *known = series;
        }
    }

    /// Whose turn is next; `None` once all are done.
    fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(place) = self.round.pop() {
                if self.series.get(place).is_some_and(|series| *series > 0) {
                    return Some(place);
                }
                continue;
            }
            let turns = self.series.iter().enumerate().flat_map(|(place, series)| std::iter::repeat_n(place, *series));
            self.round.extend(turns);
            if self.round.is_empty() {
                return None;
            }
            reprise_stats::shuffle(&mut self.round, self.seed);
            self.seed = self.seed.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_every_target_as_often_as_it_has_series() {
        let mut rounds = Rounds::new(3, 7);
        let series = [2, 4, 4];
        series.iter().enumerate().for_each(|(place, series)| rounds.set(place, *series));
        let mut orders = Vec::new();
        for _ in 0..20 {
            let round: Vec<usize> = std::iter::repeat_with(|| rounds.next().unwrap()).take(10).collect();
            let counts = [0, 1, 2].map(|place| round.iter().filter(|it| **it == place).count());
            assert_eq!(counts, series);
            orders.push(round);
        }
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 15, "the order is random: {orders:?}");
    }

    #[test]
    fn who_is_done_has_no_turn() {
        let mut rounds = Rounds::new(2, 7);
        rounds.set(0, 3);
        rounds.next();
        rounds.set(0, 0);
        assert!((0..50).all(|_| rounds.next() == Some(1)));
        rounds.set(1, 0);
        assert_eq!(rounds.next(), None);
    }
}
