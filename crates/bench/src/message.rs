//! What a child process is asked, and what it answers: one line of JSON each.

use reprise_trace::{Kind, PskMode};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::keys::Certificates;
use crate::stacks::StackRef;
use crate::witness::Observed;

/// What a child process is asked.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// What a stack is.
    Describe(StackRef),
    /// Makes ready: contexts, the first connections, a session to resume.
    Prepare(Box<Job>),
    /// Makes so many connections of what was prepared, each as the case says.
    Run {
        /// As [`Answer::Prepared`] has it.
        cell: usize,
        /// How many.
        connections: u32,
    },
    /// Whether a stack keeps the contract of its header.
    Conform {
        /// The stack.
        stack: StackRef,
        /// By certificates of every key.
        keys: Vec<(crate::case::Key, Certificates)>,
    },
}

/// A pair of stacks and the handshake that they are to make.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) client: StackRef,
    pub(crate) server: StackRef,
    pub(crate) case: Case,
    pub(crate) certificates: Certificates,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Described(StackInfo),
    Prepared {
        cell: usize,
        /// CPU time of both sides of one connection, once warm.
        connection_ns: u64,
        /// What a reading of the clock costs, which was taken off.
        reading_ns: u64,
        observed: ObservedNumbers,
        sent: u64,
        received: u64,
    },
    Ran(Batch),
    Conforms(Vec<(String, Option<String>)>),
    Failed {
        outcome: Outcome,
        reason: String,
    },
}

/// Connections that were made one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) client_ns: u64,
    pub(crate) server_ns: u64,
    /// CPU time of the whole thread meanwhile.
    pub(crate) thread_ns: u64,
    /// How many of each kind were observed.
    pub(crate) kinds: Vec<(Kind, u32)>,
}

/// What the wire says, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObservedNumbers {
    pub(crate) suite: u16,
    pub(crate) group: Option<u16>,
    pub(crate) psk_mode: Option<PskMode>,
}

impl From<Observed> for ObservedNumbers {
    fn from(observed: Observed) -> Self {
        Self { suite: observed.suite.0, group: observed.group.map(|group| group.0), psk_mode: observed.psk_mode }
    }
}

/// What a stack is, as its child process says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackInfo {
    /// The library's own name.
    pub library: String,
    /// Its version.
    pub version: String,
    /// How it was built.
    pub flags: String,
    /// What it can do, by name: `client`, `server`, `1.2`, `1.3`, `id`, `ticket`, `client-auth`, `export`.
    pub abilities: Vec<String>,
    /// SHA-256 of a plugin's file.
    pub sha256: Option<String>,
}

/// Why a request came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What became of it.
    pub outcome: Outcome,
    /// In words.
    pub reason: String,
}

impl Failed {
    pub(crate) fn new(outcome: Outcome, reason: impl ToString) -> Self {
        Self { outcome, reason: reason.to_string() }
    }

    pub(crate) fn into_answer(self) -> Answer {
        Answer::Failed { outcome: self.outcome, reason: self.reason }
    }
}

/// Why there is no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
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

impl Outcome {
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
