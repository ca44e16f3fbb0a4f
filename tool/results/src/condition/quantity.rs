//! What may be asked of a document: quantities, their units, comparators.

use reprise_model::document::{LoadLatency, Statistic, Statistics};

use super::ConditionSubject;

/// What of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Of times.
    Statistic(Statistic),
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
    /// How many combinations of places and holders came to a verdict.
    Isolation,
    /// What part of offers between nodes would be resumed.
    Fleet,
    /// Of how many versions and kinds the application answers resumed connections otherwise than full ones.
    Answers,
    /// Completed connections a second.
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
    /// What the server's processes use for a connection, of whatever kind.
    ServerCpu,
    /// Against the baseline: what is left when the machine and the network have taken off what they moved by.
    Change,
    /// Against the baseline, whatever it is put down to.
    RawChange,
    /// How many medians are slower than the baseline's, beyond the interval.
    Slower,
    /// How many are faster.
    Faster,
    /// How many differences without an interval there are.
    Differences,
}

/// In which documents a quantity is: a measurement, a diagnosis, a load, a comparison.
const MEASUREMENT: u8 = 1;
const DIAGNOSIS: u8 = 2;
const LOAD: u8 = 4;
const COMPARISON: u8 = 8;
const TIMED: u8 = MEASUREMENT | LOAD | COMPARISON;
const TIMED_EACH: u8 = MEASUREMENT | COMPARISON;

impl Quantity {
    pub(super) const MEDIAN: Self = Self::Statistic(Statistic::Median);

    /// Every one that is no statistic, with its name and the documents that have it.
    const OTHERS: [(&'static str, Self, u8); 26] = [
        ("p999", Self::P999, LOAD),
        ("ratio", Self::Ratio, TIMED_EACH),
        ("saved", Self::Saved, MEASUREMENT),
        ("n", Self::Samples, TIMED),
        ("kinds", Self::Kinds, TIMED | DIAGNOSIS),
        ("failed", Self::Failed, TIMED),
        ("findings", Self::Findings, MEASUREMENT | DIAGNOSIS),
        ("isolation", Self::Isolation, DIAGNOSIS),
        ("fleet", Self::Fleet, DIAGNOSIS),
        ("answers", Self::Answers, MEASUREMENT | DIAGNOSIS | LOAD),
        ("rate", Self::Rate, LOAD),
        ("not_started", Self::NotStarted, LOAD),
        ("refused", Self::Refused, LOAD),
        ("status", Self::Status, LOAD),
        ("client_cpu", Self::ClientCpu, LOAD),
        ("client_busy", Self::ClientBusy, LOAD),
        ("sent", Self::Sent, TIMED_EACH),
        ("received", Self::Received, TIMED_EACH),
        ("round_trips", Self::RoundTrips, MEASUREMENT),
        ("instructions", Self::Instructions, COMPARISON),
        ("server_cpu", Self::ServerCpu, MEASUREMENT | LOAD),
        ("change", Self::Change, TIMED_EACH),
        ("raw_change", Self::RawChange, TIMED_EACH),
        ("slower", Self::Slower, TIMED_EACH),
        ("faster", Self::Faster, TIMED_EACH),
        ("differences", Self::Differences, MEASUREMENT),
    ];

    /// Every one with its names and the documents that have it. Errors list them in this order.
    fn all() -> impl Iterator<Item = (&'static str, Self, u8)> {
        let statistics = Statistic::ALL.into_iter().flat_map(|it| {
            let documents = if LoadLatency::reading(it).is_some() { TIMED } else { TIMED_EACH };
            let also = (it == Statistic::Median).then_some("p50");
            std::iter::once(it.name()).chain(also).map(move |name| (name, Self::Statistic(it), documents))
        });
        statistics.chain(Self::OTHERS)
    }

    /// What such a document has, by its names.
    pub(super) fn names(of: ConditionSubject<'_>) -> impl Iterator<Item = (&'static str, Self)> {
        let document = match of {
            ConditionSubject::Measurement => MEASUREMENT,
            ConditionSubject::Diagnosis => DIAGNOSIS,
            ConditionSubject::Load => LOAD,
            ConditionSubject::Comparison { .. } => COMPARISON,
            ConditionSubject::Other => 0,
        };
        Self::all().filter(move |it| it.2 & document != 0).map(|(name, quantity, _)| (name, quantity))
    }

    pub(super) fn named(name: &str, of: ConditionSubject<'_>) -> Option<Self> {
        Self::names(of).find(|(known, _)| *known == name).map(|(_, quantity)| quantity)
    }

    pub(super) fn name(self) -> &'static str {
        Self::all().find(|(_, quantity, _)| *quantity == self).map_or("", |(name, ..)| name)
    }

    /// Of the times of samples, with the interval of a median; nothing, where it is not of times.
    pub(super) fn of_times(self, times: Option<&Statistics>) -> (Option<f64>, Option<[f64; 2]>) {
        let Some(times) = times else { return (None, None) };
        let value = if let Self::Statistic(statistic) = self { statistic.of(times) } else { None };
        let interval = times.ci95_ns.filter(|_| self == Self::MEDIAN);
        (value.map(|value| value as f64), interval.map(|ends| ends.map(|end| end as f64)))
    }

    /// Whether it is of one phase.
    pub(super) fn has_phase(self) -> bool {
        matches!(self, Self::Statistic(_) | Self::P999)
            || matches!(self, Self::Ratio | Self::Saved | Self::Change | Self::RawChange)
    }

    /// Whether it is about a resumed kind against `full`.
    pub(super) fn compares_with_full(self) -> bool {
        matches!(self, Self::Ratio | Self::Saved)
    }

    /// Whether there is such a figure without a baseline, and whether with one.
    pub(super) fn without_and_with_baseline(self) -> (bool, bool) {
        match self {
            Self::Change | Self::RawChange | Self::Slower | Self::Faster | Self::Differences => (false, true),
            Self::Ratio | Self::ServerCpu | Self::Instructions => (true, true),
            _ => (true, false),
        }
    }

    /// Whether it is the change of one figure against the baseline.
    pub(super) fn is_change(self, baseline: bool) -> bool {
        baseline && !matches!(self, Self::Slower | Self::Faster | Self::Differences)
    }

    /// Whether it has an interval, whose ends `.low` and `.high` are.
    pub(super) fn has_interval(self, baseline: bool) -> bool {
        (self == Self::MEDIAN || self == Self::Ratio) || self.is_change(baseline) && self != Self::Instructions
    }

    /// The units that its threshold may have, the usual one first.
    pub(super) fn units(self, baseline: bool) -> &'static [Unit] {
        match self {
            _ if self.is_change(baseline) => &[Unit::Percent],
            Self::Saved | Self::ServerCpu | Self::ClientCpu => &[Unit::Time],
            Self::Ratio => &[Unit::Number, Unit::Times],
            Self::Kinds | Self::Failed | Self::NotStarted | Self::Refused | Self::Status => &[Unit::Percent, Unit::Count],
            Self::ClientBusy | Self::Fleet => &[Unit::Percent],
            Self::Rate => &[Unit::Number, Unit::EachSecond],
            Self::Sent | Self::Received => &[Unit::Bytes],
            _ if self.has_phase() => &[Unit::Time],
            _ => &[Unit::Number],
        }
    }
}

/// The figure itself, or an end of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Low,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparator {
    /// The longer one first, so that `<=` is not read as `<`.
    pub(super) const SIGNS: [(&'static str, Self); 6] = [
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    pub(super) fn holds(self, value: f64, threshold: f64) -> bool {
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
pub(super) const COUNT: &str = "n";

/// What a threshold is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
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
    pub(super) fn spellings(self) -> &'static [(&'static str, f64)] {
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
