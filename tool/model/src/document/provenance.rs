//! Where a result comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Enough to make the measurement again, and to know when two results must not be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The program's version.
    pub version: String,
    /// The commit that it was built from; null where it was not built from a checkout.
    pub commit: Option<String>,
    /// The command line, secrets removed.
    pub command: Vec<String>,
    /// When measuring began, RFC 3339, UTC.
    pub time: String,
    /// The machine's name.
    pub machine: Option<String>,
    /// The processor's model and how many of them the process may use.
    pub cpu: Option<String>,
    /// Operating system and kernel.
    pub kernel: Option<String>,
    /// The libraries that did the work, with their versions.
    pub libraries: BTreeMap<String, String>,
}
