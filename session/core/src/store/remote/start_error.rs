use std::fmt;
use std::time::Duration;

use super::refusal::Refusal;
use crate::key::KeyError;

/// Why a store cannot be used at all. That it cannot be reached is no such reason. `Debug` says the same as `Display`: it is what a
/// `main` that returns the error prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An address is no URL of a store, or the certificate authority cannot be read. What is wrong with it, without the address.
    #[error("bad address of a store: {0}")]
    Address(String),
    /// No key could be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store was there, and refuses a command that cannot be done without.
    #[error("{0}")]
    Refused(Refusal),
    /// Keys are published half a period before their use, and every node must see them by then.
    #[error("a ring that is looked at every {refresh:?} cannot rotate every {period:?}")]
    Refresh {
        /// How often nodes look.
        refresh: Duration,
        /// How often it rotates.
        period: Duration,
    },
    /// The thread or its runtime could not be started.
    #[error("cannot start a thread for the store: {0}")]
    Thread(#[from] std::io::Error),
}

impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
