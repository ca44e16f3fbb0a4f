//! What `speed` is to measure.

use reprise_model::document::CompareOver;
use reprise_pairs::{Effort, FoundStack};

use crate::catalogue::Primitive;

/// What is to be measured.
#[derive(Clone, Copy)]
pub struct SpeedPlan<'a> {
    /// The operations.
    pub primitives: &'a [Primitive],
    /// The stacks.
    pub stacks: &'a [FoundStack],
    /// How much.
    pub effort: Effort,
    /// Whether also without the CPU's instructions, where a library has a switch for them.
    pub without_instructions: bool,
    /// Whether handshakes are measured too, and the floor is shown below them.
    pub floor: bool,
    /// What handshakes are predicted over: loopback beside memory, or memory alone.
    pub over: CompareOver,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}
