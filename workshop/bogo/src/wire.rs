//! A connection of the engine over a socket to the runner.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use reprise_engine::{Config, Connection, Offer, Start};
use reprise_model::Nanos;
use reprise_wire::{ContentType, Handshake, Record, ServerHello};
use rustls_pki_types::UnixTime;

use crate::failure::Failure;
use crate::flags::Address;

/// Longer than the runner waits for us.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Wire {
    pub(crate) connection: Connection,
    stream: TcpStream,
    clock: Clock,
    one_by_one: bool,
    /// What came before the handshake was done, for the ServerHello in it.
    heard: Vec<u8>,
    /// What has come and was not handed to the engine yet.
    waiting: Vec<u8>,
}

/// A clock that stands still unless the runner turns it: so the age of a ticket is exactly what the runner expects.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock(Duration);

impl Clock {
    pub(crate) fn advance(&mut self, seconds: u64) {
        self.0 += Duration::from_secs(seconds);
    }

    pub(crate) fn now(self) -> Nanos {
        Nanos::from(self.0)
    }
}

/// What a read brought.
pub(crate) enum Incoming {
    Data(Vec<u8>),
    /// The runner's close_notify.
    Closed,
    /// The end of the stream without one.
    Ended,
}

impl Wire {
    /// Connects and makes the ClientHello.
    pub(crate) fn open(
        address: &Address,
        config: Arc<Config>,
        offer: Offer,
        clock: Clock,
        one_by_one: bool,
    ) -> Result<Self, Failure> {
        let mut stream = TcpStream::connect(address.socket)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&address.shim_id.to_le_bytes())?;
        let connection = Connection::start(config, Start { offer, date: UnixTime::now() }, clock.now())?;
        Ok(Self { connection, stream, clock, one_by_one, heard: Vec::new(), waiting: Vec::new() })
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Goes on until application data may be sent.
    pub(crate) fn shake_hands(&mut self) -> Result<(), Failure> {
        while self.connection.ready().is_none() {
            if !self.hand_over()? {
                self.connection.receive_end(self.now())?;
                return Err(Failure::Expectation("the handshake to complete".to_owned()));
            }
        }
        self.flush()
    }

    /// The next application data.
    pub(crate) fn read(&mut self) -> Result<Incoming, Failure> {
        loop {
            let data = self.connection.take_application_data();
            if !data.is_empty() {
                return Ok(Incoming::Data(data));
            }
            if self.connection.is_peer_closed() {
                return Ok(Incoming::Closed);
            }
            if !self.hand_over()? {
                self.connection.receive_end(self.now())?;
                return Ok(Incoming::Ended);
            }
        }
    }

    /// The random of a ServerHello that was the server's first message.
    pub(crate) fn server_random(&self) -> Option<Vec<u8>> {
        let (mut rest, mut messages) = (&self.heard[..], Vec::new());
        while let Ok(Some((record, length))) = Record::parse(rest) {
            if record.content_type == ContentType::HANDSHAKE {
                messages.extend_from_slice(record.fragment);
            }
            rest = rest.get(length..)?;
        }
        let (message, _) = Handshake::parse(&messages).ok()??;
        ServerHello::parse(message.body).ok().map(|hello| hello.random.to_vec())
    }

    /// Sends what may be sent as early data; returns the rest.
    pub(crate) fn write_early<'d>(&mut self, data: &'d [u8]) -> Result<&'d [u8], Failure> {
        let count = self.connection.send_early(self.now(), data)?;
        self.flush()?;
        Ok(data.get(count..).unwrap_or_default())
    }

    pub(crate) fn update_keys(&mut self) -> Result<(), Failure> {
        self.connection.update_keys(self.now(), false)?;
        Ok(())
    }

    pub(crate) fn write(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.connection.send(self.now(), data)?;
        self.flush()
    }

    pub(crate) fn close(&mut self) -> Result<(), Failure> {
        self.connection.close(self.now())?;
        self.flush()
    }

    /// Sends what waits, then reads whatever still comes, so that neither side's last words are lost to a reset.
    pub(crate) fn leave(mut self) {
        let _ = self.flush();
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut rest = [0; 4096];
        while self.stream.read(&mut rest).is_ok_and(|count| count > 0) {}
    }

    /// Hands the engine the next bytes; false at the end of the stream. Once there may be data they are those of one
    /// record at most, so that what came before an error is seen before it.
    fn hand_over(&mut self) -> Result<bool, Failure> {
        if self.waiting.is_empty() && !self.fill()? {
            return Ok(false);
        }
        let count = if self.one_by_one {
            1
        } else if self.connection.ready().is_some() {
            Record::parse(&self.waiting).ok().flatten().map_or(self.waiting.len(), |(_, length)| length)
        } else {
            self.waiting.len()
        };
        let bytes: Vec<u8> = self.waiting.drain(..count).collect();
        self.connection.receive(self.now(), &bytes)?;
        Ok(true)
    }

    /// Says what there is to say, then waits for more.
    fn fill(&mut self) -> Result<bool, Failure> {
        self.flush()?;
        let mut bytes = [0; 32 * 1024];
        let count = match self.stream.read(&mut bytes) {
            Ok(count) => count,
            // The runner closed with words of ours unread.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => return Err(error.into()),
        };
        let bytes = bytes.get(..count).unwrap_or_default();
        if self.connection.ready().is_none() {
            self.heard.extend_from_slice(bytes);
        }
        self.waiting.extend_from_slice(bytes);
        Ok(count > 0)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let outgoing = self.connection.take_outgoing(self.now());
        match self.stream.write_all(&outgoing) {
            // It may have closed with a last alert, which is still to be read.
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
            result => Ok(result?),
        }
    }
}
