//! From text to a condition, by recursive descent. An error points at the place and says what was expected there.

use std::fmt;
use std::str::FromStr;

use reprise_model::document::{Confidence, Severity};
use reprise_model::{Kind, Phase, Version};

use super::{Bound, COUNT, Comparator, Condition, Findings, MeasureFigure, Of, Quantity, Test, Unit, Which};
use reprise_diagnosis::cause;

/// Where a condition stops making sense, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    /// In characters, from 0.
    column: usize,
    expected: String,
}

impl ConditionError {
    /// Of a condition that makes sense, and not where it stands.
    pub(super) fn at_the_beginning(text: &str, expected: &str) -> Self {
        Self { text: text.to_owned(), column: 0, expected: expected.to_owned() }
    }
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.text.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect();
        write!(f, "column {}: expected {}\n  {shown}\n  {}^", self.column + 1, self.expected, " ".repeat(self.column))
    }
}

impl std::error::Error for ConditionError {}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let (figure, test) = whole(text, figure, |figure| (figure.quantity, figure.bound))?;
        Ok(Self { figure, test })
    }
}

/// A whole condition, whatever its figures are called: `figure` reads one, of which `what` is compared.
pub(super) fn whole<F>(
    text: &str,
    figure: impl FnOnce(&mut Cursor<'_>) -> Result<F, ConditionError>,
    what: impl FnOnce(&F) -> (Quantity, Bound),
) -> Result<(F, Test), ConditionError> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    let figure = figure(&mut cursor)?;
    cursor.skip_spaces();
    let (quantity, bound) = what(&figure);
    if quantity == Quantity::Findings && cursor.rest().is_empty() {
        let (comparator, unit) = (Comparator::Greater, Unit::Number);
        return Ok((figure, Test { text: text.trim().to_owned(), quantity, bound, comparator, threshold: 0.0, unit }));
    }
    let comparator = comparator(&mut cursor)?;
    cursor.skip_spaces();
    let (threshold, unit) = threshold(&mut cursor, quantity)?;
    cursor.skip_spaces();
    if !cursor.rest().is_empty() {
        return Err(cursor.expected("the end: one condition for each --fail-if"));
    }
    Ok((figure, Test { text: text.trim().to_owned(), quantity, bound, comparator, threshold, unit }))
}

/// The text and how much of it is read, in bytes.
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether this comes next, as a whole word.
    pub(super) fn begins_with_word(&self, word: &str) -> bool {
        let belongs = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        self.rest().strip_prefix(word).is_some_and(|after| !after.starts_with(belongs))
    }

    /// Reads while `belongs` holds.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|it| !belongs(it)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Reads `token` if it comes next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let comes_next = self.rest().starts_with(token);
        self.at += if comes_next { token.len() } else { 0 };
        comes_next
    }

    pub(super) fn expected(&self, expected: impl Into<String>) -> ConditionError {
        self.expected_at(self.at, expected)
    }

    pub(super) fn expected_at(&self, at: usize, expected: impl Into<String>) -> ConditionError {
        let column = self.text.get(..at).unwrap_or(self.text).chars().count();
        ConditionError { text: self.text.to_owned(), column, expected: expected.into() }
    }
}

/// One word between dots.
#[derive(Clone, Copy)]
enum Word {
    Baseline,
    /// `bytes` before `sent` and `received`, as in the document.
    Bytes,
    Tls(Version),
    Kind(Which),
    Phase(Phase),
    Quantity(Quantity),
    Bound(Bound),
    /// What findings may be.
    Severity(Severity),
    Confidence(Confidence),
    /// One of them, by its name.
    Finding(&'static str),
}

fn word(cursor: &mut Cursor<'_>) -> Result<Word, ConditionError> {
    for version in [Version::Tls12, Version::Tls13] {
        if cursor.take(version.number()) {
            return Ok(Word::Tls(version));
        }
    }
    let begin = cursor.at;
    let name = cursor.take_while(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    let phase = || Phase::ALL.into_iter().find(|phase| phase.name() == name).map(Word::Phase);
    let quantity = || Quantity::named(name, Of::Measurement).map(Word::Quantity);
    let other = || match name {
        "baseline" => Some(Word::Baseline),
        "bytes" => Some(Word::Bytes),
        "low" => Some(Word::Bound(Bound::Low)),
        "high" => Some(Word::Bound(Bound::High)),
        "finding" => Some(Word::Quantity(Quantity::Findings)),
        _ => finding_word(name),
    };
    let known = Which::named(name).map(Word::Kind).or_else(phase).or_else(quantity);
    known.or_else(other).ok_or_else(|| cursor.expected_at(begin, words()))
}

/// What may follow `findings`.
fn finding_word(name: &str) -> Option<Word> {
    let severity = Severity::ALL.into_iter().find(|it| it.name() == name).map(Word::Severity);
    let confidence = || Confidence::ALL.into_iter().find(|it| it.name() == name).map(Word::Confidence);
    severity.or_else(confidence).or_else(|| cause(name).map(|cause| Word::Finding(cause.slug)))
}

fn words() -> String {
    let list = |names: &mut dyn Iterator<Item = &'static str>| names.collect::<Vec<_>>().join(", ");
    format!(
        "a version (1.2, 1.3), a kind ({}, resumed), a phase ({}) or a figure ({}, low, high); after findings a severity ({}), a \
         confidence ({}) or the name of a finding, 'findings.not-offered'",
        list(&mut Kind::ALL.iter().map(|kind| kind.name())),
        list(&mut Phase::ALL.iter().map(|phase| phase.name())),
        list(&mut Quantity::names(Of::Measurement).map(|(name, _)| name)),
        Severity::ALL.map(Severity::name).join(", "),
        Confidence::ALL.map(Confidence::name).join(", "),
    )
}

fn figure(cursor: &mut Cursor<'_>) -> Result<MeasureFigure, ConditionError> {
    let begin = cursor.at;
    let (mut tls, mut kind, mut phase, mut quantity, mut bound) = (None, None, None, None, None);
    let (mut of_baseline, mut of_bytes, mut findings) = (false, false, Findings::default());
    loop {
        let at = cursor.at;
        let is_second = match word(cursor)? {
            Word::Baseline => std::mem::replace(&mut of_baseline, true) || at != begin,
            Word::Bytes => std::mem::replace(&mut of_bytes, true),
            Word::Tls(version) => tls.replace(version).is_some(),
            Word::Kind(which) => kind.replace(which).is_some(),
            Word::Phase(named) => phase.replace(named).is_some(),
            Word::Quantity(named) => quantity.replace(named).is_some(),
            Word::Bound(end) => bound.replace(end).is_some(),
            Word::Severity(named) => findings.severity.replace(named).is_some(),
            Word::Confidence(named) => findings.confidence.replace(named).is_some(),
            Word::Finding(named) => findings.id.replace(named).is_some(),
        };
        if is_second {
            return Err(cursor.expected_at(at, "one of each at most: a version, a kind, a phase, a figure; baseline first"));
        }
        if !cursor.take(".") {
            break;
        }
    }
    let quantity = match (quantity, phase) {
        (Some(quantity), _) if of_baseline => quantity.of_baseline(),
        (Some(quantity), _) => quantity,
        (None, Some(_)) if of_baseline => Quantity::Change,
        (None, Some(_)) => Quantity::Median,
        (None, None) if findings != Findings::default() => {
            return Err(
                cursor.expected_at(begin, "'findings.' in front of a severity, a confidence or the name of a finding")
            );
        }
        (None, None) => return Err(cursor.expected("a phase or a figure, '.tls' or '.failed'")),
    };
    let figure = MeasureFigure { tls, kind, phase, findings, quantity, bound: bound.unwrap_or(Bound::Value) };
    let wrong = contradiction(figure, of_baseline, of_bytes);
    wrong.map_or(Ok(figure), |expected| Err(cursor.expected_at(begin, expected)))
}

/// What words cannot stand together, as what was expected instead.
fn contradiction(figure: MeasureFigure, of_baseline: bool, of_bytes: bool) -> Option<String> {
    let MeasureFigure { tls, kind, phase, findings, quantity, bound } = figure;
    let name = quantity.name();
    if quantity.is_of_baseline() != of_baseline {
        return Some(match of_baseline {
            true => {
                format!("change, raw_change, ratio, server_cpu, slower, faster or differences of the baseline, not {name}")
            }
            false => format!("'baseline.' in front: {name} is against a baseline"),
        });
    }
    if quantity == Quantity::Findings && (tls.is_some() || kind.is_some()) {
        return Some("findings without a version or a kind: they are of all connections".to_owned());
    }
    if quantity != Quantity::Findings && findings != Findings::default() {
        return Some("'findings.' in front of a severity, a confidence or the name of a finding".to_owned());
    }
    if of_bytes && !matches!(quantity, Quantity::Sent | Quantity::Received) {
        return Some("bytes.sent or bytes.received".to_owned());
    }
    if quantity.has_phase() && phase.is_none() {
        return Some(format!("a phase with {name}: {}", Phase::ALL.map(Phase::name).join(", ")));
    }
    let counts_medians = matches!(quantity, Quantity::Slower | Quantity::Faster);
    if let Some(phase) = phase.filter(|_| !quantity.has_phase() && !counts_medians) {
        return Some(format!("{name} without '{phase}': it is not of one phase"));
    }
    if bound != Bound::Value && !quantity.has_interval() {
        return Some(format!("low and high after median, ratio or a change: {name} has no interval"));
    }
    if quantity.compares_with_full() && kind == Some(Which::Kind(Kind::Full)) {
        return Some(format!("a resumed kind: {name} is against full handshakes"));
    }
    if quantity.is_of_server() && (tls.is_some() || kind.is_some()) {
        return Some(format!("{name} without a version or a kind: it is of all connections"));
    }
    if quantity == Quantity::Kinds && kind.is_none() {
        return Some("a kind, 'kinds.ticket'".to_owned());
    }
    if tls == Some(Version::Tls13) && kind == Some(Which::Kind(Kind::Id)) {
        return Some("another kind: TLS 1.3 has no session IDs".to_owned());
    }
    None
}

fn comparator(cursor: &mut Cursor<'_>) -> Result<Comparator, ConditionError> {
    let known = Comparator::SIGNS.into_iter().find(|(sign, _)| cursor.take(sign));
    known.map(|(_, comparator)| comparator).ok_or_else(|| cursor.expected("one of < <= > >= == !="))
}

fn threshold(cursor: &mut Cursor<'_>, quantity: Quantity) -> Result<(f64, Unit), ConditionError> {
    let begin = cursor.at;
    cursor.take("-");
    let digits = cursor.take_while(|it| it.is_ascii_digit() || it == '.');
    let digits_end = cursor.at;
    let written = cursor.text.get(begin..digits_end).unwrap_or_default();
    let number = match written.parse::<f64>() {
        Ok(number) if number.is_finite() && digits.starts_with(|it: char| it.is_ascii_digit()) => number,
        _ => return Err(cursor.expected_at(begin, format!("a number{}", example(quantity)))),
    };
    cursor.skip_spaces();
    let at = cursor.at;
    let name = cursor.take_while(|it| !it.is_whitespace());
    let known = |name: &str| {
        let spellings = quantity.units().iter().flat_map(|unit| unit.spellings().iter().map(move |it| (*unit, it.0, it.1)));
        spellings.into_iter().find(|it| it.1 == name)
    };
    // None of them is the same in every unit.
    let bare = known("").or_else(|| known(COUNT).filter(|_| number == 0.0));
    let mut found = known(name).or(bare.filter(|_| name.is_empty()));
    if found.is_none() && at > digits_end {
        // What stands apart from a number that needs no unit is not one of it.
        found = bare;
        cursor.at = found.map_or(cursor.at, |_| digits_end);
    }
    let (unit, _, one) = found.ok_or_else(|| {
        let is_open = name.is_empty() && known(COUNT).is_some();
        let question = || format!("'{written}{COUNT}' or '{written}%': a count or a share?");
        cursor.expected_at(at, if is_open { question() } else { units(quantity) })
    })?;
    Ok((number * one, unit))
}

fn units(quantity: Quantity) -> String {
    let names: Vec<&str> = quantity
        .units()
        .iter()
        .flat_map(|unit| unit.spellings())
        .map(|(name, _)| *name)
        .filter(|it| !it.is_empty())
        .collect();
    let may_be_none = quantity.units().contains(&Unit::Number);
    match (names.is_empty(), may_be_none) {
        (true, _) => format!("no unit: {} is a number", quantity.name()),
        (false, true) => format!("{} or no unit", names.join(", ")),
        (false, false) => format!("a unit: {}", names.join(", ")),
    }
}

fn example(quantity: Quantity) -> &'static str {
    match quantity.units().first() {
        Some(Unit::Time) => ", '20ms'",
        Some(Unit::Percent) => ", '10%'",
        Some(Unit::Bytes) => ", '6kB'",
        _ => ", '1.5'",
    }
}
