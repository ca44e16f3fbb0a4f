//! Servers on tokio.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::server::ResumingServer;
use crate::hello::{HelloTooLong, LookAhead, ResumptionOffer};
use crate::store::Answers;

impl ResumingServer {
    /// Does the handshake of one connection. How long it may take is the caller's business, by `tokio::time::timeout`; the
    /// shared store adds at most its own budget.
    ///
    /// # Errors
    /// What the stream or the handshake failed with; a ClientHello that is too long. The client has then been sent the
    /// alert.
    pub async fn accept_tokio<S>(&self, mut stream: S) -> io::Result<TlsStream<Prefixed<S>>>
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
        let stream = Prefixed { received, given: 0, stream };
        let mut accepted = TlsAcceptor::from(config).accept(stream).await?;
        watch.completed(accepted.get_mut().1);
        Ok(accepted)
    }
}

/// A stream whose first bytes were read before: they are read again first.
#[derive(Debug)]
pub struct Prefixed<S> {
    received: Vec<u8>,
    given: usize,
    stream: S,
}

impl<S> Prefixed<S> {
    /// The stream itself, for its addresses and options.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let unread = this.received.get(this.given..).unwrap_or_default();
        if unread.is_empty() {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        let (first, rest) = unread.split_at(unread.len().min(buffer.remaining()));
        buffer.put_slice(first);
        this.given = this.given.saturating_add(first.len());
        if rest.is_empty() {
            (this.received, this.given) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

async fn read_hello<S>(stream: &mut S, mut ahead: LookAhead) -> io::Result<(Vec<u8>, ResumptionOffer)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 4096];
    loop {
        let count = std::future::poll_fn(|context| {
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
                let _ = std::future::poll_fn(write).await;
                return Err(io::Error::new(io::ErrorKind::InvalidData, too_long));
            }
        }
    }
}
