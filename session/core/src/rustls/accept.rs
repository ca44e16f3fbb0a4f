//! Servers with a thread for each connection.

use std::io::{self, Read, Write};

use rustls::{ServerConnection, Stream};

use super::attempt::Attempt;
use super::flight::Joining;
use super::server::ResumingServer;
use super::stream::TlsStream;
use crate::hello::{HelloTooLong, LookAhead, ResumptionOffer};
use crate::store::{Answers, wait};

impl ResumingServer {
    /// Does the handshake of one connection over a blocking stream. How long it may take is the stream's timeouts'
    /// business; the shared store adds at most its own budget, before the handshake and before its tickets.
    ///
    /// Where early data is accepted, this returns before the client's Finished, so that what the client sent first is read and
    /// answered one round trip earlier.
    ///
    /// Set `TCP_NODELAY` on the stream first: the answer to a client's first request follows the tickets of TLS 1.3, and would wait
    /// 40 ms for their acknowledgement.
    ///
    /// # Errors
    /// What the stream or the handshake failed with, as rustls' own streams say it; a ClientHello that is too long. The client
    /// has then been sent the alert.
    pub fn accept<S: Read + Write>(&self, stream: S) -> io::Result<TlsStream<S>> {
        let attempt = Attempt::new(self.metrics());
        let accepted = self.handshake(stream);
        attempt.ended(&accepted);
        accepted
    }

    fn handshake<S: Read + Write>(&self, mut stream: S) -> io::Result<TlsStream<S>> {
        let (received, offered, answers) = match self.look_ahead() {
            Some(ahead) => {
                let (received, offered) = read_hello(&mut stream, ahead)?;
                let answers = self.fetch(&offered).map_or_else(Answers::default, wait);
                (received, offered, answers)
            }
            None => (Vec::new(), ResumptionOffer::default(), Answers::default()),
        };
        let (config, watch) = self.connection(&offered, answers);
        let conn = ServerConnection::new(config).map_err(io::Error::other)?;
        let mut tls = TlsStream::new(conn, stream, watch);
        let mut unread = &received[..];
        while !unread.is_empty() {
            tls.conn.read_tls(&mut unread)?;
            tls.open()?;
        }
        tls.flush()?;
        while tls.conn.is_handshaking() && tls.conn.early_data().is_none() {
            tls.step()?;
        }
        tls.watch.completed(&mut tls.conn);
        Ok(tls)
    }
}

impl<S: Read + Write> TlsStream<S> {
    /// Waits for the client's Finished, if it was not there when early data was. Then there are tickets for the client too.
    ///
    /// # Errors
    /// As of [`ResumingServer::accept`].
    pub fn complete(&mut self) -> io::Result<()> {
        while self.conn.is_handshaking() {
            self.step()?;
        }
        Ok(())
    }

    /// One read of the handshake, and what there is to say to it.
    fn step(&mut self) -> io::Result<()> {
        match self.conn.read_tls(&mut self.sock) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            read => read?,
        };
        self.open()?;
        self.flush()
    }

    fn open(&mut self) -> io::Result<()> {
        self.conn.process_new_packets().map(drop).map_err(|error| {
            // The alert, and before it what a hello in the same read was answered with. Whether that can be sent is not what failed.
            let _ = self.write_out().and_then(|()| self.sock.flush());
            io::Error::new(io::ErrorKind::InvalidData, error)
        })
    }

    /// Sends what there is, once the shared store has the sessions among it.
    fn send(&mut self) -> io::Result<()> {
        if let Some(written) = self.watch.written() {
            wait(written);
        }
        self.write_out()
    }

    fn write_out(&mut self) -> io::Result<()> {
        while self.conn.wants_write() {
            match self.conn.write_tls(&mut Joining(&mut self.sock)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => drop(written?),
            }
        }
        Ok(())
    }
}

impl<S: Read + Write> Read for TlsStream<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let early = self.conn.early_data().map_or(Ok(0), |mut early| early.read(buffer))?;
            if early > 0 || buffer.is_empty() {
                return Ok(early);
            }
            if !self.conn.is_handshaking() {
                return Stream::new(&mut self.conn, &mut self.sock).read(buffer);
            }
            self.step()?;
        }
    }
}

impl<S: Read + Write> Write for TlsStream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Before the client's Finished too: rustls sends it at once, or keeps it where clients must prove who they are.
        let written = self.conn.writer().write(bytes)?;
        self.send()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.sock.flush()
    }
}

fn read_hello<S: Read + Write>(stream: &mut S, mut ahead: LookAhead) -> io::Result<(Vec<u8>, ResumptionOffer)> {
    let mut buffer = [0; 4096];
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match ahead.receive(buffer.get(..count).unwrap_or_default()) {
            Ok(None) => {}
            Ok(Some(offered)) => return Ok((ahead.into_received(), offered)),
            Err(too_long) => {
                let _ = stream.write_all(&HelloTooLong::ALERT);
                return Err(io::Error::new(io::ErrorKind::InvalidData, too_long));
            }
        }
    }
}
