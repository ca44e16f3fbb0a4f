//! Conditions on a measurement, for gates: `tls.resumed.ratio < 1.5`, `1.3.ticket.tls.p99 > 20ms`, `failed > 0`.
//!
//! ```text
//! condition  = figure comparator number [unit]
//! figure     = word *( "." word )       version, kind and phase in any order, then what of them
//! comparator = "<" / "<=" / ">" / ">=" / "==" / "!="
//! ```
//!
//! A figure without a version or a kind is of each that was measured, and the condition is met as soon as one of them meets
//! it. What a measurement does not have is never taken for a figure that is good: see [`Judgement::Unknown`].

mod figures;
mod parse;
mod possible;
mod record;
#[cfg(test)]
mod tests;

use reprise_trace::{Kind, Phase, Version};

pub use figures::{Found, Judgement};
pub use parse::ConditionError;
pub use possible::Planned;

/// A condition that was read; [`str::parse`] makes one. Reading is total: whatever the text, it ends in one or the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was written.
    text: String,
    figure: Figure,
    comparator: Comparator,
    /// In nanoseconds, bytes, hundredths, or as it is.
    threshold: f64,
    unit: Unit,
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Which figure of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figure {
    tls: Option<Version>,
    kind: Option<Which>,
    phase: Option<Phase>,
    quantity: Quantity,
    bound: Bound,
}

/// One kind, or each but `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Kind(Kind),
    Resumed,
}

impl Which {
    fn covers(self, kind: Kind) -> bool {
        match self {
            Self::Kind(wanted) => wanted == kind,
            Self::Resumed => kind != Kind::Full,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Resumed => "resumed",
        }
    }
}

/// What of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Median,
    Mean,
    Min,
    Max,
    P90,
    P99,
    /// Of full handshakes to resumed ones.
    Ratio,
    /// By a resumed one against a full one.
    Saved,
    /// How many came out as asked.
    Samples,
    /// How many came out as asked, of all that were made for it.
    Kinds,
    /// How many did not complete.
    Failed,
    Sent,
    Received,
    RoundTrips,
    /// What the server's processes use for a connection, of whatever kind.
    ServerCpu,
    /// Against the baseline.
    ServerCpuChange,
    /// Against the baseline: what is left when the machine and the network have taken off what they moved by.
    Change,
    /// Against the baseline, whatever it is put down to.
    RawChange,
    /// How much more or less a resumption saves than in the baseline.
    RatioChange,
    /// How many medians are slower than the baseline's, beyond the interval.
    Slower,
    /// How many are faster.
    Faster,
    /// How many differences without an interval there are.
    Differences,
}

impl Quantity {
    /// Every one with its name.
    const NAMES: [(&'static str, Self); 20] = [
        ("median", Self::Median),
        ("mean", Self::Mean),
        ("min", Self::Min),
        ("max", Self::Max),
        ("p90", Self::P90),
        ("p99", Self::P99),
        ("ratio", Self::Ratio),
        ("saved", Self::Saved),
        ("n", Self::Samples),
        ("kinds", Self::Kinds),
        ("failed", Self::Failed),
        ("sent", Self::Sent),
        ("received", Self::Received),
        ("round_trips", Self::RoundTrips),
        ("server_cpu", Self::ServerCpu),
        ("change", Self::Change),
        ("raw_change", Self::RawChange),
        ("slower", Self::Slower),
        ("faster", Self::Faster),
        ("differences", Self::Differences),
    ];

    fn name(self) -> &'static str {
        let named = match self {
            Self::RatioChange => Self::Ratio,
            Self::ServerCpuChange => Self::ServerCpu,
            other => other,
        };
        Self::NAMES.iter().find(|(_, quantity)| *quantity == named).map_or("", |(name, _)| name)
    }

    /// Whether it is of one phase.
    fn has_phase(self) -> bool {
        matches!(
            self,
            Self::Median
                | Self::Mean
                | Self::Min
                | Self::Max
                | Self::P90
                | Self::P99
                | Self::Ratio
                | Self::Saved
                | Self::Change
                | Self::RawChange
                | Self::RatioChange
        )
    }

    /// Whether it has an interval, whose ends `.low` and `.high` are.
    fn has_interval(self) -> bool {
        matches!(self, Self::Median | Self::Ratio) || self.is_relative_change()
    }

    /// Whether it is about a resumed kind against `full`.
    fn compares_with_full(self) -> bool {
        matches!(self, Self::Ratio | Self::Saved | Self::RatioChange)
    }

    fn is_of_baseline(self) -> bool {
        self.is_relative_change() || matches!(self, Self::Slower | Self::Faster | Self::Differences)
    }

    /// Whether it is a change of one figure against a baseline, in per cent.
    fn is_relative_change(self) -> bool {
        matches!(self, Self::Change | Self::RawChange | Self::RatioChange | Self::ServerCpuChange)
    }

    /// Whether it is of all connections together.
    fn is_of_server(self) -> bool {
        matches!(self, Self::ServerCpu | Self::ServerCpuChange)
    }

    /// The units that its threshold may have, the usual one first.
    fn units(self) -> &'static [Unit] {
        match self {
            Self::Median | Self::Mean | Self::Min | Self::Max | Self::P90 | Self::P99 | Self::Saved | Self::ServerCpu => {
                &[Unit::Time]
            }
            Self::Ratio => &[Unit::Number, Unit::Times],
            Self::Change | Self::RawChange | Self::RatioChange | Self::ServerCpuChange => &[Unit::Percent],
            Self::Kinds | Self::Failed => &[Unit::Percent, Unit::Number],
            Self::Sent | Self::Received => &[Unit::Bytes],
            Self::Samples | Self::RoundTrips | Self::Slower | Self::Faster | Self::Differences => &[Unit::Number],
        }
    }
}

/// The figure itself, or an end of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Value,
    Low,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparator {
    /// The longer one first, so that `<=` is not read as `<`.
    const SIGNS: [(&'static str, Self); 6] = [
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Less => value < threshold,
            Self::LessOrEqual => value <= threshold,
            Self::Greater => value > threshold,
            Self::GreaterOrEqual => value >= threshold,
            Self::Equal => value == threshold,
            Self::NotEqual => value != threshold,
        }
    }
}

/// What a threshold is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Number,
    Times,
    Percent,
    Time,
    Bytes,
}

impl Unit {
    /// The units as they are written, and how much each is of what figures are in.
    fn spellings(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Number => &[("", 1.0)],
            Self::Times => &[("x", 1.0), ("×", 1.0)],
            Self::Percent => &[("%", 0.01)],
            Self::Time => &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
            Self::Bytes => &[("B", 1.0), ("kB", 1e3), ("KiB", 1024.0)],
        }
    }
}
