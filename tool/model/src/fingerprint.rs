//! By what a client's ClientHello is known to those who match it.

use serde::{Deserialize, Serialize};

/// The fingerprints of one ClientHello.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// JA4 as its authors define it (FoxIO, JA4 TLS client fingerprinting): another one where a session is offered.
    pub ja4: String,
    /// JA4 without the extensions that come and go with a session, a retry or the length, and without their count: the same on the
    /// full and on the resumed connections of a client.
    pub stable: String,
}
