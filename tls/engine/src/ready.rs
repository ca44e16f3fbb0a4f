//! The end of a handshake, as far as the client is concerned.

use reprise_model::Nanos;

/// When application data could first be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The `now` that came with the bytes that made it so: the client's own answer to them had not left yet.
    pub at: Nanos,
    /// How many of [`Connection::events`](crate::Connection::events) there were by then.
    pub events: usize,
}
