//! One side of one TLS connection, whichever library speaks it.

use auto_impl::auto_impl;
use reprise_model::{Event, Facts, FaultName, Nanos, Protocol};

use crate::fault::Fault;

/// One side of one connection after the other: a slot whose memory is used again.
///
/// It is handed one whole record at a time, which it decrypts in place. What it wants to send it appends to `out`. A box of an
/// endpoint is one too: of a library that is chosen at run time.
#[auto_impl(Box)]
pub trait Endpoint {
    /// What outlives a connection: sessions, scratch memory, a library's context.
    type Shared;
    /// What one connection is to be.
    type Plan;

    /// Begins a connection, whatever became of the last. A client appends its ClientHello; a server has nothing to say yet.
    ///
    /// # Errors
    /// If nothing can be offered, or a key share or randomness cannot be had.
    fn begin(&mut self, shared: &mut Self::Shared, plan: Self::Plan, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Takes one whole record, its header included, that arrived at `now`. After an error nothing more may be handed in; what
    /// `out` holds then is the alert that says why.
    ///
    /// # Errors
    /// What the peer did wrong, or what it refuses.
    fn receive<'r>(
        &mut self,
        shared: &mut Self::Shared,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault>;

    /// What came is no record; `is_first`: nor was there one before, so that the peer does not speak TLS at all.
    fn refuse(
        &mut self,
        _bytes: &[u8],
        _error: reprise_wire::Error,
        is_first: bool,
        _now: Nanos,
        _out: &mut Vec<u8>,
    ) -> Fault {
        Fault::new(if is_first { FaultName::NotTls } else { FaultName::Malformed })
    }

    /// The peer has closed its side of the transport; `in_record`: in the middle of a record.
    ///
    /// # Errors
    /// If that is too early.
    fn receive_end(&mut self, now: Nanos, in_record: bool, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Protects application data.
    ///
    /// # Errors
    /// Before [`EndpointEvent::Ready`] and after [`Endpoint::close`].
    fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Protects early data (RFC 9846 §2.3): as much of it as may be sent; returns how many bytes that was.
    ///
    /// # Errors
    /// Those of the library.
    fn send_early(&mut self, _now: Nanos, _data: &[u8], _out: &mut Vec<u8>) -> Result<usize, Fault> {
        Ok(0)
    }

    /// Protects a close_notify. What the peer still sends is still read.
    ///
    /// # Errors
    /// Those of the library.
    fn close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// What was handed out leaves at `now`.
    fn depart(&mut self, _now: Nanos) {}

    /// What was negotiated so far; `None` before the server has chosen.
    fn facts(&self) -> Option<Facts>;

    /// The protocol that ALPN chose.
    fn alpn(&self) -> Option<Protocol> {
        self.facts()?.alpn
    }

    /// Whether the peer has shown that it has finished: under TLS 1.3 a record under its application keys was decrypted.
    fn is_confirmed(&self) -> bool;

    /// The message that the handshake waits for, `ServerHello`; `None` once it is done.
    fn awaited(&self) -> Option<&'static str> {
        None
    }

    /// Adds every message so far to a log, if the endpoint keeps any.
    fn record(&self, _log: &mut MessageLog) {}

    /// Ends the connection, whatever its state: what it has learned goes to `shared`.
    fn end(&mut self, shared: &mut Self::Shared, how: End);
}

/// What a record came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointEvent<'r> {
    /// Nothing that matters outside.
    Nothing,
    /// Application data may be sent: what `out` holds goes before it.
    Ready,
    /// Application data.
    Data(&'r [u8]),
    /// The peer's close_notify.
    Closed,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All that was wanted came: what was observed can be relied on.
    Completed,
    /// It failed, or was cut off.
    Failed,
}

/// Every message of a connection, kept in memory.
#[derive(Clone, Debug, Default)]
pub struct MessageLog {
    /// Every message, in the order of time.
    pub messages: Vec<Event>,
    /// The bytes of the handshake messages among them, header included, in the same order; none where they were not kept.
    pub handshake_bytes: Vec<Vec<u8>>,
    /// How many there was no room for.
    pub omitted: u64,
}
