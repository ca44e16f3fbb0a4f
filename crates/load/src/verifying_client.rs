//! Connections by the measuring engine: certificates are verified, and a client certificate is shown where it is asked for.

use std::sync::Arc;

use reprise_connection::{End, EngineClient, EnginePlan, Fault, SessionPolicy};
use reprise_engine::{CertificatePolicy, ClientIdentity, Config, FreshKeyShares, KeyShares, Offer, Session, SystemEntropy};
use reprise_model::{Facts, FaultName, Kind, Nanos};
use rustls_pki_types::{ServerName, UnixTime};

use crate::client::LoadClient;
use crate::options::{KeyShareMode, Options, Plan, TlsOptions};
use crate::unit_share::UnitKeyShares;

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
            sni: name.clone(),
            alpn: tls.alpn.clone(),
            identity: identity.cloned(),
            ..Config::new(server_name, certificates.clone(), Arc::clone(&key_shares), Arc::new(SystemEntropy))
        }))
    };
    tls.server_names.iter().map(|name| config(&name.name)).collect()
}

/// What the connections of one thread share: for each name its configuration, and the sessions that were made under it, which
/// are offered under no other (RFC 8446 §4.6.1).
pub(crate) struct VerifyingShared {
    names: Vec<(Arc<Config>, EngineSessions)>,
    /// How many sessions are held for each name, before any is used more than once.
    target: usize,
    /// Whether tickets of TLS 1.3 are, as sessions of TLS 1.2 always.
    reuse: bool,
}

/// The measuring engine, which begins from a session of its thread's.
pub(crate) type VerifyingClient = EngineClient<HeldSessions>;

/// Begins from what the thread holds for the connection's name.
#[derive(Default)]
pub(crate) struct HeldSessions {
    server_name: usize,
    offered: Option<Session>,
}

/// The sessions that one thread holds for one name.
#[derive(Default)]
struct EngineSessions {
    id: Vec<Session>,
    ticket: Vec<Session>,
    next: usize,
}

impl LoadClient for VerifyingClient {
    fn share(options: &Options, sessions: usize) -> Result<VerifyingShared, Fault> {
        let configs = &options.tls.engine;
        Ok(VerifyingShared {
            names: configs.iter().map(|config| (Arc::clone(config), EngineSessions::default())).collect(),
            target: sessions.div_ceil(configs.len().max(1)).max(1),
            reuse: options.tls.reuse_tickets,
        })
    }
}

impl SessionPolicy for HeldSessions {
    type Shared = VerifyingShared;
    type Plan = Plan;

    fn plan(&mut self, shared: &mut VerifyingShared, plan: Plan, now: Nanos) -> Result<(EnginePlan, Vec<u8>), Fault> {
        let Some((config, sessions)) = shared.names.get_mut(plan.name) else {
            return Err(Fault::new(FaultName::NothingToOffer));
        };
        self.server_name = plan.name;
        self.offered = sessions.take(plan.kind, shared.target, shared.reuse, now);
        let offer = match (&self.offered, plan.kind) {
            (Some(Session::Tls13(ticket)), _) => Offer::Ticket(ticket.clone()),
            (Some(Session::Tls12(session)), Kind::Id) => Offer::SessionId(session.clone()),
            (Some(Session::Tls12(session)), _) => Offer::SessionTicket(session.clone()),
            (None, kind) => Offer::Full { session_ticket: kind != Kind::Id },
        };
        Ok((EnginePlan { config: Arc::clone(config), offer, date: UnixTime::now() }, Vec::new()))
    }

    fn keep(&mut self, shared: &mut VerifyingShared, facts: Option<&Facts>, left: Vec<Session>, how: End) {
        let was_refused = how == End::Completed && facts.is_some_and(|facts| facts.kind == Kind::Full);
        let offered = self.offered.take().filter(|_| was_refused);
        let Some((_, sessions)) = shared.names.get_mut(self.server_name) else { return };
        sessions.forget(offered.as_ref());
        for session in left {
            sessions.keep(session, shared.target);
        }
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
        held.retain(|session| !session.is_expired(now));
        if !reuse && matches!(held.last(), Some(Session::Tls13(_))) {
            return held.pop();
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
