//! Servers on tokio.

use std::future::poll_fn;
use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::ServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::attempt::Attempt;
use super::flight::joined;
use super::server::ResumingServer;
use super::stream::TlsStream;
use crate::hello::{HelloTooLong, LookAhead, ResumptionOffer};
use crate::store::Answers;

impl ResumingServer {
    /// Does the handshake of one connection. How long it may take is the caller's business, by `tokio::time::timeout`; the
    /// shared store adds at most its own budget, before the handshake and before its tickets.
    ///
    /// Where early data is accepted, this returns before the client's Finished, so that what the client sent first is read and
    /// answered one round trip earlier.
    ///
    /// Set `TCP_NODELAY` on the stream first, as [`ResumingServer::listen`] does: the answer to a client's first request follows the
    /// tickets of TLS 1.3, and would wait 40 ms for their acknowledgement.
    ///
    /// # Errors
    /// What the stream or the handshake failed with; a ClientHello that is too long. The client has then been sent the
    /// alert.
    pub async fn accept_tokio<S>(&self, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let attempt = Attempt::new(self.metrics());
        let accepted = self.handshake_tokio(stream).await;
        attempt.ended(&accepted);
        accepted
    }

    async fn handshake_tokio<S>(&self, mut stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let (received, offered, answers) = match self.look_ahead() {
            Some(ahead) => {
                let (received, offered) = read_hello(&mut stream, ahead).await?;
                let answers = match self.fetch(&offered) {
                    Some(fetch) => fetch.await,
                    None => Answers::default(),
                };
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
            tls.opened().await?;
        }
        poll_fn(|context| Pin::new(&mut tls).poll_flush(context)).await?;
        while tls.conn.is_handshaking() && tls.conn.early_data().is_none() {
            poll_fn(|context| tls.poll_receive(context)).await?;
            tls.opened().await?;
            poll_fn(|context| Pin::new(&mut tls).poll_flush(context)).await?;
        }
        tls.watch.completed(&mut tls.conn);
        Ok(tls)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream<S> {
    /// Opens what came. What is wrong with it is an alert to the client, and before that what a hello in the same read was answered
    /// with: both have left when this fails.
    async fn opened(&mut self) -> io::Result<()> {
        match self.conn.process_new_packets() {
            Ok(_) => Ok(()),
            Err(error) => {
                // Whether it can be sent is not what failed.
                let _ = poll_fn(|context| self.poll_write_all(context)).await;
                let _ = poll_fn(|context| Pin::new(&mut self.sock).poll_flush(context)).await;
                Err(io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    }

    /// Reads once.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Blocking { stream: &mut self.sock, context };
        match self.conn.read_tls(&mut stream) {
            Ok(0) if self.conn.is_handshaking() => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => unless_blocked(error),
        }
    }

    /// Reads once, and opens what came.
    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_receive(context))?;
        Poll::Ready(self.conn.process_new_packets().map(drop).map_err(|error| {
            // The alert, as far as there is room for it.
            let _ = self.poll_write_all(context);
            io::Error::new(io::ErrorKind::InvalidData, error)
        }))
    }

    /// Sends what there is, once the shared store has the sessions among it.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.awaited.is_none() {
            self.awaited = self.watch.written();
        }
        if let Some(awaited) = &mut self.awaited {
            ready!(awaited.as_mut().poll(context));
            self.awaited = None;
        }
        self.poll_write_all(context)
    }

    fn poll_write_all(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.conn.wants_write() {
            match self.conn.write_tls(&mut Blocking { stream: &mut self.sock, context }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) => return unless_blocked(error),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let room = buffer.initialize_unfilled();
            let early = this.conn.early_data().map_or(Ok(0), |mut early| early.read(room))?;
            if early > 0 || room.is_empty() {
                buffer.advance(early);
                return Poll::Ready(Ok(()));
            }
            if !this.conn.is_handshaking() {
                match this.conn.reader().read(room) {
                    Ok(count) => {
                        buffer.advance(count);
                        return Poll::Ready(Ok(()));
                    }
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(error)),
                    Err(_) => {}
                }
            }
            // A client that does not read is no reason not to.
            if let Poll::Ready(Err(error)) = this.poll_send(context) {
                return Poll::Ready(Err(error));
            }
            ready!(this.poll_step(context))?;
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            ready!(this.poll_send(context))?;
            // Before the client's Finished too: rustls sends it at once, or keeps it where clients must prove who they are.
            let written = this.conn.writer().write(bytes)?;
            if written > 0 || bytes.is_empty() {
                // What the stream does not take now it takes with the next write, or when it is flushed.
                if let Poll::Ready(Err(error)) = this.poll_send(context) {
                    return Poll::Ready(Err(error));
                }
                return Poll::Ready(Ok(written));
            }
            ready!(this.poll_step(context))?;
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.sock).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // Said once, however often it is asked for.
        this.conn.send_close_notify();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.sock).poll_shutdown(context)
    }
}

/// A stream as rustls reads and writes it: what would have to wait fails, and the task is woken later.
struct Blocking<'a, 'b, S> {
    stream: &'a mut S,
    context: &'a mut Context<'b>,
}

impl<S: AsyncRead + Unpin> Read for Blocking<'_, '_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut unfilled = ReadBuf::new(buffer);
        match Pin::new(&mut *self.stream).poll_read(self.context, &mut unfilled) {
            Poll::Ready(read) => read.map(|()| unfilled.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<S: AsyncWrite + Unpin> Write for Blocking<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Pin::new(&mut *self.stream).poll_write(self.context, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let stream = Pin::new(&mut *self.stream);
        let polled = match joined(parts) {
            Some(flight) if !stream.is_write_vectored() => stream.poll_write(self.context, &flight),
            _ => stream.poll_write_vectored(self.context, parts),
        };
        match polled {
            Poll::Ready(written) => written,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unless_blocked(error: io::Error) -> Poll<io::Result<()>> {
    if error.kind() == io::ErrorKind::WouldBlock { Poll::Pending } else { Poll::Ready(Err(error)) }
}

async fn read_hello<S>(stream: &mut S, mut ahead: LookAhead) -> io::Result<(Vec<u8>, ResumptionOffer)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 4096];
    loop {
        let count = poll_fn(|context| {
            let mut unfilled = ReadBuf::new(&mut buffer);
            let polled = Pin::new(&mut *stream).poll_read(context, &mut unfilled);
            polled.map_ok(|()| unfilled.filled().len())
        })
        .await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match ahead.receive(buffer.get(..count).unwrap_or_default()) {
            Ok(None) => {}
            Ok(Some(offered)) => return Ok((ahead.into_received(), offered)),
            Err(too_long) => {
                let write = |context: &mut Context<'_>| Pin::new(&mut *stream).poll_write(context, &HelloTooLong::ALERT);
                let _ = poll_fn(write).await;
                return Err(io::Error::new(io::ErrorKind::InvalidData, too_long));
            }
        }
    }
}
