//! The socket of a place: a connection that is reset leaves it to the next.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, SockAddr, Type};

use crate::options::Close;

/// A socket for one connection after the other, all to the same address and closed alike.
///
/// To disconnect a socket sends the reset that closing it would send, and spares the kernel a new one: `socket`, two
/// `setsockopt`, `epoll_ctl` and `close` for each connection (the figures are in `docs/decisions/0010-load-client.md`).
#[derive(Default)]
pub(crate) struct Socket {
    stream: Option<TcpStream>,
    /// Whether a connection uses it now.
    in_use: bool,
    /// What the poll watches it for.
    watched: Option<Interest>,
}

impl Socket {
    /// Begins to connect, and does not wait. A socket that is in use is closed before.
    ///
    /// # Errors
    ///
    /// Those of `socket` and of `connect`, but for EINPROGRESS.
    pub(crate) fn connect(&mut self, address: SocketAddr, close: Close) -> io::Result<&mut TcpStream> {
        if self.in_use {
            self.close();
        }
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => open(address, close)?,
        };
        let socket = socket2::SockRef::from(&stream);
        match socket.connect(&SockAddr::from(address)) {
            Err(error) if error.raw_os_error() != Some(nix::errno::Errno::EINPROGRESS as i32) => {
                self.close();
                return Err(error);
            }
            _ => {}
        }
        self.in_use = true;
        Ok(self.stream.insert(stream))
    }

    /// The stream, while a connection uses it.
    pub(crate) fn stream(&mut self) -> Option<&mut TcpStream> {
        self.stream.as_mut().filter(|_| self.in_use)
    }

    /// Has the poll tell of what happens to it; it remembers from one connection to the next.
    pub(crate) fn watch(&mut self, registry: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        let Some(stream) = &self.stream else { return Err(ErrorKind::NotConnected.into()) };
        let (descriptor, watched) = (stream.as_raw_fd(), self.watched);
        match watched {
            None => registry.register(&mut SourceFd(&descriptor), token, interest)?,
            Some(watched) if watched | interest == watched => return Ok(()),
            Some(_) => registry.reregister(&mut SourceFd(&descriptor), token, interest)?,
        }
        self.watched = Some(interest);
        Ok(())
    }

    /// Ends the connection with a reset and keeps the socket, if the kernel is able to.
    pub(crate) fn reset(&mut self) {
        let Some(stream) = self.stream() else { return };
        if rustix::net::connect_unspec(stream).is_err() {
            self.close();
        }
        self.in_use = false;
    }

    /// Closes it; the poll forgets it as well.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }
}

fn open(address: SocketAddr, close: Close) -> io::Result<TcpStream> {
    let socket =
        socket2::Socket::new(Domain::for_address(address), Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
    // The request goes out in one write with the Finished: without this it may wait for the ACK of what went before.
    socket.set_tcp_nodelay(true)?;
    if close == Close::Rst {
        socket.set_linger(Some(Duration::ZERO))?;
    }
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::sleep;

    use mio::{Events, Poll};

    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// What a server hears next of a connection.
    fn hears(server: &mut TcpStream) -> io::Result<usize> {
        server.set_read_timeout(Some(SOON)).unwrap();
        server.read(&mut [0; 16])
    }

    #[test]
    fn a_socket_is_reused_with_a_new_port_each_time() {
        let (listener, address) = listener();
        let mut socket = Socket::default();
        let mut descriptors = Vec::new();
        let mut ports = Vec::new();
        for _ in 0..5 {
            let stream = socket.connect(address, Close::Rst).unwrap();
            descriptors.push(stream.as_raw_fd());
            assert_eq!(stream.write(b"hello").unwrap(), 5);
            let (mut server, from) = listener.accept().unwrap();
            ports.push(from.port());
            assert_eq!(hears(&mut server).unwrap(), 5);
            server.write_all(b"never read").unwrap();
            socket.reset();
            assert_eq!(hears(&mut server).unwrap_err().kind(), ErrorKind::ConnectionReset);
            assert!(socket.stream().is_none(), "it is nobody's now");
        }
        assert!(descriptors.iter().all(|descriptor| *descriptor == descriptors[0]), "{descriptors:?}");
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 5);
    }

    #[test]
    fn the_poll_reports_the_next_connection_by_itself() {
        let (listener, address) = listener();
        let mut poll = Poll::new().unwrap();
        let mut events = Events::with_capacity(8);
        let mut socket = Socket::default();
        for round in 0..3_u8 {
            socket.connect(address, Close::Rst).unwrap();
            socket.watch(poll.registry(), Token(7), Interest::READABLE).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
            assert!(events.is_empty(), "nothing has come, and what was said of the last connection is no news");
            server.write_all(&[round]).unwrap();
            poll.poll(&mut events, Some(SOON)).unwrap();
            assert_eq!(
                events.iter().map(|event| (event.token(), event.is_readable())).collect::<Vec<_>>(),
                [(Token(7), true)]
            );
            let mut bytes = [0; 8];
            assert_eq!(socket.stream().unwrap().read(&mut bytes).unwrap(), 1);
            assert_eq!(bytes[0], round);
            socket.reset();
        }
    }

    #[test]
    fn a_reused_socket_is_notified_when_connected() {
        // A queue of one: while it is full, the kernel drops each SYN, which is sent again after a second.
        let listening = socket2::Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listening.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listening.listen(0).unwrap();
        let listener = TcpListener::from(listening);
        let address = listener.local_addr().unwrap();
        let mut poll = Poll::new().unwrap();
        let mut events = Events::with_capacity(8);
        let mut socket = Socket::default();

        socket.connect(address, Close::Rst).unwrap();
        socket.watch(poll.registry(), Token(7), Interest::READABLE).unwrap();
        drop(listener.accept().unwrap());
        socket.reset();
        for _ in 0..2 {
            let in_the_queue = TcpStream::connect(address).unwrap();
            let stream = socket.connect(address, Close::Rst).unwrap();
            assert_eq!(stream.write(b"hello").unwrap_err().kind(), ErrorKind::WouldBlock);
            socket.watch(poll.registry(), Token(7), Interest::READABLE | Interest::WRITABLE).unwrap();
            poll.poll(&mut events, Some(Duration::from_millis(50))).unwrap();
            assert!(!events.iter().any(mio::event::Event::is_writable), "{events:?}");
            drop(listener.accept().unwrap());
            poll.poll(&mut events, Some(SOON)).unwrap();
            assert!(events.iter().any(mio::event::Event::is_writable), "{events:?}");
            assert_eq!(socket.stream().unwrap().write(b"hello").unwrap(), 5);
            let (mut server, _) = listener.accept().unwrap();
            assert_eq!(hears(&mut server).unwrap(), 5);
            socket.reset();
            drop(in_the_queue);
        }
    }

    #[test]
    fn a_refused_connection_leaves_nothing_behind() {
        let (listener, address) = listener();
        let mut socket = Socket::default();
        socket.connect(address, Close::Rst).unwrap();
        socket.reset();
        drop(listener);
        // Loopback answers before `connect` returns; what the kernel says of it may come with the first write.
        let refused = socket.connect(address, Close::Rst).and_then(|stream| {
            sleep(Duration::from_millis(20));
            stream.write(b"hello")
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        socket.close();
        assert!(socket.stream().is_none());
    }
}
