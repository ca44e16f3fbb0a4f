//! A stretch of bad network before a good server.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use reprise_lab::{Guest, Listener};

use crate::hang_up::{drain, listen};
use crate::{Result, lock};

/// A TCP relay on a free port of 127.0.0.1 that forwards both ways and does one thing wrong.
///
/// It counts the TLS records that the server sends, so that a test can go wrong at each message in turn. Dropping it
/// ends its connections and threads.
#[derive(Debug)]
pub struct Relay {
    listener: Listener,
    records: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// Where a relay goes wrong, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayRule {
    /// How many connections pass unharmed first: those that prime a session, for one.
    pub skip_connections: usize,
    /// The number of the server's record in each connection, from 0.
    pub record: usize,
    /// What happens to that record.
    pub fault: RelayFault,
}

/// What a relay does to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayFault {
    /// Neither it nor anything after it arrives; the connection stays open.
    Stall,
    /// The connection ends in its place (FIN).
    Close,
    /// The connection is broken off in its place (RST).
    Reset,
    /// The lowest bit of this byte of its body is flipped, counted modulo its length.
    Flip(usize),
    /// It, and what follows it, arrives so much later.
    Pause(Duration),
}

impl Relay {
    /// Forwards to `upstream` and breaks what `rule` says.
    ///
    /// # Errors
    /// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
    pub fn start(upstream: SocketAddr, rule: RelayRule) -> Result<Self> {
        Self::with_rule(upstream, Some(rule))
    }

    /// Forwards to `upstream` and breaks nothing.
    ///
    /// # Errors
    /// As [`Relay::start`].
    pub fn transparent(upstream: SocketAddr) -> Result<Self> {
        Self::with_rule(upstream, None)
    }

    /// Where the relay listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The content types of the records that the server sent, connection by connection in the order in which they
    /// were accepted. A record is entered before it is forwarded.
    #[must_use]
    pub fn records(&self) -> Vec<Vec<u8>> {
        lock(&self.records).clone()
    }

    fn with_rule(upstream: SocketAddr, rule: Option<RelayRule>) -> Result<Self> {
        let records = Arc::new(Mutex::new(Vec::new()));
        let (book, next) = (Arc::clone(&records), AtomicUsize::new(0));
        let listener = listen(move |guest| {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let rule = rule.filter(|rule| number >= rule.skip_connections);
            relay(guest, upstream, rule, &Counter { book: &book, number });
        })?;
        Ok(Self { listener, records })
    }
}

/// Forwards one connection unharmed until both sides have ended.
pub(crate) fn forward(guest: &Guest<'_>, upstream: SocketAddr) {
    relay(guest, upstream, None, &Counter { book: &Mutex::default(), number: 0 });
}

fn relay(guest: &Guest<'_>, upstream: SocketAddr, rule: Option<RelayRule>, counter: &Counter<'_>) {
    guest.relay(upstream, forward_requests, |server, client| forward_records(server, client, rule, counter));
}

/// Forwards what the client sends until it ends, even if the server has gone: a client is never told so by accident.
pub(crate) fn forward_requests(mut client: &TcpStream, mut server: &TcpStream) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let _ = server.write_all(bytes.get(..count).unwrap_or_default());
    }
    let _ = server.shutdown(Shutdown::Write);
}

fn forward_records(
    server: &TcpStream,
    mut client: &TcpStream,
    rule: Option<RelayRule>,
    counter: &Counter<'_>,
) -> io::Result<()> {
    for number in 0.. {
        let Some(mut record) = read_record(server)? else { break };
        counter.enter(&record);
        match rule.filter(|rule| rule.record == number).map(|rule| rule.fault) {
            None => client.write_all(&record)?,
            Some(RelayFault::Stall) => {
                drain(server);
                return Ok(());
            }
            Some(RelayFault::Close) => break,
            Some(RelayFault::Reset) => return Err(ErrorKind::ConnectionReset.into()),
            Some(RelayFault::Flip(at)) => {
                if let Some(body @ [_, ..]) = record.get_mut(HEADER_BYTES..) {
                    let at = at % body.len();
                    body.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
                }
                client.write_all(&record)?;
            }
            Some(RelayFault::Pause(time)) => {
                thread::sleep(time);
                client.write_all(&record)?;
            }
        }
    }
    client.shutdown(Shutdown::Write)?;
    let _ = server.shutdown(Shutdown::Both);
    Ok(())
}

/// ContentType (1), legacy_record_version (2), length (2): RFC 9846, section 5.1.
const HEADER_BYTES: usize = 5;

/// Reads a whole record, or what there is of it before the server ends; none at the end.
pub(crate) fn read_record(mut server: &TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut record = Vec::new();
    Read::take(&mut server, HEADER_BYTES as u64).read_to_end(&mut record)?;
    if let [_, _, _, high, low] = *record {
        Read::take(&mut server, u64::from(u16::from_be_bytes([high, low]))).read_to_end(&mut record)?;
    }
    Ok(Some(record).filter(|record| !record.is_empty()))
}

struct Counter<'a> {
    book: &'a Mutex<Vec<Vec<u8>>>,
    number: usize,
}

impl Counter<'_> {
    fn enter(&self, record: &[u8]) {
        let mut book = lock(self.book);
        if book.len() <= self.number {
            book.resize(self.number + 1, Vec::new());
        }
        if let Some(page) = book.get_mut(self.number) {
            page.extend(record.first());
        }
    }
}
