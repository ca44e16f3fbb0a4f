//! Conditions for gates, one language for every document: `baseline.tls.slower > 0`, `failed > 0.1%`, `findings.fault`,
//! `.bottleneck.client_busy > 0.9`.
//!
//! ```text
//! condition  = figure comparator number [unit] / findings
//! figure     = words / path
//! words      = word *( "." word )       what is meant in any order (version, kind, phase, stack, ...), and what of it
//! findings   = ( "findings" / "finding" ) *( "." ( severity / confidence / id ) )    how many there are; alone: any
//! path       = 1*( "." key / "[" index "]" / "[]" )      a place in the JSON of the document, as jq writes it
//! comparator = "<" / "<=" / ">" / ">=" / "==" / "!="
//! ```
//!
//! What is counted out of a whole has its unit: `kinds.ticket < 100%` is a share, `kinds.ticket < 100n` a count. Zero is the same in both
//! and needs none.
//!
//! A figure without a version or a kind is of each that was measured, and the condition is met as soon as one of them meets
//! it. What a document does not have is never taken for a figure that is good: see [`ConditionJudgement::Unknown`].

mod compare;
mod cursor;
mod diagnose;
mod figures;
mod judge;
mod load;
mod measure;
mod parse;
mod path;
mod quantity;
#[cfg(test)]
mod tests;
mod words;

use reprise_model::document::CompareCase;

pub use compare::ComparePlanned;
pub use cursor::ConditionError;
pub use diagnose::DiagnosePlanned;
pub use figures::figures;
pub use judge::{ConditionJudgement, Found, Judged, Value};
pub use load::LoadPlanned;
pub use measure::Planned;
pub use words::Words;

use self::path::Path;
use self::quantity::{Comparator, Unit};

/// A condition that was read. Reading is total: whatever the text, it ends in a condition or an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was written.
    text: String,
    figure: Figure,
    comparator: Comparator,
    /// In nanoseconds, bytes, hundredths, or as it is.
    threshold: f64,
    unit: Unit,
}

#[derive(Clone, Debug, PartialEq)]
enum Figure {
    Words(Words),
    Path(Path),
}

/// What a command is about to do: which figures its document will have.
pub trait PlannedFigures {
    /// Which words name figures of the document.
    fn subject(&self) -> ConditionSubject<'_>;

    /// Why the document cannot have a figure; `None` where it may.
    fn excludes(&self, figure: &Words) -> Option<String>;
}

/// What a condition is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionSubject<'a> {
    /// A measurement of a target, or of the embedded lab.
    Measurement,
    /// A diagnosis.
    Diagnosis,
    /// A load.
    Load,
    /// A comparison of stacks.
    Comparison {
        /// The names of the stacks.
        stacks: &'a [String],
        /// The handshakes.
        cases: &'a [CompareCase],
    },
    /// A document whose figures have no words: only a path names them.
    Other,
}

/// A document of which nothing is known but what it is of.
impl PlannedFigures for ConditionSubject<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        *self
    }

    fn excludes(&self, _: &Words) -> Option<String> {
        None
    }
}

impl Condition {
    /// Reads a condition on what is planned.
    ///
    /// # Errors
    /// Where it stops making sense, or why the document cannot have the figure.
    pub fn read(text: &str, plan: &dyn PlannedFigures) -> Result<Self, ConditionError> {
        let condition = parse::condition(text, plan.subject())?;
        let why = match &condition.figure {
            Figure::Words(words) => plan.excludes(words),
            Figure::Path(_) => None,
        };
        why.map_or(Ok(condition), |why| Err(ConditionError::impossible(text, why)))
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
