//! Two handshakes of one pair of stacks beside each other.

use serde::{Deserialize, Serialize};

use super::{CompareCase, CompareSide};

/// How two handshakes of one pair compare: median(from) / median(to). Above 1 means that `to` is cheaper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRatio {
    /// The client's stack.
    pub client: String,
    /// The server's.
    pub server: String,
    /// Whose time.
    pub side: CompareSide,
    /// The handshake in the numerator.
    pub from: CompareCase,
    /// The handshake in the denominator.
    pub to: CompareCase,
    /// The ratio.
    pub median: f64,
    /// Its interval; null under six samples.
    pub ci95: Option<[f64; 2]>,
}
