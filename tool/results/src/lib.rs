//! Results as documents: statistics, findings, comparisons of two results, conditions, and faults in words.
//!
//! Everything here is a pure function of observations or of documents.

mod asked_record;
mod baseline;
mod clear_text;
mod compare_baseline;
mod condition;
mod diagnose_document;
mod estimates;
mod failed;
pub mod fault;
mod lab_sentences;
mod load_merge;
mod load_notices;
mod measure_document;
mod messages;
mod sentences;
mod side_by_side;
mod trace_document;
mod warnings;

#[cfg(test)]
mod guide;

pub use asked_record::like_record;
pub use baseline::{EarlierResult, Scope, compare, foresight, no_such_result};
pub use compare_baseline::{EarlierComparison, compare_stacks};
pub use condition::{
    ComparePlanned, Condition, ConditionError, ConditionJudgement, ConditionSubject, DiagnosePlanned, Found, Judged,
    LoadPlanned, Planned, PlannedFigures, Value, Words, figures,
};
pub use diagnose_document::{diagnosis, isolation};
pub use failed::failure_of;
pub use fault::failure;
pub use lab_sentences::lab_sentences;
pub use load_merge::{MergeError, merge};
pub use load_notices::{about_queue, bottleneck_reason, fewer_connections, load_warning, word_load};
pub use measure_document::measure_document;
pub use sentences::{about_first_connection, sentences};
pub use side_by_side::{SideBySideError, loads_side_by_side, measurements_side_by_side};
pub use trace_document::{add_counted, trace_document};
