//! Clients and servers of a TLS library over sockets of this thread's namespace, as many at a time as there are; when each is how far.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use reprise_connection::{End, EndpointEvent};
use reprise_model::Nanos;
use reprise_pairs::REQUEST;
use reprise_stack::{Context, SessionPlan, StackEndpoint, StackSession, StackSessions};
use reprise_wire::Record;
use socket2::{Domain, Protocol, Socket, Type};

use super::namespace::set_up;

const CLIENT: &str = "10.77.0.1";
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const PORT: u16 = 4433;
/// A connection under loss that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a thread makes its side's context: contexts stay in their thread.
pub type SideOptions = Box<dyn Fn() -> anyhow::Result<Box<dyn Context>> + Send>;

/// When a connection was how far: of each client's port, when the server had the request.
pub type Ends = Arc<Mutex<HashMap<u16, Instant>>>;

/// One connection of a client, since it asked for TCP's.
#[derive(Clone, Copy, Debug)]
pub struct Connected {
    /// Until its handshake was complete.
    pub ready: Duration,
    /// Until the server had the request.
    pub request: Duration,
}

/// One connection.
struct Link {
    stream: TcpStream,
    endpoint: Box<dyn StackEndpoint>,
    pending: Vec<u8>,
    heard: Vec<u8>,
    ready: Option<Instant>,
}

impl Link {
    /// Reads what there is; `false` where the peer has ended.
    fn read(&mut self, sessions: &mut StackSessions) -> anyhow::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(count) => self.pending.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        let whole = whole_records(&self.pending)?;
        if whole == 0 {
            return Ok(true);
        }
        let mut records: Vec<u8> = self.pending.drain(..whole).collect();
        let (mut out, heard) = (Vec::new(), &mut self.heard);
        let mut is_ready = false;
        let taken = self.endpoint.receive_all(sessions, &mut records, &mut out, &mut |event| match event {
            EndpointEvent::Ready => is_ready = true,
            EndpointEvent::Data(data) => heard.extend_from_slice(data),
            EndpointEvent::Nothing | EndpointEvent::Closed => {}
        });
        taken.map_err(|fault| anyhow!("{}", fault.name))?;
        if is_ready {
            self.ready = self.ready.or_else(|| Some(Instant::now()));
        }
        self.write(&out)?;
        Ok(true)
    }

    /// A flight is smaller than the socket's buffer.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.stream.write_all(bytes) }
    }
}

fn whole_records(bytes: &[u8]) -> anyhow::Result<usize> {
    let mut whole = 0;
    while let Some((_, length)) = Record::parse(bytes.get(whole..).unwrap_or_default()).map_err(|_| anyhow!("no record"))? {
        whole += length;
    }
    Ok(whole)
}

/// A server in its namespace, until it is told to end.
pub struct Server {
    listener: TcpListener,
    ends: Ends,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Sets the network up, and listens.
    ///
    /// # Errors
    /// If either cannot be done.
    pub fn new(device: &str, ends: Ends, is_over: Arc<AtomicBool>) -> anyhow::Result<Self> {
        set_up(device, &SERVER.to_string(), CLIENT)?;
        let socket = tcp_socket()?;
        socket.bind(&SocketAddr::from((SERVER, PORT)).into())?;
        socket.listen(1024)?;
        Ok(Self { listener: socket.into(), ends, is_over })
    }

    /// Serves with the context of each client's choice, by its number.
    ///
    /// # Errors
    /// If a library or a socket fails, other than by the client's end.
    pub fn serve(&self, contexts: &[SideOptions], chosen: &Mutex<usize>) -> anyhow::Result<()> {
        let contexts: Vec<Box<dyn Context>> = contexts.iter().map(|make| make()).collect::<anyhow::Result<_>>()?;
        let (mut links, mut sessions): (Vec<Link>, StackSessions) = (Vec::new(), Vec::new());
        while !self.is_over.load(Ordering::Relaxed) {
            wait(
                links.iter().map(|link| (&link.stream, PollFlags::POLLIN)),
                Some(&self.listener),
                Duration::from_millis(20),
            )?;
            while let Ok((stream, _)) = self.listener.accept() {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                let number = *chosen.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(context) = contexts.get(number) else {
                    echo(stream)?;
                    continue;
                };
                let mut link = Link::new(stream, context.endpoint());
                let mut out = Vec::new();
                let begun = link.endpoint.begin(&mut sessions, SessionPlan::default(), Nanos(0), &mut out);
                begun.map_err(|fault| anyhow!("{}", fault.name))?;
                links.push(link);
            }
            let mut kept = Vec::new();
            for mut link in links {
                let had = link.has_request();
                if !link.read(&mut sessions).unwrap_or(false) {
                    link.endpoint.end(&mut sessions, End::Completed);
                    continue;
                }
                if !had && link.has_request() {
                    let port = link.stream.peer_addr()?.port();
                    self.ends.lock().unwrap_or_else(PoisonError::into_inner).insert(port, Instant::now());
                }
                kept.push(link);
            }
            links = kept;
        }
        Ok(())
    }
}

/// Gives every byte back until there are no more.
fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let mut byte = [0; 64];
    loop {
        match stream.read(&mut byte)? {
            0 => return Ok(()),
            count => stream.write_all(byte.get(..count).unwrap_or_default())?,
        }
    }
}

impl Link {
    fn new(stream: TcpStream, endpoint: Box<dyn StackEndpoint>) -> Self {
        Self { stream, endpoint, pending: Vec::new(), heard: Vec::new(), ready: None }
    }

    fn has_request(&self) -> bool {
        self.heard == REQUEST || self.endpoint.early_data() == REQUEST
    }
}

/// With the congestion control that Linux has by itself, whatever this machine is set to.
fn tcp_socket() -> anyhow::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_congestion(b"cubic").context("CUBIC")?;
    Ok(socket)
}

fn wait<'a>(
    streams: impl Iterator<Item = (&'a TcpStream, PollFlags)>,
    listener: Option<&'a TcpListener>,
    patience: Duration,
) -> anyhow::Result<()> {
    let mut polled: Vec<PollFd<'_>> = streams.map(|(stream, flags)| PollFd::new(stream.as_fd(), flags)).collect();
    polled.extend(listener.map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN)));
    poll(&mut polled, PollTimeout::try_from(patience)?)?;
    Ok(())
}

/// A client in its namespace.
pub struct Client {
    ends: Ends,
}

impl Client {
    /// Sets the network up.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn new(device: &str, ends: Ends) -> anyhow::Result<Self> {
        set_up(device, CLIENT, &SERVER.to_string())?;
        Ok(Self { ends })
    }

    /// The least round trip of a few bytes over an established connection, of so many.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn round_trip(&self, times: usize) -> anyhow::Result<Duration> {
        let socket = tcp_socket()?;
        socket.set_nonblocking(false)?;
        socket.connect(&SocketAddr::from((SERVER, PORT)).into())?;
        let mut stream: TcpStream = socket.into();
        let mut taken = Vec::new();
        for _ in 0..times {
            let begin = Instant::now();
            stream.write_all(&[1; 8])?;
            stream.read_exact(&mut [0; 8])?;
            taken.push(begin.elapsed());
        }
        taken.sort_unstable();
        taken.get(times / 2).copied().context("no round trip")
    }

    /// A connection for each plan, begun at least so long after the one before: each, in that order; `None` of those that were given up.
    ///
    /// # Errors
    /// If a library or a socket fails.
    pub fn connect(
        &self,
        context: &dyn Context,
        plans: Vec<SessionPlan>,
        gap: Duration,
        sessions: &mut StackSessions,
    ) -> anyhow::Result<Vec<Option<Connected>>> {
        self.ends().clear();
        let (mut plans, mut open, mut made) = (plans.into_iter().enumerate(), Vec::new(), Vec::new());
        let mut next = Some(Instant::now());
        while next.is_some() || !open.is_empty() {
            if next.is_some_and(|next| next <= Instant::now()) {
                let dialed = plans.next().map(|(number, plan)| Dialed::new(number, plan, context.endpoint()));
                next = dialed.is_some().then(|| Instant::now() + gap);
                open.extend(dialed.transpose()?);
            }
            let patience = next.map_or(PATIENCE, |next| next.saturating_duration_since(Instant::now()));
            wait(open.iter().map(Dialed::waits), None, patience.min(Duration::from_millis(5)))?;
            let known = self.ends().clone();
            let mut kept = Vec::new();
            for mut dialed in open {
                dialed.proceed(sessions)?;
                let request = known.get(&dialed.link.stream.local_addr()?.port());
                let reached = dialed.link.ready.zip(request.copied());
                if reached.is_none() && dialed.begin.elapsed() < PATIENCE {
                    kept.push(dialed);
                    continue;
                }
                dialed.link.endpoint.end(sessions, End::Completed);
                let since = |at: Instant| at - dialed.begin;
                made.push((
                    dialed.number,
                    reached.map(|(ready, request)| Connected { ready: since(ready), request: since(request) }),
                ));
            }
            open = kept;
        }
        made.sort_by_key(|(number, _)| *number);
        Ok(made.into_iter().map(|(_, made)| made).collect())
    }

    fn ends(&self) -> MutexGuard<'_, HashMap<u16, Instant>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many sessions, each of a full handshake of its own.
    ///
    /// # Errors
    /// As [`Client::connect`], or if the server gives none.
    pub fn sessions(&self, context: &dyn Context, count: usize) -> anyhow::Result<Vec<StackSession>> {
        let mut learned = Vec::new();
        while learned.len() < count {
            let mut sessions = Vec::new();
            self.connect(context, vec![SessionPlan::default()], Duration::ZERO, &mut sessions)?;
            learned.push(sessions.pop().context("the server gives no session")?);
        }
        Ok(learned)
    }
}

/// A connection that a client has begun.
struct Dialed {
    number: usize,
    begin: Instant,
    /// Until TCP's connection is established.
    plan: Option<SessionPlan>,
    link: Link,
}

impl Dialed {
    fn new(number: usize, plan: SessionPlan, endpoint: Box<dyn StackEndpoint>) -> anyhow::Result<Self> {
        let socket = tcp_socket()?;
        let begin = Instant::now();
        match socket.connect(&SocketAddr::from((SERVER, PORT)).into()) {
            Err(error) if error.raw_os_error() != Some(nix::errno::Errno::EINPROGRESS as i32) => bail!(error),
            _ => Ok(Self { number, begin, plan: Some(plan), link: Link::new(socket.into(), endpoint) }),
        }
    }

    fn waits(&self) -> (&TcpStream, PollFlags) {
        (&self.link.stream, if self.plan.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN })
    }

    fn proceed(&mut self, sessions: &mut StackSessions) -> anyhow::Result<()> {
        let Self { plan, link, .. } = self;
        if plan.is_some() {
            if link.stream.peer_addr().is_err() {
                if let Some(error) = link.stream.take_error()? {
                    bail!(error);
                }
                return Ok(());
            }
            let mut out = Vec::new();
            let begun = link.endpoint.begin(sessions, plan.take().unwrap_or_default(), Nanos(0), &mut out);
            begun.map_err(|fault| anyhow!("{}", fault.name))?;
            link.write(&out)?;
            return Ok(());
        }
        let was_ready = link.ready.is_some();
        ensure!(link.read(sessions)?, "the server has ended the connection");
        if !was_ready && link.ready.is_some() && link.endpoint.account()?.early_data != Some(true) {
            let mut out = Vec::new();
            link.endpoint.send(Nanos(0), &REQUEST, &mut out).map_err(|fault| anyhow!("{}", fault.name))?;
            link.write(&out)?;
        }
        Ok(())
    }
}
