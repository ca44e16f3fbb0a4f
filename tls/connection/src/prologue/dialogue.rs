//! A dialogue of one protocol in the clear, as a state machine over whole messages.

use super::{Message, Problem};

/// What the bytes that have come so far are: with `Some(length)`, the first so many are a whole message; with `None` more
/// must come.
pub(crate) type Length = Result<Option<usize>, Unexpected>;

/// These bytes cannot begin the message that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexpected;

/// One protocol in the clear. Its state is the message that is due.
pub(crate) trait Dialogue: Send {
    /// What the client says at first, and the message that is due then. Unless it says otherwise, the peer greets.
    fn opening(&self) -> (Vec<u8>, Message) {
        (Vec::new(), Message::Greeting)
    }

    /// How long the message that is due is.
    fn length(&self, due: Message, heard: &[u8]) -> Length;

    /// What follows from it.
    fn answer(&self, due: Message, message: &[u8]) -> Turn;
}

/// What follows from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This is said, and answered by that message.
    Say(Vec<u8>, Message),
    /// This is said, and the dialogue is over.
    Tell(Vec<u8>),
    /// The peer goes on with that message.
    Await(Message),
    /// The dialogue is over.
    Done,
    /// It has failed.
    Fail(Problem),
}

/// The first of the lines that have come, up to and with its line feed.
pub(super) fn line(heard: &[u8]) -> Length {
    Ok(heard.iter().position(|&byte| byte == b'\n').map(|at| at + 1))
}

/// Whether the one begins with the other, as far as they have come.
pub(super) fn agree(heard: &[u8], expected: &[u8]) -> bool {
    heard.iter().zip(expected).all(|(given, expected)| given == expected)
}
