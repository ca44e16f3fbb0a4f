//! From measurements to findings and to sentences that say what they mean.
//!
//! Everything here is a pure function of a document: it speaks only of what was observed. Each cause stands in a file of
//! its own, in `findings/`, under the slug by which documents name it.

mod baseline;
mod condition;
mod figures;
mod findings;
mod lab_sentences;
mod observation;
mod sentences;

#[cfg(test)]
mod example;

pub use baseline::{Scope, compare, no_such_result};
pub use condition::{Condition, ConditionError, Found, Judgement, Planned};
pub use findings::findings;
pub use lab_sentences::lab_sentences;
pub use sentences::{about_first_connection, sentences};
