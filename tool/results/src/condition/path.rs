//! A figure by its place in the JSON of a document, as jq writes it: `.runs[].phases.tls.p99_ns`, `.rate.mean`.

use std::fmt;

use serde_json::Value as Json;

use super::cursor::{ConditionError, Cursor};

/// A place, or with `[]` all places of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
    Each,
}

/// Deeper than any document.
const DEEPEST: usize = 32;

impl Path {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, ConditionError> {
        let mut segments = Vec::new();
        loop {
            let at = cursor.at;
            let segment = if cursor.take("[") {
                let digits = cursor.take_while(|it| it.is_ascii_digit());
                let index = if digits.is_empty() { Ok(Segment::Each) } else { digits.parse().map(Segment::Index) };
                if !cursor.take("]") {
                    return Err(cursor.expected("']'"));
                }
                index.map_err(|_| cursor.expected_at(at, "the place of an element, '[0]', or '[]' for each"))?
            } else if cursor.take(".") {
                Segment::Key(key(cursor)?)
            } else if segments.is_empty() {
                return Err(cursor.expected("the place of a figure in the document, '.seconds'"));
            } else {
                return Ok(Self(segments));
            };
            segments.push(segment);
            if segments.len() > DEEPEST {
                return Err(cursor.expected_at(at, "a path of fewer keys"));
            }
        }
    }

    /// Whether it ends in a time: in documents, the keys of these end in `_ns`, or their parents' do.
    pub(super) fn is_time(&self) -> bool {
        self.0.iter().any(|segment| matches!(segment, Segment::Key(key) if key.ends_with("_ns")))
    }

    /// Every value that it leads to, with its place.
    pub(super) fn find<'a>(&self, document: &'a Json) -> Vec<(String, &'a Json)> {
        self.0.iter().fold(vec![(String::new(), document)], |found, segment| {
            found.into_iter().flat_map(|(place, value)| segment.step(&place, value)).collect()
        })
    }
}

impl Segment {
    fn step<'a>(&self, place: &str, value: &'a Json) -> Vec<(String, &'a Json)> {
        match self {
            Self::Key(key) => value.get(key).map(|it| (format!("{place}{self}"), it)).into_iter().collect(),
            Self::Index(index) => value.get(index).map(|it| (format!("{place}{self}"), it)).into_iter().collect(),
            Self::Each => {
                let all = value.as_array().into_iter().flatten().enumerate();
                all.map(|(index, it)| (format!("{place}[{index}]"), it)).collect()
            }
        }
    }
}

/// A key as it is, or in quotes: `tls`, `"1.3"`.
fn key(cursor: &mut Cursor<'_>) -> Result<String, ConditionError> {
    if cursor.take("\"") {
        let key = cursor.take_while(|it| it != '"').to_owned();
        return if cursor.take("\"") { Ok(key) } else { Err(cursor.expected("'\"'")) };
    }
    let key = cursor.take_word();
    if key.is_empty() { Err(cursor.expected("a key of the document, '.seconds'")) } else { Ok(key.to_owned()) }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) if key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-') => {
                write!(f, ".{key}")
            }
            Self::Key(key) => write!(f, ".\"{key}\""),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Each => f.write_str("[]"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| segment.fmt(f))
    }
}
