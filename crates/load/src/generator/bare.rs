//! The lean client without a socket, for fuzzing alone: bytes in, bytes out. What it promises may change.

use reprise_engine::Session;
use reprise_trace::{Kind, Nanos};

use crate::generator::connection::client::{Client, Thread};
use crate::generator::connection::conversation::Conversation;
use crate::generator::fault::Fault;
use crate::generator::options::Options;

/// One connection after the other, as a generator with these options makes them.
pub struct Bare {
    options: Options,
    thread: Thread,
    conversation: Conversation,
}

impl Bare {
    /// A client that holds no session.
    ///
    /// # Errors
    /// If nothing can be offered.
    pub fn new(options: Options) -> Result<Self, Fault> {
        let kinds: Vec<Kind> = options.mix.iter().map(|(kind, _)| *kind).collect();
        let thread = Thread::new(&options.tls, options.sessions, &kinds)?;
        let conversation = Conversation::new(Client::new(&thread));
        Ok(Self { options, thread, conversation })
    }

    /// Has it offer this session, in this way, where a connection of the kind is begun.
    pub fn hold(&mut self, session: &Session, kind: Kind) {
        if let Thread::Lean(thread) = &mut self.thread {
            thread.hold(session, kind);
        }
    }

    /// Begins a connection; returns its first bytes.
    ///
    /// # Errors
    /// If there are none.
    pub fn begin(&mut self, kind: Kind, now: Nanos) -> Result<Vec<u8>, Fault> {
        self.conversation.begin(&mut self.thread, &self.options, kind, 0, now)?;
        Ok(self.conversation.hello().to_vec())
    }

    /// Takes bytes from the server; returns what they call for.
    ///
    /// # Errors
    /// What ended the connection.
    pub fn receive(&mut self, bytes: &mut [u8], now: Nanos) -> Result<Vec<u8>, Fault> {
        self.conversation.receive(&mut self.thread, &self.options, bytes, now)?;
        Ok(std::mem::take(&mut self.conversation.outgoing))
    }

    /// The server sends nothing more.
    ///
    /// # Errors
    /// If that was too early.
    pub fn receive_end(&mut self) -> Result<(), Fault> {
        // Nobody asks how long it took.
        self.conversation.receive_end(&self.options, Nanos(0))
    }

    /// Whether all that was wanted has come.
    pub fn is_done(&self) -> bool {
        self.conversation.is_done()
    }

    /// What the connection was observed to be.
    pub fn kind(&self) -> Kind {
        self.conversation.kind()
    }

    /// Ends the connection, whatever its state.
    pub fn end(&mut self) {
        let completed = self.conversation.is_done();
        self.conversation.end(&mut self.thread, completed);
    }
}
