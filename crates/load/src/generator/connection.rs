//! One connection: a socket, and what is said over it.

pub(super) mod client;
pub(super) mod conversation;
pub(super) mod engine_client;
mod response;
mod socket;

use std::io::{self, ErrorKind, Read, Write};

use mio::{Interest, Registry, Token};
use reprise_trace::{Kind, Nanos, Phases};

use self::client::{Client, Thread};
use self::conversation::Conversation;
use self::socket::Socket;
use crate::generator::fault::Fault;
use crate::generator::options::{Close, Options};

/// A place for connections, one after the other. Its memory is used again.
pub(crate) struct Connection {
    socket: Socket,
    conversation: Conversation,
    intended: Nanos,
    began: Nanos,
    /// When it was established and the socket took the ClientHello.
    hello_sent: Option<Nanos>,
}

/// What a connection is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    /// Which of the names.
    pub(crate) name: usize,
    /// When it was to begin.
    pub(crate) intended: Nanos,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Waiting,
    Done,
}

/// How the first step of a connection went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Connected, and the ClientHello is out: the next that matters can be read.
    HelloSent,
    /// Not connected yet: that it is shows in its being writable.
    Connecting,
}

impl Connection {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            socket: Socket::default(),
            conversation: Conversation::new(client),
            intended: Nanos(0),
            began: Nanos(0),
            hello_sent: None,
        }
    }

    /// Begins a connection. On loopback it is established when `connect` returns, though it says that it is in progress: so
    /// the ClientHello is written at once, and only where the socket refuses is it waited for.
    pub(crate) fn begin(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        plan: Plan,
        now: impl Fn() -> Nanos,
    ) -> Result<Begun, Fault> {
        self.intended = plan.intended;
        self.began = now();
        self.hello_sent = None;
        self.conversation.begin(thread, options, plan.kind, plan.name, self.began)?;
        self.socket.connect(options.address, options.close).map_err(|error| Fault::of_connecting(&error))?;
        Ok(if self.send_hello(now)? { Begun::HelloSent } else { Begun::Connecting })
    }

    /// Goes on, after the socket has become readable or writable. `ended`: whether the poll has told of the server's FIN or
    /// reset already, of which it will not tell again.
    pub(crate) fn proceed(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        buffer: &mut [u8],
        ended: bool,
        now: impl Fn() -> Nanos,
    ) -> Result<Progress, Fault> {
        if self.hello_sent.is_none() && !self.send_hello(&now)? {
            return Ok(Progress::Waiting);
        }
        self.flush()?;
        if self.is_done() {
            return Ok(Progress::Done);
        }
        loop {
            let Some(stream) = self.socket.stream() else { return Ok(Progress::Waiting) };
            let count = match stream.read(buffer) {
                Ok(0) => return self.conversation.receive_end(options, now()).map(|()| Progress::Done),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Waiting),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::of_transfer(&error)),
            };
            let bytes = buffer.get_mut(..count).unwrap_or_default();
            self.conversation.receive(thread, options, bytes, now())?;
            self.flush()?;
            if self.is_done() {
                return Ok(Progress::Done);
            }
            // A short read has emptied the socket: an edge tells of what comes after it. An end that came with it had its
            // edge already.
            if count < buffer.len() && !ended {
                return Ok(Progress::Waiting);
            }
        }
    }

    /// Has the poll tell of what it waits for.
    pub(crate) fn watch(&mut self, registry: &Registry, token: Token, begun: Begun) -> io::Result<()> {
        let interest = match begun {
            Begun::HelloSent => Interest::READABLE,
            Begun::Connecting => Interest::READABLE | Interest::WRITABLE,
        };
        self.socket.watch(registry, token, interest)
    }

    /// Has the poll tell of room for what the socket would not take, if there is any of that.
    pub(crate) fn watch_for_room(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        if self.conversation.outgoing.is_empty() || self.socket.stream().is_none() {
            return Ok(());
        }
        self.socket.watch(registry, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends it, whatever its state. Where another connection follows at once, it may have the socket; without one the poll
    /// would tell of a socket that is disconnected, and cost more than is saved.
    pub(crate) fn end(&mut self, thread: &mut Thread, options: &Options, completed: bool, another_follows: bool) {
        if completed
            && options.close == Close::Notify
            && self.conversation.take_leave(self.began).is_ok()
            && let Some(stream) = self.socket.stream()
        {
            // A server that takes no two dozen bytes more is not told.
            let _ = stream.write(&self.conversation.outgoing);
        }
        if completed && another_follows && options.close == Close::Rst {
            self.socket.reset();
        } else {
            self.socket.close();
        }
        self.conversation.end(thread, completed);
    }

    /// What is said over it.
    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(crate) fn began(&self) -> Nanos {
        self.began
    }

    pub(crate) fn intended(&self) -> Nanos {
        self.intended
    }

    /// The phases of a connection that ended at `now`.
    pub(crate) fn phases(&self, now: Nanos) -> Phases {
        let times = self.conversation.times();
        let between = |from: Option<Nanos>, to: Option<Nanos>| Some(to?.since(from?));
        Phases {
            connect: between(Some(self.began), self.hello_sent),
            tls: between(self.hello_sent, times.ready),
            wait: between(times.requested, times.first_byte),
            receive: between(times.first_byte, times.answered),
            total: Some(now.since(self.began)),
            ..Phases::default()
        }
    }

    /// What a connection that took too long was waiting for.
    pub(crate) fn timeout(&self) -> Fault {
        if self.hello_sent.is_none() {
            Fault::ConnectTimeout
        } else if self.conversation.is_unconfirmed() {
            Fault::Unconfirmed
        } else {
            Fault::Timeout
        }
    }

    /// Whether the socket has taken the ClientHello.
    fn send_hello(&mut self, now: impl Fn() -> Nanos) -> Result<bool, Fault> {
        let Some(stream) = self.socket.stream() else { return Ok(false) };
        match stream.write(self.conversation.hello()) {
            Ok(count) => {
                self.hello_sent = Some(now());
                self.conversation.hello_was_taken(count);
                Ok(true)
            }
            Err(error) if is_not_yet(&error) => Ok(false),
            Err(error) => Err(Fault::of_connecting(&error)),
        }
    }

    /// Whether nothing is left to be heard or said.
    fn is_done(&self) -> bool {
        self.conversation.is_done() && self.conversation.outgoing.is_empty()
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let outgoing = &mut self.conversation.outgoing;
        while !outgoing.is_empty() {
            let Some(stream) = self.socket.stream() else { return Ok(()) };
            match stream.write(outgoing) {
                Ok(count) if count >= outgoing.len() => outgoing.clear(),
                Ok(count) => drop(outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::of_transfer(&error)),
            }
        }
        Ok(())
    }
}

/// Whether a socket is only not connected yet.
fn is_not_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}
