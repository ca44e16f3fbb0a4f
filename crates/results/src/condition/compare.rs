//! Conditions on a comparison of stacks: `server.openssl.1.3.full > 500us`, `baseline.server.mine.change.low > 5%`.
//!
//! The words of a figure are those of a row: a side or a clock, stacks, version, kind, key, group, `mutual`; then what of it. A figure
//! with one stack is of each row where that side is this stack, one with two of the first as client with the second as server.

use std::fmt;

use reprise_model::document::{
    Change, CompareCase, CompareChange, CompareDocument, CompareInstructionsChange, CompareOver, CompareRatio,
    CompareRatioChange, CompareRow, CompareSide, CompareSkipped,
};
use reprise_model::{Kind, Version};

use crate::compare_baseline::words as words_of_row;

use super::figures::{Value, as_change, listed};
use super::parse::{ConditionError, Cursor, whole};
use super::possible::LEAST;
use super::{Bound, Judgement, Of, Quantity, Test, Which};

/// A condition on a comparison of stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareCondition {
    figure: CompareFigure,
    test: Test,
}

impl fmt::Display for CompareCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.test.text)
    }
}

/// What is about to be compared.
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

/// Which figure of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CompareFigure {
    side: Option<CompareSide>,
    stacks: Vec<String>,
    tls: Option<Version>,
    kind: Option<Which>,
    key: Option<String>,
    group: Option<String>,
    mutual: bool,
    quantity: Option<Quantity>,
    bound: Option<Bound>,
}

/// One row, of whatever list.
struct Place<'a> {
    client: &'a str,
    server: &'a str,
    case: &'a CompareCase,
}

impl CompareCondition {
    /// Reads a condition on what is planned: its words are the names of these stacks, keys and groups.
    ///
    /// # Errors
    /// Where it stops making sense.
    pub fn read(text: &str, planned: &ComparePlanned<'_>) -> Result<Self, ConditionError> {
        let what = |figure: &CompareFigure| (figure.quantity(), figure.bound.unwrap_or(Bound::Value));
        let (figure, test) = whole(text, |cursor| figure(cursor, planned), what)?;
        Ok(Self { figure, test })
    }

    /// Why such a comparison cannot have the figure; `None` where it may.
    pub fn impossible(&self, planned: &ComparePlanned<'_>) -> Option<String> {
        let (figure, quantity) = (&self.figure, self.test.quantity);
        let resumed = |case: &&CompareCase| !quantity.compares_with_full() || case.kind != Kind::Full;
        if !planned.cases.iter().filter(resumed).any(|case| figure.covers_case(case)) {
            return Some("this scenario with these flags excludes it".to_owned());
        }
        if matches!(figure.side, Some(CompareSide::Wall | CompareSide::Ready)) && planned.over == CompareOver::Memory {
            return Some("it needs --over loopback".to_owned());
        }
        if matches!(quantity, Quantity::Instructions | Quantity::InstructionsChange) && !planned.instructions {
            return Some("it needs --instructions".to_owned());
        }
        if figure.bound.is_some() && planned.samples < LEAST {
            return Some(format!("under {LEAST} samples there is no interval: raise --samples"));
        }
        (quantity.is_of_baseline() && !planned.baseline).then(|| "it needs --baseline FILE".to_owned())
    }

    /// Holds the condition against a result.
    pub fn judge(&self, result: &CompareDocument) -> Judgement {
        self.test.judge(self.values(result), &self.figure)
    }

    fn values(&self, result: &CompareDocument) -> Vec<Value> {
        let mut values = match self.test.quantity {
            Quantity::Failed => return vec![self.failed(result)],
            Quantity::Slower | Quantity::Faster => return vec![self.count_of_changes(result)],
            Quantity::Ratio => self.ratios(result),
            Quantity::Change | Quantity::RawChange => self.changes(result),
            Quantity::RatioChange => self.ratio_changes(result),
            Quantity::InstructionsChange => self.instructions_changes(result),
            _ => result.rows.iter().filter_map(|row| self.of_row(row)).collect(),
        };
        values.extend(self.lost(result).filter_map(|it| self.value(Place::of_skipped(it), None, None, "")));
        values
    }

    /// What does not work. What a library never said that it can is not missed.
    fn lost<'a>(&self, result: &'a CompareDocument) -> impl Iterator<Item = &'a CompareSkipped> {
        let figure = &self.figure;
        let skipped = result.skipped.iter().filter(|it| it.outcome != "unsupported");
        skipped.filter(move |it| figure.covers(&Place::of_skipped(it)))
    }

    /// The value of a row that is meant.
    fn value(&self, place: Place<'_>, value: Option<f64>, interval: Option<[f64; 2]>, count: &str) -> Option<Value> {
        let of = || format!("{place}: {} {}", self.figure.side().name(), self.test.quantity.name());
        self.figure.covers(&place).then(|| self.test.value(of(), value, interval, count))
    }

    fn of_row(&self, row: &CompareRow) -> Option<Value> {
        let side = self.figure.side();
        let (value, interval) = match self.test.quantity {
            Quantity::Samples => (Some(row.n as f64), None),
            Quantity::Kinds => (self.test.share(row.kinds.of(row.case.kind), row.kinds.total()), None),
            Quantity::Sent => (Some(row.bytes.sent.0 as f64), None),
            Quantity::Received => (Some(row.bytes.received.0 as f64), None),
            Quantity::Instructions => (row.instructions.and_then(|it| it.of(side)).map(|count| count as f64), None),
            quantity => quantity.of_times(row.of(side)),
        };
        let count = match self.test.quantity {
            Quantity::Kinds => format!(", of {} connections", row.kinds.total()),
            Quantity::Samples | Quantity::Instructions => String::new(),
            _ => format!(", n = {}", row.n),
        };
        self.value(Place { client: &row.client, server: &row.server, case: &row.case }, value, interval, &count)
    }

    /// Whether it is by a resumed handshake against the full one, on the side that is meant.
    fn is_resumption(&self, ratio: &CompareRatio) -> bool {
        ratio.side == self.figure.side() && ratio.from.kind == Kind::Full && ratio.to.kind != Kind::Full
    }

    fn ratios(&self, result: &CompareDocument) -> Vec<Value> {
        let wanted = result.ratios.iter().filter(|it| self.is_resumption(it));
        wanted.filter_map(|it| self.value(Place::of_ratio(it), Some(it.median), it.ci95, "")).collect()
    }

    fn changes(&self, result: &CompareDocument) -> Vec<Value> {
        let changes = result.baseline.iter().flat_map(|it| &it.changes).filter(|it| it.side == self.figure.side());
        let is_raw = self.test.quantity == Quantity::RawChange;
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
            let count = it.after.of(self.figure.side()).zip(it.before.of(self.figure.side()));
            let value = count.map(|(after, before)| after as f64 / before as f64 - 1.0).filter(|it| it.is_finite());
            self.value(Place { client: &it.client, server: &it.server, case: &it.case }, value, None, "")
        };
        changes.filter_map(value).collect()
    }

    fn failed(&self, result: &CompareDocument) -> Value {
        let names: Vec<String> = self.lost(result).map(|it| format!("{} {}", it.client, it.outcome)).collect();
        let all = (result.rows.len() + names.len()) as u64;
        let count = self.test.share(names.len() as u64, all);
        self.test.value(self.figure.to_string(), count, None, &listed(&names))
    }

    /// Of both sides; of what is the sum of both, or a clock's, only where it is named.
    fn count_of_changes(&self, result: &CompareDocument) -> Value {
        let wanted = if self.test.quantity == Quantity::Slower { Change::Slower } else { Change::Faster };
        let is_meant =
            |side| self.figure.side.map_or(matches!(side, CompareSide::Client | CompareSide::Server), |it| it == side);
        let changes = result.baseline.iter().flat_map(|it| &it.changes);
        let changes = changes.filter(|it| is_meant(it.side) && self.figure.covers(&Place::of_change(it)));
        let judged: Vec<_> = changes.filter(|it| it.judged().2 != Change::Unknown).collect();
        let changed = judged.iter().filter(|it| it.judged().2 == wanted);
        let names: Vec<String> = changed.map(|it| format!("{} of {}", it.side.name(), Place::of_change(it))).collect();
        let count = (!judged.is_empty()).then_some(names.len() as f64);
        self.test.value(self.figure.to_string(), count, None, &listed(&names))
    }
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
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words_of_row(self.client, self.server, self.case))
    }
}

impl CompareFigure {
    fn side(&self) -> CompareSide {
        self.side.unwrap_or(CompareSide::Both)
    }

    fn quantity(&self) -> Quantity {
        self.quantity.unwrap_or(Quantity::Median)
    }

    fn covers(&self, place: &Place<'_>) -> bool {
        let is_pair = match self.stacks.as_slice() {
            [] => true,
            [stack] => match self.side() {
                CompareSide::Client => stack == place.client,
                CompareSide::Server => stack == place.server,
                _ => stack == place.client || stack == place.server,
            },
            [client, server, ..] => client == place.client && server == place.server,
        };
        is_pair && self.covers_case(place.case)
    }

    fn covers_case(&self, case: &CompareCase) -> bool {
        self.tls.is_none_or(|tls| tls == case.tls)
            && self.kind.is_none_or(|kind| kind.covers(case.kind))
            && self.key.as_ref().is_none_or(|key| *key == case.key)
            && self.group.as_ref().is_none_or(|group| *group == case.group)
            && (!self.mutual || case.mutual)
    }
}

impl fmt::Display for CompareFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<&str> = Vec::new();
        words.extend(self.quantity().is_of_baseline().then_some("baseline"));
        words.extend(self.side.map(CompareSide::name));
        words.extend(self.stacks.iter().map(String::as_str));
        words.extend(self.tls.map(Version::number));
        words.extend(self.kind.map(Which::name));
        words.extend([self.key.as_deref(), self.group.as_deref()].into_iter().flatten());
        words.extend(self.mutual.then_some("mutual"));
        words.push(self.quantity().name());
        f.write_str(&words.join("."))
    }
}

fn figure(cursor: &mut Cursor<'_>, planned: &ComparePlanned<'_>) -> Result<CompareFigure, ConditionError> {
    let begin = cursor.at;
    let mut figure = CompareFigure::default();
    let mut of_baseline = false;
    loop {
        let at = cursor.at;
        let was_of_baseline = of_baseline;
        let is_second = word(cursor, &mut figure, &mut of_baseline, planned)?;
        if is_second || of_baseline != was_of_baseline && at != begin {
            return Err(cursor.expected_at(at, "one of each at most, two stacks, and baseline first"));
        }
        if !cursor.take(".") {
            break;
        }
    }
    let quantity = match figure.quantity {
        Some(quantity) if of_baseline => quantity.of_baseline(),
        Some(quantity) => quantity,
        None if of_baseline => Quantity::Change,
        None => Quantity::Median,
    };
    figure.quantity = Some(quantity);
    let name = quantity.name();
    let wrong = match (quantity.is_of_baseline(), of_baseline) {
        (true, false) => Some(format!("'baseline.' in front: {name} is against a baseline")),
        (false, true) => {
            Some(format!("change, raw_change, ratio, instructions, slower or faster of the baseline, not {name}"))
        }
        _ if figure.bound.is_some() && !quantity.has_interval() => {
            Some(format!("low and high after median, ratio or change: {name} has no interval"))
        }
        _ if quantity.compares_with_full() && figure.kind == Some(Which::Kind(Kind::Full)) => {
            Some(format!("a resumed kind: {name} is against full"))
        }
        _ => None,
    };
    wrong.map_or(Ok(figure), |expected| Err(cursor.expected_at(begin, expected)))
}

/// Reads one word: whether the figure has such a one already.
fn word(
    cursor: &mut Cursor<'_>,
    figure: &mut CompareFigure,
    of_baseline: &mut bool,
    planned: &ComparePlanned<'_>,
) -> Result<bool, ConditionError> {
    // A stack's name may have a dot in it. Where it is a word of the language, that is meant.
    let is_stack = |stack: &&String| cursor.begins_with_word(stack) && !is_word(stack);
    let mut stacks: Vec<&String> = planned.stacks.iter().filter(is_stack).collect();
    stacks.sort_by_key(|stack| std::cmp::Reverse(stack.len()));
    if let Some(stack) = stacks.first() {
        cursor.take(stack);
        figure.stacks.push((*stack).clone());
        return Ok(figure.stacks.len() > 2);
    }
    for version in [Version::Tls12, Version::Tls13] {
        if cursor.take(version.number()) {
            return Ok(figure.tls.replace(version).is_some());
        }
    }
    let begin = cursor.at;
    let name = cursor.take_while(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    let has = |of: fn(&CompareCase) -> &String| planned.cases.iter().any(|case| of(case) == name);
    Ok(match name {
        "baseline" => std::mem::replace(of_baseline, true),
        "mutual" => std::mem::replace(&mut figure.mutual, true),
        "low" => figure.bound.replace(Bound::Low).is_some(),
        "high" => figure.bound.replace(Bound::High).is_some(),
        _ => match (side(name), Which::named(name), Quantity::named(name, Of::Comparison)) {
            (Some(side), _, _) => figure.side.replace(side).is_some(),
            (_, Some(kind), _) => figure.kind.replace(kind).is_some(),
            (_, _, Some(quantity)) => figure.quantity.replace(quantity).is_some(),
            _ if has(|case| &case.key) => figure.key.replace(name.to_owned()).is_some(),
            _ if has(|case| &case.group) => figure.group.replace(name.to_owned()).is_some(),
            _ => return Err(cursor.expected_at(begin, words(planned))),
        },
    })
}

fn side(name: &str) -> Option<CompareSide> {
    CompareSide::ALL.into_iter().find(|side| side.name() == name)
}

fn is_word(name: &str) -> bool {
    ["baseline", "mutual", "low", "high"].contains(&name)
        || side(name).is_some()
        || Which::named(name).is_some()
        || Quantity::named(name, Of::Comparison).is_some()
}

fn words(planned: &ComparePlanned<'_>) -> String {
    let of = |name: fn(&CompareCase) -> &String| {
        let mut names: Vec<&str> = planned.cases.iter().map(|case| name(case).as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    };
    // p50 is the median by another name.
    let quantities = Quantity::names(Of::Comparison).map(|(name, _)| name).filter(|name| *name != "p50");
    format!(
        "a side or clock ({}), a stack ({}), a version (1.2, 1.3), a kind ({}, resumed), a key ({}), a group ({}), mutual, or a \
         figure ({}, low, high)",
        CompareSide::ALL.map(CompareSide::name).join(", "),
        planned.stacks.join(", "),
        Kind::ALL.map(|kind| kind.name()).join(", "),
        of(|case| &case.key),
        of(|case| &case.group),
        quantities.collect::<Vec<_>>().join(", "),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn case(tls: Version, kind: Kind) -> CompareCase {
        CompareCase {
            tls,
            kind,
            key: "p-256".to_owned(),
            group: "x25519".to_owned(),
            cipher: "TLS_AES_128_GCM_SHA256".to_owned(),
            mutual: false,
            psk_mode: None,
            request: 0,
        }
    }

    fn with_planned<T>(work: impl FnOnce(&ComparePlanned<'_>) -> T) -> T {
        let stacks = ["openssl-3", "openssl-3.5", "mine", "full"].map(str::to_owned);
        let cases = [case(Version::Tls12, Kind::Id), case(Version::Tls13, Kind::Full)];
        work(&ComparePlanned {
            stacks: &stacks,
            cases: &cases,
            over: CompareOver::Loopback,
            samples: 30,
            instructions: true,
            baseline: true,
        })
    }

    fn read(text: &str) -> Result<CompareCondition, ConditionError> {
        with_planned(|planned| CompareCondition::read(text, planned))
    }

    #[track_caller]
    fn figure_of(text: &str) -> CompareFigure {
        read(text).unwrap_or_else(|error| panic!("{text}: {error}")).figure
    }

    #[test]
    fn a_stack_is_known_by_its_whole_name() {
        assert_eq!(figure_of("server.openssl-3.5.1.3.full > 1ms").stacks, ["openssl-3.5"]);
        assert_eq!(figure_of("server.openssl-3.1.3 > 1ms").stacks, ["openssl-3"]);
        assert_eq!(figure_of("server.openssl-3.1.3 > 1ms").tls, Some(Version::Tls13));
        assert_eq!(figure_of("mine.openssl-3.p99 > 1ms").stacks, ["mine", "openssl-3"]);
    }

    #[test]
    fn words_stand_in_any_order() {
        let one = figure_of("baseline.server.mine.1.3.p-256.x25519.change.low > 5%");
        assert_eq!(one, figure_of("baseline.x25519.change.1.3.low.p-256.mine.server > 5%"));
        assert_eq!(one.quantity, Some(Quantity::Change));
        assert_eq!(figure_of("baseline.wall.mine > 5%").quantity, Some(Quantity::Change));
        assert_eq!(figure_of("baseline.instructions > 2%").quantity, Some(Quantity::InstructionsChange));
    }

    #[test]
    fn an_error_points_at_the_place() {
        for (text, column, expected) in [
            ("", 1, "a side or clock"),
            ("server.mime > 1ms", 8, "a stack (openssl-3, openssl-3.5, mine, full)"),
            ("mine.mine.mine > 1ms", 11, "two stacks"),
            ("server.baseline > 5%", 8, "baseline first"),
            ("server.change > 5%", 1, "'baseline.' in front"),
            ("baseline.median > 5ms", 1, "of the baseline, not median"),
            ("n.low > 5", 1, "n has no interval"),
            ("instructions > 5ms", 17, "no unit"),
            ("server.mine", 12, "one of < <="),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("column {column}: expected ")), "{text}: {error}");
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            let _ = read(&text);
        }

        /// Texts that come near: of the language's own words.
        #[test]
        fn any_words_are_read_or_refused(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "1.2", "1.3", "server", "wall", "mine", "openssl-3.5", "id", "resumed", "ratio", "p99", "change", "baseline",
                    "slower", "kinds", "failed", "low", "mutual", "p-256", ".", ".", ".", " ", "<", ">=", "5", "ms", "%", "x",
                ]),
                0..12,
            ),
        ) {
            let text = words.concat();
            if let Ok(condition) = read(&text) {
                prop_assert_eq!(read(&condition.to_string()), Ok(condition));
            }
        }
    }
}
