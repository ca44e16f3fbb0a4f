use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::sign::CertifiedKey;

use super::certificate::Certificates;
use super::client_auth::ClientAuth;
use super::resumption::{Settings, Store};
use crate::policy::{Policy, PolicyBuilder};

/// For how many pairs of certificate and name the policy is remembered.
const MOST_POLICIES: usize = 64;

/// A certificate's identity, a name, and the policy of connections that have both.
type Known = (Policy, Option<Box<str>>, Policy);

/// A configuration with its sessions: what all of its connections have in common.
pub(super) struct Bound {
    pub(super) config: Arc<ServerConfig>,
    pub(super) settings: Arc<Settings>,
    pub(super) client_auth: ClientAuth,
    /// The parts of the policy that are the same for all connections.
    base: Policy,
    certificates: Certificates,
    /// What certificate and name came to, the newest last.
    policies: RwLock<VecDeque<Known>>,
    only_tls12: AtomicBool,
    ring_version: AtomicU64,
}

impl Bound {
    pub(super) fn new(config: Arc<ServerConfig>, client_auth: &ClientAuth, settings: Arc<Settings>) -> Self {
        let base = versions(env!("CARGO_PKG_VERSION"), env!("REPRISE_RUSTLS_VERSION"))
            .list("alpn", config.alpn_protocols.iter().map(Vec::as_slice))
            .field("client auth", client_auth.identity().as_bytes())
            .field("context", &settings.context)
            .build();
        let certificates = Certificates::new(settings.binding);
        Self {
            config,
            settings,
            client_auth: client_auth.clone(),
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

    pub(super) fn only_tls12(&self) -> bool {
        self.only_tls12.load(Ordering::Relaxed)
    }

    pub(super) fn tell_ring(&self) {
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
        // In the checkout the lock file says which; in an archive nobody does.
        let is_archive = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json").exists();
        let said = if is_archive { "of the build at " } else { "0.23." };
        assert!(env!("REPRISE_RUSTLS_VERSION").starts_with(said), "{}", env!("REPRISE_RUSTLS_VERSION"));
    }
}
