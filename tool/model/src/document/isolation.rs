//! Which sessions of one place are accepted at another, and whether their holder may enter there.

use serde::{Deserialize, Serialize};

use crate::{Asked, Version};

/// Sessions that a holder was given at one place and offered at another, under one version and mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IsolationRecord {
    /// The target that gave the sessions, as it was named.
    pub from: String,
    /// The target that they were offered to; the same where only the version differs, or where the target refuses the holder by
    /// its response alone.
    pub to: String,
    /// Who was given them and offered them: the file of a client certificate; null for a client without one.
    pub holder: Option<String>,
    /// The version and the mechanism by which they were offered.
    pub asked: Asked,
    /// The version that they were given under.
    pub session_tls: Version,
    /// What the holder's full handshakes come to where the sessions were offered.
    pub full: EntryRecord,
    /// Connections that offered such a session and were not cut off by the network.
    pub offered: u32,
    /// How many of them resumed it.
    pub accepted: u32,
    /// What those that resumed it came to: `HTTP 200`; null where none did.
    pub came_to: Option<String>,
    /// What that means.
    pub verdict: IsolationVerdict,
}

/// What full handshakes of one holder come to at one place, under one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryRecord {
    /// Full handshakes that were made.
    pub connections: u32,
    /// How many of them were let in: completed, and not answered by 400, 401, 403 or 421.
    pub let_in: u32,
    /// Whether the server asks for a client certificate; null where no handshake went so far.
    pub asks_for_certificate: Option<bool>,
    /// What they came to: `HTTP 200`, `alert certificate_required`; several where they differ.
    pub came_to: Vec<String>,
}

named! {
    /// What became of sessions that were offered at another place than their own.
    pub enum IsolationVerdict {
        /// They were accepted where their holder is refused, or gave the holder what a full handshake does not: a fault.
        Broken = "broken",
        /// They were accepted where their holder is refused, and the response refuses the request: a note.
        Noticed = "noticed",
        /// They were not accepted.
        Refused = "refused",
        /// They were accepted where their holder may enter anyhow, or where the response refuses it as it does after full handshakes.
        ByDesign = "by-design",
        /// Nothing is concluded: the connections failed, or full handshakes come to different things.
        Unclear = "unclear",
    }
}
