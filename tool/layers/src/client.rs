//! A client over one TCP connection after the other, with blocking calls, as a program would make them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use reprise_connection::exchange::Http1;
use reprise_connection::{Attempt, Begin, End, Fault, Input, Progress};
use reprise_model::{FailureClass, FaultName, Nanos};
use reprise_pairs::Witness;
use reprise_stack::{StackEndpoint, StackSession, StackSessions};

use crate::requests::Seen;

/// One TLS session after the other, of one context.
pub(crate) struct Client {
    attempt: Attempt<Box<dyn StackEndpoint>, Http1>,
    sessions: StackSessions,
    socket: Option<TcpStream>,
    buffer: Vec<u8>,
    transcript: Transcript,
    origin: Instant,
    /// When the TLS session began. Nobody asks when its events were, and to read the clock for each would be counted too.
    now: Nanos,
}

/// How a server answered close_notify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// By its own.
    CloseNotify,
    /// By the end of the TCP connection.
    Fin,
    /// By a reset of it.
    Reset,
}

/// What both said until the first response: what the handshake was is read from it later, when no clock runs.
#[derive(Default)]
pub(crate) struct Transcript {
    sent: Vec<u8>,
    received: Vec<u8>,
    port: u16,
}

/// No handshake is longer.
const LONGEST_TRANSCRIPT: usize = 256 * 1024;

/// As much as a read may give.
const BUFFER: usize = 32 * 1024;

impl Client {
    pub(crate) fn new(endpoint: Box<dyn StackEndpoint>, request: &str, is_head: bool) -> Self {
        let request = std::sync::Arc::from(request.as_bytes());
        Self {
            attempt: Attempt::new(endpoint, Http1::new(request, is_head)),
            sessions: StackSessions::new(),
            socket: None,
            buffer: vec![0; BUFFER],
            transcript: Transcript::default(),
            origin: Instant::now(),
            now: Nanos::default(),
        }
    }

    /// A new TCP connection; the last one is closed.
    pub(crate) fn connect(&mut self, address: SocketAddr, timeout: Duration) -> Result<(), Fault> {
        self.socket = None;
        let failed = |error: io::Error| fault(FailureClass::Connect, "connection", &error);
        let socket = TcpStream::connect_timeout(&address, timeout).map_err(failed)?;
        socket.set_nodelay(true).map_err(failed)?;
        socket.set_read_timeout(Some(timeout)).map_err(failed)?;
        socket.set_write_timeout(Some(timeout)).map_err(failed)?;
        self.transcript.port = socket.local_addr().map_err(failed)?.port();
        self.socket = Some(socket);
        Ok(())
    }

    /// A TLS session on the TCP connection that is there, and the first request on it.
    pub(crate) fn exchange(&mut self, session: Option<StackSession>) -> Result<(), Fault> {
        self.now = Nanos::from(self.origin.elapsed());
        self.attempt.begin(
            &mut self.sessions,
            Begin { plan: session.into(), prologue: None, requests: 1, early: None },
            self.now,
        )?;
        self.attempt.connecting(self.now);
        self.attempt.connected(self.now, || None)?;
        self.await_answer()
    }

    /// The next request on the same session.
    pub(crate) fn ask_again(&mut self) -> Result<(), Fault> {
        self.attempt.ask_again(self.now)?;
        self.await_answer()
    }

    /// Whether there may be a next request.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.attempt.keeps_alive()
    }

    /// The status of the first response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.attempt.statuses().first().map(|(status, _)| *status)
    }

    /// Says close_notify, and reads what the server says to it. The TCP connection stays where the server leaves it open.
    pub(crate) fn leave(&mut self) -> Result<Farewell, Fault> {
        self.attempt.close(self.now)?;
        // A server that has closed already takes nothing more.
        let is_sent = self.flush().is_ok();
        while !self.attempt.is_peer_closed() {
            match self.read() {
                Ok(0) => return Ok(Farewell::Fin),
                Ok(_) => {}
                Err(fault) if fault.name == FaultName::ConnectionReset || !is_sent => return Ok(Farewell::Reset),
                Err(fault) => return Err(fault),
            }
        }
        Ok(Farewell::CloseNotify)
    }

    /// Ends the TLS session: what it leaves to be resumed, and what was said.
    pub(crate) fn end(&mut self, how: End, empty: Transcript) -> (Option<StackSession>, Transcript) {
        self.attempt.end(&mut self.sessions, how);
        let newest = self.sessions.drain(..).next_back();
        let port = self.transcript.port;
        (newest, std::mem::replace(&mut self.transcript, Transcript { port, ..empty }))
    }

    /// Closes the TCP connection.
    pub(crate) fn disconnect(&mut self) {
        self.socket = None;
    }

    fn await_answer(&mut self) -> Result<(), Fault> {
        loop {
            self.flush()?;
            if self.attempt.is_answered() {
                return Ok(());
            }
            self.read()?;
        }
    }

    /// Reads once: how much; 0 at the end.
    fn read(&mut self) -> Result<usize, Fault> {
        let (class, awaited) = self.attempt.awaited();
        let socket = self.socket.as_mut().ok_or(Fault::new(FaultName::Closed))?;
        let count = retried(|| socket.read(&mut self.buffer)).map_err(|error| fault(class, awaited, &error))?;
        if count == 0 {
            self.attempt.receive_end(self.now)?;
            return Ok(0);
        }
        let bytes = self.buffer.get_mut(..count).unwrap_or_default();
        if !self.attempt.is_answered() {
            note(&mut self.transcript.received, bytes);
        }
        let mut input = Input::new(bytes, self.now);
        loop {
            match self.attempt.receive(&mut self.sessions, &mut input, self.now) {
                Ok(Progress::Waiting) => return Ok(count),
                Ok(Progress::Boundary | Progress::Done) => {}
                Err(fault) => {
                    // The alert that says why.
                    let _ = self.flush();
                    return Err(fault);
                }
            }
        }
    }

    fn flush(&mut self) -> Result<(), Fault> {
        if !self.attempt.has_outgoing() {
            return Ok(());
        }
        let (class, awaited) = self.attempt.awaited();
        let is_answered = self.attempt.is_answered();
        let outgoing = self.attempt.outgoing(self.now);
        let count = outgoing.len();
        if !is_answered {
            note(&mut self.transcript.sent, outgoing);
        }
        let socket = self.socket.as_mut().ok_or(Fault::new(FaultName::Closed))?;
        socket.write_all(outgoing).map_err(|error| fault(class, awaited, &error))?;
        self.attempt.sent(count);
        Ok(())
    }
}

impl Transcript {
    /// What the handshake was; `None` where the server has chosen nothing.
    pub(crate) fn observed(&self) -> Option<Seen> {
        let mut witness = Witness::default();
        witness.client_sends(&self.sent);
        witness.server_sends(&self.received);
        Some(Seen { port: self.port, kind: witness.observed()?.kind, offered: witness.offers_session() })
    }

    /// Its memory, for another.
    pub(crate) fn emptied(mut self) -> Self {
        self.sent.clear();
        self.received.clear();
        self
    }
}

fn note(to: &mut Vec<u8>, bytes: &[u8]) {
    if to.len() < LONGEST_TRANSCRIPT {
        to.extend_from_slice(bytes);
    }
}

fn retried(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A blocking socket whose time is up says that it would block.
fn fault(class: FailureClass, awaited: &'static str, error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::WouldBlock => Fault::of_transport(class, awaited, &io::Error::from(ErrorKind::TimedOut)),
        _ => Fault::of_transport(class, awaited, error),
    }
}
