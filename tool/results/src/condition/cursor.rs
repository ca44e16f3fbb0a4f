//! The text of a condition as it is read, and the error that points at a place in it.

use std::fmt;

/// The text and how much of it is read, in bytes.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether this comes next, as a whole word.
    pub(super) fn begins_with_word(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| !after.starts_with(belongs_to_word))
    }

    /// Reads a word of letters, digits, `_` and `-`; it may be empty.
    pub(super) fn take_word(&mut self) -> &'a str {
        self.take_while(belongs_to_word)
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
        ConditionError { text: self.text.to_owned(), reason: Reason::Expected { column, expected: expected.into() } }
    }
}

fn belongs_to_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_' || it == '-'
}

/// Why a text is no condition on what is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// Where the text stops making sense, in characters from 0, and what was expected there.
    Expected { column: usize, expected: String },
    /// Why the document will not have the figure.
    Impossible(String),
}

impl ConditionError {
    pub(super) fn impossible(text: &str, why: String) -> Self {
        Self { text: text.trim().to_owned(), reason: Reason::Impossible(why) }
    }
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.text.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect();
        match &self.reason {
            Reason::Expected { column, expected } => {
                write!(f, "column {}: expected {expected}\n  {shown}\n  {}^", column + 1, " ".repeat(*column))
            }
            Reason::Impossible(why) => write!(f, "'{shown}' cannot be evaluated: {why}"),
        }
    }
}

impl std::error::Error for ConditionError {}
