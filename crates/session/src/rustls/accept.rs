//! Servers with a thread for each connection.

use std::io::{self, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use rustls::{ServerConnection, StreamOwned};

use super::server::ResumingServer;
use crate::hello::{HelloTooLong, LookAhead, ResumptionOffer};
use crate::store::Answers;

impl ResumingServer {
    /// Does the handshake of one connection over a blocking stream. How long it may take is the stream's timeouts'
    /// business; the shared store adds at most its own budget.
    ///
    /// # Errors
    /// What the stream or the handshake failed with, as rustls' own streams say it; a ClientHello that is too long. The client
    /// has then been sent the alert.
    pub fn accept<S: Read + Write>(&self, mut stream: S) -> io::Result<StreamOwned<ServerConnection, S>> {
        let (received, offered, answers) = match self.look_ahead() {
            Some(ahead) => {
                let (received, offered) = read_hello(&mut stream, ahead)?;
                let answers = self.fetch(&offered).map_or_else(Answers::default, wait);
                (received, offered, answers)
            }
            None => (Vec::new(), ResumptionOffer::default(), Answers::default()),
        };
        let (config, watch) = self.connection(&offered, answers);
        let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
        let mut unread = &received[..];
        while !unread.is_empty() {
            connection.read_tls(&mut unread)?;
            if let Err(error) = connection.process_new_packets() {
                // The alert.
                let _ = connection.write_tls(&mut stream);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        // Tickets follow the handshake.
        while connection.wants_write() {
            connection.write_tls(&mut stream)?;
        }
        watch.completed(&mut connection);
        Ok(StreamOwned::new(connection, stream))
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

/// Waits for a future on this thread.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
