use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::sign::CertifiedKey;

use super::certificate::Certificates;
use super::client_auth::ClientAuth;
use super::format;
use super::resumption::Settings;
use crate::metrics::RingState;
use crate::policy::Policy;

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
    /// What the metrics were told of the ring.
    told_ring: Mutex<Option<RingState>>,
}

impl Bound {
    pub(super) fn new(config: Arc<ServerConfig>, client_auth: &ClientAuth, settings: Arc<Settings>) -> Self {
        let base = format::policy()
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
            told_ring: Mutex::default(),
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
        let Some(ring) = self.settings.rings().next() else { return };
        let Some(now) = self.settings.clock.current_time() else { return };
        let state = RingState::of(&ring.load(now), now);
        let mut told = self.told_ring.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != Some(state) {
            *told = Some(state);
            drop(told);
            self.settings.metrics.ring(state);
        }
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("base", &self.base).finish_non_exhaustive()
    }
}
