//! What differs between stores.

use std::fmt;
use std::future::ready;
use std::time::Duration;

use rustls_pki_types::UnixTime;

use super::refusal::Refusal;
use super::strike::StoreIdentity;

/// One kind of store: makes connections to it. They run on the store's own thread, under a tokio runtime with timers, and with I/O where
/// tokio's feature `net` is on.
pub trait StoreBackend: Send + Sync + 'static {
    /// Its connections.
    type Connection: StoreConnection;

    /// A new connection. It is given up after a second.
    fn connect(&mut self) -> impl Future<Output = Result<Self::Connection, StoreError>> + Send;
}

/// One connection. Any number of tasks use it at a time, each by a clone.
///
/// Whoever waits may give up and drop the future before its end: then the store may do what it was asked or not, and no answer to it
/// may be taken for the answer to another question. A connection that cannot be sure of that fails from then on.
///
/// Keys begin with [`RemoteConfig::prefix`](super::RemoteConfig::prefix), and are of any bytes.
pub trait StoreConnection: Clone + Send + Sync + 'static {
    /// What stands under these keys, in their order. What is taken is gone: of all who take it, on all nodes, one gets it.
    fn read(&mut self, reads: &[Read]) -> impl Future<Output = Result<Vec<Option<Vec<u8>>>, StoreError>> + Send;

    /// Writes these, each for its lifetime, in the place of what stands there.
    fn write(&mut self, writes: &[Write]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes this one in one step with seeing that under its key stands `seen`, or nothing. Returns whether it did.
    fn compare_and_set(
        &mut self,
        seen: Option<&[u8]>,
        write: &Write,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The store's clock.
    fn time(&mut self) -> impl Future<Output = Result<UnixTime, StoreError>> + Send;

    /// Which store it is. Early data is accepted only from one that says so, and is the same for a whole window: two with one identity
    /// have between them handed out each session once. `None`, as here: it cannot be said.
    fn identify(&mut self) -> impl Future<Output = Result<Option<StoreIdentity>, StoreError>> + Send {
        ready(Ok(None))
    }

    /// Whether it takes writes, unlike a replica. Asked of a new connection.
    fn is_primary(&mut self) -> impl Future<Output = Result<bool, StoreError>> + Send {
        ready(Ok(true))
    }
}

/// One question to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// What stands under this key, and stays.
    Get(Vec<u8>),
    /// The same, which is gone then.
    Take(Vec<u8>),
}

/// One entry on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where it is to stand.
    pub key: Vec<u8>,
    /// What is to stand there: sealed.
    pub entry: Vec<u8>,
    /// For how long: a millisecond or more, a year at most for a ring.
    pub lifetime: Duration,
}

/// What came instead of an answer.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// The store refuses this, by an answer: the connection is of use for all else.
    Refused(Refusal),
    /// The connection is dead, or leads where it should not. Why, for the log.
    Failed(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Failed(why) => f.write_str(why),
        }
    }
}
