use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep, timeout};

use super::server::ResumingServer;
use super::stream::TlsStream;

/// Handshakes at a time. More connections wait in the kernel until one is done, or has taken too long.
const MOST_HANDSHAKES: usize = 4096;

/// How long a listener rests that has no descriptor for the next connection.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener of TCP whose connections are through their handshakes, as [`ResumingServer::listen`] makes it. With the feature
/// `axum` it is one of `axum::serve`.
pub struct ResumingListener {
    server: ResumingServer,
    listener: TcpListener,
    patience: Duration,
    handshakes: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl ResumingServer {
    /// Accepts connections from `listener`, sets `TCP_NODELAY`, and does their handshakes beside one another, each within ten
    /// seconds. One that fails disturbs no other: the metrics count it.
    pub fn listen(&self, listener: TcpListener) -> ResumingListener {
        let (patience, handshakes) = (Duration::from_secs(10), JoinSet::new());
        ResumingListener { server: self.clone(), listener, patience, handshakes, pause: None }
    }
}

impl ResumingListener {
    /// With another time within which a handshake is to be done.
    #[must_use]
    pub fn handshake_timeout(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The next connection whose handshake is done, and its client's address. Cancelling it loses nothing.
    pub async fn accept(&mut self) -> (TlsStream<TcpStream>, SocketAddr) {
        poll_fn(|context| self.poll_accept(context)).await
    }

    /// Where it listens.
    ///
    /// # Errors
    /// As of [`TcpListener::local_addr`].
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<(TlsStream<TcpStream>, SocketAddr)> {
        loop {
            // What failed is the metrics' business, and a task that panicked said so.
            while let Poll::Ready(Some(done)) = self.handshakes.poll_join_next(context) {
                if let Ok(Some(accepted)) = done {
                    return Poll::Ready(accepted);
                }
            }
            if self.handshakes.len() >= MOST_HANDSHAKES {
                return Poll::Pending;
            }
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match ready!(self.listener.poll_accept(context)) {
                Ok((stream, peer)) => self.begin(stream, peer),
                // The client went away before it was accepted.
                Err(error) if is_of_the_client(&error) => {}
                Err(error) => {
                    tracing::warn!(target: "reprise_session", %error, "no connection can be accepted");
                    self.pause = Some(Box::pin(sleep(PAUSE)));
                }
            }
        }
    }

    fn begin(&mut self, stream: TcpStream, peer: SocketAddr) {
        let (server, patience) = (self.server.clone(), self.patience);
        self.handshakes.spawn(async move {
            // It only delays what is sent.
            let _ = stream.set_nodelay(true);
            let tls = timeout(patience, server.accept_tokio(stream)).await.ok()?.ok()?;
            Some((tls, peer))
        });
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(feature = "axum")]
impl axum::serve::Listener for ResumingListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        Self::accept(self).await
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Self::local_addr(self)
    }
}

impl fmt::Debug for ResumingListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumingListener").field("listener", &self.listener).finish_non_exhaustive()
    }
}
