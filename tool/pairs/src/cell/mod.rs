//! A case that is made ready, and what its connections are made over.

mod agreed;
mod context;
mod recording;
mod threads;
mod transfers;

use reprise_model::{KeyPairs, Nanos, Version};
use reprise_stack::{Context, Side, Stack, StackSession};

use crate::batch::Batch;
use crate::case::Case;
use crate::certificates::Certificates;
use crate::failed::Failed;
use crate::pair::Pair;
use crate::shares::Shares;
use crate::transport::{Connected, Says, Transport};

pub use agreed::check;
use context::options;
pub use context::side_context;
pub use threads::ThreadedBatch;

/// A case, what its connections are made over, and the session to resume.
pub struct Cell<T = Pair> {
    pub(crate) case: Case,
    /// What they are made over.
    pub transport: T,
    /// The client's and the server's, where both are here.
    pub contexts: Vec<Box<dyn Context>>,
    pub(crate) session: Option<StackSession>,
    /// What the server's key share ended in on the wire, where it matters whether it comes again.
    pub(crate) shares: Shares,
}

/// How long a case is warmed up, at most this many connections.
const WARM_UP: Nanos = Nanos(20_000_000);
const WARM_UP_CONNECTIONS: u64 = 200;

impl Cell {
    /// Contexts and endpoints of both sides.
    ///
    /// # Errors
    /// Where a library cannot do it.
    pub fn new(client: &dyn Stack, server: &dyn Stack, case: Case, certificates: &Certificates) -> Result<Self, Failed> {
        Self::of_unlike(client, server, [case, case], certificates)
    }

    /// The same where the client is configured for another case than the server, which is the case that is checked.
    ///
    /// # Errors
    /// Likewise.
    pub fn of_unlike(
        client: &dyn Stack,
        server: &dyn Stack,
        [of_client, case]: [Case; 2],
        certificates: &Certificates,
    ) -> Result<Self, Failed> {
        for asked in [of_client, case] {
            client.about().check(&options(Side::Client, &asked, certificates, &[]))?;
            server.about().check(&options(Side::Server, &asked, certificates, &[]))?;
        }
        let client = side_context(client, Side::Client, of_client, certificates)?;
        let server = side_context(server, Side::Server, case, certificates)?;
        Ok(Self::of_contexts(case, client, server))
    }

    fn of_contexts(case: Case, client: Box<dyn Context>, server: Box<dyn Context>) -> Self {
        let mut transport = Pair::new(client.endpoint(), server.endpoint());
        transport.signs_by_ml_dsa = case.key.has_ml_dsa();
        transport.max_fragment = case.max_fragment;
        Self { case, transport, contexts: vec![client, server], session: None, shares: Shares::default() }
    }

    /// Warms up: what one connection costs both sides then, or one transfer of data, and its bytes.
    pub(crate) fn warm(&mut self) -> Result<(Nanos, Connected), Failed> {
        if let Some(bulk) = self.case.bulk {
            return self.warm_up_transfers(bulk);
        }
        self.warm_up()
    }

    /// So many connections that are counted, after one that is not where that is cheap: the caches are another's.
    pub(crate) fn run(&mut self, connections: u32) -> Result<Batch, Failed> {
        if let Some(bulk) = self.case.bulk {
            return self.transfer(bulk, connections);
        }
        if connections > 1 {
            self.pregenerate(1)?;
            self.connect()?;
        }
        self.count(connections)
    }

    /// So many connections, of which each is counted.
    fn count(&mut self, connections: u32) -> Result<Batch, Failed> {
        let mut batch = Batch::default();
        let clock = self.transport.clock();
        let mut ahead = Nanos(0);
        clock.time(&mut ahead, || self.pregenerate(connections))?;
        batch.ahead_ns = ahead.0;
        let (mut thread, mut turns) = (Nanos(0), 0);
        for _ in 0..connections {
            let connected = clock.time(&mut thread, || self.connect())?;
            batch.client_ns += connected.client.0;
            batch.server_ns += connected.server.0;
            connected.kind().into_iter().for_each(|kind| batch.count(kind));
            turns += connected.turns;
        }
        batch.thread_ns = thread.0.saturating_sub(clock.readings(turns).0);
        batch.charged_ns = batch.client_ns + batch.server_ns;
        Ok(batch)
    }
}

impl<T: Transport> Cell<T> {
    /// One connection of the case, whatever must come before it.
    ///
    /// # Errors
    /// Where it fails, or is not what was asked for.
    pub fn connect(&mut self) -> Result<Connected, Failed> {
        let is_resumed = self.case.kind.is_resumption();
        if is_resumed && self.session.is_none() {
            let first = self.make(None)?;
            if self.session.is_none() {
                return Err(Failed::because("a full handshake leaves the client no session to resume"));
            }
            self.check(&first, false)?;
        }
        let session = if is_resumed { self.session.take() } else { None };
        let again = session.as_ref().and_then(StackSession::again);
        let connected = self.make(session)?;
        // TLS 1.2 gives a new session only where it renews the ticket.
        self.session = self.session.take().or(again.filter(|_| self.case.version == Version::Tls12));
        self.check(&connected, is_resumed)?;
        Ok(connected)
    }

    fn make(&mut self, session: Option<StackSession>) -> Result<Connected, Failed> {
        let connected = self.transport.connect(session, Says::of(self.case))?;
        self.session = self.transport.take_session();
        Ok(connected)
    }

    fn check(&mut self, made: &Connected, resumes: bool) -> Result<(), Failed> {
        let Some(seen) = made.observed else { return Ok(()) };
        check(self.case, seen, made.accounts, resumes)?;
        seen.server_share.map_or(Ok(()), |share| self.shares.check(self.case.key_pairs, share))
    }

    /// Makes key pairs for so many connections, where the case has them made ahead.
    pub(crate) fn pregenerate(&self, connections: u32) -> Result<(), Failed> {
        let Some(server) = self.contexts.get(1).filter(|_| self.case.key_pairs == KeyPairs::Ahead) else { return Ok(()) };
        Ok(server.pregenerate(connections as usize)?)
    }

    /// Connections until they are warm: what one costs both sides then, and the last.
    pub(crate) fn warm_up(&mut self) -> Result<(Nanos, Connected), Failed> {
        let (mut spent, mut count) = (Nanos(0), 0);
        loop {
            self.pregenerate(1)?;
            let connected = self.connect()?;
            if let Some(kind) = connected.kind().filter(|kind| *kind != self.case.kind) {
                return Err(Failed::because(format!("{} was asked for, {kind} observed", self.case.kind)));
            }
            count += 1;
            // The first connections pay for what is made once.
            if count > 2 {
                spent = spent + connected.cost;
            }
            if count > 3 && (spent.0 > WARM_UP.0 || count >= WARM_UP_CONNECTIONS) {
                return Ok((Nanos(spent.0 / (count - 2)), connected));
            }
        }
    }
}
