//! An operation that a child process is to make ready.

use reprise_model::Operation;
use reprise_pairs::StackRef;
use serde::{Deserialize, Serialize};

/// An operation that is to be made ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrimitiveJob {
    pub(crate) stack: StackRef,
    pub(crate) operation: Operation,
    /// IANA's number.
    pub(crate) algorithm: u16,
    pub(crate) length: usize,
    /// PKCS #8 in PEM, of who signs.
    pub(crate) key: Option<String>,
}
