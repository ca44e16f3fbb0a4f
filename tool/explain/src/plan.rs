//! What is asked of a result.

use reprise_pairs::{Effort, FoundStack};

use crate::change::Change;
use crate::measured::Measured;

/// What is asked of a result.
pub struct ExplainPlan<'a> {
    /// The result.
    pub result: Measured<'a>,
    /// What is to be other.
    pub change: Option<&'a Change>,
    /// Whose operations stand for the client's: our engine is built on AWS-LC.
    pub client: &'a FoundStack,
    /// Whose operations stand for the server's.
    pub server: &'a FoundStack,
    /// Whether nobody said so.
    pub server_assumed: bool,
    /// All stacks that there are: the best of them is the floor.
    pub all: &'a [FoundStack],
    /// Signatures of certificates that the client verifies, where the result does not say.
    pub certificates: u64,
    /// How much is measured of each operation.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}
