//! Every message of a connection.

use reprise_model::Event;

/// Every message of a connection, kept in memory.
#[derive(Clone, Debug, Default)]
pub struct MessageLog {
    /// Every message, in the order of time.
    pub messages: Vec<Event>,
    /// The bytes of the handshake messages among them, header included, in the same order; none where they were not kept.
    pub handshake_bytes: Vec<Vec<u8>>,
    /// How many there was no room for.
    pub omitted: u64,
}
