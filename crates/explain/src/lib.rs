//! From observations to findings, from figures to sentences that say what they mean, and from faults to words.
//!
//! Everything here is a pure function of a document: it speaks only of what was observed. Each cause stands under the slug by
//! which documents name it: its rule in `findings/`, its text and its remedies in `causes/`.

mod asked_record;
mod baseline;
mod causes;
mod clear_text;
mod client;
mod condition;
mod diagnose;
mod document;
pub mod fault;
mod figures;
mod findings;
mod lab_sentences;
mod load_merge;
mod load_notices;
mod nodes;
mod response_words;
mod savings;
mod sentences;
mod series;
mod trace_document;
mod verdict;
mod warnings;

#[cfg(test)]
mod example;

pub use baseline::{Earlier, Scope, compare, no_such_result};
pub use causes::{Cause, Fix, FoundBy, Side, cause, causes, software};
pub use client::{ClientRun, client_diagnosis, client_software};
pub use condition::{Condition, ConditionError, Found, Judgement, Planned};
pub use diagnose::diagnosis;
pub use document::{failure_of, measure_document};
pub use fault::failure;
pub use findings::findings;
pub use lab_sentences::lab_sentences;
pub use load_merge::{MergeError, merge};
pub use load_notices::{about_queue, bottleneck_reason, fewer_connections, load_warning, word_load};
pub use sentences::{about_first_connection, sentences};
pub use series::Case;
pub use trace_document::trace_document;
