//! The data connections of FTP clients (RFC 4217 §9), watched as their control connections are.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use reprise_connection::prologue::DataCommand;

use super::connection::Serving;
use crate::embedded::{ClosedBy, Moment};

/// How often it is looked whether the client has connected.
const PAUSE: Duration = Duration::from_millis(1);

/// The data channel of one control connection.
pub(super) struct DataChannel<'a> {
    serving: &'a Serving,
    /// The number of the control connection, and its socket.
    control: u32,
    socket: &'a TcpStream,
    is_protected: bool,
    listener: Option<TcpListener>,
}

impl<'a> DataChannel<'a> {
    pub(super) fn new(serving: &'a Serving, control: u32, socket: &'a TcpStream) -> Self {
        Self { serving, control, socket, is_protected: false, listener: None }
    }

    /// Does what the client asks for. Returns the reply.
    pub(super) fn answer(&mut self, command: DataCommand) -> Vec<u8> {
        match command {
            DataCommand::Protect(true) => {
                self.is_protected = true;
                b"200 OK\r\n".to_vec()
            }
            DataCommand::Protect(false) => b"536 Only PROT P\r\n".to_vec(),
            DataCommand::Open { extended } => self.open(extended).unwrap_or_else(|_| b"425 No port\r\n".to_vec()),
            DataCommand::Send | DataCommand::Receive if !self.is_protected => b"521 PROT P first\r\n".to_vec(),
            DataCommand::Send => self.transfer(true).to_vec(),
            DataCommand::Receive => self.transfer(false).to_vec(),
        }
    }

    fn open(&mut self, extended: bool) -> io::Result<Vec<u8>> {
        let ip = self.socket.local_addr()?.ip();
        let listener = TcpListener::bind((ip, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        self.listener = Some(listener);
        if extended {
            return Ok(format!("229 Entering Extended Passive Mode (|||{port}|)\r\n").into_bytes());
        }
        // An address that PASV has no room for is one that its clients do not look at.
        let [a, b, c, d] = match ip.to_canonical() {
            IpAddr::V4(ip) => ip.octets(),
            IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED.octets(),
        };
        let [high, low] = port.to_be_bytes();
        Ok(format!("227 Entering Passive Mode ({a},{b},{c},{d},{high},{low})\r\n").into_bytes())
    }

    /// Sends an empty file, or takes one.
    fn transfer(&mut self, sends: bool) -> &'static [u8] {
        let Some(listener) = self.listener.take() else { return b"425 PASV or EPSV first\r\n" };
        let Some((stream, peer)) = accept(&listener, self.serving.handshake_timeout) else {
            return b"425 Nobody has connected\r\n";
        };
        let number = self.serving.book.arrive(peer);
        self.serving.book.note(number, |it| it.data_of = Some(self.control));
        let is_complete = self.serve(&stream, number, sends);
        if is_complete { b"226 Complete\r\n" } else { b"426 Data connection failed\r\n" }
    }

    fn serve(&self, stream: &TcpStream, number: u32, sends: bool) -> bool {
        let mut connection = match self.serving.begin(stream, number, Vec::new()) {
            Ok(connection) => connection,
            Err(end) => {
                self.serving.end(number, end);
                return false;
            }
        };
        self.serving.book_moment(number, &Moment::Request { user_agent: None, is_passed_on: false });
        let closed = if sends {
            self.serving.book_moment(number, &Moment::Response { is_last: true });
            Ok(ClosedBy::Server)
        } else {
            connection.hear_out().map(|()| ClosedBy::Client)
        };
        let is_complete = closed.is_ok();
        self.serving.part(connection, number, closed);
        is_complete
    }
}

/// The first who connects.
fn accept(listener: &TcpListener, timeout: Duration) -> Option<(TcpStream, SocketAddr)> {
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline {
        match listener.accept() {
            Ok((stream, peer)) => {
                stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true)).ok()?;
                stream.set_read_timeout(Some(timeout)).and_then(|()| stream.set_write_timeout(Some(timeout))).ok()?;
                return Some((stream, peer));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => return None,
        }
    }
    None
}
