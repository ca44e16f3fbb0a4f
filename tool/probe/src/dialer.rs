//! Makes TCP connections.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};
use reprise_connection::Fault;
use reprise_model::Nanos;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::addresses::{Addresses, DeadAddress};
use crate::clock::Clock;
use crate::interrupt::{Interrupt, SLICE};
use crate::socket::Stream;

/// Makes connections; what it waits with is made once.
pub(crate) struct Dialer {
    poll: Poll,
    events: Events,
    interrupt: Interrupt,
}

impl Dialer {
    pub(crate) fn new(interrupt: Interrupt) -> io::Result<Self> {
        Ok(Self { poll: Poll::new()?, events: Events::with_capacity(4), interrupt })
    }

    /// A socket that is not connected yet: its making is no part of connecting.
    pub(crate) fn socket(address: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        // A handshake is a conversation of small messages: none may wait for another.
        socket.set_tcp_nodelay(true)?;
        Ok(socket)
    }

    /// Connects. Where a name has several addresses and none has answered yet, this is what tries them: the connection
    /// that comes about is the one that is measured, and no other is made. Whether that address speaks TLS is known later.
    pub(crate) fn connect(
        &mut self,
        mut socket: io::Result<Socket>,
        addresses: &mut Addresses,
        clock: Clock,
        timeout: Duration,
    ) -> Result<Established, Fault> {
        let mut dead: Vec<DeadAddress> = Vec::new();
        let mut deadline = Instant::now() + timeout;
        loop {
            let address = addresses.current();
            let patience = deadline.min(Instant::now() + addresses.patience(timeout));
            let connecting = clock.now();
            match socket.and_then(|socket| self.connect_to(socket, address, patience)) {
                Ok(mut stream) => {
                    let connected = clock.now();
                    stream.set_deadline(deadline);
                    return Ok(Established { stream, connecting, connected, dead });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(Fault::interrupted()),
                Err(error) => {
                    let took = clock.now().since(connecting);
                    dead.push(DeadAddress { address, error: (&error).into(), accepted: None, took });
                }
            }
            // There may be many, and each that is silent takes its time.
            if self.interrupt.is_raised() {
                return Err(Fault::interrupted());
            }
            if !addresses.move_on() {
                return Err(Fault::of_connecting(dead.into_iter().map(|dead| (dead.address, dead.error)).collect()));
            }
            socket = Self::socket(addresses.current());
            deadline = Instant::now() + timeout;
        }
    }

    /// Connects to one address, SYN to established.
    fn connect_to(&mut self, socket: Socket, address: SocketAddr, deadline: Instant) -> io::Result<Stream> {
        let tcp = match socket.connect(&SockAddr::from(address)) {
            Ok(()) => TcpStream::from(socket),
            Err(error) if is_in_progress(&error) => self.finish_connecting(TcpStream::from(socket), deadline)?,
            Err(error) => return Err(error),
        };
        Ok(Stream::new(tcp, deadline, self.interrupt.clone()))
    }

    fn finish_connecting(&mut self, tcp: TcpStream, deadline: Instant) -> io::Result<TcpStream> {
        let mut tcp = mio::net::TcpStream::from_std(tcp);
        self.poll.registry().register(&mut tcp, Token(0), Interest::WRITABLE)?;
        let connected = self.wait_until_writable(deadline);
        self.poll.registry().deregister(&mut tcp)?;
        connected?;
        match tcp.take_error()? {
            Some(error) => Err(error),
            None => Ok(TcpStream::from(tcp)),
        }
    }

    fn wait_until_writable(&mut self, deadline: Instant) -> io::Result<()> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.poll.poll(&mut self.events, Some(left.min(SLICE))) {
                Ok(()) if !self.events.is_empty() => return Ok(()),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ if self.interrupt.is_raised() => return Err(io::ErrorKind::Interrupted.into()),
                _ => {}
            }
        }
    }
}

/// A connection that TCP has established, and when.
pub(crate) struct Established {
    pub(crate) stream: Stream,
    pub(crate) connecting: Nanos,
    pub(crate) connected: Nanos,
    /// The addresses that were tried before.
    pub(crate) dead: Vec<DeadAddress>,
}

/// Whether a non-blocking connect has begun rather than failed.
fn is_in_progress(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        error.raw_os_error() == Some(libc::EINPROGRESS)
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::WouldBlock
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use reprise_connection::Detail;
    use reprise_model::FaultName;

    use super::*;

    /// Nobody listens there.
    const REFUSES: [&str; 2] = ["127.0.0.1:1", "127.0.0.1:2"];

    fn connect(addresses: &[SocketAddr], interrupt: &Interrupt) -> (Result<Established, Fault>, Addresses) {
        let mut addresses = Addresses::of(addresses.iter().copied()).unwrap();
        let mut dialer = Dialer::new(interrupt.clone()).unwrap();
        let socket = Dialer::socket(addresses.current());
        let established = dialer.connect(socket, &mut addresses, Clock::new(), Duration::from_secs(60));
        (established, addresses)
    }

    #[test]
    fn the_first_address_that_answers_is_kept() {
        let [refuses, never_tried] = REFUSES.map(|address| address.parse().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answers = listener.local_addr().unwrap();
        let interrupt = Interrupt::default();
        let (established, addresses) = connect(&[refuses, answers, never_tried], &interrupt);
        let established = established.unwrap();
        assert_eq!(established.dead.iter().map(|dead| dead.address).collect::<Vec<_>>(), [refuses]);
        let local = established.stream.local_address().unwrap();
        assert_eq!(addresses.current(), answers);
        assert!(addresses.has_others(), "it may be silent");
        assert_eq!(listener.accept().unwrap().1, local);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "one connection");

        interrupt.raise();
        let (interrupted, _) = connect(&[refuses, answers], &interrupt);
        assert_eq!(interrupted.err(), Some(Fault::interrupted()));
    }

    #[test]
    fn where_none_answers_each_says_why() {
        let addresses = REFUSES.map(|address| address.parse().unwrap());
        let (refused, _) = connect(&addresses, &Interrupt::default());
        let fault = refused.err().unwrap();
        assert_eq!(fault.name, FaultName::ConnectionRefused);
        let Some(Detail::Connect(errors)) = fault.detail.as_deref() else { panic!("{fault:?}") };
        assert_eq!(errors.iter().map(|(address, _)| *address).collect::<Vec<_>>(), addresses);
    }
}
