//! One side of connections over TCP on 127.0.0.1, its peer in another process.
//!
//! ```text
//! client:  connect │ begin ── ClientHello ──> … Finished │ wait for the end │ end
//!                  └ the clock starts                    └ ready            └ wall
//! server:   accept │ begin … Finished, tickets ── end of stream ──> wait for the client's end │ end
//! ```
//!
//! A side's CPU time is that of its library's turns, as over memory; what sockets cost is the kernel's. What each sends and
//! receives is kept, and read by the witness once the connection is over.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use reprise_connection::End as Ended;
use reprise_model::Nanos;
use reprise_stack::{Context, StackAccount, StackSession};
use reprise_wire::Record;
use socket2::SockRef;

use crate::case::Case;
use crate::cell::{Cell, Transport, check};
use crate::clock::CpuClock;
use crate::message::{Amount, Dialed, DialedConnections, Failed, OnAClock, Served, ServedConnections};
use crate::pair::{Connected, Party, Says};
use crate::witness::{WireFacts, Witness};

/// What is read from a socket at once.
const CHUNK: usize = 64 * 1024;

/// One side of one connection after the other.
struct End {
    party: Party,
    /// It must outlive the party's endpoint.
    _context: Box<dyn Context>,
    clock: CpuClock,
    patience: Duration,
    witnesses: bool,
    /// How many intervals of the clock there were since it was last asked.
    turns: u64,
    /// What was read, up to the last whole record of it.
    pending: Vec<u8>,
    chunk: Vec<u8>,
    /// All that this side and its peer have sent on this connection.
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// How to make one side.
pub(crate) struct Setup {
    pub(crate) context: Box<dyn Context>,
    pub(crate) case: Case,
    pub(crate) patience: Duration,
    pub(crate) witnesses: bool,
}

/// How far a connection came, on a clock since it was established.
struct Marks {
    ready: Duration,
    over: Duration,
}

impl End {
    fn new(name: &'static str, setup: Setup) -> Self {
        Self {
            party: Party::new(name, setup.context.endpoint()),
            _context: setup.context,
            clock: CpuClock::calibrated(),
            patience: setup.patience,
            witnesses: setup.witnesses,
            turns: 0,
            pending: Vec::new(),
            chunk: vec![0; CHUNK],
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    /// The handshake, until this side is complete and its peer knows all that it has to say; `None` where the peer closes it
    /// without a byte.
    fn handshake(
        &mut self,
        stream: &mut TcpStream,
        session: Option<StackSession>,
        says: Says,
        is_client: bool,
    ) -> Result<Option<Marks>, Failed> {
        let failed = self.socket_failed();
        self.pending.clear();
        self.sent.clear();
        self.received.clear();
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(self.patience)).map_err(failed)?;
        stream.set_write_timeout(Some(self.patience)).map_err(failed)?;
        let begin = Instant::now();
        let mut is_unsaid = is_client && says != Says::Nothing;
        self.party.begin(self.clock, says.plan(session))?;
        let mut ready = None;
        loop {
            self.flush(stream).map_err(failed)?;
            if self.party.is_ready {
                ready = ready.or_else(|| Some(begin.elapsed()));
                if !is_client {
                    stream.shutdown(Shutdown::Write).map_err(failed)?;
                }
            }
            let count = stream.read(&mut self.chunk).map_err(failed)?;
            match (count, ready) {
                (0, Some(ready)) => return Ok(Some(Marks { ready, over: begin.elapsed() })),
                (0, None) if self.received.is_empty() && !is_client => return Ok(None),
                (0, None) => return Err(failed(io::ErrorKind::BrokenPipe.into())),
                _ => {}
            }
            let arrived = self.chunk.get(..count).unwrap_or_default();
            self.received.extend_from_slice(arrived);
            self.pending.extend_from_slice(arrived);
            let mut records: Vec<u8> = self.pending.drain(..self.whole_records()?).collect();
            if let Err(refused) = self.party.receive(self.clock, &mut records) {
                // Its alert, which tells the peer why.
                let _ = self.flush(stream);
                return Err(refused);
            }
            // It leaves with the client's Finished.
            if self.party.is_ready && std::mem::take(&mut is_unsaid) {
                self.party.send_request(self.clock)?;
            }
        }
    }

    /// How many bytes the whole records at the front of what was read take.
    fn whole_records(&self) -> Result<usize, Failed> {
        let mut whole = 0;
        loop {
            match Record::parse(self.pending.get(whole..).unwrap_or_default()) {
                Ok(Some((_, length))) => whole += length,
                Ok(None) => return Ok(whole),
                Err(_) => {
                    let name = self.party.name;
                    return Err(Failed::because(format!("{name}: what its peer sends is no TLS record")));
                }
            }
        }
    }

    fn flush(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        if !self.party.sent.is_empty() {
            stream.write_all(&self.party.sent)?;
            self.sent.append(&mut self.party.sent);
        }
        Ok(())
    }

    /// What the library says of the connection; then the end of it, whose time is the side's too: all that it took.
    fn finish(&mut self, made: Result<Option<Marks>, Failed>) -> Result<Option<(Marks, StackAccount, Nanos)>, Failed> {
        let account = self.party.account();
        let how = if matches!(made, Ok(Some(_))) { Ended::Completed } else { Ended::Failed };
        self.party.end(self.clock, how);
        self.turns += self.party.turns;
        let Some(marks) = made? else { return Ok(None) };
        Ok(Some((marks, account?, self.party.spent)))
    }

    /// CPU time of the thread since it was last asked, without the readings of the clock.
    fn thread_ns(&mut self, thread: Nanos) -> u64 {
        thread.0.saturating_sub(self.clock.readings(std::mem::take(&mut self.turns)).0)
    }

    fn observed(&self, is_client: bool) -> Result<Option<WireFacts>, Failed> {
        if !self.witnesses {
            return Ok(None);
        }
        let (client, server) = if is_client { (&self.sent, &self.received) } else { (&self.received, &self.sent) };
        let mut witness = Witness::default();
        witness.client_sends(client);
        witness.server_sends(server);
        witness.facts().map(Some)
    }

    /// What an error of this side's socket comes to.
    fn socket_failed(&self) -> impl Fn(io::Error) -> Failed + Copy + use<> {
        let (name, patience) = (self.party.name, self.patience);
        move |error| {
            let why = match error.kind() {
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "its peer ended the connection".to_owned(),
                io::ErrorKind::WouldBlock => format!("its peer said nothing for {} s", patience.as_secs_f64()),
                _ => error.to_string(),
            };
            Failed::because(format!("{name}: {why}"))
        }
    }
}

/// A client, and what it has made since it was last asked.
pub(crate) struct Dialer {
    end: End,
    port: u16,
    made: Vec<Dialed>,
}

impl Transport for Dialer {
    fn connect(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed> {
        let Self { end, port, made } = self;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        let stream = TcpStream::connect_timeout(&address, end.patience).map_err(end.socket_failed());
        let shaken = stream.and_then(|mut stream| end.handshake(&mut stream, session, says, true));
        let untouched = || Failed::because("the client: its peer ended the connection");
        let (marks, account, client) = end.finish(shaken)?.ok_or_else(untouched)?;
        let observed = end.observed(true)?;
        let wall = Nanos::from(marks.over);
        let on_a_clock = OnAClock { wall_ns: wall.0, ready_ns: Nanos::from(marks.ready).0 };
        let kind = observed.map(|observed| observed.kind);
        made.push(Dialed { client_ns: client.0, on_a_clock, kind, is_counted: false });
        Ok(Connected {
            client,
            cost: wall,
            observed,
            accounts: [Some(account), None],
            sent: end.sent.len() as u64,
            received: end.received.len() as u64,
            ..Connected::default()
        })
    }

    fn take_session(&mut self) -> Option<StackSession> {
        self.end.party.take_session()
    }

    fn clock(&self) -> CpuClock {
        self.end.clock
    }
}

impl Dialer {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { end: End::new("the client", setup), port: 0, made: Vec::new() }
    }
}

impl Cell<Dialer> {
    /// Makes connections to a port: each that was made, and which of them count.
    pub(crate) fn dial(&mut self, port: u16, amount: Amount) -> Result<DialedConnections, Failed> {
        self.transport.port = port;
        self.transport.made.clear();
        let clock = self.transport.clock();
        let mut thread = Nanos(0);
        let last = match amount {
            Amount::WarmUp => clock.time(&mut thread, || self.warm_up())?.1,
            Amount::Counted(count) => {
                let mut last = clock.time(&mut thread, || self.connect())?;
                for _ in 0..count {
                    last = clock.time(&mut thread, || self.connect())?;
                    if let Some(made) = self.transport.made.last_mut() {
                        made.is_counted = true;
                    }
                }
                last
            }
        };
        Ok(DialedConnections {
            connections: std::mem::take(&mut self.transport.made),
            thread_ns: self.transport.end.thread_ns(thread),
            sent: last.sent,
            received: last.received,
        })
    }
}

/// A server.
pub(crate) struct Server {
    case: Case,
    end: End,
    listener: Option<TcpListener>,
}

impl Server {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { case: setup.case, end: End::new("the server", setup), listener: None }
    }

    pub(crate) fn clock(&self) -> CpuClock {
        self.end.clock
    }

    /// Opens a port.
    pub(crate) fn listen(&mut self) -> io::Result<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Whoever forgets about it leaves no process behind.
        SockRef::from(&listener).set_read_timeout(Some(self.end.patience * 4))?;
        let port = listener.local_addr()?.port();
        self.listener = Some(listener);
        Ok(port)
    }

    /// Serves until a connection ends without a byte: each, and the CPU time of the thread.
    pub(crate) fn serve(&mut self) -> Result<ServedConnections, Failed> {
        let Self { case, end, listener } = self;
        let listener = listener.take().ok_or_else(|| Failed::broken("no port was opened"))?;
        let (mut connections, mut thread) = (Vec::new(), Nanos(0));
        loop {
            let (mut stream, _) = listener.accept().map_err(end.socket_failed())?;
            let clock = end.clock;
            let done = clock.time(&mut thread, || {
                let made = end.handshake(&mut stream, None, Says::Nothing, false);
                end.finish(made)
            });
            let Some((_, account, spent)) = done? else {
                return Ok(ServedConnections { connections, thread_ns: end.thread_ns(thread) });
            };
            let observed = end.observed(false)?;
            if let Some(observed) = observed {
                check(*case, observed, [None, Some(account)], observed.kind.is_resumption())?;
                if Says::of(*case) != Says::Nothing {
                    end.party.check_request(observed)?;
                }
            }
            connections.push(Served { server_ns: spent.0, kind: observed.map(|observed| observed.kind) });
        }
    }
}
