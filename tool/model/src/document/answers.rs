//! Answers that differ by the kind of handshake.

use serde::{Deserialize, Serialize};

use super::Confidence;
use crate::{Kind, Version};

/// How an application answers connections of one kind otherwise than full handshakes of the same version: their times do not compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerDifference {
    /// The version.
    pub tls: Version,
    /// The kind, any but `full`.
    pub kind: Kind,
    /// In what they differ.
    pub part: AnswerPart,
    /// The usual answer to full handshakes.
    pub full: AnswerRecord,
    /// The usual answer to connections of this kind.
    pub resumed: AnswerRecord,
    /// How sure it is that the difference follows the kind.
    pub confidence: Confidence,
}

/// What of an answer differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnswerPart {
    /// The status of HTTP.
    Status,
    /// Where a redirection leads.
    Location,
    /// The size of the body, by more than a factor of two.
    Size,
    /// Whether the server keeps the connection open after it.
    Close,
}

impl AnswerPart {
    /// Every one, what weighs most first.
    pub const ALL: [Self; 4] = [Self::Status, Self::Location, Self::Size, Self::Close];
}

/// The answer that most connections got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerRecord {
    /// The status; null where the service is not HTTP.
    pub status: Option<u16>,
    /// Bytes of the body.
    pub bytes: u64,
    /// Where it sends the client, without the query; null where nowhere.
    pub location: Option<String>,
    /// Whether the connection may carry another request.
    pub keeps_alive: bool,
    /// How many got it.
    pub connections: u64,
    /// Of so many.
    pub of: u64,
}

impl AnswerDifference {
    /// Adds what another generator saw of the same.
    pub fn add(&mut self, other: &Self) {
        self.confidence = self.confidence.min(other.confidence);
        for (ours, theirs) in [(&mut self.full, &other.full), (&mut self.resumed, &other.resumed)] {
            ours.connections = ours.connections.saturating_add(theirs.connections);
            ours.of = ours.of.saturating_add(theirs.of);
        }
    }

    /// Whether it is an error where full handshakes get none.
    pub fn is_error(&self) -> bool {
        let is_error = |record: &AnswerRecord| record.status.is_some_and(|status| status >= 400);
        self.part == AnswerPart::Status && is_error(&self.resumed) && !is_error(&self.full)
    }
}
