//! The engine's TLS over a blocking socket, for a conversation that is more than one request.

use std::sync::Arc;

use reprise_connection::Fault;
use reprise_connection::prologue::reply;
use reprise_engine::{Config, Connection, Error, Offer, Session, Start};
use reprise_model::{FailureClass, FaultName, Kind};
use reprise_wire::Record;

use crate::clock::Clock;
use crate::connector::date;
use crate::socket::Stream;

/// Bytes that are read at once.
const BUFFER: usize = 16 * 1024;

/// One connection.
pub(super) struct TlsStream {
    stream: Stream,
    tls: Connection,
    clock: Clock,
    buffer: Vec<u8>,
    /// The reply that stood where a record was due.
    in_the_clear: Option<String>,
}

impl TlsStream {
    /// Over an established transport, on which the handshake is still to be made.
    pub(super) fn new(stream: Stream, config: Arc<Config>, offer: Offer, clock: Clock) -> Result<Self, Fault> {
        let tls = Connection::start(config, Start { offer, date: date() }, clock.now()).map_err(fault)?;
        Ok(Self { stream, tls, clock, buffer: vec![0; BUFFER], in_the_clear: None })
    }

    /// Makes the handshake.
    pub(super) fn handshake(&mut self) -> Result<(), Fault> {
        while self.tls.ready().is_none() {
            if !self.turn()? {
                return Err(Fault::new(FaultName::ClosedEarly));
            }
        }
        self.flush()
    }

    /// Whether a session was resumed; `None` before the server has chosen.
    pub(super) fn is_resumed(&self) -> Option<bool> {
        self.tls.facts().map(|facts| facts.kind != Kind::Full)
    }

    /// The sessions that the server has given since the last call, newest last.
    pub(super) fn take_sessions(&mut self) -> Vec<Session> {
        self.tls.take_sessions()
    }

    pub(super) fn send(&mut self, data: &[u8]) -> Result<(), Fault> {
        self.tls.send(self.clock.now(), data).map_err(fault)?;
        self.flush()
    }

    /// What has come; nothing at the end.
    pub(super) fn read(&mut self) -> Result<Vec<u8>, Fault> {
        loop {
            let data = self.tls.take_application_data();
            if !data.is_empty() || !self.turn()? {
                return Ok(data);
            }
        }
    }

    /// The reply that the server sent outside of TLS, which ended the connection: vsftpd says so what is wrong with its configuration.
    pub(super) fn take_reply_in_the_clear(&mut self) -> Option<String> {
        self.in_the_clear.take()
    }

    /// Ends it, whether the server listens or not.
    pub(super) fn close(mut self) {
        let closed = self.tls.close(self.clock.now()).map_err(fault);
        let _ = closed.and_then(|()| self.flush());
    }

    /// Writes what is to go and reads once: whether more may come.
    fn turn(&mut self) -> Result<bool, Fault> {
        if self.tls.is_peer_closed() {
            return Ok(false);
        }
        self.flush()?;
        let count =
            self.stream.read(&mut self.buffer).map_err(|error| Fault::of_transport(FailureClass::Tls, "record", &error))?;
        let now = self.clock.now();
        let taken = match self.buffer.get(..count).unwrap_or_default() {
            [] => self.tls.receive_end(now),
            bytes => self.tls.receive(now, bytes),
        };
        if taken.is_err() {
            self.in_the_clear = self.reply_in_the_clear(count);
            // The alert that says why.
            let _ = self.flush();
        }
        taken.map_err(fault)?;
        Ok(true)
    }

    /// The first line of a reply behind the records that stand in so many bytes of the buffer. The rest of it may be to come: vsftpd writes
    /// it in pieces.
    fn reply_in_the_clear(&mut self, mut count: usize) -> Option<String> {
        let mut begin = 0;
        while let Ok(Some((_, length))) = Record::parse(self.buffer.get(begin..count)?) {
            begin += length;
        }
        reply::code(self.buffer.get(begin..count)?)?;
        while !self.buffer.get(begin..count)?.contains(&b'\n') {
            match self.stream.read(self.buffer.get_mut(count..)?) {
                Ok(0) | Err(_) => break,
                Ok(more) => count += more,
            }
        }
        String::from_utf8_lossy(self.buffer.get(begin..count)?).lines().next().map(str::to_owned)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let outgoing = self.tls.take_outgoing(self.clock.now());
        self.stream.write_all(&outgoing).map_err(|error| Fault::of_transport(FailureClass::Tls, "record", &error))
    }
}

fn fault(error: Error) -> Fault {
    Fault::of_engine(error, false)
}
