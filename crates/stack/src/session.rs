//! What a client keeps of a connection, to resume it.

use std::fmt;

use crate::StackError;
#[cfg(unix)]
use crate::ffi::RawSession;
use crate::rustls_stack::RustlsSession;

/// The sessions that connections have left, the newest last.
pub type Sessions = Vec<Session>;

/// What a client keeps of a connection, to resume it: for a context of the library that it is of.
pub struct Session(pub(crate) Kept);

pub(crate) enum Kept {
    Rustls(RustlsSession),
    Engine(Box<reprise_engine::Session>),
    #[cfg(unix)]
    Plugin(std::rc::Rc<RawSession>),
}

impl Session {
    /// The same once more; `None` where the library lets a session be offered once only, as rustls does under TLS 1.3.
    pub fn again(&self) -> Option<Self> {
        Some(Self(match &self.0 {
            Kept::Rustls(RustlsSession::Tls12(session)) => Kept::Rustls(RustlsSession::Tls12(session.clone())),
            Kept::Rustls(RustlsSession::Tls13(_)) => return None,
            Kept::Engine(session) => Kept::Engine(session.clone()),
            #[cfg(unix)]
            Kept::Plugin(session) => Kept::Plugin(std::rc::Rc::clone(session)),
        }))
    }

    /// It as bytes, which hold its secrets, for another process.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library has no such bytes.
    pub fn export(&self) -> Result<Vec<u8>, StackError> {
        match &self.0 {
            Kept::Rustls(_) => Err(StackError::unsupported("rustls gives no session as bytes")),
            Kept::Engine(_) => {
                Err(StackError::unsupported("the engine's sessions are saved by reprise measure --session-out"))
            }
            #[cfg(unix)]
            Kept::Plugin(session) => session.export(),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = match &self.0 {
            Kept::Rustls(_) => "rustls",
            Kept::Engine(_) => "engine",
            #[cfg(unix)]
            Kept::Plugin(_) => "plugin",
        };
        write!(f, "Session({library})")
    }
}
