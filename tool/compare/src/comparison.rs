//! What is to be compared, how much, and with whom.

use std::path::Path;

use reprise_model::document::CompareDocument;
use reprise_pairs::HandshakePlan;

use crate::callgrind::Callgrind;
use crate::link::LinkPlan;
use crate::scenario::Scenario;

/// What is to be compared.
pub struct ComparisonPlan<'a> {
    /// Its name.
    pub scenario: Scenario,
    /// Its handshakes, and how they are measured.
    pub handshakes: HandshakePlan<'a>,
    /// By what instructions are counted too.
    pub callgrind: Option<&'a Callgrind>,
    /// A result of the same run, which was interrupted.
    pub earlier: Option<&'a CompareDocument>,
    /// Over which links the handshakes are replayed in virtual time.
    pub links: Option<LinkPlan>,
    /// In how many threads each handshake is measured, in place of its usual figures; none: those.
    pub threads: &'a [u32],
    /// The file that counts the heap of a process that it is preloaded to.
    pub heap_counter: Option<&'a Path>,
}
