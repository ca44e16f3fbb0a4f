//! Units are types: a number of nanoseconds is never mistaken for a number of bytes.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time or a span of it, in nanoseconds. As a point, it counts from an origin that the caller chose, the
/// same for all the points that it compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The span from `earlier` to `self`; zero where `earlier` is the later one, since a span cannot be negative.
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The same span in milliseconds, for people. Measuring stays in integers.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns < 1_000 => write!(f, "{ns} ns"),
            ns if ns < 1_000_000 => write!(f, "{:.1} µs", ns as f64 / 1e3),
            ns if ns < 1_000_000_000 => write!(f, "{:.2} ms", ns as f64 / 1e6),
            ns => write!(f, "{:.2} s", ns as f64 / 1e9),
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl From<usize> for Bytes {
    fn from(count: usize) -> Self {
        Self(count as u64)
    }
}

impl AddAssign<usize> for Bytes {
    fn add_assign(&mut self, count: usize) {
        self.0 = self.0.saturating_add(count as u64);
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_never_negative() {
        assert_eq!(Nanos(3).since(Nanos(5)), Nanos(0));
        assert_eq!(Nanos(5) - Nanos(3), Nanos(2));
    }

    #[test]
    fn spans_read_in_the_unit_that_fits() {
        let shown: Vec<String> = [7, 12_340, 1_730_000, 2_242_000_000].map(|ns| Nanos(ns).to_string()).into();
        assert_eq!(shown, ["7 ns", "12.3 µs", "1.73 ms", "2.24 s"]);
    }
}
