//! What a child process is asked, and what it answers: one line of JSON each. An answer is a `Result`: the value that the
//! request names, or a [`Failed`].

use std::path::PathBuf;
use std::time::Duration;

use reprise_model::Kind;
use reprise_stack::StackError;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::keys::Certificates;
use crate::layers::LevelJob;
use crate::speed::PrimitiveJob;
use crate::stacks::{FoundStack, StackRef};

/// What a child process is asked. Each says by what it is answered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// What a stack is: a [`ComparedStack`](reprise_model::document::ComparedStack).
    Describe(FoundStack),
    /// Makes ready: contexts, the first connections, a session to resume: [`Ready`].
    Prepare(Box<Job>),
    /// Makes so many connections of what was prepared, each as the case says: [`Batch`].
    Run { cell: usize, connections: u32 },
    /// Records turn by turn what connections take: how many, and a list of
    /// [`CompareTurn`](reprise_model::document::CompareTurn).
    Record(Box<Job>),
    /// Makes one side ready, for connections over loopback: its context: [`SideReady`].
    PrepareSide(Box<SideJob>),
    /// Opens a port on 127.0.0.1 for that server: its number, `u16`.
    Listen { cell: usize },
    /// Serves connections to that port one after the other, until one ends without a byte: [`ServedConnections`].
    Serve { cell: usize },
    /// Makes connections to that port: [`DialedConnections`].
    Dial { cell: usize, port: u16, amount: Amount },
    /// Makes a level of the costs of starting again ready: the first requests, a session: [`LevelReady`](crate::layers::LevelReady).
    PrepareLevel(Box<LevelJob>),
    /// Makes so many requests at that level: [`LevelBatch`](crate::layers::LevelBatch).
    RunLevel { cell: usize, requests: u32 },
    /// Times the first random bytes of so many processes that `helper` starts: a list of
    /// [`RandomBytes`](crate::layers::RandomBytes).
    TimeRandom { stack: StackRef, helper: Option<PathBuf>, times: u32 },
    /// Keeps so many connections alive, and counts what each side takes of the heap: [`Weighed`](crate::memory::Weighed).
    Weigh { job: Box<Job>, connections: u32 },
    /// Makes an operation ready: [`PrimitiveReady`](crate::speed::PrimitiveReady).
    PreparePrimitive(Box<PrimitiveJob>),
    /// Does it so many times: CPU time of all of them in nanoseconds, `u64`.
    RunPrimitive { cell: usize, count: u64 },
    /// Makes so many connections of TCP over loopback: a `TcpCost`.
    TcpConnections { count: u32 },
    /// Whether a stack keeps the contract of its header, by certificates of every key: a list of
    /// [`Check`](crate::conformance::Check).
    Conform { stack: StackRef, keys: Vec<(crate::case::Key, Certificates)> },
}

/// A pair of stacks and the handshake that they are to make.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) client: StackRef,
    pub(crate) server: StackRef,
    pub(crate) case: Case,
    pub(crate) certificates: Certificates,
}

/// One side of such a pair.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SideJob {
    pub(crate) job: Job,
    pub(crate) is_client: bool,
    /// The core that the process is to stay on.
    pub(crate) core: Option<usize>,
    /// How long it waits for its peer.
    pub(crate) patience: Duration,
    /// Whether it reads along what its peer and itself send. It does not while its instructions are counted: its peer does.
    pub(crate) witnesses: bool,
}

/// How many connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Amount {
    /// Until they are warm.
    WarmUp,
    /// So many that are counted, after one that is not.
    Counted(u32),
}

/// What was made ready, and what the last connection of the warm-up was.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) cell: usize,
    /// CPU time of both sides of one connection, once warm.
    pub(crate) connection_ns: u64,
    /// What a reading of the clock costs, which was taken off.
    pub(crate) reading_ns: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// As [`Connected`](crate::pair::Connected) has it.
    pub(crate) server_flight: Option<u64>,
    /// Tickets that the server sent; `None` where nobody reads along.
    pub(crate) tickets: Option<u64>,
}

/// One side that was made ready.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SideReady {
    pub(crate) cell: usize,
    /// As [`Ready`] has it.
    pub(crate) reading_ns: u64,
}

/// Connections that were made one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) client_ns: u64,
    pub(crate) server_ns: u64,
    /// CPU time of the whole thread meanwhile, or of both sides' threads.
    pub(crate) thread_ns: u64,
    /// Of it, what was charged to a side.
    pub(crate) charged_ns: u64,
    /// CPU time of the server's key pairs that were made ahead, of all these connections.
    pub(crate) ahead_ns: u64,
    /// Over loopback, the median of each connection's time on a clock, until both are complete and until the client is.
    pub(crate) on_a_clock: Option<OnAClock>,
    /// How many of each kind were observed.
    pub(crate) kinds: Vec<(Kind, u32)>,
}

impl Batch {
    /// One more connection, of this kind.
    pub(crate) fn count(&mut self, kind: Kind) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.kinds.push((kind, 1)),
        }
    }
}

/// Time on a clock of one connection, in nanoseconds, from when its TCP connection is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OnAClock {
    /// Until both sides are complete, and the client has read the end of its stream.
    pub(crate) wall_ns: u64,
    /// Until the client may send application data.
    pub(crate) ready_ns: u64,
}

/// Connections of a client over loopback, in the order in which they were made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DialedConnections {
    pub(crate) connections: Vec<Dialed>,
    /// CPU time of the thread meanwhile.
    pub(crate) thread_ns: u64,
    /// Bytes of the last connection.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// One connection of a client over loopback.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Dialed {
    pub(crate) client_ns: u64,
    pub(crate) on_a_clock: OnAClock,
    /// `None` where the client was not to read along.
    pub(crate) kind: Option<Kind>,
    /// Whether it is among the figures.
    pub(crate) is_counted: bool,
}

/// The same connections of the server's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ServedConnections {
    pub(crate) connections: Vec<Served>,
    pub(crate) thread_ns: u64,
}

/// The same connection of the server's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) server_ns: u64,
    /// `None` where the server was not to read along.
    pub(crate) kind: Option<Kind>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What became of it.
    pub outcome: FailureKind,
    /// In words.
    pub reason: String,
}

impl Failed {
    pub(crate) fn new(outcome: FailureKind, reason: impl ToString) -> Self {
        Self { outcome, reason: reason.to_string() }
    }

    pub(crate) fn because(reason: impl ToString) -> Self {
        Self::new(FailureKind::Failed, reason)
    }

    pub(crate) fn unsupported(reason: impl ToString) -> Self {
        Self::new(FailureKind::Unsupported, reason)
    }

    pub(crate) fn broken(reason: impl ToString) -> Self {
        Self::new(FailureKind::Broken, reason)
    }

    pub(crate) fn crashed(reason: impl ToString) -> Self {
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
