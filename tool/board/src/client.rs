//! Reprise's engine as the client of a board, connection by connection, each an [`Attempt`]: the same bytes in every run, so that
//! two runs can be compared instruction by instruction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reprise_connection::exchange::Http1;
use reprise_connection::{Attempt, Begin, End, EngineClient, EnginePlan, Exchange, Input, Progress};
use reprise_engine::{
    CertificatePolicy, Config, EcdhKeyShare, Entropy, Error, KeyShare, KeyShares, Offer, Session, Tls12Session,
};
use reprise_model::{Asked, Facts, Kind, Nanos, Observation, Purpose, Version};
use reprise_wire::NamedGroup;
use rustls_pki_types::{ServerName, UnixTime};
use sha2::{Digest, Sha256};

use crate::fault::BoardError;
use crate::keys::NAME;
use crate::line::{Board, BoardReport, Count, Reaction, Slot};
use crate::machine::Machine;
use crate::offers::Offers;

/// What every client of every measurement asks for.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: board.example\r\nConnection: close\r\n\r\n";

/// A board has no clock that counts, and neither has its client.
const NOW: Nanos = Nanos(0);
/// 2027-01-15, when the certificates in `keys/` are valid.
const DATE: UnixTime = UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));

/// A client with everything that it offers.
pub struct BoardClient {
    config: Arc<Config>,
}

impl BoardClient {
    /// A client that offers what clients commonly do: see [`Offers::common`].
    pub fn common(seed: u64) -> Self {
        Self::offering(NAME, &Offers::common(), seed)
    }

    /// A client that asks for this name and offers these suites and groups, and the same bytes for the same seed.
    pub fn offering(name: &str, offers: &Offers, seed: u64) -> Self {
        let seeded = Arc::new(Seeded { seed, drawn: AtomicU64::new(0) });
        // Nothing is resolved, and the name is sent as it is.
        let server_name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
        let config = Config {
            versions: vec![Version::Tls12],
            cipher_suites: offers.suites.clone(),
            groups: offers.groups.clone(),
            sni: Some(name.to_owned()),
            ..Config::new(server_name, CertificatePolicy::AcceptAnyChain, seeded.clone(), seeded)
        };
        Self { config: Arc::new(config) }
    }

    /// The same, but it does not offer extended_master_secret (RFC 7627).
    #[must_use]
    pub fn without_extended_master_secret(self) -> Self {
        let mut config = Arc::unwrap_or_clone(self.config);
        config.shape.extended_master_secret = false;
        Self { config: Arc::new(config) }
    }

    /// One connection with [`REQUEST`], from its beginning to its end: new, or resuming `session`.
    ///
    /// # Errors
    /// If the machine, the server or the response fails.
    pub fn connect<M: Machine>(
        &self,
        board: &mut Board<M>,
        slot: Slot,
        session: Option<&Tls12Session>,
    ) -> Result<Completed, BoardError> {
        let mut connection = self.begin(board, slot, session, Http1::new(REQUEST.into(), false))?;
        connection.converse(board)?;
        connection.end(board)
    }

    /// Begins a connection with one request, for whoever decides which byte goes when: nothing is sent yet.
    ///
    /// # Errors
    /// If the machine fails, or the server does not take the connection.
    pub fn begin<M: Machine, X: Exchange>(
        &self,
        board: &mut Board<M>,
        slot: Slot,
        session: Option<&Tls12Session>,
        exchange: X,
    ) -> Result<BoardConnection<X>, BoardError> {
        let (kind, offer) = match session.cloned() {
            None => (Kind::Full, Offer::Full { session_ticket: true }),
            Some(session) if session.ticket.is_some() => (Kind::Ticket, Offer::SessionTicket(session)),
            Some(session) => (Kind::Id, Offer::SessionId(session)),
        };
        let mut connection = BoardConnection {
            attempt: Attempt::new(EngineClient::default(), exchange),
            sessions: Vec::new(),
            slot,
            seen: Observation::begun(0, NOW, Purpose::Sample, Asked { tls: Version::Tls12, kind }),
            inbox: Vec::new(),
            report: BoardReport::default(),
            heap_when_ready: None,
            is_closed: false,
        };
        let plan = EnginePlan { config: self.config.clone(), offer, date: DATE };
        let begin = Begin { plan, prologue: None, requests: 1, early: None };
        connection.attempt.begin(&mut connection.sessions, begin, NOW)?;
        let reaction = board.open(slot)?;
        connection.attempt.connected(NOW, || None)?;
        connection.take(reaction)?;
        if connection.is_closed { Err(BoardError::Stopped("handshake")) } else { Ok(connection) }
    }
}

/// What one connection was, from both ends.
#[derive(Clone, Debug)]
pub struct Completed {
    /// What the client saw. Its times are zero: a board has no clock that counts.
    pub seen: Observation,
    /// What it negotiated.
    pub facts: Facts,
    /// The server's work for the handshake.
    pub handshake: Count,
    /// The server's work from then on, its close included.
    pub application: Count,
    /// The session that it gave.
    pub session: Option<Tls12Session>,
    /// Bytes of heap that were in use when the handshake was done.
    pub heap_when_ready: u32,
    /// The server's last report.
    pub report: BoardReport,
}

impl Completed {
    /// The server's work for everything.
    pub fn whole(&self) -> Count {
        self.handshake + self.application
    }
}

/// A connection that is under way.
pub struct BoardConnection<X: Exchange> {
    attempt: Attempt<EngineClient, X>,
    sessions: Vec<Session>,
    slot: Slot,
    seen: Observation,
    /// What came from the board and was not looked at yet.
    inbox: Vec<u8>,
    report: BoardReport,
    heap_when_ready: Option<u32>,
    is_closed: bool,
}

impl<X: Exchange> BoardConnection<X> {
    /// Until all that was wanted has come. Flights go whole; the request goes by itself, after what ends the handshake.
    ///
    /// # Errors
    /// If the machine fails, the client refuses what it hears, or the server stops.
    pub fn converse<M: Machine>(&mut self, board: &mut Board<M>) -> Result<(), BoardError> {
        while !self.attempt.is_done() {
            let outgoing = self.take_outgoing();
            if outgoing.is_empty() || self.is_closed {
                return Err(BoardError::Stopped(self.attempt.awaited().1));
            }
            self.take(board.send(self.slot, &outgoing)?)?;
        }
        Ok(())
    }

    /// What the client wants to send now.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        let outgoing = self.attempt.outgoing(NOW).to_vec();
        self.attempt.sent(outgoing.len());
        outgoing
    }

    /// Takes what the board sent on this connection.
    ///
    /// # Errors
    /// If the client refuses it.
    pub fn take(&mut self, reaction: Reaction) -> Result<(), BoardError> {
        for (slot, bytes) in &reaction.sent {
            if *slot == self.slot {
                self.inbox.extend(bytes);
            }
        }
        self.is_closed |= reaction.closed.contains(&self.slot);
        self.report = reaction.report;
        if self.report.ready {
            self.heap_when_ready.get_or_insert(self.report.heap);
        }
        loop {
            let mut input = Input::new(&mut self.inbox, NOW);
            let progress = self.attempt.receive(&mut self.sessions, &mut input, NOW)?;
            let rest = input.rest().len();
            self.inbox.drain(..self.inbox.len() - rest);
            match progress {
                // The client's Finished goes first.
                Progress::Boundary if self.attempt.has_outgoing() => return Ok(()),
                Progress::Waiting | Progress::Done if self.inbox.is_empty() => break,
                _ => {}
            }
        }
        if self.is_closed { Ok(self.attempt.receive_end(NOW)?) } else { Ok(()) }
    }

    /// Closes, if the server has not, and tells what it was.
    ///
    /// # Errors
    /// If the machine fails, or nothing was negotiated, or the server says of the handshake what the client did not see.
    pub fn end<M: Machine>(mut self, board: &mut Board<M>) -> Result<Completed, BoardError> {
        self.attempt.close(NOW)?;
        let farewell = self.take_outgoing();
        if !self.is_closed {
            self.take(board.send(self.slot, &farewell)?)?;
        }
        if !self.is_closed {
            self.take(board.close(self.slot)?)?;
        }
        let facts = self.attempt.facts().ok_or(BoardError::Stopped("ServerHello"))?;
        // Two witnesses: what the client saw, and what the server says.
        if self.report.resumed != (facts.kind != Kind::Full) {
            return Err(BoardError::Nonsense);
        }
        self.seen.outcome = Ok(facts);
        self.attempt.describe(&mut self.seen);
        self.attempt.end(&mut self.sessions, End::Completed);
        let session = self.sessions.into_iter().rev().find_map(|session| match session {
            Session::Tls12(session) => Some(session),
            Session::Tls13(_) => None,
        });
        Ok(Completed {
            seen: self.seen,
            facts,
            handshake: self.report.handshake,
            application: self.report.application,
            session,
            heap_when_ready: self.heap_when_ready.unwrap_or_default(),
            report: self.report,
        })
    }

    /// The server's last report.
    pub fn report(&self) -> &BoardReport {
        &self.report
    }

    /// Of all responses, each status with its count.
    pub fn statuses(&self) -> &[(u16, u64)] {
        self.attempt.statuses()
    }
}

/// Numbers that are the same in every run: SHA-256 of a seed and of how often it was asked.
struct Seeded {
    seed: u64,
    drawn: AtomicU64,
}

impl Seeded {
    fn block(&self) -> [u8; 32] {
        let count = self.drawn.fetch_add(1, Ordering::Relaxed);
        Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(count.to_le_bytes()).finalize().into()
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        for part in bytes.chunks_mut(32) {
            let block = self.block();
            part.iter_mut().zip(block).for_each(|(to, byte)| *to = byte);
        }
        Ok(())
    }

    fn encrypt_premaster(&self, _: &[u8], _: &[u8; 48]) -> Result<Vec<u8>, Error> {
        Err(Error::Crypto("RSA key exchange, which no board speaks"))
    }
}

impl KeyShares for Seeded {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        let len = match group {
            NamedGroup::SECP384R1 => 48,
            _ => 32,
        };
        let mut private = vec![0; len];
        self.fill(&mut private)?;
        // Below the order of the curve.
        private.iter_mut().take(1).for_each(|byte| *byte &= 0x7f);
        Ok(Box::new(EcdhKeyShare::from_private_key(group, &private)?))
    }
}
