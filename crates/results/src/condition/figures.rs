//! A condition against what was measured.

use reprise_model::document::{
    Change, Confidence, Finding, MeasureDocument, PhaseChange, Ratio, RatioChange, Run, Severity,
};
use reprise_model::{Asked, Kind, Nanos, Phase};

use crate::baseline::beyond_chance;
use reprise_diagnosis::figures::percent_to;

use super::{Bound, Condition, Findings, MeasureFigure, Quantity, Test, Unit};

/// What came of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// Figures meet it: these.
    Met(Vec<Found>),
    /// There are such figures, and none meets it.
    NotMet,
    /// It cannot be told, each reason in words: what was to be looked at is not there. Never good news for a gate.
    Unknown(Vec<String>),
}

/// A figure that meets a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Of what: `https://localhost:8443/: 1.3 ticket tls p99`.
    pub of: String,
    /// The figure, its interval, and how many samples are behind it: `21.40 ms (20.90 ms to 22.00 ms), n = 100`.
    pub shown: String,
}

/// One figure that a condition is about.
pub(super) struct Value {
    of: String,
    /// In the units of thresholds; `None` where it is not known.
    value: Option<f64>,
    shown: String,
}

impl Test {
    /// What comes of it, of all values that it is about.
    pub(super) fn judge(&self, values: Vec<Value>, figure: &dyn std::fmt::Display) -> Judgement {
        if values.is_empty() {
            return Judgement::Unknown(vec![format!("'{figure}' was not measured")]);
        }
        let unknown: Vec<String> = values.iter().filter(|it| it.value.is_none()).map(|it| it.of.clone()).collect();
        let is_met = |value: &Value| value.value.is_some_and(|value| self.comparator.holds(value, self.threshold));
        let met: Vec<Found> =
            values.into_iter().filter(is_met).map(|value| Found { of: value.of, shown: value.shown }).collect();
        match (met.is_empty(), unknown.is_empty()) {
            (false, _) => Judgement::Met(met),
            (true, false) => Judgement::Unknown(unknown),
            (true, true) => Judgement::NotMet,
        }
    }

    /// The figure or the end of its interval that is to be compared, and how it is shown: always with both.
    pub(super) fn value(&self, of: String, value: Option<f64>, interval: Option<[f64; 2]>, count: &str) -> Value {
        let show = |value: f64| shown(value, self.unit, self.quantity);
        let ends = interval.map(|[low, high]| format!(" ({} to {})", show(low), show(high))).unwrap_or_default();
        let compared = match self.bound {
            Bound::Value => value,
            Bound::Low => interval.map(|[low, _]| low),
            Bound::High => interval.map(|[_, high]| high),
        };
        let shown = value.map(|value| format!("{}{ends}{count}", show(value))).unwrap_or_default();
        let why = match (value, compared) {
            (Some(_), None) => " has no interval",
            (None, _) => " is not known",
            _ => "",
        };
        Value { of: format!("{of}{why}"), value: compared, shown }
    }

    /// As a share of one where the threshold is in per cent, or else as a number; unknown of nothing at all.
    pub(super) fn share(&self, part: u64, all: u64) -> Option<f64> {
        let whole = if self.unit == Unit::Percent { all as f64 } else { 1.0 };
        (all > 0).then(|| part as f64 / whole)
    }
}

impl Condition {
    /// Holds the condition against results: of one target, or of all servers of the lab.
    pub fn judge(&self, results: &[MeasureDocument]) -> Judgement {
        let values: Vec<Value> = results.iter().flat_map(|result| self.values(result)).collect();
        self.test.judge(values, &self.figure)
    }

    fn values(&self, result: &MeasureDocument) -> Vec<Value> {
        let figure = self.figure;
        let all = figure.tls.is_none() && figure.kind.is_none();
        match figure.quantity {
            Quantity::Failed if all => vec![self.failed_of_all(result)],
            Quantity::Slower | Quantity::Faster | Quantity::Differences => vec![self.count_of_changes(result)],
            Quantity::Findings => vec![self.count_of_findings(&result.label, !result.runs.is_empty(), &result.findings)],
            Quantity::ServerCpu | Quantity::ServerCpuChange => vec![self.server_cpu(result)],
            _ => {
                let runs = result.runs.iter().filter(|run| figure.covers(run.asked));
                runs.map(|run| self.of_run(result, run)).collect()
            }
        }
    }

    fn of_run(&self, result: &MeasureDocument, run: &Run) -> Value {
        let figure = self.figure;
        let statistics = figure.phase.and_then(|phase| run.phases.get(&phase));
        let ratio = || {
            let wanted = |it: &&Ratio| (Some(it.phase), it.tls, it.to) == (figure.phase, run.asked.tls, run.asked.kind);
            result.ratios.iter().filter(|it| it.from == Kind::Full).find(wanted)
        };
        let all = run.observed.kinds.total() + run.failed;
        let (value, interval) = match figure.quantity {
            Quantity::Ratio => (ratio().map(|it| it.median), ratio().and_then(|it| it.ci95)),
            Quantity::Saved => (ratio().map(|it| it.saved_ns as f64), None),
            Quantity::Change => {
                let change = self.change(result, run.asked);
                let (ratio, ci95, _) = change.map_or((None, None, Change::Unknown), PhaseChange::judged);
                as_change(ratio, ci95)
            }
            Quantity::RawChange => {
                let change = self.change(result, run.asked);
                as_change(change.and_then(|it| it.ratio), change.and_then(|it| it.ci95))
            }
            Quantity::RatioChange => {
                let change = self.ratio_change(result, run.asked);
                as_change(change.and_then(|it| it.ratio), change.and_then(|it| it.ci95))
            }
            Quantity::Samples => (Some(run.n as f64), None),
            Quantity::Kinds => (self.test.share(run.n, all), None),
            Quantity::Failed => (self.test.share(run.failed, all), None),
            Quantity::Sent => (run.bytes.map(|bytes| bytes.sent.0 as f64), None),
            Quantity::Received => (run.bytes.map(|bytes| bytes.received.0 as f64), None),
            Quantity::RoundTrips => (run.round_trips.map(|count| count as f64), None),
            quantity => quantity.of_times(statistics),
        };
        let count = match figure.quantity {
            Quantity::Kinds => format!(", {} of {all}", run.n),
            Quantity::Failed => format!(", {} of {all}", run.failed),
            Quantity::Samples => String::new(),
            _ => format!(", n = {}", run.n),
        };
        let of = format!("{}: {}", result.label, figure.name_for(run.asked));
        self.test.value(of, value, interval, &count)
    }

    fn failed_of_all(&self, result: &MeasureDocument) -> Value {
        let all = result.all_connections;
        let total = all.total();
        let of = format!("{}: failed", result.label);
        self.test.value(of, self.test.share(all.failed, total), None, &format!(", {} of {total}", all.failed))
    }

    fn server_cpu(&self, result: &MeasureDocument) -> Value {
        let of = format!("{}: {}", result.label, self.figure);
        let count = result.server_cpu.map(|it| format!(", {} connections", it.connections)).unwrap_or_default();
        let (value, interval) = match self.figure.quantity {
            Quantity::ServerCpu => (result.server_cpu.map(|it| it.per_connection_ns as f64), None),
            _ => {
                let change = result.baseline.as_ref().and_then(|it| it.server_cpu);
                as_change(change.map(|it| it.ratio), change.and_then(|it| it.ci95))
            }
        };
        self.test.value(of, value, interval, &count)
    }

    fn count_of_changes(&self, result: &MeasureDocument) -> Value {
        let figure = self.figure;
        let of = format!("{}: {figure}", result.label);
        let Some(baseline) = result.baseline.as_ref().filter(|it| it.provenance.is_some()) else {
            return self.test.value(of, None, None, "");
        };
        let covers = |tls, kind| figure.covers(Asked { tls, kind });
        // Connecting and what comes before it are the machine's and the network's, and count only where they are named.
        let of_phase = |it: &PhaseChange| figure.phase.map_or(it.phase.is_after_connecting(), |wanted| wanted == it.phase);
        let wanted = if figure.quantity == Quantity::Slower { Change::Slower } else { Change::Faster };
        let compared: Vec<&PhaseChange> =
            baseline.phases.iter().filter(|it| covers(it.tls, it.kind) && of_phase(it)).collect();
        let (count, names) = if figure.quantity == Quantity::Differences {
            let differences = baseline.differences.iter();
            let here: Vec<String> = differences
                .filter(|it| it.tls.zip(it.kind).is_none_or(|(tls, kind)| covers(tls, kind)))
                .map(|it| {
                    let words = [it.tls.map(|it| it.number()), it.kind.map(|it| it.name()), Some(&*it.what)];
                    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
                })
                .collect();
            (Some(here.len()), here)
        } else {
            let changed = compared
                .iter()
                .zip(beyond_chance(&compared))
                .filter(|(it, is_beyond)| *is_beyond && it.judged().2 == wanted);
            let names: Vec<String> =
                changed.map(|(it, _)| format!("{} {} {}", it.tls.number(), it.kind, it.phase)).collect();
            // Of nothing that was compared, nothing can be said.
            (compared.iter().any(|it| it.judged().2 != Change::Unknown).then_some(names.len()), names)
        };
        self.test.value(of, count.map(|count| count as f64), None, &listed(&names))
    }

    /// Of what was never connected to, nothing is found.
    pub(super) fn count_of_findings(&self, label: &str, reached: bool, findings: &[Finding]) -> Value {
        let Findings { severity, confidence, id } = self.figure.findings;
        let is_meant = |it: &&Finding| {
            severity.is_none_or(|wanted| wanted == it.severity)
                && confidence.is_none_or(|wanted| wanted == it.confidence)
                && id.is_none_or(|wanted| wanted == it.id)
        };
        let meant: Vec<String> =
            findings.iter().filter(is_meant).map(|it| format!("{} ({})", it.id, it.severity.name())).collect();
        let count = reached.then_some(meant.len() as f64);
        self.test.value(format!("{label}: {}", self.figure), count, None, &listed(&meant))
    }

    fn change<'a>(&self, result: &'a MeasureDocument, asked: Asked) -> Option<&'a PhaseChange> {
        let changes = &result.baseline.as_ref()?.phases;
        changes.iter().find(|it| (it.tls, it.kind, Some(it.phase)) == (asked.tls, asked.kind, self.figure.phase))
    }

    fn ratio_change<'a>(&self, result: &'a MeasureDocument, asked: Asked) -> Option<&'a RatioChange> {
        let changes = &result.baseline.as_ref()?.ratios;
        changes.iter().find(|it| (it.tls, it.kind, Some(it.phase)) == (asked.tls, asked.kind, self.figure.phase))
    }
}

impl MeasureFigure {
    /// Whether a run is meant.
    pub(super) fn covers(&self, asked: Asked) -> bool {
        let with_full = self.quantity.compares_with_full() && asked.kind == Kind::Full;
        self.tls.is_none_or(|tls| tls == asked.tls) && self.kind.is_none_or(|kind| kind.covers(asked.kind)) && !with_full
    }

    pub(super) fn name_for(&self, asked: Asked) -> String {
        let phase = self.phase.map(|phase| format!("{phase} ")).unwrap_or_default();
        format!("{} {} {phase}{}", asked.tls.number(), asked.kind, self.quantity.name())
    }
}

impl std::fmt::Display for MeasureFigure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let baseline = self.quantity.is_of_baseline().then_some("baseline");
        let (tls, kind) = (self.tls.map(|it| it.number()), self.kind.map(|it| it.name()));
        let of_findings =
            [self.findings.severity.map(Severity::name), self.findings.confidence.map(Confidence::name), self.findings.id];
        let words = [baseline, tls, kind, self.phase.map(Phase::name), Some(self.quantity.name())];
        f.write_str(&words.into_iter().chain(of_findings).flatten().collect::<Vec<_>>().join("."))
    }
}

/// How much is above no change at all, and the ends of its interval.
pub(super) fn as_change(ratio: Option<f64>, ci95: Option<[f64; 2]>) -> (Option<f64>, Option<[f64; 2]>) {
    (ratio.map(|it| it - 1.0), ci95.map(|it| it.map(|end| end - 1.0)))
}

/// What is counted, to stand after its count.
pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

fn shown(value: f64, unit: Unit, quantity: Quantity) -> String {
    match (unit, quantity) {
        (Unit::Time, _) if value < 0.0 => format!("−{}", Nanos((-value) as u64)),
        (Unit::Time, _) => Nanos(value as u64).to_string(),
        (Unit::Percent, _) if quantity.is_relative_change() => format!("{:+.1} %", value * 100.0),
        (Unit::Percent, _) => percent_to(1, value),
        (Unit::Bytes, _) => format!("{value:.0} B"),
        (Unit::EachSecond, _) | (_, Quantity::Rate) => format!("{value:.1}/s"),
        (_, Quantity::Ratio) => format!("{value:.2}"),
        _ => format!("{value}"),
    }
}
