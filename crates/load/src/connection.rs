//! One connection: a socket, the client over it, and where its requests stand.

use std::io::{self, ErrorKind, Read, Write};

use mio::{Interest, Registry, Token};
use reprise_trace::{Kind, Nanos, Phases};
use reprise_wire::Record;

use crate::client::{Client, Heard, Thread};
use crate::fault::Fault;
use crate::options::{Close, Options};
use crate::response::Response;
use crate::socket::Socket;

/// A place for connections, one after the other. Its memory is used again.
pub(crate) struct Connection {
    socket: Socket,
    client: Client,
    /// What has come of a record that is not whole.
    incoming: Vec<u8>,
    /// What the socket would not take yet.
    outgoing: Vec<u8>,
    response: Response,
    requests_left: u32,
    asked: Kind,
    /// Whether this one goes before another that needs its session.
    primes: bool,
    intended: Nanos,
    times: Times,
}

/// When things happened; zero for not yet.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    began: Nanos,
    connected: Option<Nanos>,
    hello: Option<Nanos>,
    ready: Option<Nanos>,
    requested: Option<Nanos>,
    first_byte: Option<Nanos>,
    answered: Option<Nanos>,
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
            client,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            response: Response::default(),
            requests_left: 0,
            asked: Kind::Full,
            primes: false,
            intended: Nanos(0),
            times: Times::default(),
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
        self.requests_left = options.requests;
        self.asked = plan.kind;
        self.incoming.clear();
        self.outgoing.clear();
        self.response.clear();
        self.times = Times { began: now(), ..Times::default() };
        self.client.start(thread, plan.kind, plan.name, self.times.began)?;
        self.primes = plan.kind != Kind::Full && !self.client.offers_session();
        let stream = self.socket.connect(options.address, options.close).map_err(|error| Fault::of_connecting(&error))?;
        match stream.write(self.client.hello()) {
            Ok(count) => {
                let now = now();
                self.times.connected = Some(now);
                self.times.hello = Some(now);
                self.outgoing.extend_from_slice(self.client.hello().get(count..).unwrap_or_default());
                Ok(Begun::HelloSent)
            }
            Err(error) if is_not_yet(&error) => Ok(Begun::Connecting),
            Err(error) => Err(Fault::of_connecting(&error)),
        }
    }

    /// Goes on, after the socket has become readable or writable.
    pub(crate) fn proceed(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        buffer: &mut [u8],
        now: impl Fn() -> Nanos,
    ) -> Result<Progress, Fault> {
        if self.times.hello.is_none() && !self.send_hello(&now)? {
            return Ok(Progress::Waiting);
        }
        self.flush()?;
        loop {
            let Some(stream) = self.socket.stream() else { return Ok(Progress::Waiting) };
            let count = match stream.read(buffer) {
                Ok(0) => return self.hear_end(options),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Waiting),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::of_transfer(&error)),
            };
            let now = now();
            let bytes = buffer.get_mut(..count).unwrap_or_default();
            if self.take_in(thread, options, bytes, now)? == Progress::Done {
                return Ok(Progress::Done);
            }
            // A short read has emptied the socket: an edge tells of what comes after it.
            if count < buffer.len() {
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

    /// Ends it, whatever its state. What the client has learned goes back to the thread. Where another connection follows at
    /// once, it may have the socket; without one the poll would tell of a socket that is disconnected, and cost more than is
    /// saved.
    pub(crate) fn end(&mut self, thread: &mut Thread, options: &Options, completed: bool, another_follows: bool) {
        if completed && options.close == Close::Notify {
            self.outgoing.clear();
            if self.client.send_close(self.times.began, &mut self.outgoing).is_ok()
                && let Some(stream) = self.socket.stream()
            {
                // A server that takes no two dozen bytes more is not told.
                let _ = stream.write(&self.outgoing);
            }
        }
        if completed && another_follows && options.close == Close::Rst {
            self.socket.reset();
        } else {
            self.socket.close();
        }
        self.client.reset(thread, completed);
    }

    pub(crate) fn kind(&self) -> Kind {
        self.client.kind()
    }

    /// Whether it was full because there was nothing to offer.
    pub(crate) fn primes(&self) -> bool {
        self.primes
    }

    /// Whether a session was offered and refused.
    pub(crate) fn was_refused(&self) -> bool {
        self.client.offers_session() && self.client.kind() == Kind::Full
    }

    pub(crate) fn status(&self) -> u16 {
        self.response.status()
    }

    pub(crate) fn began(&self) -> Nanos {
        self.times.began
    }

    pub(crate) fn intended(&self) -> Nanos {
        self.intended
    }

    /// The phases of a connection that ended at `now`.
    pub(crate) fn phases(&self, now: Nanos) -> Phases {
        let times = &self.times;
        let between = |from: Option<Nanos>, to: Option<Nanos>| Some(to?.since(from?));
        Phases {
            connect: between(Some(times.began), times.connected),
            tls: between(times.hello, times.ready),
            wait: between(times.requested, times.first_byte),
            receive: between(times.first_byte, times.answered),
            total: Some(now.since(times.began)),
            ..Phases::default()
        }
    }

    /// What a connection that took too long was waiting for.
    pub(crate) fn timeout(&self) -> Fault {
        if self.times.connected.is_none() {
            Fault::ConnectTimeout
        } else if self.times.ready.is_some() && !self.client.is_confirmed() {
            Fault::Unconfirmed
        } else {
            Fault::Timeout
        }
    }

    fn send_hello(&mut self, now: impl Fn() -> Nanos) -> Result<bool, Fault> {
        let Some(stream) = self.socket.stream() else { return Ok(false) };
        match stream.write(self.client.hello()) {
            Ok(count) => {
                let now = now();
                self.times.connected = self.times.connected.or(Some(now));
                self.times.hello = Some(now);
                self.outgoing.extend_from_slice(self.client.hello().get(count..).unwrap_or_default());
                Ok(true)
            }
            Err(error) if is_not_yet(&error) => Ok(false),
            Err(error) => Err(Fault::of_connecting(&error)),
        }
    }

    fn take_in(&mut self, thread: &mut Thread, options: &Options, bytes: &mut [u8], now: Nanos) -> Result<Progress, Fault> {
        if self.incoming.is_empty() {
            let (used, progress) = self.take_records(thread, options, bytes, now)?;
            self.incoming.extend_from_slice(bytes.get(used..).unwrap_or_default());
            return self.flush().map(|()| progress);
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.extend_from_slice(bytes);
        let taken = self.take_records(thread, options, &mut incoming, now);
        self.incoming = incoming;
        let (used, progress) = taken?;
        self.incoming.drain(..used.min(self.incoming.len()));
        self.flush().map(|()| progress)
    }

    /// Takes whole records, and says how many bytes they were.
    fn take_records(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        bytes: &mut [u8],
        now: Nanos,
    ) -> Result<(usize, Progress), Fault> {
        let mut used = 0;
        loop {
            let rest = bytes.get_mut(used..).unwrap_or_default();
            let Some((content_type, length)) = Record::parse(rest)?.map(|(record, length)| (record.content_type, length))
            else {
                return Ok((used, Progress::Waiting));
            };
            used += length;
            let record = rest.get_mut(..length).unwrap_or_default();
            match self.client.receive(thread, now, content_type, record, &mut self.outgoing)? {
                Heard::Nothing => {}
                Heard::Ready => {
                    self.times.ready = Some(now);
                    if self.requests_left > 0 {
                        self.times.requested = Some(now);
                        self.client.send(now, &options.request, &mut self.outgoing)?;
                    }
                }
                Heard::Data(data) => {
                    if self.requests_left == 0 {
                        return Err(Fault::BadResponse);
                    }
                    self.times.first_byte = self.times.first_byte.or(Some(now));
                    if self.response.take(data)? {
                        self.times.answered = self.times.answered.or(Some(now));
                        self.next_request(options, now)?;
                    }
                }
                Heard::Ended => {
                    if self.hear_end(options)? == Progress::Done {
                        return Ok((used, Progress::Done));
                    }
                }
            }
            if self.requests_left == 0 && self.client.is_confirmed() {
                self.flush()?;
                if self.outgoing.is_empty() {
                    return Ok((used, Progress::Done));
                }
            }
        }
    }

    fn next_request(&mut self, options: &Options, now: Nanos) -> Result<(), Fault> {
        self.requests_left = self.requests_left.saturating_sub(1);
        if self.requests_left > 0 {
            self.response.clear();
            self.client.send(now, &options.request, &mut self.outgoing)?;
        }
        Ok(())
    }

    /// The server sends nothing more.
    fn hear_end(&mut self, options: &Options) -> Result<Progress, Fault> {
        let is_last = self.requests_left == 1 && options.requests > 0;
        if is_last && self.response.end() && self.client.is_confirmed() {
            self.times.answered = self.times.answered.or(self.times.first_byte);
            self.requests_left = 0;
            return Ok(Progress::Done);
        }
        let unanswered = self.times.ready.is_some() && !self.client.is_confirmed();
        Err(if unanswered { Fault::Unconfirmed } else { Fault::ClosedEarly })
    }

    fn flush(&mut self) -> Result<(), Fault> {
        while !self.outgoing.is_empty() {
            let Some(stream) = self.socket.stream() else { return Ok(()) };
            match stream.write(&self.outgoing) {
                Ok(count) if count >= self.outgoing.len() => self.outgoing.clear(),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::of_transfer(&error)),
            }
        }
        Ok(())
    }
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

/// Whether a socket is only not connected yet.
fn is_not_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}
