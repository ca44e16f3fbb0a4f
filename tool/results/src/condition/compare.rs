//! Conditions on a comparison of stacks: `server.openssl.1.3.full > 500us`, `baseline.server.mine.change.low > 5%`.
//!
//! The words of a figure are those of a row: a side or a clock, stacks, version, kind, key, group, `mutual`; then what of it. A figure
//! with one stack is of each row where that side is this stack, one with two of the first as client with the second as server.

use std::fmt;

use reprise_model::Kind;
use reprise_model::document::{
    Change, CompareCase, CompareChange, CompareDocument, CompareInstructionsChange, CompareOver, CompareRatio,
    CompareRatioChange, CompareRow, CompareSide, CompareSkipped,
};

use super::judge::{Judged, Value, as_change, listed};
use super::measure::LEAST;
use super::quantity::Quantity;
use super::words::Words;
use super::{Condition, ConditionSubject, PlannedFigures};
use crate::compare_baseline::words as words_of_row;

/// A comparison that is about to be made.
#[derive(Clone, Debug)]
pub struct ComparePlanned<'a> {
    /// The names of the stacks.
    pub stacks: &'a [String],
    /// The handshakes.
    pub cases: &'a [CompareCase],
    /// What connections are made over.
    pub over: CompareOver,
    /// Samples of each row.
    pub samples: u32,
    /// Whether instructions are counted.
    pub instructions: bool,
    /// Whether there is an earlier result.
    pub baseline: bool,
}

impl PlannedFigures for ComparePlanned<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        ConditionSubject::Comparison { stacks: self.stacks, cases: self.cases }
    }

    fn excludes(&self, figure: &Words) -> Option<String> {
        let quantity = figure.quantity();
        let resumed = |case: &&CompareCase| !quantity.compares_with_full() || case.kind != Kind::Full;
        if !self.cases.iter().filter(resumed).any(|case| figure.covers_case(case)) {
            return Some("this scenario with these flags excludes it".to_owned());
        }
        if matches!(figure.side, Some(CompareSide::Wall | CompareSide::Ready)) && self.over == CompareOver::Memory {
            return Some("it needs --over loopback".to_owned());
        }
        if quantity == Quantity::Instructions && !self.instructions {
            return Some("it needs --instructions".to_owned());
        }
        if figure.bound.is_some() && self.samples < LEAST {
            return Some(format!("under {LEAST} samples there is no interval: raise --samples"));
        }
        (figure.baseline && !self.baseline).then(|| "it needs --baseline FILE".to_owned())
    }
}

impl Judged for CompareDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        let asked = Question { words, condition };
        let mut values = match words.quantity() {
            Quantity::Failed => return vec![asked.failed(self)],
            Quantity::Slower | Quantity::Faster => return vec![asked.count_of_changes(self)],
            Quantity::Ratio if words.baseline => asked.ratio_changes(self),
            Quantity::Ratio => asked.ratios(self),
            Quantity::Change | Quantity::RawChange => asked.changes(self),
            Quantity::Instructions if words.baseline => asked.instructions_changes(self),
            _ => self.rows.iter().filter_map(|row| asked.of_row(row)).collect(),
        };
        values.extend(asked.lost(self).filter_map(|it| asked.value(Place::of_skipped(it), None, None, "")));
        values
    }
}

/// What is asked of a comparison.
struct Question<'a> {
    words: &'a Words,
    condition: &'a Condition,
}

impl Question<'_> {
    /// What does not work. What a library never said that it can is not missed.
    fn lost<'a>(&self, result: &'a CompareDocument) -> impl Iterator<Item = &'a CompareSkipped> {
        let skipped = result.skipped.iter().filter(|it| it.outcome != "unsupported");
        skipped.filter(move |it| Place::of_skipped(it).is_meant(self.words))
    }

    /// The value of a row that is meant.
    fn value(&self, place: Place<'_>, value: Option<f64>, interval: Option<[f64; 2]>, count: &str) -> Option<Value> {
        let of = || format!("{place}: {} {}", self.words.side().name(), self.words.quantity().name());
        place.is_meant(self.words).then(|| self.condition.value(of(), value, interval, count))
    }

    fn of_row(&self, row: &CompareRow) -> Option<Value> {
        let side = self.words.side();
        let (value, interval) = match self.words.quantity() {
            Quantity::Samples => (Some(row.n as f64), None),
            Quantity::Kinds => (self.condition.share(row.kinds.of(row.case.kind), row.kinds.total()), None),
            Quantity::Sent => (Some(row.bytes.sent.0 as f64), None),
            Quantity::Received => (Some(row.bytes.received.0 as f64), None),
            Quantity::Instructions => (row.instructions.and_then(|it| it.of(side)).map(|count| count as f64), None),
            quantity => quantity.of_times(row.of(side)),
        };
        let count = match self.words.quantity() {
            Quantity::Kinds => format!(", of {} connections", row.kinds.total()),
            Quantity::Samples | Quantity::Instructions => String::new(),
            _ => format!(", n = {}", row.n),
        };
        self.value(Place { client: &row.client, server: &row.server, case: &row.case }, value, interval, &count)
    }

    /// Whether it is by a resumed handshake against the full one, on the side that is meant.
    fn is_resumption(&self, ratio: &CompareRatio) -> bool {
        ratio.side == self.words.side() && ratio.from.kind == Kind::Full && ratio.to.kind != Kind::Full
    }

    fn ratios(&self, result: &CompareDocument) -> Vec<Value> {
        let wanted = result.ratios.iter().filter(|it| self.is_resumption(it));
        wanted.filter_map(|it| self.value(Place::of_ratio(it), Some(it.median), it.ci95, "")).collect()
    }

    fn changes(&self, result: &CompareDocument) -> Vec<Value> {
        let changes = result.baseline.iter().flat_map(|it| &it.changes).filter(|it| it.side == self.words.side());
        let is_raw = self.words.quantity() == Quantity::RawChange;
        let value = |it: &CompareChange| {
            let (ratio, ci95, _) = it.judged();
            let (ratio, ci95) = if is_raw { (it.ratio, it.ci95) } else { (ratio, ci95) };
            let beside = it.own.as_ref().filter(|_| !is_raw).map(|own| format!(" beside {}", own.beside));
            let (value, interval) = as_change(Some(ratio), ci95);
            self.value(Place::of_change(it), value, interval, &beside.unwrap_or_default())
        };
        changes.filter_map(value).collect()
    }

    fn ratio_changes(&self, result: &CompareDocument) -> Vec<Value> {
        let changes = result.baseline.iter().flat_map(|it| &it.ratios).filter(|it| self.is_resumption(&it.now));
        let value = |it: &CompareRatioChange| {
            let (value, interval) = as_change(Some(it.ratio), it.ci95);
            self.value(Place::of_ratio(&it.now), value, interval, "")
        };
        changes.filter_map(value).collect()
    }

    fn instructions_changes(&self, result: &CompareDocument) -> Vec<Value> {
        let changes = result.baseline.iter().flat_map(|it| &it.instructions);
        let value = |it: &CompareInstructionsChange| {
            let count = it.after.of(self.words.side()).zip(it.before.of(self.words.side()));
            let value = count.map(|(after, before)| after as f64 / before as f64 - 1.0).filter(|it| it.is_finite());
            self.value(Place { client: &it.client, server: &it.server, case: &it.case }, value, None, "")
        };
        changes.filter_map(value).collect()
    }

    fn failed(&self, result: &CompareDocument) -> Value {
        let names: Vec<String> = self.lost(result).map(|it| format!("{} {}", it.client, it.outcome)).collect();
        let all = (result.rows.len() + names.len()) as u64;
        let count = self.condition.share(names.len() as u64, all);
        self.condition.value(self.words.to_string(), count, None, &listed(&names))
    }

    /// Of both sides; of what is the sum of both, or a clock's, only where it is named.
    fn count_of_changes(&self, result: &CompareDocument) -> Value {
        let wanted = if self.words.quantity() == Quantity::Slower { Change::Slower } else { Change::Faster };
        let is_meant =
            |side| self.words.side.map_or(matches!(side, CompareSide::Client | CompareSide::Server), |it| it == side);
        let changes = result.baseline.iter().flat_map(|it| &it.changes);
        let changes = changes.filter(|it| is_meant(it.side) && Place::of_change(it).is_meant(self.words));
        let judged: Vec<_> = changes.filter(|it| it.judged().2 != Change::Unknown).collect();
        let changed = judged.iter().filter(|it| it.judged().2 == wanted);
        let names: Vec<String> = changed.map(|it| format!("{} of {}", it.side.name(), Place::of_change(it))).collect();
        let count = (!judged.is_empty()).then_some(names.len() as f64);
        self.condition.value(self.words.to_string(), count, None, &listed(&names))
    }
}

/// One row, of whatever list.
struct Place<'a> {
    client: &'a str,
    server: &'a str,
    case: &'a CompareCase,
}

impl<'a> Place<'a> {
    fn of_skipped(skipped: &'a CompareSkipped) -> Self {
        Self { client: &skipped.client, server: &skipped.server, case: &skipped.case }
    }

    fn of_ratio(ratio: &'a CompareRatio) -> Self {
        Self { client: &ratio.client, server: &ratio.server, case: &ratio.to }
    }

    fn of_change(change: &'a CompareChange) -> Self {
        Self { client: &change.client, server: &change.server, case: &change.case }
    }

    fn is_meant(&self, words: &Words) -> bool {
        let is_pair = match words.stacks.as_slice() {
            [] => true,
            [stack] => match words.side() {
                CompareSide::Client => stack == self.client,
                CompareSide::Server => stack == self.server,
                _ => stack == self.client || stack == self.server,
            },
            [client, server, ..] => client == self.client && server == self.server,
        };
        is_pair && words.covers_case(self.case)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words_of_row(self.client, self.server, self.case))
    }
}
