//! Reprise's engine as the client of a board: the same bytes in every run, so that two runs can be compared instruction
//! by instruction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reprise_engine::{
    CertificatePolicy, Config, Connection, EcdhKeyShare, Entropy, Error, KeyShare, KeyShares, Offer, SIGNATURE_SCHEMES,
    Session, Start, Strictness, Tls12Session, Tls13Extensions,
};
use reprise_trace::{Kind, Nanos, Outcome, Version};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::{ServerName, UnixTime};
use sha2::{Digest, Sha256};

use crate::fault::Fault;
use crate::line::{Board, Count, Reaction, Report, Slot};
use crate::machine::Machine;

/// The name that clients ask for, and that the certificates in `keys/` are for.
pub const NAME: &str = "board.example";

/// The suites that clients commonly offer, in their order: with AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305.
pub const SUITES: [CipherSuite; 6] = [
    CipherSuite(0xc02b),
    CipherSuite(0xc02f),
    CipherSuite(0xc02c),
    CipherSuite(0xc030),
    CipherSuite(0xcca9),
    CipherSuite(0xcca8),
];

/// A client with everything that it offers.
pub struct Client {
    config: Arc<Config>,
}

/// What one connection was, from both ends.
#[derive(Clone, Debug)]
pub struct Visit {
    /// What the client negotiated.
    pub outcome: Outcome,
    /// The server's work for the handshake.
    pub handshake: Count,
    /// The server's work from then on, its close included.
    pub application: Count,
    /// What the server sent, decrypted.
    pub response: Vec<u8>,
    /// The session that it gave.
    pub session: Option<Tls12Session>,
    /// Bytes of heap that were in use when the handshake was done.
    pub heap_when_ready: u32,
    /// The server's last report.
    pub report: Report,
}

impl Visit {
    /// The server's work for everything.
    pub fn whole(&self) -> Count {
        self.handshake + self.application
    }
}

impl Client {
    /// What clients commonly offer, in their order: the server chooses, and what it chose is in the outcome.
    pub fn common(seed: u64) -> Self {
        Self::offering(NAME, &SUITES, EcdhKeyShare::GROUPS, seed)
    }

    /// A client that asks for this name and offers these suites and groups, and the same bytes for the same seed.
    pub fn offering(name: &str, suites: &[CipherSuite], groups: &[NamedGroup], seed: u64) -> Self {
        let seeded = Arc::new(Seeded { seed, drawn: AtomicU64::new(0) });
        // An address needs no resolving, and the name is sent as it is.
        let server_name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
        let config = Config {
            versions: vec![Version::Tls12],
            cipher_suites: suites.to_vec(),
            groups: groups.to_vec(),
            server_name,
            sni: Some(name.to_owned()),
            alpn: Vec::new(),
            tls13: Tls13Extensions::default(),
            certificates: CertificatePolicy::AcceptAnyChain,
            identity: None,
            key_shares: seeded.clone(),
            entropy: seeded,
            key_log: None,
            survey: false,
            signature_schemes: SIGNATURE_SCHEMES.to_vec(),
            strictness: Strictness::Lenient,
        };
        Self { config: Arc::new(config) }
    }

    /// One connection with one request: new, or resuming `session`. Flights go whole, and the request goes by itself.
    pub fn visit<M: Machine>(
        &self,
        board: &mut Board<M>,
        slot: Slot,
        session: Option<Tls12Session>,
        request: &[u8],
    ) -> Result<Visit, Fault> {
        let mut call = Call::begin(self, board, slot, session)?;
        call.shake_hands(board)?;
        call.ask(board, request)?;
        call.end(board)
    }

    /// The connection alone, for whoever decides what goes when.
    pub fn connection(&self, session: Option<Tls12Session>) -> Result<Connection, Fault> {
        let offer = session.map_or(Offer::Full { session_ticket: false }, Offer::SessionId);
        let start = Start { offer, date: UnixTime::since_unix_epoch(std::time::Duration::from_secs(1_800_000_000)) };
        Ok(Connection::start(self.config.clone(), start, Nanos(0))?)
    }
}

/// A connection that is under way.
pub struct Call {
    connection: Connection,
    slot: Slot,
    response: Vec<u8>,
    report: Report,
    heap_when_ready: u32,
    closed: bool,
}

impl Call {
    /// Connects; nothing was sent yet.
    pub fn begin<M: Machine>(
        client: &Client,
        board: &mut Board<M>,
        slot: Slot,
        session: Option<Tls12Session>,
    ) -> Result<Self, Fault> {
        let connection = client.connection(session)?;
        let reaction = board.open(slot)?;
        let mut call =
            Self { connection, slot, response: Vec::new(), report: Report::default(), heap_when_ready: 0, closed: false };
        call.take(reaction)?;
        if call.closed { Err(Fault::Stopped("before the handshake")) } else { Ok(call) }
    }

    /// Until both sides have finished.
    pub fn shake_hands<M: Machine>(&mut self, board: &mut Board<M>) -> Result<(), Fault> {
        while self.exchange(board)? {}
        if self.connection.ready().is_none() || !self.report.ready {
            return Err(Fault::Stopped("in the middle of the handshake"));
        }
        self.heap_when_ready = self.report.heap;
        Ok(())
    }

    /// Sends what waits to be sent, whole, and takes the answer. False if nothing waited.
    pub fn exchange<M: Machine>(&mut self, board: &mut Board<M>) -> Result<bool, Fault> {
        let outgoing = self.connection.take_outgoing(Nanos(0));
        if outgoing.is_empty() || self.closed {
            return Ok(false);
        }
        let reaction = board.send(self.slot, &outgoing)?;
        self.take(reaction)?;
        Ok(true)
    }

    /// Sends a request and takes the response.
    pub fn ask<M: Machine>(&mut self, board: &mut Board<M>, request: &[u8]) -> Result<(), Fault> {
        self.connection.send(Nanos(0), request)?;
        let before = self.response.len();
        self.exchange(board)?;
        if self.response.len() == before { Err(Fault::Stopped("without a response")) } else { Ok(()) }
    }

    /// Closes, if the server has not, and tells what it was.
    pub fn end<M: Machine>(mut self, board: &mut Board<M>) -> Result<Visit, Fault> {
        self.connection.close(Nanos(0))?;
        self.exchange(board)?;
        if !self.closed {
            let reaction = board.close(self.slot)?;
            self.take(reaction)?;
        }
        let outcome = self.connection.outcome().ok_or(Fault::Stopped("before its ServerHello"))?.clone();
        let sessions = self.connection.take_sessions();
        let session = sessions.into_iter().rev().find_map(|session| match session {
            Session::Tls12(session) => Some(session),
            Session::Tls13(_) => None,
        });
        // Two witnesses: what the client saw, and what the server says.
        if self.report.resumed != (outcome.kind != Kind::Full) {
            return Err(Fault::Nonsense);
        }
        Ok(Visit {
            outcome,
            handshake: self.report.handshake,
            application: self.report.application,
            response: self.response,
            session,
            heap_when_ready: self.heap_when_ready,
            report: self.report,
        })
    }

    /// Gives the engine what the board sent on this connection.
    pub fn take(&mut self, reaction: Reaction) -> Result<(), Fault> {
        for (slot, bytes) in &reaction.sent {
            if *slot == self.slot {
                self.connection.receive(Nanos(0), bytes)?;
            }
        }
        self.response.extend(self.connection.take_application_data());
        self.closed |= reaction.closed.contains(&self.slot);
        self.report = reaction.report;
        Ok(())
    }

    /// The server's last report.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Decrypted so far.
    pub fn response(&self) -> &[u8] {
        &self.response
    }

    /// The engine, for tests that send what they like.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
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
