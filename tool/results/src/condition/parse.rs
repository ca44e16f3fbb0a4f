//! From text to a condition, by recursive descent.

use reprise_diagnosis::cause;
use reprise_model::document::{CompareCase, CompareSide, Confidence, IsolationVerdict, Severity};
use reprise_model::{Kind, Phase, Version};

use super::cursor::{ConditionError, Cursor};
use super::path::Path;
use super::quantity::{Bound, COUNT, Comparator, Quantity, Unit};
use super::words::{Span, Statuses, Which, Words};
use super::{Condition, ConditionSubject, Figure};

/// A whole condition on such a document.
pub(super) fn condition(text: &str, of: ConditionSubject<'_>) -> Result<Condition, ConditionError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_spaces();
    let is_path = of == ConditionSubject::Other || cursor.rest().starts_with('.');
    let figure = if is_path { Figure::Path(Path::read(&mut cursor)?) } else { Figure::Words(words(&mut cursor, of)?) };
    cursor.skip_spaces();
    let counts_findings = matches!(&figure, Figure::Words(words) if words.quantity() == Quantity::Findings);
    let text = text.trim().to_owned();
    if counts_findings && cursor.rest().is_empty() {
        return Ok(Condition { text, figure, comparator: Comparator::Greater, threshold: 0.0, unit: Unit::Number });
    }
    let comparator = comparator(&mut cursor)?;
    cursor.skip_spaces();
    let (threshold, unit) = threshold(&mut cursor, &figure)?;
    cursor.skip_spaces();
    if !cursor.rest().is_empty() {
        return Err(cursor.expected("the end: one condition for each --fail-if"));
    }
    Ok(Condition { text, figure, comparator, threshold, unit })
}

fn words(cursor: &mut Cursor<'_>, of: ConditionSubject<'_>) -> Result<Words, ConditionError> {
    if of == ConditionSubject::Load {
        cursor.take("load.");
    }
    let begin = cursor.at;
    let (mut words, mut of_bytes) = (Words::default(), false);
    loop {
        let at = cursor.at;
        let was_of_baseline = words.baseline;
        let is_second = word(cursor, &mut words, &mut of_bytes, of)?;
        if is_second || words.baseline != was_of_baseline && at != begin {
            return Err(cursor.expected_at(at, "one of each at most (two stacks), and baseline first"));
        }
        if !cursor.take(".") {
            break;
        }
    }
    let is_timed = words.span.is_some() || matches!(of, ConditionSubject::Comparison { .. });
    if words.quantity.is_none() && !is_timed {
        if words.severity.is_some() || words.confidence.is_some() || words.finding.is_some() {
            let front = "'findings.' in front of a severity, a confidence or the name of a finding";
            return Err(cursor.expected_at(begin, front));
        }
        return Err(cursor.expected(if of == ConditionSubject::Load {
            "a figure or a phase, '.rate' or '.latency'"
        } else {
            "a phase or a figure, '.tls' or '.failed'"
        }));
    }
    words.quantity = Some(words.quantity());
    words.contradiction(of, of_bytes).map_or(Ok(words), |expected| Err(cursor.expected_at(begin, expected)))
}

/// Reads one word: whether there is such a one already.
fn word(
    cursor: &mut Cursor<'_>,
    words: &mut Words,
    of_bytes: &mut bool,
    of: ConditionSubject<'_>,
) -> Result<bool, ConditionError> {
    if let Some(stack) = stack(cursor, of) {
        cursor.take(stack);
        words.stacks.push(stack.to_owned());
        return Ok(words.stacks.len() > 2);
    }
    let begin = cursor.at;
    if let Some(version) = [Version::Tls12, Version::Tls13]
        .into_iter()
        .find(|version| of != ConditionSubject::Load && cursor.take(version.number()))
    {
        return Ok(words.tls.replace(version).is_some());
    }
    let name = cursor.take_word();
    if let Some(which) = Which::named(name) {
        return Ok(words.kind.replace(which).is_some());
    }
    if let Some(span) = Span::named(name, of) {
        return Ok(words.span.replace(span).is_some());
    }
    if let Some(quantity) = quantity(name, of) {
        return Ok(words.quantity.replace(quantity).is_some());
    }
    let has_bounds = of != ConditionSubject::Load;
    match (name, of) {
        ("baseline", ConditionSubject::Measurement | ConditionSubject::Comparison { .. }) => {
            return Ok(std::mem::replace(&mut words.baseline, true));
        }
        // Before `sent` and `received`, as in the document.
        ("bytes", ConditionSubject::Measurement) => return Ok(std::mem::replace(of_bytes, true)),
        ("shared", ConditionSubject::Diagnosis) => return Ok(std::mem::replace(&mut words.shared, true)),
        ("differ", _) if words.quantity == Some(Quantity::Answers) => {
            return Ok(std::mem::replace(&mut words.differ, true));
        }
        ("low", _) if has_bounds => return Ok(words.bound.replace(Bound::Low).is_some()),
        ("high", _) if has_bounds => return Ok(words.bound.replace(Bound::High).is_some()),
        _ => {}
    }
    let is_second = match of {
        ConditionSubject::Diagnosis if words.quantity == Some(Quantity::Isolation) => {
            IsolationVerdict::of_name(name).map(|verdict| words.verdict.replace(verdict).is_some())
        }
        ConditionSubject::Measurement | ConditionSubject::Diagnosis => finding_word(name, words),
        ConditionSubject::Load if words.quantity == Some(Quantity::Status) => {
            Statuses::named(name).map(|status| words.status.replace(status).is_some())
        }
        ConditionSubject::Comparison { cases, .. } => case_word(name, words, cases),
        ConditionSubject::Load | ConditionSubject::Other => None,
    };
    is_second.ok_or_else(|| cursor.expected_at(begin, known_words(of)))
}

/// The stack that comes next. A stack's name may have a dot in it, and of two the longer is meant; where it is a word of the
/// language, the word is meant.
fn stack<'a>(cursor: &Cursor<'_>, of: ConditionSubject<'a>) -> Option<&'a str> {
    let ConditionSubject::Comparison { stacks, cases } = of else { return None };
    let is_word = |name: &str| {
        ["baseline", "low", "high"].contains(&name)
            || Which::named(name).is_some()
            || Quantity::named(name, of).is_some()
            || case_word(name, &mut Words::default(), cases).is_some()
    };
    let next = stacks.iter().filter(|stack| cursor.begins_with_word(stack) && !is_word(stack));
    next.max_by_key(|stack| stack.len()).map(String::as_str)
}

fn quantity(name: &str, of: ConditionSubject<'_>) -> Option<Quantity> {
    Quantity::named(if name == "finding" { "findings" } else { name }, of)
}

/// Reads what may follow `findings`: whether there is such a one already. `None` where it is none.
fn finding_word(name: &str, words: &mut Words) -> Option<bool> {
    if let Some(severity) = Severity::ALL.into_iter().find(|it| it.name() == name) {
        return Some(words.severity.replace(severity).is_some());
    }
    if let Some(confidence) = Confidence::ALL.into_iter().find(|it| it.name() == name) {
        return Some(words.confidence.replace(confidence).is_some());
    }
    cause(name).map(|cause| words.finding.replace(cause.slug).is_some())
}

/// Reads what only a comparison has: whether there is such a one already. `None` where it is none.
fn case_word(name: &str, words: &mut Words, cases: &[CompareCase]) -> Option<bool> {
    if let Some(side) = CompareSide::ALL.into_iter().find(|side| side.name() == name) {
        return Some(words.side.replace(side).is_some());
    }
    if name == "mutual" {
        return Some(std::mem::replace(&mut words.mutual, true));
    }
    if cases.iter().any(|case| case.key == name) {
        return Some(words.key.replace(name.to_owned()).is_some());
    }
    cases.iter().any(|case| case.group == name).then(|| words.group.replace(name.to_owned()).is_some())
}

/// The words of the language, for an error.
fn known_words(of: ConditionSubject<'_>) -> String {
    // p50 is the median by another name.
    let quantities = Quantity::names(of).map(|(name, _)| name).filter(|name| *name != "p50");
    let quantities = quantities.collect::<Vec<_>>().join(", ");
    let kinds = format!("a kind ({}, resumed)", Kind::ALL.map(|kind| kind.name()).join(", "));
    let phases = format!("a phase ({})", Phase::ALL.map(Phase::name).join(", "));
    let findings = format!(
        "after findings a severity ({}), a confidence ({})\n  or the name of a finding, 'findings.not-offered'",
        Severity::ALL.map(Severity::name).join(", "),
        Confidence::ALL.map(Confidence::name).join(", "),
    );
    // Each on a line of its own: there are many.
    match of {
        ConditionSubject::Measurement => {
            format!("a version (1.2, 1.3),\n  {kinds},\n  {phases}\n  or a figure ({quantities}, low, high);\n  {findings}")
        }
        ConditionSubject::Diagnosis => {
            let verdicts = IsolationVerdict::ALL.map(IsolationVerdict::name).join(", ");
            format!(
                "a version (1.2, 1.3),\n  {kinds}\n  or a figure ({quantities});\n  {findings};\n  after isolation a verdict \
                 ({verdicts}); fleet.shared"
            )
        }
        ConditionSubject::Load => {
            format!("{kinds},\n  latency or {phases},\n  or a figure ({quantities});\n  after status '200' or '5xx'")
        }
        ConditionSubject::Comparison { stacks, cases } => {
            let of = |name: fn(&CompareCase) -> &str| {
                let names: std::collections::BTreeSet<&str> = cases.iter().map(name).collect();
                names.into_iter().collect::<Vec<_>>().join(", ")
            };
            format!(
                "a side or clock ({}),\n  a stack ({}),\n  a version (1.2, 1.3),\n  {kinds},\n  a key ({}),\n  a group ({}), mutual,\n  \
                 or a figure ({quantities}, low, high)",
                CompareSide::ALL.map(CompareSide::name).join(", "),
                stacks.join(", "),
                of(|case| &case.key),
                of(|case| &case.group),
            )
        }
        ConditionSubject::Other => String::new(),
    }
}

fn comparator(cursor: &mut Cursor<'_>) -> Result<Comparator, ConditionError> {
    let known = Comparator::SIGNS.into_iter().find(|(sign, _)| cursor.take(sign));
    known.map(|(_, comparator)| comparator).ok_or_else(|| cursor.expected("one of < <= > >= == !="))
}

fn threshold(cursor: &mut Cursor<'_>, figure: &Figure) -> Result<(f64, Unit), ConditionError> {
    let units = figure.units();
    let begin = cursor.at;
    cursor.take("-");
    let digits = cursor.take_while(|it| it.is_ascii_digit() || it == '.');
    let digits_end = cursor.at;
    let written = cursor.text.get(begin..digits_end).unwrap_or_default();
    let number = match written.parse::<f64>() {
        Ok(number) if number.is_finite() && digits.starts_with(|it: char| it.is_ascii_digit()) => number,
        _ => return Err(cursor.expected_at(begin, format!("a number{}", example(units)))),
    };
    cursor.skip_spaces();
    let at = cursor.at;
    let name = cursor.take_while(|it| !it.is_whitespace());
    let known = |name: &str| {
        let spellings = units.iter().flat_map(|unit| unit.spellings().iter().map(move |it| (*unit, it.0, it.1)));
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
        cursor.expected_at(at, if is_open { question() } else { unit_names(units, figure) })
    })?;
    Ok((number * one, unit))
}

impl Figure {
    /// The units that a threshold may have, the usual one first.
    fn units(&self) -> &'static [Unit] {
        match self {
            Self::Words(words) => words.quantity().units(words.baseline),
            Self::Path(path) if path.is_time() => &[Unit::Time],
            Self::Path(_) => &[Unit::Number, Unit::Percent],
        }
    }
}

fn unit_names(units: &[Unit], figure: &Figure) -> String {
    let spellings = units.iter().flat_map(|unit| unit.spellings());
    let names: Vec<&str> = spellings.map(|(name, _)| *name).filter(|it| !it.is_empty()).collect();
    let may_be_none = units.contains(&Unit::Number);
    match (figure, names.is_empty(), may_be_none) {
        (Figure::Words(words), true, _) => format!("no unit: {} is a number", words.quantity().name()),
        (_, _, true) => format!("{} or no unit", names.join(", ")),
        (_, _, false) => format!("a unit: {}", names.join(", ")),
    }
}

fn example(units: &[Unit]) -> &'static str {
    match units.first() {
        Some(Unit::Time) => ", '20ms'",
        Some(Unit::Percent) => ", '10%'",
        Some(Unit::Bytes) => ", '6kB'",
        _ => ", '1.5'",
    }
}
