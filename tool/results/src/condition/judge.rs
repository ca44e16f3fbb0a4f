//! A condition against a document.

use reprise_diagnosis::figures::percent_to;
use reprise_model::document::{AnswerDifference, ConditionOutcome, ConditionRecord, Finding};
use reprise_model::{Asked, Nanos};
use serde::Serialize;

use super::path::Path;
use super::quantity::{Bound, Quantity, Unit};
use super::words::Words;
use super::{Condition, Figure};

/// A document that conditions can be held against.
pub trait Judged: Serialize {
    /// Every figure that the words name; none where the document has no such figure.
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value>;
}

/// What came of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionJudgement {
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
#[derive(Clone, Debug)]
pub struct Value {
    of: String,
    /// In the units of thresholds; `None` where it is not known.
    value: Option<f64>,
    shown: String,
}

impl Condition {
    /// Holds the condition against a document.
    pub fn judge(&self, document: &impl Judged) -> ConditionJudgement {
        let values = match &self.figure {
            Figure::Words(words) => document.values(words, self),
            Figure::Path(path) => self.values_at(path, document),
        };
        if values.is_empty() {
            return ConditionJudgement::Unknown(vec![match &self.figure {
                Figure::Words(words) => format!("'{words}' was not measured"),
                Figure::Path(path) => format!("'{path}' is not in the document"),
            }]);
        }
        let unknown: Vec<String> = values.iter().filter(|it| it.value.is_none()).map(|it| it.of.clone()).collect();
        let is_met = |value: &Value| value.value.is_some_and(|value| self.comparator.holds(value, self.threshold));
        let met: Vec<Found> =
            values.into_iter().filter(is_met).map(|value| Found { of: value.of, shown: value.shown }).collect();
        match (met.is_empty(), unknown.is_empty()) {
            (false, _) => ConditionJudgement::Met(met),
            (true, false) => ConditionJudgement::Unknown(unknown),
            (true, true) => ConditionJudgement::NotMet,
        }
    }

    /// Holds the condition against a document, in words.
    pub fn record(&self, document: &impl Judged) -> ConditionRecord {
        let (outcome, because) = match self.judge(document) {
            ConditionJudgement::Met(found) => {
                (ConditionOutcome::Met, found.iter().map(|it| format!("{} is {}", it.of, it.shown)).collect())
            }
            ConditionJudgement::NotMet => (ConditionOutcome::NotMet, Vec::new()),
            ConditionJudgement::Unknown(why) => (ConditionOutcome::Unknown, why),
        };
        ConditionRecord { condition: self.to_string(), outcome, because }
    }

    /// What the document's JSON has at a place. What is true counts as 1, what is false as 0.
    fn values_at(&self, path: &Path, document: &impl Serialize) -> Vec<Value> {
        let document = serde_json::to_value(document).unwrap_or_default();
        let value = |(place, json): (String, &serde_json::Value)| {
            let number = json.as_f64().or_else(|| json.as_bool().map(|it| f64::from(u8::from(it))));
            let why = if number.is_some() { "" } else { " is not a number" };
            let shown = number.map(|number| self.shown(number)).unwrap_or_default();
            Value { of: format!("{place}{why}"), value: number, shown }
        };
        path.find(&document).into_iter().map(value).collect()
    }

    /// The figure or the end of its interval that is to be compared, and how it is shown: always with both.
    pub(super) fn value(&self, of: String, value: Option<f64>, interval: Option<[f64; 2]>, count: &str) -> Value {
        let ends = interval.map(|[low, high]| format!(" ({} to {})", self.shown(low), self.shown(high))).unwrap_or_default();
        let bound = match &self.figure {
            Figure::Words(words) => words.bound,
            Figure::Path(_) => None,
        };
        let compared = match bound {
            None => value,
            Some(Bound::Low) => interval.map(|[low, _]| low),
            Some(Bound::High) => interval.map(|[_, high]| high),
        };
        let shown = value.map(|value| format!("{}{ends}{count}", self.shown(value))).unwrap_or_default();
        let why = match (value, compared) {
            (Some(_), None) => " has no interval",
            (None, _) => " is not known",
            _ => "",
        };
        Value { of: format!("{of}{why}"), value: compared, shown }
    }

    /// A part of a whole: a share of one where the threshold is in per cent, or else a number; unknown of nothing at all.
    pub(super) fn part(&self, of: String, part: u64, all: u64) -> Value {
        self.value(of, self.share(part, all), None, &format!(", {part} of {all}"))
    }

    pub(super) fn share(&self, part: u64, all: u64) -> Option<f64> {
        let whole = if self.unit == Unit::Percent { all as f64 } else { 1.0 };
        (all > 0).then(|| part as f64 / whole)
    }

    /// How many findings are meant. Of what was never connected to, nothing is found.
    pub(super) fn count_of_findings(&self, words: &Words, label: &str, reached: bool, findings: &[Finding]) -> Value {
        let is_meant = |it: &&Finding| {
            words.severity.is_none_or(|wanted| wanted == it.severity)
                && words.confidence.is_none_or(|wanted| wanted == it.confidence)
                && words.finding.is_none_or(|wanted| wanted == it.id)
        };
        let meant: Vec<String> =
            findings.iter().filter(is_meant).map(|it| format!("{} ({})", it.id, it.severity.name())).collect();
        let count = reached.then_some(meant.len() as f64);
        self.value(format!("{label}: {words}"), count, None, &listed(&meant))
    }

    /// How many of these differences are of what the words name. Where nothing resumed was answered, none is known.
    pub(super) fn count_of_differences(
        &self,
        words: &Words,
        label: &str,
        is_known: bool,
        differences: &[AnswerDifference],
    ) -> Value {
        let is_meant = |it: &&AnswerDifference| words.covers(Asked { tls: it.tls, kind: it.kind });
        let meant: Vec<String> =
            differences.iter().filter(is_meant).map(|it| format!("{} {}", it.tls.number(), it.kind)).collect();
        self.value(format!("{label}: {words}"), is_known.then_some(meant.len() as f64), None, &listed(&meant))
    }

    /// How many there are of what the words name.
    pub(super) fn count(&self, words: &Words, meant: &[String]) -> Value {
        self.value(words.to_string(), Some(meant.len() as f64), None, &listed(meant))
    }

    fn shown(&self, value: f64) -> String {
        let (quantity, baseline) = match &self.figure {
            Figure::Words(words) => (Some(words.quantity()), words.baseline),
            Figure::Path(_) => (None, false),
        };
        match (self.unit, quantity) {
            (Unit::Time, _) if value < 0.0 => format!("−{}", Nanos((-value) as u64)),
            (Unit::Time, _) => Nanos(value as u64).to_string(),
            (Unit::Percent, Some(quantity)) if quantity.is_change(baseline) => format!("{:+.1} %", value * 100.0),
            (Unit::Percent, _) => percent_to(1, value),
            (Unit::Bytes, _) => format!("{value:.0} B"),
            (Unit::EachSecond, _) | (_, Some(Quantity::Rate)) => format!("{value:.1}/s"),
            (_, Some(Quantity::Ratio)) => format!("{value:.2}"),
            _ => format!("{value}"),
        }
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
