use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fmt, io};

use socket2::{Domain, SockRef, Socket, Type};

use crate::{LabError, Result};

/// Threads that wait for the first connections; more are started when none is left waiting.
const INITIAL_THREADS: usize = 4;

/// A handler needs a few kilobytes, and a lab may hold many servers.
const STACK_BYTES: usize = 512 * 1024;

/// Connections that the kernel keeps until a thread accepts them: a load begins thousands at once, and whoever finds no
/// place tries again only after a second, then after two more, then four.
const BACKLOG: i32 = 4096;

/// How long dropping waits for threads before it leaves them to the end of the process.
const JOIN_DEADLINE: Duration = Duration::from_secs(5);

/// A listening socket and the threads that serve it, all gone when dropped.
///
/// Each thread accepts for itself: a connection is never handed from one thread to another, which would add a wake-up
/// to what a client measures.
pub struct Listener {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A connection that was accepted.
pub struct Guest<'a> {
    /// The socket; dropping the listener shuts it down.
    pub stream: Arc<TcpStream>,
    /// Where the client calls from.
    pub peer: SocketAddr,
    shared: &'a Shared,
}

struct Shared {
    socket: TcpListener,
    max_threads: usize,
    handler: Box<dyn Fn(&Guest<'_>) + Send + Sync>,
    stopping: AtomicBool,
    waiting: AtomicUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    open: Mutex<OpenStreams>,
}

#[derive(Default)]
struct OpenStreams {
    next: u64,
    streams: HashMap<u64, Arc<TcpStream>>,
}

impl Listener {
    /// Listens on `address` (port 0 for a free one) and calls `handler` for each connection, on at most `max_threads`
    /// threads at a time; what exceeds them waits in the backlog.
    ///
    /// # Errors
    /// [`LabError::Listen`] if the address is not to be had, [`LabError::Thread`] if no thread is.
    pub fn start(
        address: SocketAddr,
        max_threads: usize,
        handler: impl Fn(&Guest<'_>) + Send + Sync + 'static,
    ) -> Result<Self> {
        let failed = |source| LabError::Listen { address, source };
        let socket = listen(address).map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            socket,
            max_threads: max_threads.max(1),
            handler: Box::new(handler),
            stopping: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            threads: Mutex::default(),
            open: Mutex::default(),
        });
        let listener = Self { address: bound, shared };
        for _ in 0..INITIAL_THREADS.min(listener.shared.max_threads) {
            listener.shared.spawn().map_err(LabError::Thread)?;
        }
        Ok(listener)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// As `TcpListener::bind`, which has no say in the backlog.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Elsewhere it would let two programs listen to one port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.address).finish()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // On Linux this wakes every accept at once; elsewhere it may fail, and the calls below wake them one by one.
        let _ = SockRef::from(&self.shared.socket).shutdown(Shutdown::Both);
        for stream in lock(&self.shared.open).streams.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let deadline = Instant::now() + JOIN_DEADLINE;
        let threads = std::mem::take(&mut *lock(&self.shared.threads));
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(10));
            thread::sleep(Duration::from_micros(200));
        }
        for thread in threads {
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

impl Guest<'_> {
    /// Connects to `upstream` and forwards one way by `there`, on a thread of its own, and the other by `back`; each is given where it
    /// reads and where it writes.
    pub fn relay(
        &self,
        upstream: SocketAddr,
        there: impl FnOnce(&TcpStream, &TcpStream) + Send,
        back: impl FnOnce(&TcpStream, &TcpStream) -> io::Result<()>,
    ) {
        let client = &*self.stream;
        let Ok(server) = TcpStream::connect(upstream).map(Arc::new) else { return self.reset() };
        let _ = server.set_nodelay(true);
        let Some(_registered) = self.shared.register(&server) else { return };
        let server = &*server;
        thread::scope(|scope| {
            let forward = thread::Builder::new().spawn_scoped(scope, move || there(client, server));
            if forward.is_err() || back(server, client).is_err() {
                // One side broke off, so the other learns it; to stop reading here ends the thread above.
                self.reset();
                let _ = client.shutdown(Shutdown::Read);
                let _ = server.shutdown(Shutdown::Both);
            }
        });
    }

    /// Makes the kernel send RST when the last handle to the socket is dropped.
    pub fn reset(&self) {
        let _ = SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO));
    }
}

/// A stream that the listener shuts down when it is dropped, until this is.
struct Registered<'a> {
    number: u64,
    shared: &'a Shared,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        lock(&self.shared.open).streams.remove(&self.number);
    }
}

impl Shared {
    fn spawn(self: &Arc<Self>) -> std::io::Result<()> {
        let mut threads = lock(&self.threads);
        if threads.len() >= self.max_threads || self.stopping.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("lab-server".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || shared.accept_until_stopped());
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return Err(error);
            }
        }
        Ok(())
    }

    fn accept_until_stopped(self: Arc<Self>) {
        while !self.stopping.load(Ordering::SeqCst) {
            let accepted = self.socket.accept();
            if self.stopping.load(Ordering::SeqCst) {
                return;
            }
            match accepted {
                Ok((stream, peer)) => self.serve(stream, peer),
                // Out of descriptors, or the client gave up in the backlog: neither is a reason to spin.
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn serve(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        if self.waiting.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Without a further thread connections still get served, one after another.
            let _ = self.spawn();
        }
        let _ = stream.set_nodelay(true);
        let stream = Arc::new(stream);
        if let Some(_registered) = self.register(&stream) {
            (self.handler)(&Guest { stream, peer, shared: self });
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
    }

    /// A stream that is shut down too if the listener is dropped meanwhile; `None` if that is so already.
    fn register(&self, stream: &Arc<TcpStream>) -> Option<Registered<'_>> {
        let mut open = lock(&self.open);
        if self.stopping.load(Ordering::SeqCst) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        open.streams.insert(number, Arc::clone(stream));
        Some(Registered { number, shared: self })
    }
}

/// Locks even if a thread panicked while it held the lock: what these locks guard is whole at every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
