use std::io;

use rustls::Error;

use crate::hello::HelloTooLong;
use crate::metrics::{HandshakeFailure, Metrics};

/// A connection whose handshake is not done. The metrics are told why, if it never is: also where nobody waits any longer, and the
/// attempt is dropped.
pub(super) struct Attempt<'a>(Option<&'a dyn Metrics>);

impl<'a> Attempt<'a> {
    pub(super) fn new(metrics: Option<&'a dyn Metrics>) -> Self {
        Self(metrics)
    }

    /// It is over, and this is what it came to.
    pub(super) fn ended<T>(mut self, result: &io::Result<T>) {
        let metrics = self.0.take();
        if let (Some(metrics), Err(error)) = (metrics, result) {
            metrics.handshake_failed(failure(error));
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(metrics) = self.0 {
            metrics.handshake_failed(HandshakeFailure::Timeout);
        }
    }
}

fn failure(error: &io::Error) -> HandshakeFailure {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    let source = error.get_ref();
    if source.is_some_and(|source| source.is::<HelloTooLong>()) {
        return HandshakeFailure::HelloTooLong;
    }
    match (source.and_then(|source| source.downcast_ref()), error.kind()) {
        (Some(Error::AlertReceived(_)), _) => HandshakeFailure::Alert,
        (Some(_), _) => HandshakeFailure::Refused,
        (None, UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe) => HandshakeFailure::Closed,
        (None, TimedOut | WouldBlock) => HandshakeFailure::Timeout,
        (None, _) => HandshakeFailure::Stream,
    }
}
