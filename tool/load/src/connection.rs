//! One connection: a socket, and the attempt that goes over it.

use std::io::{self, ErrorKind, Read, Write};

use mio::{Interest, Registry, Token};
use nix::errno::Errno;
use reprise_connection::exchange::Negotiated;
use reprise_connection::prologue::Route;
use reprise_connection::{Attempt, Begin, End, Fault, Input, Progress};
use reprise_model::{AnsweredConnection, Facts, FaultName, Kind, Nanos, Phases};

use crate::client::LoadClient;
use crate::options::{Close, ConnectionPlan, LoadOptions};
use crate::shared::LoadShared;
use crate::socket::Socket;

/// A place for connections, one after the other. Its memory is used again.
pub(crate) struct Connection {
    socket: Socket,
    attempt: Attempt<LoadClient, Negotiated>,
    asked: Kind,
    intended: Nanos,
    /// Whether the socket has taken the ClientHello, or what goes before it: until then, nobody knows that it is established.
    is_established: bool,
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
    pub(crate) fn new(options: &LoadOptions) -> Self {
        Self {
            socket: Socket::default(),
            attempt: Attempt::new(LoadClient::default(), options.application.exchange(false)),
            asked: Kind::Full,
            intended: Nanos(0),
            is_established: false,
        }
    }

    /// Begins a connection that was to begin at `intended`. On loopback it is established when `connect` returns, though it says
    /// that it is in progress: so the ClientHello is written at once, and only where the socket refuses is it waited for.
    pub(crate) fn begin(
        &mut self,
        shared: &mut LoadShared,
        options: &LoadOptions,
        plan: ConnectionPlan,
        intended: Nanos,
        now: impl Fn() -> Nanos,
    ) -> Result<Begun, Fault> {
        (self.asked, self.intended) = (plan.kind, intended);
        self.is_established = false;
        let begin = Begin {
            plan,
            prologue: options.route.as_ref().and_then(Route::prologue),
            requests: options.requests,
            early: None,
        };
        self.attempt.begin(shared, begin, now())?;
        self.attempt.connecting(now());
        self.socket.connect(options.address, options.close).map_err(|error| of_connecting(&error))?;
        Ok(if self.send_hello(now)? { Begun::HelloSent } else { Begun::Connecting })
    }

    /// Goes on, after the socket has become readable or writable; whether all that was wanted has come. `ended`: whether the poll
    /// has told of the server's FIN or reset already, of which it will not tell again.
    pub(crate) fn proceed(
        &mut self,
        shared: &mut LoadShared,
        buffer: &mut [u8],
        ended: bool,
        now: impl Fn() -> Nanos,
    ) -> Result<bool, Fault> {
        if !self.is_established && !self.send_hello(&now)? {
            return Ok(false);
        }
        self.flush(&now)?;
        while !self.is_done() {
            let Some(stream) = self.socket.stream() else { return Ok(false) };
            let count = match stream.read(buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(of_transfer(&error)),
            };
            let at = now();
            match count {
                0 => self.attempt.receive_end(at)?,
                _ => self.receive(shared, Input::new(buffer.get_mut(..count).unwrap_or_default(), at), &now)?,
            }
            if self.attempt.is_peer_closed() && !self.attempt.is_done() {
                return Err(Fault::new(FaultName::Unconfirmed));
            }
            self.flush(&now)?;
            // A short read has emptied the socket: an edge tells of what comes after it. An end that came with it had its
            // edge already.
            if count < buffer.len() && !ended {
                break;
            }
        }
        Ok(self.is_done())
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
        if !self.attempt.has_outgoing() || self.socket.stream().is_none() {
            return Ok(());
        }
        self.socket.watch(registry, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends it, whatever its state. Where another connection follows at once, it may have the socket; without one the poll
    /// would tell of a socket that is disconnected, and cost more than is saved.
    pub(crate) fn end(&mut self, shared: &mut LoadShared, options: &LoadOptions, how: End, another_follows: bool) {
        let completed = how == End::Completed;
        let at = self.begun();
        if completed
            && options.close == Close::Notify
            && self.attempt.close(at).is_ok()
            && let Some(stream) = self.socket.stream()
        {
            // A server that takes no two dozen bytes more is not told.
            let _ = stream.write(self.attempt.outgoing(at));
        }
        if completed && another_follows && options.close == Close::Rst {
            self.socket.reset();
        } else {
            self.socket.close();
        }
        self.attempt.end(shared, how);
    }

    pub(crate) fn begun(&self) -> Nanos {
        self.attempt.begun()
    }

    /// The kind that it was to be.
    pub(crate) fn asked(&self) -> Kind {
        self.asked
    }

    /// When it was to begin.
    pub(crate) fn intended(&self) -> Nanos {
        self.intended
    }

    /// What was negotiated, until it is ended.
    pub(crate) fn facts(&self) -> Option<Facts> {
        self.attempt.facts()
    }

    /// What it was answered first, where anything was asked.
    pub(crate) fn answered(&self) -> Option<AnsweredConnection> {
        let (facts, answer) = (self.attempt.facts()?, self.attempt.answer()?);
        Some(AnsweredConnection { tls: facts.version, kind: facts.kind, answer })
    }

    /// Of all responses, each status with its count.
    pub(crate) fn statuses(&self) -> &[(u16, u64)] {
        self.attempt.statuses()
    }

    /// The phases of a connection that ended at `now`: all its requests are in the total.
    pub(crate) fn phases(&self, now: Nanos) -> Phases {
        Phases { total: Some(now.since(self.begun())), ..self.attempt.phases() }
    }

    /// What a connection that took too long was waiting for.
    pub(crate) fn timeout(&self) -> FaultName {
        if self.is_established { self.attempt.timed_out().name } else { FaultName::ConnectTimeout }
    }

    /// Whether the socket has taken the ClientHello.
    fn send_hello(&mut self, now: impl Fn() -> Nanos) -> Result<bool, Fault> {
        let at = now();
        let socket = &mut self.socket;
        // Where it has not been established, the kernel has chosen the address all the same.
        self.attempt.connected(at, || socket.stream()?.local_addr().ok())?;
        let Some(stream) = self.socket.stream() else { return Ok(false) };
        match stream.write(self.attempt.outgoing(at)) {
            Ok(count) => {
                self.attempt.sent(count);
                self.is_established = true;
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => Ok(false),
            Err(error) => Err(of_connecting(&error)),
        }
    }

    fn receive(&mut self, shared: &mut LoadShared, mut input: Input<'_>, now: impl Fn() -> Nanos) -> Result<(), Fault> {
        let mut at = input.at();
        loop {
            match self.attempt.receive(shared, &mut input, at)? {
                Progress::Boundary => at = now(),
                // The connection goes on until that is written: what follows must not be lost.
                Progress::Done if self.attempt.has_outgoing() => {}
                Progress::Done | Progress::Waiting => return Ok(()),
            }
        }
    }

    /// Whether nothing is left to be heard or said.
    fn is_done(&self) -> bool {
        self.attempt.is_done() && !self.attempt.has_outgoing()
    }

    fn flush(&mut self, now: impl Fn() -> Nanos) -> Result<(), Fault> {
        while self.attempt.has_outgoing() {
            let Some(stream) = self.socket.stream() else { return Ok(()) };
            match stream.write(self.attempt.outgoing(now())) {
                Ok(count) => self.attempt.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(of_transfer(&error)),
            }
        }
        Ok(())
    }
}

/// What a failure to begin a connection is.
fn of_connecting(error: &io::Error) -> Fault {
    Fault::new(match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EADDRNOTAVAIL) => FaultName::PortsExhausted,
        Some(Errno::EMFILE | Errno::ENFILE) => FaultName::DescriptorLimit,
        Some(Errno::ECONNREFUSED) => FaultName::ConnectionRefused,
        Some(Errno::ETIMEDOUT) => FaultName::ConnectTimeout,
        Some(Errno::EHOSTUNREACH | Errno::ENETUNREACH) => FaultName::Unreachable,
        _ => FaultName::ConnectFailed,
    })
}

/// What a failure to read or write is.
fn of_transfer(error: &io::Error) -> Fault {
    Fault::new(match error.kind() {
        ErrorKind::ConnectionRefused => FaultName::ConnectionRefused,
        ErrorKind::TimedOut => FaultName::Timeout,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => FaultName::ConnectionReset,
        _ => FaultName::SocketError,
    })
}
