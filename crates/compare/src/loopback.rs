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

use reprise_connection::{End as Ended, Fault};
use reprise_model::{Kind, Nanos};
use reprise_stack::{Account, Context, Session, StackError};
use reprise_wire::Record;
use socket2::SockRef;

use crate::case::Case;
use crate::cell::{Cell, Made, Transport, check};
use crate::clock::CpuClock;
use crate::message::{Amount, Answer, Dialed, Failed, FailureKind, OnAClock, Served};
use crate::pair::{Party, Says, words};
use crate::witness::{WireFacts, Witness};

/// What is read from a socket at once.
const CHUNK: usize = 64 * 1024;

/// One side of one connection after the other.
struct End {
    name: &'static str,
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

/// Why a connection came to nothing.
enum Broken {
    Refused(Fault),
    /// Its peer closed it without a byte.
    Untouched,
    Gone,
    NoRecord,
    Socket(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Gone,
            _ => Self::Socket(error),
        }
    }
}

impl End {
    fn new(name: &'static str, setup: Setup) -> Self {
        Self {
            name,
            party: Party::new(setup.context.endpoint()),
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

    /// The handshake, until this side is complete and its peer knows all that it has to say.
    fn shake_hands(
        &mut self,
        stream: &mut TcpStream,
        session: Option<Session>,
        says: Says,
        is_client: bool,
    ) -> Result<Marks, Broken> {
        self.pending.clear();
        self.sent.clear();
        self.received.clear();
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        let begin = Instant::now();
        let mut is_unsaid = is_client && says != Says::Nothing;
        self.party.begin(self.clock, says.plan(session)).map_err(Broken::Refused)?;
        let mut ready = None;
        loop {
            self.flush(stream)?;
            if self.party.side.is_ready {
                ready = ready.or_else(|| Some(begin.elapsed()));
                if !is_client {
                    stream.shutdown(Shutdown::Write)?;
                }
            }
            let count = stream.read(&mut self.chunk)?;
            match (count, ready) {
                (0, Some(ready)) => return Ok(Marks { ready, over: begin.elapsed() }),
                (0, None) if self.received.is_empty() && !is_client => return Err(Broken::Untouched),
                (0, None) => return Err(Broken::Gone),
                _ => {}
            }
            let arrived = self.chunk.get(..count).unwrap_or_default();
            self.received.extend_from_slice(arrived);
            self.pending.extend_from_slice(arrived);
            let mut records: Vec<u8> = self.pending.drain(..whole_records(&self.pending)?).collect();
            if let Err(fault) = self.party.receive(self.clock, &mut records) {
                // Its alert, which tells the peer why.
                let _ = self.flush(stream);
                return Err(Broken::Refused(fault));
            }
            // It leaves with the client's Finished.
            if self.party.side.is_ready
                && std::mem::take(&mut is_unsaid)
                && !self.party.is_request_accepted().map_err(no_account)?
            {
                self.party.send_request(self.clock).map_err(Broken::Refused)?;
            }
        }
    }

    fn flush(&mut self, stream: &mut TcpStream) -> Result<(), Broken> {
        if !self.party.side.sent.is_empty() {
            stream.write_all(&self.party.side.sent)?;
            self.sent.append(&mut self.party.side.sent);
        }
        Ok(())
    }

    /// What the library says of the connection; then the end of it, whose time is the side's too: all that it took.
    fn finish(&mut self, shaken: Result<Marks, Broken>) -> Result<(Marks, Account, Nanos), Broken> {
        let account = self.party.endpoint.account();
        let how = if shaken.is_ok() { Ended::Completed } else { Ended::Failed };
        self.party.end(self.clock, how);
        self.turns += self.party.turns;
        let marks = shaken?;
        let account = account.map_err(no_account)?;
        Ok((marks, account, self.party.spent))
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
        let nothing =
            || Failed::new(FailureKind::Failed, "both say that the handshake is complete, and no ServerHello was seen");
        witness.observed().map(Some).ok_or_else(nothing)
    }

    fn failed(&self, broken: &Broken) -> Failed {
        let why = match broken {
            Broken::Refused(fault) => words(fault),
            Broken::Untouched | Broken::Gone => "its peer ended the connection".to_owned(),
            Broken::NoRecord => "what its peer sends is no TLS record".to_owned(),
            Broken::Socket(error) if error.kind() == io::ErrorKind::WouldBlock => {
                format!("its peer said nothing for {} s", self.patience.as_secs_f64())
            }
            Broken::Socket(error) => error.to_string(),
        };
        Failed::new(FailureKind::Failed, format!("{}: {why}", self.name))
    }
}

fn no_account(error: StackError) -> Broken {
    Broken::Socket(io::Error::other(format!("no account: {error}")))
}

/// How many bytes the whole records at the front take.
fn whole_records(bytes: &[u8]) -> Result<usize, Broken> {
    let mut whole = 0;
    loop {
        match Record::parse(bytes.get(whole..).unwrap_or_default()) {
            Ok(Some((_, length))) => whole += length,
            Ok(None) => return Ok(whole),
            Err(_) => return Err(Broken::NoRecord),
        }
    }
}

/// A client, and what it has made since it was last asked.
pub(crate) struct Dialer {
    end: End,
    port: u16,
    made: Vec<Dialed>,
}

/// One connection, as the client sees it.
#[derive(Clone, Copy)]
pub(crate) struct DialedConnection {
    dialed: Dialed,
    observed: Option<WireFacts>,
    account: Account,
    sent: u64,
    received: u64,
}

impl Made for DialedConnection {
    fn observed(&self) -> Option<WireFacts> {
        self.observed
    }

    fn accounts(&self) -> Vec<(&'static str, Account)> {
        vec![("the client", self.account)]
    }

    fn cost(&self) -> Nanos {
        Nanos(self.dialed.on_a_clock.wall_ns)
    }
}

impl Transport for Dialer {
    type Made = DialedConnection;

    fn connect(&mut self, session: Option<Session>, says: Says) -> Result<DialedConnection, Failed> {
        let Self { end, port, made } = self;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        let shaken = TcpStream::connect_timeout(&address, end.patience).map_err(Broken::from);
        let shaken = shaken.and_then(|mut stream| end.shake_hands(&mut stream, session, says, true));
        let (marks, account, spent) = end.finish(shaken).map_err(|broken| end.failed(&broken))?;
        let observed = end.observed(true)?;
        let nanos = |duration: Duration| duration.as_nanos() as u64;
        let dialed = Dialed {
            client_ns: spent.0,
            on_a_clock: OnAClock { wall_ns: nanos(marks.over), ready_ns: nanos(marks.ready) },
            kind: observed.map(|observed| observed.kind),
            is_counted: false,
        };
        made.push(dialed);
        let (sent, received) = (end.sent.len() as u64, end.received.len() as u64);
        Ok(DialedConnection { dialed, observed, account, sent, received })
    }

    fn take_session(&mut self) -> Option<Session> {
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
    pub(crate) fn dial(&mut self, port: u16, amount: Amount) -> Result<Answer, Failed> {
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
        Ok(Answer::Dialed {
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
    pub(crate) fn serve(&mut self) -> Result<(Vec<Served>, u64), Failed> {
        let Self { case, end, listener } = self;
        let listener = listener.take().ok_or_else(|| Failed::new(FailureKind::Broken, "no port was opened"))?;
        let (mut served, mut thread) = (Vec::new(), Nanos(0));
        loop {
            let (mut stream, _) = listener.accept().map_err(|error| end.failed(&Broken::Socket(error)))?;
            let clock = end.clock;
            let done = clock.time(&mut thread, || {
                let shaken = end.shake_hands(&mut stream, None, Says::Nothing, false);
                end.finish(shaken)
            });
            let (account, spent) = match done {
                Ok((_, account, spent)) => (account, spent),
                Err(Broken::Untouched) => return Ok((served, end.thread_ns(thread))),
                Err(broken) => return Err(end.failed(&broken)),
            };
            let observed = end.observed(false)?;
            if let Some(observed) = observed {
                check(*case, observed, &[("the server", account)], observed.kind != Kind::Full)?;
                if Says::of(*case) != Says::Nothing {
                    end.party.check_request(observed).map_err(|error| Failed::new(FailureKind::Failed, error))?;
                }
            }
            served.push(Served { server_ns: spent.0, kind: observed.map(|observed| observed.kind) });
        }
    }
}
