//! Measures several targets in turns: what drifts while they are measured, drifts for all of them alike.
//!
//! The turn goes on after every counted connection, in seeded random rounds in which each target comes as often as it has series.

use reprise_connection::Target;

use crate::interrupt::Interrupt;
use crate::measure::MeasurementRun;
use crate::measurement::Measurement;
use crate::observer::{NoObserver, Observer};
use crate::options::Options;

/// Measures every target as [`measure`](crate::measure()) does, a connection of one after a connection of another. The measurements
/// are in the order of the targets; the observer is told of all of them together.
pub fn measure_in_turns(
    targets: &[(Target, Options)],
    seed: u64,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Vec<Measurement> {
    let begin = |(target, options): &(Target, Options)| MeasurementRun::begin(target, options, interrupt);
    let mut runs: Vec<MeasurementRun> = targets.iter().map(begin).collect();
    let mut rounds = Rounds::new(runs.iter().map(MeasurementRun::series_count).collect(), seed);
    while let Some(place) = rounds.next() {
        if !runs.get_mut(place).is_some_and(|run| run.step(&NoObserver)) {
            rounds.end(place);
        }
        let (done, planned): (Vec<u64>, Vec<u64>) = runs.iter().map(MeasurementRun::progress).unzip();
        observer.proceeded(done.iter().sum(), planned.iter().sum());
    }
    runs.into_iter().map(MeasurementRun::finish).collect()
}

/// The order of turns.
struct Rounds {
    /// How often each target's turn comes in a round: not once it is done.
    series: Vec<usize>,
    /// What is left of this round.
    round: Vec<usize>,
    seed: u64,
}

impl Rounds {
    fn new(series: Vec<usize>, seed: u64) -> Self {
        Self { series, round: Vec::new(), seed }
    }

    /// This target is done.
    fn end(&mut self, place: usize) {
        if let Some(series) = self.series.get_mut(place) {
            *series = 0;
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
        let series = [2, 4, 4];
        let mut rounds = Rounds::new(series.to_vec(), 7);
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
        let mut rounds = Rounds::new(vec![3, 1], 7);
        rounds.next();
        rounds.end(0);
        assert!((0..50).all(|_| rounds.next() == Some(1)));
        rounds.end(1);
        assert_eq!(rounds.next(), None);
    }
}
