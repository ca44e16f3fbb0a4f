//! A server's key pairs, made before they are asked for, and used once.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use rustls::crypto::{ActiveKeyExchange, SupportedKxGroup};
use rustls::{Error, NamedGroup};

/// A group whose pairs are made ahead.
pub(crate) struct PairsAhead {
    group: &'static dyn SupportedKxGroup,
    pairs: Mutex<Vec<Box<dyn ActiveKeyExchange>>>,
}

impl PairsAhead {
    pub(crate) fn new(group: &'static dyn SupportedKxGroup) -> Self {
        Self { group, pairs: Mutex::default() }
    }

    /// Makes one.
    pub(crate) fn make(&self) -> Result<(), Error> {
        let pair = self.group.start()?;
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
        Ok(())
    }
}

impl SupportedKxGroup for PairsAhead {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let made = self.pairs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        made.ok_or_else(|| Error::General("no key pair was made ahead".to_owned()))
    }

    fn name(&self) -> NamedGroup {
        self.group.name()
    }
}

impl fmt::Debug for PairsAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PairsAhead({:?})", self.group.name())
    }
}
