//! From observations to findings, from figures to sentences that say what they mean, and from faults to words.
//!
//! Everything here is a pure function of a document: it uses only what was observed. Each cause has a file named by its slug:
//! its rule in `findings/`, `diagnose/` or `client/`, its text and remedies in `causes/`.
//!
//! ```
//! use reprise_diagnosis::{cause, causes};
//!
//! let nagle = cause("nagle").expect("a cause of this slug");
//! println!("{}: {}", nagle.slug, nagle.title);
//! assert!(causes().all(|cause| !cause.title.is_empty()));
//! ```

mod asked_record;
mod baseline;
mod causes;
mod clear_text;
mod client;
mod compare_baseline;
mod condition;
mod diagnose;
mod document;
mod estimates;
mod failed;
pub mod fault;
mod figures;
mod findings;
mod lab_sentences;
mod load_merge;
mod load_notices;
mod messages;
mod nodes;
mod response_words;
mod savings;
mod sentences;
mod series;
mod side_by_side;
mod trace_document;
mod verdict;
mod warnings;

#[cfg(test)]
mod example;
#[cfg(test)]
mod guide;

pub use baseline::{Earlier, Scope, compare, foresight, no_such_result};
pub use causes::{Cause, Fix, FoundBy, Side, cause, causes, software};
pub use client::{ClientRun, client_diagnosis, client_software};
pub use compare_baseline::{EarlierComparison, compare_stacks};
pub use condition::{
    CompareCondition, ComparePlanned, Condition, ConditionError, DiagnoseCondition, Found, Judgement, LoadCondition,
    LoadPlanned, Planned,
};
pub use diagnose::diagnosis;
pub use document::measure_document;
pub use failed::failure_of;
pub use fault::failure;
pub use findings::findings;
pub use lab_sentences::lab_sentences;
pub use load_merge::{MergeError, merge};
pub use load_notices::{about_queue, bottleneck_reason, fewer_connections, load_warning, word_load};
pub use sentences::{about_first_connection, sentences};
pub use series::Case;
pub use side_by_side::{SideBySideError, loads_side_by_side, measurements_side_by_side};
pub use trace_document::trace_document;
