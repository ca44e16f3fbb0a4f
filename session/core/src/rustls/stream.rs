use std::fmt;

use rustls::ServerConnection;

use super::server::Watch;
#[cfg(feature = "tokio")]
use crate::store::Written;

/// A connection over the caller's own stream, as [`ResumingServer::accept`](super::ResumingServer::accept) makes it over a blocking
/// one, and `accept_tokio` over one of tokio.
///
/// Reading gives early data first, as if it had come later: whoever must not act on it without the rest of the handshake asks
/// [`TlsStream::is_early`], or leaves `max_early_data_size` at zero.
pub struct TlsStream<S> {
    /// The TLS side.
    pub conn: ServerConnection,
    /// The stream below it.
    pub sock: S,
    pub(super) watch: Watch,
    /// What the shared store is to have before more is sent.
    #[cfg(feature = "tokio")]
    pub(super) awaited: Option<Written>,
}

impl<S> TlsStream<S> {
    pub(super) fn new(conn: ServerConnection, sock: S, watch: Watch) -> Self {
        Self {
            conn,
            sock,
            watch,
            #[cfg(feature = "tokio")]
            awaited: None,
        }
    }

    /// Whether the client's Finished is not there yet: what is read now came before it.
    pub fn is_early(&self) -> bool {
        self.conn.is_handshaking()
    }

    /// Both sides, as `tokio_rustls` gives them.
    pub fn get_ref(&self) -> (&S, &ServerConnection) {
        (&self.sock, &self.conn)
    }
}

impl<S> fmt::Debug for TlsStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("conn", &self.conn).finish_non_exhaustive()
    }
}
