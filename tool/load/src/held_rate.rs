//! Whether an open loop's rate was held.

use std::time::Duration;

use crate::load::LoadOutcome;
use crate::options::{Arrival, ArrivalSpread, LoadEnd, LoadOptions};
use crate::rates::Rates;

/// The share of a rate that must have been held for it to count as held.
const HELD: f64 = 0.98;

impl LoadOutcome {
    /// The time that counts: without the warm-up, and without what the last connections took after the end.
    pub(crate) fn planned(&self, options: &LoadOptions) -> Duration {
        match options.end {
            LoadEnd::After(duration) => duration.min(self.elapsed),
            LoadEnd::Count(_) => self.elapsed,
        }
    }

    /// What of it the rate is of: a target that died was loaded until its last connection.
    pub(crate) fn loaded(&self, options: &LoadOptions) -> Duration {
        match self.target_is_gone && self.summary.completed() > 0 {
            true => Duration::from(self.summary.last_completed),
            false => self.planned(options),
        }
    }

    /// Whether what was due was done in time: never in a closed loop, nor where the ramp did not come to the rate.
    pub(crate) fn held_its_rate(&self, options: &LoadOptions) -> bool {
        let Arrival::Open { rate, spread, .. } = options.arrival else { return false };
        let (from, ramp) = (options.warmup.as_secs_f64(), options.ramp.as_secs_f64());
        let planned = self.planned(options).as_secs_f64();
        if self.summary.completed() == 0 || ramp > from + planned {
            return false;
        }
        // What came in the last moments is under way at the end, for as long as a connection takes.
        let lasting = (self.latency_from_intended(0.5) as f64 / 1e9).min(planned);
        let rates = Rates::of(options, rate, 1);
        let expected = |seconds: f64| rates.arrivals(from + seconds) - rates.arrivals(from);
        let due = match options.end {
            // A Poisson process has more or fewer than its rate says.
            LoadEnd::After(_) => self.summary.due as f64,
            LoadEnd::Count(_) => expected(planned),
        };
        let under_way = due * (1.0 - expected(planned - lasting) / expected(planned).max(f64::MIN_POSITIVE));
        let by_chance = match spread {
            ArrivalSpread::Constant => 1.0,
            // Three standard deviations.
            ArrivalSpread::Poisson => 1.0 + 3.0 * under_way.max(0.0).sqrt(),
        };
        self.summary.completed() as f64 >= HELD * due - under_way - by_chance
    }
}
