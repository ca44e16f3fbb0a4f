//! Who is told of every message.

use reprise_trace::Event;

/// Is told of every message of a connection, in the order of time.
pub trait Recorder {
    /// One message in or out.
    fn message(&mut self, message: Event);

    /// So many more there was no room for.
    fn omitted(&mut self, _count: u64) {}
}

/// Keeps them.
#[derive(Clone, Debug, Default)]
pub struct MessageLog {
    /// Every message, in the order of time.
    pub messages: Vec<Event>,
    /// How many there was no room for.
    pub omitted: u64,
}

impl Recorder for MessageLog {
    fn message(&mut self, message: Event) {
        self.messages.push(message);
    }

    fn omitted(&mut self, count: u64) {
        self.omitted += count;
    }
}
