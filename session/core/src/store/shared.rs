use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::policy::sha256;

/// Where a shared store keeps a session: a digest of the ID, since IDs are an attacker's choice and could be made to fall on
/// one node of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey([u8; 32]);

impl StoreKey {
    /// A key from its bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key of a session ID or of a TLS 1.3 ticket that names a stored session.
    pub fn of(id: &[u8]) -> Self {
        Self(sha256(id))
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// What a ClientHello asks of a shared store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lookup {
    /// A TLS 1.2 session, which stays.
    Get(StoreKey),
    /// A TLS 1.3 session, which only one of all nodes may have.
    Take(StoreKey),
}

impl Lookup {
    /// The key that is looked up.
    pub fn key(&self) -> StoreKey {
        match self {
            Self::Get(key) | Self::Take(key) => *key,
        }
    }
}

/// What a shared store found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Answers {
    /// One for each lookup, in any order; a missing one counts as [`Answer::Unanswered`].
    pub answers: Vec<(StoreKey, Answer)>,
    /// Whether early data may be accepted with a session that was taken: whether the store is sure that nobody, on no node,
    /// has taken or will take it too. A store that began less than a window ago, or may have forgotten what was taken, is
    /// not (RFC 9846 §8.2).
    pub early_data: bool,
}

impl Answers {
    /// These, from a store that is not sure: no early data.
    pub fn new(answers: Vec<(StoreKey, Answer)>) -> Self {
        Self { answers, early_data: false }
    }

    /// With this [`Answers::early_data`].
    #[must_use]
    pub fn early_data(self, early_data: bool) -> Self {
        Self { early_data, ..self }
    }
}

/// What a shared store found under one key.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The entry, sealed as it was put.
    Found(Vec<u8>),
    /// There is none.
    Absent,
    /// The store did not answer within its budget, or could not be asked.
    Unanswered,
}

/// Answers that are on their way.
pub type Fetch = Pin<Box<dyn Future<Output = Answers> + Send>>;

/// An entry that is on its way: ends when the store has it, or is not to be waited for. Dropping it changes nothing.
pub type Written = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A store that all nodes share. It sees sealed entries only.
///
/// An outage costs speed, never a handshake: neither method blocks, and what they return ends within the store's own
/// budget whatever the store does. It must make progress without being polled by a runtime of its own, so that
/// blocking servers can wait for it too.
pub trait SharedStore: Debug + Send + Sync {
    /// Looks up what a ClientHello offers, at most five keys.
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch;

    /// Whether it would be sure of [`Answers::early_data`] now: then the tickets of full handshakes allow early data.
    fn is_sure(&self) -> bool {
        false
    }

    /// Stores an entry for `lifetime`. A client gets the session once this has ended: one that comes back at once finds it.
    /// `None` if it will not be tried: a full queue refuses.
    fn put(&self, key: StoreKey, entry: Vec<u8>, lifetime: Duration) -> Option<Written>;
}
