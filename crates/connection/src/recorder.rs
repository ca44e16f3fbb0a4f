//! Recording of every message.

use reprise_model::Event;

/// Receives every message of a connection, in the order of time.
pub trait Recorder {
    /// One message in or out.
    fn message(&mut self, message: Event);

    /// The bytes of the next handshake message among them, header included, where they were kept.
    fn handshake_bytes(&mut self, _bytes: &[u8]) {}

    /// This many further messages were left out for lack of room.
    fn omitted(&mut self, _count: u64) {}
}

/// Keeps every message in memory.
#[derive(Clone, Debug, Default)]
pub struct MessageLog {
    /// Every message, in the order of time.
    pub messages: Vec<Event>,
    /// The bytes of the handshake messages among them, header included, in the same order; none where they were not kept.
    pub handshake_bytes: Vec<Vec<u8>>,
    /// How many there was no room for.
    pub omitted: u64,
}

impl Recorder for MessageLog {
    fn message(&mut self, message: Event) {
        self.messages.push(message);
    }

    fn handshake_bytes(&mut self, bytes: &[u8]) {
        self.handshake_bytes.push(bytes.to_vec());
    }

    fn omitted(&mut self, count: u64) {
        self.omitted += count;
    }
}
