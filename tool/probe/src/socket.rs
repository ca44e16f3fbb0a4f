//! A TCP connection with a deadline that Ctrl-C can cut short.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reprise_model::{Direction, Segment};

use crate::clock::Clock;
use crate::interrupt::{Interrupt, SLICE};

/// Segments that leave so far apart do not arrive as one.
const APART: Duration = Duration::from_millis(2);

/// An established connection. Reading and writing end with [`io::ErrorKind::TimedOut`] at the deadline and with
/// [`io::ErrorKind::Interrupted`] at Ctrl-C.
pub(crate) struct Stream {
    tcp: TcpStream,
    deadline: Instant,
    interrupt: Interrupt,
    ended: bool,
    record: Option<Record>,
}

/// Bytes of one connection that are kept at most: a server could otherwise make us hold as many as it likes.
const MAX_RECORD: usize = 64 * 1024 * 1024;

/// What went over a socket, kept.
pub(crate) struct Record {
    clock: Clock,
    pub(crate) segments: Vec<Segment>,
    length: usize,
    /// Whether more went over it than is kept.
    pub(crate) is_cut: bool,
}

impl Stream {
    /// Over an established connection.
    pub(crate) fn new(tcp: TcpStream, deadline: Instant, interrupt: Interrupt) -> Self {
        Self { tcp, deadline, interrupt, ended: false, record: None }
    }

    /// Makes reading and writing wait. Not part of connecting.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.tcp.set_nonblocking(false)?;
        self.tcp.set_read_timeout(Some(SLICE))?;
        self.tcp.set_write_timeout(Some(SLICE))
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// From now on every byte is kept.
    pub(crate) fn record(&mut self, clock: Clock) {
        self.record = Some(Record::new(clock));
    }

    /// What was kept so far; `None` where nothing was to be.
    pub(crate) fn take_record(&mut self) -> Option<Record> {
        self.record.take()
    }

    /// Replaces the deadline.
    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Reads what has come; 0 at the end of the stream. Reading on after that end is an error, not another 0, so that
    /// no loop can mistake a dead connection for a quiet one.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        loop {
            // A server that never stops talking is not listened to past the deadline either.
            self.check_time()?;
            match self.tcp.read(buffer) {
                Ok(count) => {
                    self.ended = count == 0;
                    self.keep(Direction::Received, buffer.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(error) => keep_waiting(error)?,
            }
        }
    }

    /// Whether the server will send nothing more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.tcp.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    let (written, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
                    self.keep(Direction::Sent, written);
                    bytes = rest;
                }
                Err(error) => keep_waiting(error).and_then(|()| self.check_time())?,
            }
        }
        Ok(())
    }

    /// Writes so many bytes in a segment of their own, if any, and then the rest.
    pub(crate) fn write_in_two(&mut self, bytes: &[u8], first: Option<usize>) -> io::Result<()> {
        let Some((first, rest)) = first.and_then(|first| bytes.split_at_checked(first)) else {
            return self.write_all(bytes);
        };
        self.write_all(first)?;
        std::thread::sleep(APART);
        self.write_all(rest)
    }

    /// Closes with a reset: what has come and was not read is lost, and the server learns of no end.
    pub(crate) fn reset(&mut self) {
        let _ = socket2::SockRef::from(&self.tcp).set_linger(Some(Duration::ZERO));
    }

    /// Has the system acknowledge what comes next, and what has come, at once. It forgets that again, so each read is preceded by it.
    pub(crate) fn acknowledge_at_once(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.tcp, true);
    }

    /// Says that nothing more will be sent.
    pub(crate) fn shut_down(&mut self) {
        let _ = self.tcp.shutdown(std::net::Shutdown::Write);
        self.keep(Direction::Sent, &[]);
    }

    fn keep(&mut self, direction: Direction, bytes: &[u8]) {
        if let Some(record) = &mut self.record {
            record.keep(direction, bytes);
        }
    }

    fn check_time(&self) -> io::Result<()> {
        if self.interrupt.is_raised() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if Instant::now() >= self.deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Record {
    fn new(clock: Clock) -> Self {
        Self { clock, segments: Vec::new(), length: 0, is_cut: false }
    }

    fn keep(&mut self, direction: Direction, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        self.is_cut |= self.length > MAX_RECORD;
        if !self.is_cut {
            self.segments.push(Segment { at: self.clock.now(), direction, bytes: bytes.to_vec() });
        }
    }
}

/// A slice has passed without a byte; any other error stands.
fn keep_waiting(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_ends_where_it_grows_too_long_and_leaves_no_gap() {
        let mut record = Record::new(Clock::new());
        let half = vec![0; MAX_RECORD / 2];
        record.keep(Direction::Received, &half);
        record.keep(Direction::Received, &half);
        assert!(!record.is_cut);
        record.keep(Direction::Received, &[1]);
        record.keep(Direction::Sent, &[]);
        assert!(record.is_cut);
        assert_eq!(record.segments.len(), 2);
    }
}
