//! Connections by the measurement engine: certificates are verified, and a client certificate is shown where it is asked for.

use std::sync::Arc;
use std::time::SystemTime;

use aws_lc_rs::rand;
use reprise_engine::{
    CertificatePolicy, ClientIdentity, Config, Connection, Entropy, Error, KeyShare, KeyShares, Offer, Session, Start,
    Tls13Extensions, generate_key_share,
};
use reprise_trace::{Kind, Nanos};
use reprise_wire::NamedGroup;
use rustls_pki_types::{ServerName, UnixTime};

use crate::generator::fault::Fault;
use crate::generator::lean::Heard;
use crate::generator::options::{KeyShareMode, TlsOptions};
use crate::generator::unit_share::UnitKeyShares;

/// The most sessions that are held in spare, beyond those that were asked for.
const SPARE: usize = 64;

/// The engine's configurations, one for each of [`TlsOptions::server_names`]; what a name is left out for is checked
/// against `host`. `None` if a name is none that a certificate can be for.
///
/// Key shares are unit ones or fresh ones: the engine uses each of them once.
pub fn engine_configs(
    tls: &TlsOptions,
    host: &str,
    certificates: &CertificatePolicy,
    identity: Option<&Arc<ClientIdentity>>,
) -> Option<Vec<Arc<Config>>> {
    let key_shares: Arc<dyn KeyShares> = match tls.key_shares {
        KeyShareMode::Unit => Arc::new(UnitKeyShares),
        KeyShareMode::Reused | KeyShareMode::Fresh => Arc::new(FreshKeyShares),
    };
    let config = |name: &Option<String>| {
        let server_name = ServerName::try_from(name.clone().unwrap_or_else(|| host.to_owned())).ok()?;
        Some(Arc::new(Config {
            versions: vec![tls.version],
            cipher_suites: tls.cipher_suites.clone(),
            groups: tls.groups.clone(),
            server_name,
            sni: name.clone(),
            alpn: tls.alpn.clone(),
            tls13: Tls13Extensions::default(),
            certificates: certificates.clone(),
            identity: identity.cloned(),
            key_shares: Arc::clone(&key_shares),
            entropy: Arc::new(SystemEntropy),
            key_log: None,
            survey: false,
            signature_schemes: reprise_engine::SIGNATURE_SCHEMES.to_vec(),
            strictness: reprise_engine::Strictness::default(),
        }))
    };
    tls.server_names.iter().map(|name| config(&name.name)).collect()
}

/// What the connections of one thread share: for each name its configuration, and the sessions that were made under it, which
/// are offered under no other (RFC 8446 §4.6.1).
pub(crate) struct EngineThread {
    names: Vec<(Arc<Config>, EngineSessions)>,
    /// How many sessions are held for each name, before any is used more than once.
    target: usize,
    /// Whether tickets of TLS 1.3 are, as sessions of TLS 1.2 always.
    reuse: bool,
}

/// One connection at a time.
#[derive(Default)]
pub(crate) struct EngineClient {
    connection: Option<Connection>,
    server_name: usize,
    hello: Vec<u8>,
    offered: Option<Session>,
    was_ready: bool,
}

/// The sessions that one thread holds for one name.
#[derive(Default)]
struct EngineSessions {
    id: Vec<Session>,
    ticket: Vec<Session>,
    next: usize,
}

impl EngineThread {
    /// `sessions` are held, over all names. `reuse`: whether a ticket of TLS 1.3 may be used more than once.
    pub(crate) fn new(configs: &[Arc<Config>], sessions: usize, reuse: bool) -> Self {
        let names = configs.iter().map(|config| (Arc::clone(config), EngineSessions::default()));
        Self { names: names.collect(), target: sessions.div_ceil(configs.len().max(1)).max(1), reuse }
    }
}

impl EngineClient {
    pub(crate) fn start(
        &mut self,
        thread: &mut EngineThread,
        kind: Kind,
        server_name: usize,
        now: Nanos,
    ) -> Result<(), Fault> {
        let (config, sessions) = thread.names.get_mut(server_name).ok_or(Fault::Crypto)?;
        self.server_name = server_name;
        self.offered = sessions.take(kind, thread.target, thread.reuse, now);
        let offer = match (&self.offered, kind) {
            (Some(Session::Tls13(ticket)), _) => Offer::Ticket(ticket.clone()),
            (Some(Session::Tls12(session)), Kind::Id) => Offer::SessionId(session.clone()),
            (Some(Session::Tls12(session)), _) => Offer::SessionTicket(session.clone()),
            (None, _) => Offer::Full { session_ticket: kind != Kind::Id },
        };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let start = Start { offer, date: UnixTime::since_unix_epoch(since) };
        let connection = Connection::start(Arc::clone(config), start, now).map_err(|error| fault_of(&error))?;
        self.hello = self.connection.insert(connection).take_outgoing(now);
        self.was_ready = false;
        Ok(())
    }

    pub(crate) fn hello(&self) -> &[u8] {
        &self.hello
    }

    pub(crate) fn receive<'a>(
        &mut self,
        thread: &mut EngineThread,
        now: Nanos,
        record: &'a mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<Heard<'a>, Fault> {
        let connection = self.connection.as_mut().ok_or(Fault::Crypto)?;
        let received = connection.receive(now, record);
        out.extend_from_slice(&connection.take_outgoing(now));
        received.map_err(|error| fault_of(&error))?;
        let (_, sessions) = thread.names.get_mut(self.server_name).ok_or(Fault::Crypto)?;
        for session in connection.take_sessions() {
            sessions.keep(session, thread.target);
        }
        if connection.ready().is_some() && !self.was_ready {
            self.was_ready = true;
            return Ok(Heard::Ready);
        }
        if connection.is_peer_closed() {
            return Ok(Heard::Ended);
        }
        let data = connection.take_application_data();
        if data.is_empty() {
            return Ok(Heard::Nothing);
        }
        // What a record holds is shorter than the record: its own memory takes it.
        let place = record.get_mut(..data.len()).ok_or(Fault::Crypto)?;
        place.copy_from_slice(&data);
        Ok(Heard::Data(place))
    }

    pub(crate) fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let connection = self.connection.as_mut().ok_or(Fault::Crypto)?;
        connection.send(now, data).map_err(|error| fault_of(&error))?;
        out.extend_from_slice(&connection.take_outgoing(now));
        Ok(())
    }

    pub(crate) fn send_close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let connection = self.connection.as_mut().ok_or(Fault::Crypto)?;
        connection.close(now).map_err(|error| fault_of(&error))?;
        out.extend_from_slice(&connection.take_outgoing(now));
        Ok(())
    }

    pub(crate) fn kind(&self) -> Kind {
        self.connection.as_ref().and_then(Connection::outcome).map_or(Kind::Full, |outcome| outcome.kind)
    }

    pub(crate) fn is_confirmed(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_confirmed)
    }

    pub(crate) fn offers_session(&self) -> bool {
        self.offered.is_some()
    }

    pub(crate) fn reset(&mut self, thread: &mut EngineThread, completed: bool) {
        if completed
            && self.offered.is_some()
            && self.kind() == Kind::Full
            && let Some((_, sessions)) = thread.names.get_mut(self.server_name)
        {
            sessions.forget(self.offered.as_ref());
        }
        self.connection = None;
        self.offered = None;
    }
}

impl EngineSessions {
    /// TLS 1.3 tickets go once each, newest first; with `reuse` they go as TLS 1.2 sessions do: in turns, once there are as many
    /// as are to be held.
    fn take(&mut self, kind: Kind, target: usize, reuse: bool, now: Nanos) -> Option<Session> {
        let held = match kind {
            Kind::Id => &mut self.id,
            Kind::Ticket => &mut self.ticket,
            _ => return None,
        };
        if let Some(Session::Tls13(_)) = held.last() {
            held.retain(|session| !matches!(session, Session::Tls13(ticket) if ticket.is_expired(now)));
            if !reuse {
                return held.pop();
            }
        }
        self.next = self.next.wrapping_add(1);
        held.get(self.next % held.len().max(1)).filter(|_| held.len() >= target).cloned()
    }

    fn keep(&mut self, session: Session, target: usize) {
        let (held, most) = match &session {
            Session::Tls12(session) if session.ticket.is_none() => (&mut self.id, target),
            Session::Tls12(_) => (&mut self.ticket, target),
            Session::Tls13(_) => (&mut self.ticket, target + SPARE),
        };
        if held.len() < most {
            held.push(session);
        }
    }

    /// What was refused is not offered again.
    fn forget(&mut self, refused: Option<&Session>) {
        let is_it = |session: &Session| match (session, refused) {
            (Session::Tls12(held), Some(Session::Tls12(refused))) => {
                held.session_id == refused.session_id && held.ticket == refused.ticket
            }
            (Session::Tls13(held), Some(Session::Tls13(refused))) => held.ticket == refused.ticket,
            _ => false,
        };
        self.id.retain(|session| !is_it(session));
        self.ticket.retain(|session| !is_it(session));
    }
}

/// A key pair for each connection.
struct FreshKeyShares;

impl KeyShares for FreshKeyShares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        generate_key_share(group)
    }
}

struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        rand::fill(bytes).map_err(|_| Error::Crypto("the system's random generator"))
    }

    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        reprise_engine::encrypt_premaster(public_key, premaster)
    }
}

fn fault_of(error: &Error) -> Fault {
    match error {
        Error::NotTls(_) => Fault::NotTls,
        Error::Malformed { .. } => Fault::Malformed,
        Error::PeerMisbehaved(_) => Fault::PeerMisbehaved,
        Error::Unspoken(_) | Error::NoCommonSignatureScheme | Error::NothingToOffer(_) => Fault::Unspoken,
        Error::AlertReceived(description) => Fault::Alert(*description),
        Error::Certificate(_) => Fault::BadCertificate,
        Error::BadRecordMac => Fault::BadRecordMac,
        Error::ClosedEarly(_) | Error::NoKeyUpdate(_) | Error::Closed => Fault::ClosedEarly,
        Error::TooLarge { .. } | Error::TooMany { .. } => Fault::TooLarge,
        Error::Crypto(_) => Fault::Crypto,
    }
}
