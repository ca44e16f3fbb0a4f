//! What a client keeps of a connection, to resume it.

use std::any::Any;
use std::fmt;

use reprise_connection::{Detail, Fault};
use reprise_model::FaultName;

use crate::StackError;

/// The sessions that connections have left, the newest last.
pub type StackSessions = Vec<StackSession>;

/// What a client keeps of a connection, to resume it: for a context of the library that it is of.
pub struct StackSession(Box<dyn LibrarySession>);

/// A session as its library has it.
pub(crate) trait LibrarySession: Any {
    /// As [`StackSession::again`].
    fn again(&self) -> Option<StackSession>;

    /// As [`StackSession::export`].
    fn export(&self) -> Result<Vec<u8>, StackError>;

    /// As [`StackSession::wrapping`].
    fn wrapping(&self) -> usize {
        0
    }

    /// The library, for `Debug`.
    fn library(&self) -> &'static str;
}

impl StackSession {
    pub(crate) fn new(session: impl LibrarySession) -> Self {
        Self(Box::new(session))
    }

    /// The library's own session, if it is of this library.
    pub(crate) fn into_own<S: LibrarySession>(self) -> Result<S, Fault> {
        let session: Box<dyn Any> = self.0;
        let another =
            |_| Fault::new(FaultName::NothingToOffer).with(Detail::Said(b"the session is another library's".into()));
        session.downcast().map(|own| *own).map_err(another)
    }

    /// The same once more; `None` where the library lets a session be offered once only, as rustls does under TLS 1.3.
    pub fn again(&self) -> Option<Self> {
        self.0.again()
    }

    /// It as bytes, which hold its secrets, for another process.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library has no such bytes.
    pub fn export(&self) -> Result<Vec<u8>, StackError> {
        self.0.export()
    }

    /// Bytes of the heap that it takes beside the library's own session.
    pub fn wrapping(&self) -> usize {
        self.0.wrapping()
    }
}

impl fmt::Debug for StackSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.0.library())
    }
}
