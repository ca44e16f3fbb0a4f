//! TLS libraries side by side: what a handshake costs each side, in every library that is installed.
//!
//! [`compare`] makes the table of a [`Scenario`], and says what it answers and what was published of it.

mod callgrind;
mod claims;
mod comparable;
mod compare;
mod comparison;
mod conclusion;
mod conformance;
mod libraries;
mod link;
mod matrix;
mod memory;
mod resume;
mod scaling;
mod scenario;

pub use callgrind::{Callgrind, NoValgrind};
pub use compare::compare;
pub use comparison::ComparisonPlan;
pub use conformance::{Check, CheckOutcome, KEYS as CONFORMANCE_KEYS, conformance};
pub use libraries::{LIBRARIES, Library, LibrarySource};
pub use link::{LinkPlan, Replayed, losses, replay};
pub use memory::{Weigh, Weighed};
pub use resume::OtherRun;
pub use scenario::{Scenario, Selection};

use reprise_pairs::Question;

/// What a child process is asked beside what pairs are.
pub const QUESTIONS: &[Question] = &[Question::of::<memory::Weigh>(), Question::of::<conformance::Conform>()];
