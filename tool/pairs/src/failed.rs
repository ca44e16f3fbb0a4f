//! Why there is no figure.

use reprise_stack::StackError;
use serde::{Deserialize, Serialize};

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What became of it.
    pub outcome: FailureKind,
    /// In words.
    pub reason: String,
}

impl Failed {
    /// With these words.
    pub fn new(outcome: FailureKind, reason: impl ToString) -> Self {
        Self { outcome, reason: reason.to_string() }
    }

    /// The handshake fails.
    pub fn because(reason: impl ToString) -> Self {
        Self::new(FailureKind::Failed, reason)
    }

    /// A library cannot do it.
    pub fn unsupported(reason: impl ToString) -> Self {
        Self::new(FailureKind::Unsupported, reason)
    }

    /// A library does not keep its contract, or this program does not.
    pub fn broken(reason: impl ToString) -> Self {
        Self::new(FailureKind::Broken, reason)
    }

    /// The process ended.
    pub fn crashed(reason: impl ToString) -> Self {
        Self::new(FailureKind::Crashed, reason)
    }
}

impl From<StackError> for Failed {
    fn from(error: StackError) -> Self {
        let outcome = match &error {
            StackError::Unsupported { .. } => FailureKind::Unsupported,
            StackError::Refused { .. } => FailureKind::Failed,
            _ => FailureKind::Broken,
        };
        Self::new(outcome, error)
    }
}

/// Why there is no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A library says that it cannot do it.
    Unsupported,
    /// The handshake fails, or another than the one that was asked for takes place.
    Failed,
    /// A library says what the wire does not.
    Contradicted,
    /// The child process ended.
    Crashed,
    /// It did not answer in time, and was ended.
    Hung,
    /// It cannot be loaded, or does not keep the contract.
    Broken,
}

impl FailureKind {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Contradicted => "contradicted",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Broken => "broken",
        }
    }
}
