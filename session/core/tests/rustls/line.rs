//! A server's stream whose other end is a client in memory, at once.

use std::io::{self, IoSlice, Read, Write};

use rustls::client::ClientConnection;

/// What the server writes the client reads at once, and the server reads what the client then says.
#[derive(Debug)]
pub(crate) struct Line {
    client: ClientConnection,
    /// Sent behind the client's first flight, and read together with it.
    behind: Vec<u8>,
    /// Whether several parts are taken by one write, as a socket does.
    takes_parts: bool,
    /// The most bytes of one write.
    room: usize,
    /// Every other write must wait.
    is_slow: bool,
    waits: bool,
    /// The server's writes, by their bytes.
    pub(crate) writes: Vec<usize>,
    /// What the client thinks of the server.
    pub(crate) heard: Option<rustls::Error>,
}

impl Line {
    pub(crate) fn new(client: ClientConnection) -> Self {
        let (behind, writes) = Default::default();
        Self { client, behind, takes_parts: true, room: usize::MAX, is_slow: false, waits: false, writes, heard: None }
    }

    pub(crate) fn behind(self, bytes: &[u8]) -> Self {
        Self { behind: bytes.to_vec(), ..self }
    }

    pub(crate) fn one_part_at_a_time(self) -> Self {
        Self { takes_parts: false, ..self }
    }

    /// Whose writes take a few bytes each, and wait in between.
    pub(crate) fn narrow(self, room: usize) -> Self {
        Self { room, is_slow: true, ..self }
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut said = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut said)?;
        }
        if !said.is_empty() {
            said.append(&mut self.behind);
        }
        assert!(said.len() <= buffer.len(), "{} bytes at a time", said.len());
        buffer[..said.len()].copy_from_slice(&said);
        Ok(said.len())
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waits = self.is_slow && !self.waits;
        if self.waits {
            // As of a blocking stream too: whoever wrote tries again.
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut unread = &bytes[..bytes.len().min(self.room)];
        let count = unread.len();
        self.writes.push(count);
        while !unread.is_empty() && self.heard.is_none() {
            self.client.read_tls(&mut unread)?;
            self.heard = self.client.process_new_packets().err();
        }
        Ok(count)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.takes_parts {
            let all: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
            return self.write(&all);
        }
        self.write(parts.iter().find(|part| !part.is_empty()).map_or(&[], |part| part))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use std::io::{self, IoSlice, Read, Write};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::Line;

    impl AsyncRead for Line {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let count = self.read(buffer.initialize_unfilled())?;
            buffer.advance(count);
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Line {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            polled(self.write(bytes))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            parts: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            polled(self.write_vectored(parts))
        }

        fn is_write_vectored(&self) -> bool {
            self.takes_parts
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn polled(written: io::Result<usize>) -> Poll<io::Result<usize>> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Poll::Pending,
            written => Poll::Ready(written),
        }
    }
}
