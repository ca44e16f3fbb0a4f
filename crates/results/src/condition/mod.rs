//! Conditions on a measurement, for gates: `baseline.tls.slower > 0`, `1.3.ticket.tls.p99 > 20ms`, `failed > 0`; and on a
//! comparison of stacks or a load, which have words of their own for figures: see [`CompareCondition`] and [`LoadCondition`].
//!
//! ```text
//! condition  = figure comparator number [unit] / findings
//! figure     = word *( "." word )       version, kind and phase in any order, then what of them
//! findings   = ( "findings" / "finding" ) *( "." ( severity / confidence / id ) )    how many there are; alone: any
//! comparator = "<" / "<=" / ">" / ">=" / "==" / "!="
//! ```
//!
//! What is counted out of a whole has its unit: `kinds.ticket < 100%` is a share, `kinds.ticket < 100n` a count. Zero is the same in both
//! and needs none.
//!
//! A figure without a version or a kind is of each that was measured, and the condition is met as soon as one of them meets
//! it. What a measurement does not have is never taken for a figure that is good: see [`Judgement::Unknown`].

mod compare;
mod diagnose;
mod figures;
mod load;
mod parse;
mod possible;
mod record;
#[cfg(test)]
mod tests;

use reprise_model::document::{Confidence, Severity, Statistics};
use reprise_model::{Kind, Phase, Version};

pub use compare::{CompareCondition, ComparePlanned};
pub use diagnose::DiagnoseCondition;
pub use figures::{Found, Judgement};
pub use load::{LoadCondition, LoadPlanned};
pub use parse::ConditionError;
pub use possible::Planned;

/// A condition that was read; [`str::parse`] makes one. Reading is total: whatever the text, it ends in one or the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    figure: MeasureFigure,
    test: Test,
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.test.text)
    }
}

/// What a figure is held against, whichever it is.
#[derive(Clone, Debug, PartialEq)]
struct Test {
    /// The whole condition, as it was written.
    text: String,
    quantity: Quantity,
    bound: Bound,
    comparator: Comparator,
    /// In nanoseconds, bytes, hundredths, or as it is.
    threshold: f64,
    unit: Unit,
}

/// Which figure of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MeasureFigure {
    tls: Option<Version>,
    kind: Option<Which>,
    phase: Option<Phase>,
    findings: Findings,
    quantity: Quantity,
    bound: Bound,
}

/// Which findings; all where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Findings {
    severity: Option<Severity>,
    confidence: Option<Confidence>,
    id: Option<&'static str>,
}

/// One kind, or each but `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Kind(Kind),
    Resumed,
}

impl Which {
    fn named(name: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).map(Self::Kind);
        kind.or((name == Self::Resumed.name()).then_some(Self::Resumed))
    }

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

/// What a condition is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Measurement,
    Load,
    Comparison,
}

/// What of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Median,
    Mean,
    Min,
    Max,
    P90,
    P95,
    P99,
    /// Of a load alone.
    P999,
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
    /// How many findings there are.
    Findings,
    /// Of a load: completed connections a second.
    Rate,
    /// Connections that were due and found no place.
    NotStarted,
    /// Sessions that were offered and not accepted.
    Refused,
    /// Responses with a status.
    Status,
    /// What the generator used for a connection, of whatever kind.
    ClientCpu,
    /// The share of a processor that its busiest thread used.
    ClientBusy,
    Sent,
    Received,
    RoundTrips,
    /// Of one connection, by callgrind.
    Instructions,
    /// Against the baseline.
    InstructionsChange,
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
    /// Of the times of samples, with the interval of a median; nothing, where it is not of times.
    fn of_times(self, times: Option<&Statistics>) -> (Option<f64>, Option<[f64; 2]>) {
        let Some(times) = times else { return (None, None) };
        let value = match self {
            Self::Median => Some(times.median_ns),
            Self::Mean => Some(times.mean_ns),
            Self::Min => Some(times.min_ns),
            Self::Max => Some(times.max_ns),
            Self::P90 => Some(times.p90_ns),
            Self::P95 => times.p95_ns,
            Self::P99 => Some(times.p99_ns),
            _ => None,
        };
        let interval = times.ci95_ns.filter(|_| self == Self::Median);
        (value.map(|value| value as f64), interval.map(|ends| ends.map(|end| end as f64)))
    }

    /// Every one with its name and the documents that have it. Errors list them in this order.
    const NAMES: [(&'static str, Self, &[Of]); 31] = [
        ("median", Self::Median, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("p50", Self::Median, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("mean", Self::Mean, &[Of::Measurement, Of::Comparison]),
        ("min", Self::Min, &[Of::Measurement, Of::Comparison]),
        ("max", Self::Max, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("p90", Self::P90, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("p95", Self::P95, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("p99", Self::P99, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("p999", Self::P999, &[Of::Load]),
        ("ratio", Self::Ratio, &[Of::Measurement, Of::Comparison]),
        ("saved", Self::Saved, &[Of::Measurement]),
        ("n", Self::Samples, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("kinds", Self::Kinds, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("failed", Self::Failed, &[Of::Measurement, Of::Load, Of::Comparison]),
        ("findings", Self::Findings, &[Of::Measurement]),
        ("rate", Self::Rate, &[Of::Load]),
        ("not_started", Self::NotStarted, &[Of::Load]),
        ("refused", Self::Refused, &[Of::Load]),
        ("status", Self::Status, &[Of::Load]),
        ("client_cpu", Self::ClientCpu, &[Of::Load]),
        ("client_busy", Self::ClientBusy, &[Of::Load]),
        ("sent", Self::Sent, &[Of::Measurement, Of::Comparison]),
        ("received", Self::Received, &[Of::Measurement, Of::Comparison]),
        ("round_trips", Self::RoundTrips, &[Of::Measurement]),
        ("instructions", Self::Instructions, &[Of::Comparison]),
        ("server_cpu", Self::ServerCpu, &[Of::Measurement, Of::Load]),
        ("change", Self::Change, &[Of::Measurement, Of::Comparison]),
        ("raw_change", Self::RawChange, &[Of::Measurement, Of::Comparison]),
        ("slower", Self::Slower, &[Of::Measurement, Of::Comparison]),
        ("faster", Self::Faster, &[Of::Measurement, Of::Comparison]),
        ("differences", Self::Differences, &[Of::Measurement]),
    ];

    /// What such a document has, by its names.
    fn names(of: Of) -> impl Iterator<Item = (&'static str, Self)> {
        Self::NAMES.into_iter().filter(move |it| it.2.contains(&of)).map(|(name, quantity, _)| (name, quantity))
    }

    fn named(name: &str, of: Of) -> Option<Self> {
        Self::names(of).find(|(known, _)| *known == name).map(|(_, quantity)| quantity)
    }

    fn name(self) -> &'static str {
        let named = match self {
            Self::RatioChange => Self::Ratio,
            Self::ServerCpuChange => Self::ServerCpu,
            Self::InstructionsChange => Self::Instructions,
            other => other,
        };
        Self::NAMES.iter().find(|(_, quantity, _)| *quantity == named).map_or("", |(name, ..)| name)
    }

    /// Whether it is a median, a mean or another figure of times.
    fn is_of_times(self) -> bool {
        matches!(self, Self::Median | Self::Mean | Self::Min | Self::Max)
            || matches!(self, Self::P90 | Self::P95 | Self::P99 | Self::P999)
    }

    /// Whether it is of one phase.
    fn has_phase(self) -> bool {
        self.is_of_times() || self.compares_with_full() || matches!(self, Self::Change | Self::RawChange)
    }

    /// Against a baseline, where it has another meaning there.
    fn of_baseline(self) -> Self {
        match self {
            Self::Ratio => Self::RatioChange,
            Self::ServerCpu => Self::ServerCpuChange,
            Self::Instructions => Self::InstructionsChange,
            other => other,
        }
    }

    /// Whether it has an interval, whose ends `.low` and `.high` are.
    fn has_interval(self) -> bool {
        matches!(self, Self::Median | Self::Ratio) || self.is_relative_change() && self != Self::InstructionsChange
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
        matches!(self, Self::Change | Self::RawChange | Self::RatioChange | Self::ServerCpuChange | Self::InstructionsChange)
    }

    /// Whether it is of all connections together.
    fn is_of_server(self) -> bool {
        matches!(self, Self::ServerCpu | Self::ServerCpuChange)
    }

    /// The units that its threshold may have, the usual one first.
    fn units(self) -> &'static [Unit] {
        match self {
            Self::Saved | Self::ServerCpu | Self::ClientCpu => &[Unit::Time],
            Self::Ratio => &[Unit::Number, Unit::Times],
            Self::Kinds | Self::Failed | Self::NotStarted | Self::Refused | Self::Status => &[Unit::Percent, Unit::Count],
            Self::ClientBusy => &[Unit::Percent],
            Self::Rate => &[Unit::Number, Unit::EachSecond],
            Self::Sent | Self::Received => &[Unit::Bytes],
            _ if self.is_of_times() => &[Unit::Time],
            _ if self.is_relative_change() => &[Unit::Percent],
            _ => &[Unit::Number],
        }
    }
}

/// The figure itself, or an end of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bound {
    #[default]
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

/// Behind a number: so many, not a share.
const COUNT: &str = "n";

/// What a threshold is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Number,
    /// How many, of what could be a share as well.
    Count,
    Times,
    Percent,
    EachSecond,
    Time,
    Bytes,
}

impl Unit {
    /// The units as they are written, and how much each is of what figures are in.
    fn spellings(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Number => &[("", 1.0)],
            Self::Count => &[(COUNT, 1.0)],
            Self::Times => &[("x", 1.0), ("×", 1.0)],
            Self::Percent => &[("%", 0.01)],
            Self::EachSecond => &[("/s", 1.0)],
            Self::Time => &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
            Self::Bytes => &[("B", 1.0), ("kB", 1e3), ("KiB", 1024.0)],
        }
    }
}
