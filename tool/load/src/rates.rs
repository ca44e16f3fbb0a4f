//! The rate of an open loop over time, and its integral: how many connections are due until when.

use crate::options::LoadOptions;

/// A rate that grows linearly over the ramp and is constant after it, or in each stage.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    ramp: f64,
    /// In order; the first begins at the end of the ramp, the last has no end.
    pieces: Vec<Piece>,
}

/// A time of one rate.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// In seconds from the beginning.
    from: f64,
    /// Arrivals before it.
    before: f64,
    per_second: f64,
}

impl Rates {
    /// One of `parts` equal parts of what the options ask for; `rate` where they have no stages. The warm-up has the rate of the first
    /// stage, which follows it.
    pub(crate) fn of(options: &LoadOptions, rate: f64, parts: usize) -> Self {
        let parts = parts.max(1) as f64;
        let ramp = if options.stages.is_empty() { options.ramp.as_secs_f64() } else { 0.0 };
        let first = options.stages.first().map_or(rate, |stage| stage.rate) / parts;
        let mut rates = Self { ramp, pieces: vec![Piece { from: ramp, before: first * ramp / 2.0, per_second: first }] };
        for (stage, until) in options.stages.iter().skip(1).zip(options.stage_ends()) {
            let from = until.as_secs_f64();
            let piece = Piece { from, before: rates.arrivals(from), per_second: stage.rate / parts };
            rates.pieces.push(piece);
        }
        rates
    }

    /// How many arrivals there are in the first `seconds`.
    pub(crate) fn arrivals(&self, seconds: f64) -> f64 {
        let piece = self.piece(|piece| piece.from <= seconds);
        if seconds < self.ramp {
            piece.per_second * seconds * seconds / (2.0 * self.ramp)
        } else {
            piece.before + piece.per_second * (seconds - piece.from)
        }
    }

    /// In how many seconds there are so many.
    pub(crate) fn seconds(&self, arrivals: f64) -> f64 {
        let piece = self.piece(|piece| piece.before <= arrivals);
        if arrivals < piece.before {
            (2.0 * arrivals * self.ramp / piece.per_second).sqrt()
        } else {
            piece.from + (arrivals - piece.before) / piece.per_second
        }
    }

    /// The last that has begun, or else the first.
    fn piece(&self, has_begun: impl Fn(&Piece) -> bool) -> Piece {
        let begun = self.pieces.partition_point(has_begun);
        self.pieces.get(begun.saturating_sub(1)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use super::*;
    use crate::options::Stage;

    #[test]
    fn seconds_are_the_inverse_of_arrivals() {
        let stage = |seconds, rate| Stage { duration: Duration::from_secs(seconds), rate };
        let options = LoadOptions::new(SocketAddr::from(([127, 0, 0, 1], 1)), Vec::new());
        let ramped = LoadOptions { ramp: Duration::from_secs(4), ..options.clone() };
        let stages = vec![stage(3, 100.0), stage(2, 1000.0), stage(5, 10.0)];
        let staged = LoadOptions { stages, warmup: Duration::from_secs(1), ..options.clone() };
        for (options, expected) in [
            (&options, [(0.0, 0.0), (2.0, 200.0), (20.0, 2000.0)]),
            (&ramped, [(2.0, 50.0), (4.0, 200.0), (5.0, 300.0)]),
            // The warm-up has the first rate.
            (&staged, [(4.0, 400.0), (5.0, 1400.0), (7.0, 2410.0)]),
        ] {
            let rates = Rates::of(options, 100.0, 2);
            for (seconds, arrivals) in expected {
                let found = (rates.arrivals(seconds) * 2.0, rates.seconds(arrivals / 2.0));
                assert!((found.0 - arrivals).abs() < 1e-6 && (found.1 - seconds).abs() < 1e-9, "{found:?}: {rates:?}");
            }
        }
    }
}
