use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::ServerConnection;
use rustls::sign::CertifiedKey;
use rustls::{HandshakeKind as Rustls, ProtocolVersion, ServerConfig};

use super::certificate::Certificates;
use super::client_auth::ClientAuth;
use super::link::Link;
use super::resumption::{Resumption, Settings, Store};
use crate::hello::{LookAhead, Offered};
use crate::metrics::HandshakeKind;
use crate::policy::{Policy, PolicyBuilder};
use crate::store::{Answers, Fetch};

/// A rustls configuration whose sessions are resumed as a [`Resumption`] says. Cheap to clone.
///
/// Blocking servers call [`ResumingServer::accept`], those on tokio `ResumingServer::accept_tokio` (feature `tokio`). Others
/// do the same by hand: [`ResumingServer::look_ahead`], [`ResumingServer::fetch`], [`ResumingServer::connection`].
#[derive(Clone, Debug)]
pub struct ResumingServer {
    pub(super) config: Arc<ServerConfig>,
    bound: Option<Arc<Bound>>,
}

/// Why a configuration cannot be used so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Sessions would be bound to client authentication that is not in force.
    #[error("the configuration was not built with this ClientAuth's apply")]
    ClientAuthNotApplied,
}

impl ResumingServer {
    /// A server of `config`, which was built with `client_auth`. Its ticketer and session store are not used, unless
    /// resumption is off.
    ///
    /// # Errors
    /// [`ServerError::ClientAuthNotApplied`] if this configuration does not have the verifier.
    pub fn new(config: ServerConfig, client_auth: &ClientAuth, resumption: &Resumption) -> Result<Self, ServerError> {
        if !client_auth.is_applied(&config) {
            return Err(ServerError::ClientAuthNotApplied);
        }
        let config = Arc::new(config);
        let bind = |settings: &Arc<Settings>| Bound::new(Arc::clone(&config), client_auth, Arc::clone(settings));
        let bound = resumption.0.as_ref().map(|settings| Arc::new(bind(settings)));
        Ok(Self { config, bound })
    }

    /// Begins to read a ClientHello. `None` where that is not needed, because resumption is off.
    pub fn look_ahead(&self) -> Option<LookAhead> {
        let settings = &self.bound.as_ref()?.settings;
        Some(match settings.store {
            Store::Shared { .. } => LookAhead::new(settings.max_hello),
            Store::None | Store::Local(_) => LookAhead::of_length_alone(settings.max_hello),
        })
    }

    /// Asks the shared store for what is offered. `None` if there is nothing to ask.
    pub fn fetch(&self, offered: &Offered) -> Option<Fetch> {
        let bound = self.bound.as_ref()?;
        let Store::Shared { store, .. } = &bound.settings.store else { return None };
        if bound.settings.tickets.is_some() && offered.tls13 && !bound.only_tls12() {
            return None;
        }
        let lookups = offered.lookups(bound.only_tls12());
        if lookups.is_empty() { None } else { Some(store.fetch(lookups)) }
    }

    /// The configuration for one connection, which gets what was offered and what the shared store answered, and who is to be
    /// told when its handshake is done.
    pub fn connection(&self, offered: &Offered, answers: Answers) -> (Arc<ServerConfig>, Watch) {
        let Some(bound) = &self.bound else { return (Arc::clone(&self.config), Watch(None)) };
        let mut config = ServerConfig::clone(&self.config);
        // A shared store that is not sure says so; one's own memory is.
        if matches!(bound.settings.store, Store::Shared { .. }) && !answers.early_data {
            config.max_early_data_size = 0;
        }
        let link = Arc::new(Link::new(Arc::clone(bound), answers, offered.tls13));
        config.cert_resolver = Arc::clone(&link) as _;
        config.ticketer = Arc::clone(&link) as _;
        config.session_storage = Arc::clone(&link) as _;
        (Arc::new(config), Watch(Some(link)))
    }
}

/// Waits for the end of one connection's handshake, for the metrics.
#[derive(Debug)]
#[must_use = "without `completed` the metrics do not know the handshake"]
pub struct Watch(Option<Arc<Link>>);

impl Watch {
    /// The handshake is done.
    pub fn completed(self, connection: &mut ServerConnection) {
        let Some(link) = self.0 else { return };
        let resumed = connection.handshake_kind() == Some(Rustls::Resumed);
        let metrics = &link.bound().settings.metrics;
        link.bound().tell_ring();
        metrics.handshake(match connection.protocol_version() {
            _ if !resumed => HandshakeKind::Full,
            Some(ProtocolVersion::TLSv1_2) if !link.opened_ticket() => HandshakeKind::Id,
            _ if connection.early_data().is_some() => HandshakeKind::Early,
            _ => HandshakeKind::Ticket,
        });
        if !resumed && let Some(why) = link.refused() {
            metrics.not_resumed(why);
        }
    }
}

/// For how many pairs of certificate and name the policy is remembered.
const MOST_POLICIES: usize = 64;

/// A certificate's identity, a name, and the policy of connections that have both.
type Known = (Policy, Option<Box<str>>, Policy);

/// A configuration with its sessions: what all of its connections have in common.
pub(super) struct Bound {
    pub(super) config: Arc<ServerConfig>,
    pub(super) settings: Arc<Settings>,
    /// The parts of the policy that are the same for all connections.
    base: Policy,
    certificates: Certificates,
    /// What certificate and name came to, the newest last.
    policies: RwLock<VecDeque<Known>>,
    only_tls12: AtomicBool,
    ring_version: AtomicU64,
}

impl Bound {
    fn new(config: Arc<ServerConfig>, client_auth: &ClientAuth, settings: Arc<Settings>) -> Self {
        let base = versions(env!("CARGO_PKG_VERSION"), env!("REPRISE_RUSTLS_VERSION"))
            .list("alpn", config.alpn_protocols.iter().map(Vec::as_slice))
            .field("client auth", client_auth.identity().as_bytes())
            .field("context", &settings.context)
            .build();
        let certificates = Certificates::new(settings.binding);
        Self {
            config,
            settings,
            base,
            certificates,
            policies: RwLock::default(),
            only_tls12: AtomicBool::new(false),
            ring_version: AtomicU64::new(0),
        }
    }

    /// The policy of a connection with this certificate, asked for under this name.
    pub(super) fn policy(&self, certificate: &Arc<CertifiedKey>, name: Option<&str>) -> Policy {
        let identity = self.certificates.identity(certificate);
        let known = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., policy)) = known.iter().find(|(of, by, _)| *of == identity && by.as_deref() == name) {
            return *policy;
        }
        drop(known);
        let policy = Policy::of_connection(&self.base, &identity, name);
        let mut known = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        // Names are the clients' choice: they may push one another out, and cost a digest then.
        if known.len() >= MOST_POLICIES {
            known.pop_front();
        }
        known.push_back((identity, name.map(Box::from), policy));
        policy
    }

    /// A session ID was asked for though TLS 1.3 was offered: this server does not speak it. Its configuration does not say
    /// so.
    pub(super) fn saw_session_id(&self) {
        self.only_tls12.store(true, Ordering::Relaxed);
    }

    fn only_tls12(&self) -> bool {
        self.only_tls12.load(Ordering::Relaxed)
    }

    fn tell_ring(&self) {
        let ring = match (&self.settings.tickets, &self.settings.store) {
            (Some(ring), _) | (None, Store::Shared { ring, .. }) => ring,
            _ => return,
        };
        let Some(now) = self.settings.clock.current_time() else { return };
        let ring = ring.load(now);
        if self.ring_version.swap(ring.version(), Ordering::Relaxed) != ring.version() {
            self.settings.metrics.ring(ring.version(), ring.keys().count());
        }
    }
}

/// A session's content is in rustls' own encoding, and its times are in this library's.
fn versions(own: &str, rustls: &str) -> PolicyBuilder {
    PolicyBuilder::new().field("version", own.as_bytes()).field("rustls", rustls.as_bytes())
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("base", &self.base).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_other_versions_share_nothing() {
        let policies = [("1.0.0", "0.23.46"), ("1.0.1", "0.23.46"), ("1.0.0", "0.23.47")];
        let [same, own, rustls] = policies.map(|(own, rustls)| versions(own, rustls).build());
        assert!(same != own && same != rustls && own != rustls);
        assert!(env!("REPRISE_RUSTLS_VERSION").starts_with("0.23."), "the lock file says which");
    }
}
