//! One end of connections over TCP on 127.0.0.1: handshakes with a peer in another process.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use reprise_model::Nanos;
use reprise_stack::{Context, StackAccount, StackSession};
use reprise_wire::Record;

use crate::case::Case;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::party::Party;
use crate::transport::Says;
use crate::witness::{WireFacts, Witness};

/// What is read from a socket at once.
const CHUNK: usize = 64 * 1024;

/// One side of one connection after the other.
pub(super) struct End {
    pub(super) party: Party,
    /// It must outlive the party's endpoint.
    _context: Box<dyn Context>,
    pub(super) clock: CpuClock,
    pub(super) patience: Duration,
    witnesses: bool,
    /// How many intervals of the clock there were since it was last asked.
    turns: u64,
    /// What was read, up to the last whole record of it.
    pending: Vec<u8>,
    chunk: Vec<u8>,
    /// All that this side and its peer have sent on this connection.
    pub(super) sent: Vec<u8>,
    pub(super) received: Vec<u8>,
}

/// How to make one side.
pub(super) struct Setup {
    pub(super) context: Box<dyn Context>,
    pub(super) case: Case,
    pub(super) patience: Duration,
    pub(super) witnesses: bool,
}

/// How far a connection came, on a clock since it was established.
pub(super) struct Marks {
    pub(super) ready: Duration,
    pub(super) over: Duration,
}

impl End {
    pub(super) fn new(name: &'static str, setup: Setup) -> Self {
        Self {
            party: Party::new(name, setup.context.endpoint()),
            _context: setup.context,
            clock: CpuClock::calibrated(),
            patience: setup.patience,
            witnesses: setup.witnesses,
            turns: 0,
            pending: Vec::new(),
            chunk: vec![0; CHUNK],
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    /// The handshake, until this side is complete and its peer knows all that it has to say; `None` where the peer closes it
    /// without a byte.
    pub(super) fn handshake(
        &mut self,
        stream: &mut TcpStream,
        session: Option<StackSession>,
        says: Says,
        is_client: bool,
    ) -> Result<Option<Marks>, Failed> {
        let failed = self.socket_failed();
        self.pending.clear();
        self.sent.clear();
        self.received.clear();
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(self.patience)).map_err(failed)?;
        stream.set_write_timeout(Some(self.patience)).map_err(failed)?;
        let begin = Instant::now();
        let mut is_unsaid = is_client && says != Says::Nothing;
        self.party.begin(self.clock, says.plan(session))?;
        let mut ready = None;
        loop {
            self.flush(stream).map_err(failed)?;
            if self.party.is_ready {
                ready = ready.or_else(|| Some(begin.elapsed()));
                if !is_client {
                    stream.shutdown(Shutdown::Write).map_err(failed)?;
                }
            }
            let count = stream.read(&mut self.chunk).map_err(failed)?;
            match (count, ready) {
                (0, Some(ready)) => return Ok(Some(Marks { ready, over: begin.elapsed() })),
                (0, None) if self.received.is_empty() && !is_client => return Ok(None),
                (0, None) => return Err(failed(io::ErrorKind::BrokenPipe.into())),
                _ => {}
            }
            let arrived = self.chunk.get(..count).unwrap_or_default();
            self.received.extend_from_slice(arrived);
            self.pending.extend_from_slice(arrived);
            let mut records: Vec<u8> = self.pending.drain(..self.whole_records()?).collect();
            if let Err(refused) = self.party.receive(self.clock, &mut records) {
                // Its alert, which tells the peer why.
                let _ = self.flush(stream);
                return Err(refused);
            }
            // It leaves with the client's Finished.
            if self.party.is_ready && std::mem::take(&mut is_unsaid) {
                self.party.send_request(self.clock)?;
            }
        }
    }

    /// How many bytes the whole records at the front of what was read take.
    fn whole_records(&self) -> Result<usize, Failed> {
        let mut whole = 0;
        loop {
            match Record::parse(self.pending.get(whole..).unwrap_or_default()) {
                Ok(Some((_, length))) => whole += length,
                Ok(None) => return Ok(whole),
                Err(_) => {
                    let name = self.party.name;
                    return Err(Failed::because(format!("{name}: what its peer sends is no TLS record")));
                }
            }
        }
    }

    fn flush(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        if !self.party.sent.is_empty() {
            stream.write_all(&self.party.sent)?;
            self.sent.append(&mut self.party.sent);
        }
        Ok(())
    }

    /// What the library says of the connection; then the end of it, whose time is the side's too: all that it took.
    pub(super) fn finish(
        &mut self,
        made: Result<Option<Marks>, Failed>,
    ) -> Result<Option<(Marks, StackAccount, Nanos)>, Failed> {
        let account = self.party.account();
        let how =
            if matches!(made, Ok(Some(_))) { reprise_connection::End::Completed } else { reprise_connection::End::Failed };
        self.party.end(self.clock, how);
        self.turns += self.party.turns;
        let Some(marks) = made? else { return Ok(None) };
        Ok(Some((marks, account?, self.party.spent)))
    }

    /// CPU time of the thread since it was last asked, without the readings of the clock.
    pub(super) fn thread_ns(&mut self, thread: Nanos) -> u64 {
        thread.0.saturating_sub(self.clock.readings(std::mem::take(&mut self.turns)).0)
    }

    pub(super) fn observed(&self, is_client: bool) -> Result<Option<WireFacts>, Failed> {
        if !self.witnesses {
            return Ok(None);
        }
        let (client, server) = if is_client { (&self.sent, &self.received) } else { (&self.received, &self.sent) };
        let mut witness = Witness::default();
        witness.client_sends(client);
        witness.server_sends(server);
        witness.facts().map(Some)
    }

    /// What an error of this side's socket comes to.
    pub(super) fn socket_failed(&self) -> impl Fn(io::Error) -> Failed + Copy + use<> {
        let (name, patience) = (self.party.name, self.patience);
        move |error| {
            let why = match error.kind() {
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "its peer ended the connection".to_owned(),
                io::ErrorKind::WouldBlock => format!("its peer said nothing for {} s", patience.as_secs_f64()),
                _ => error.to_string(),
            };
            Failed::because(format!("{name}: {why}"))
        }
    }
}
