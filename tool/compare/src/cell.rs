//! A case that is made ready, and what its connections are made over.

use reprise_model::{KeyPairs, Kind, Nanos, PskMode, ServerChain, Version};
use reprise_stack::{Context, ContextOptions, KeptBy, Pem, SessionMode, Side, Stack, StackAccount, StackPsk, StackSession};
use reprise_wire::CipherSuite;
use rustls_pki_types::UnixTime;

use crate::case::{Case, NO_GROUP};
use crate::clock::CpuClock;
use crate::keys::{Certificates, PSK_IDENTITY, SERVER_NAME};
use crate::message::{Batch, Failed, FailureKind};
use crate::pair::{Connected, Pair, Says};
use crate::shares::Shares;
use crate::witness::WireFacts;

/// What connections are made over, one after the other.
pub(crate) trait Transport {
    /// Makes one and ends it; what the client learned is then in [`Transport::take_session`].
    fn connect(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed>;

    /// The newest session that the client has learned.
    fn take_session(&mut self) -> Option<StackSession>;

    /// How time was taken.
    fn clock(&self) -> CpuClock;
}

/// A case, what its connections are made over, and the session to resume.
pub(crate) struct Cell<T = Pair> {
    pub(crate) case: Case,
    pub(crate) transport: T,
    pub(crate) contexts: Vec<Box<dyn Context>>,
    pub(crate) session: Option<StackSession>,
    /// What the server's key share ended in on the wire, where it matters whether it comes again.
    pub(crate) shares: Shares,
}

/// How long a case is warmed up, at most this many connections.
const WARM_UP: Nanos = Nanos(20_000_000);
const WARM_UP_CONNECTIONS: u64 = 200;

impl Cell {
    pub(crate) fn new(
        client: &dyn Stack,
        server: &dyn Stack,
        case: Case,
        certificates: &Certificates,
    ) -> Result<Self, Failed> {
        Self::of_unlike(client, server, [case, case], certificates)
    }

    /// The same where the client is configured for another case than the server, which is the case that is checked.
    pub(crate) fn of_unlike(
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
        let mut transport = Pair::new(client.endpoint(), server.endpoint());
        transport.signs_by_ml_dsa = case.key.has_ml_dsa();
        transport.max_fragment = case.max_fragment;
        Ok(Self { case, transport, contexts: vec![client, server], session: None, shares: Shares::default() })
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
    pub(crate) fn connect(&mut self) -> Result<Connected, Failed> {
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

/// Holds what was asked for against the wire, and what the libraries say against it as well.
pub(crate) fn check(case: Case, seen: WireFacts, accounts: [Option<StackAccount>; 2], resumes: bool) -> Result<(), Failed> {
    let other = |what: &str, seen: String, asked: String| {
        Err(Failed::because(format!("{what} {seen} was negotiated where only {asked} was allowed")))
    };
    if seen.version != case.version {
        return other("the version", seen.version.to_string(), case.version.to_string());
    }
    if seen.suite != case.suite() {
        // BoringSSL prefers it then, and has no call that chooses the suites of TLS 1.3.
        let is_preferred = seen.suite == CipherSuite::TLS_CHACHA20_POLY1305_SHA256;
        if is_preferred && case.bulk.is_some_and(|bulk| !bulk.hardware) {
            return Err(Failed::unsupported(format!("without the AES instructions of this CPU it takes {}", seen.suite)));
        }
        return other("the suite", seen.suite.to_string(), case.suite().to_string());
    }
    if let Some(group) = seen.group.filter(|group| *group != case.group()) {
        return other("the group", group.to_string(), case.group_name());
    }
    match (case.retried, seen.retried) {
        (true, false) => {
            return Err(Failed::unsupported("the client sends shares of both groups at once: nothing is retried"));
        }
        (false, true) => return Err(Failed::because("a HelloRetryRequest was observed where none was asked for")),
        _ => {}
    }
    if let Some(most) = case.max_fragment {
        check_max_fragment(most, seen)?;
    }
    if seen.kind != Kind::Full && seen.psk_mode != case.psk_mode() {
        let name = |mode: Option<PskMode>| mode.map_or("none", PskMode::name).to_owned();
        return other("the PSK mode", name(seen.psk_mode), name(case.psk_mode()));
    }
    for (side, account) in ["the client", "the server"].into_iter().zip(accounts) {
        let Some(account) = account else { continue };
        let contradicts = |what: &str, said: &dyn std::fmt::Display, seen: &dyn std::fmt::Display| {
            Err(Failed::new(FailureKind::Contradicted, format!("{side} says {what} {said}, the wire {seen}")))
        };
        let was_resumed = seen.kind.is_resumption();
        // An external PSK of TLS 1.3 is a resumption to some libraries, and none to others.
        let may_be_either = seen.kind == Kind::Psk && seen.version == Version::Tls13;
        if let Some(resumed) = account.resumed.filter(|resumed| *resumed != was_resumed && !may_be_either) {
            return contradicts("resumed:", &resumed, &was_resumed);
        }
        let kept_by = match seen.kind {
            Kind::Id => Some(KeptBy::Cache),
            Kind::Ticket | Kind::Early => Some(KeptBy::Ticket),
            _ => None,
        };
        let early = seen.kind == Kind::Early;
        if let Some(said) = account.early_data.filter(|said| *said != early) {
            return contradicts("early data accepted:", &said, &early);
        }
        if let (Some(said), Some(seen)) = (account.resumed_by, kept_by)
            && said != seen
        {
            return contradicts("resumed by", &said, &seen);
        }
        if account.suite != seen.suite.0 {
            return contradicts("suite", &format!("{:#06x}", account.suite), &seen.suite);
        }
        // A resumed TLS 1.2 connection has no group on the wire; libraries may remember the session's.
        if let (Some(said), Some(seen)) = (account.group, seen.group)
            && said != seen.0
        {
            return contradicts("group", &reprise_wire::NamedGroup(said), &seen);
        }
        if side == "the server"
            && !resumes
            && let Some(certificate) = account.client_certificate.filter(|it| *it != case.mutual)
        {
            return contradicts("client certificate:", &certificate, &case.mutual);
        }
    }
    Ok(())
}

/// Whether the client has asked for such records. Where the ServerHello is in the clear, it has no other limit; a server whose own buffers
/// are as small may say nothing (BearSSL's does not), and keeps to it: records of data are looked at.
fn check_max_fragment(most: u16, seen: WireFacts) -> Result<(), Failed> {
    let said = [("ClientHello", seen.client_max_fragment), ("ServerHello", seen.server_max_fragment.or(Some(most)))];
    let other = said.into_iter().find(|(_, said)| *said != Some(most));
    other.map_or(Ok(()), |(hello, said)| {
        let said = said.map_or_else(|| "no limit".to_owned(), |said| format!("a limit of {said} bytes"));
        Err(Failed::because(format!("the {hello} has {said} where records of at most {most} were asked for")))
    })
}

/// One side's context, or why there is none.
pub(crate) fn side_context(
    stack: &dyn Stack,
    side: Side,
    case: Case,
    certificates: &Certificates,
) -> Result<Box<dyn Context>, Failed> {
    // Under TLS 1.2 the list also says which curves a key may be on (RFC 8422 §5.1): the key's own stands last in it. Which group was
    // used is observed.
    let in_vain = case.shared_in_vain().filter(|_| side == Side::Client);
    let mut groups: Vec<u16> = in_vain.map(|group| group.0).into_iter().chain([case.group]).collect();
    groups.retain(|group| *group != NO_GROUP.0);
    groups.extend(
        case.key.curve().map(|curve| curve.0).filter(|curve| case.version == Version::Tls12 && *curve != case.group),
    );
    let options = options(side, &case, certificates, &groups);
    stack.about().check(&options)?;
    if case.mutual && certificates.client_chain.is_empty() {
        return Err(Failed::unsupported(format!("there is no client certificate with {}", case.key)));
    }
    stack.context(&options).map_err(|error| {
        let Failed { mut outcome, mut reason } = error.into();
        // The certificates are well-formed: a library that refuses them does not know their algorithm.
        if case.key.has_ml_dsa() && outcome == FailureKind::Failed {
            outcome = FailureKind::Unsupported;
            reason = format!("it takes no certificate of {} ({reason})", case.key);
        }
        let name = if side == Side::Client { "client" } else { "server" };
        Failed::new(outcome, format!("the {name}: {reason}"))
    })
}

/// One record, as most servers allow.
const MAX_EARLY_DATA: u32 = 1 << 14;

fn options<'a>(side: Side, case: &'a Case, certificates: &'a Certificates, groups: &'a [u16]) -> ContextOptions<'a> {
    let psk = (case.kind == Kind::Psk).then_some(StackPsk { identity: PSK_IDENTITY, key: &certificates.psk });
    let identity = match side {
        _ if psk.is_some() => None,
        Side::Server => Some(Pem { chain: &certificates.server_chain, key: &certificates.server_key }),
        Side::Client => case.mutual.then_some(Pem { chain: &certificates.client_chain, key: &certificates.client_key }),
    };
    ContextOptions {
        side,
        version: case.version,
        sessions: match case.kind {
            Kind::Full | Kind::Psk => SessionMode::Off,
            Kind::Id => SessionMode::Id,
            Kind::Ticket | Kind::Early => SessionMode::Ticket,
        },
        suites: std::slice::from_ref(&case.suite),
        groups,
        identity,
        trust: (psk.is_none() && (side == Side::Client || case.mutual)).then_some(certificates.root.as_str()),
        require_client_certificate: case.mutual,
        server_name: SERVER_NAME,
        psk,
        psk_mode: if case.psk_ke { PskMode::PskKe } else { PskMode::PskDheKe },
        max_early_data: if case.kind == Kind::Early { MAX_EARLY_DATA } else { 0 },
        key_pairs: if side == Side::Server { case.key_pairs } else { KeyPairs::Fresh },
        max_fragment: case.max_fragment,
        releases_buffers: case.releases_buffers,
        remembers_chains: side == Side::Client && case.chain == ServerChain::Cached,
        date: UnixTime::now(),
    }
}
