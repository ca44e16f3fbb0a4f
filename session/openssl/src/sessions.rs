//! What is shared, how and for how long.

use std::fmt;
use std::sync::Arc;

use openssl::ex_data::Index;
use openssl::ssl::{Ssl, SslRef, SslSession, SslVersion};
use reprise_session::store::{Answer, Lookup, SharedStore, StoreKey, wait};
use reprise_session::ticket::{Limits, SealPurpose, Times, open, seal};
use reprise_session::{Policy, PolicyBuilder, RingHandle, SystemRandom};
use rustls_pki_types::UnixTime;

use crate::ffi;

/// How sessions of an OpenSSL server are shared. [`Sessions::apply`] sets it on a context.
#[derive(Clone)]
pub struct Sessions {
    pub(crate) ring: RingHandle,
    pub(crate) limits: Limits,
    pub(crate) policy: Policy,
    pub(crate) store: Option<Arc<dyn SharedStore>>,
    clock: Arc<dyn Fn() -> UnixTime + Send + Sync>,
}

/// What the callbacks of a context know.
pub(crate) struct Shared {
    pub(crate) sessions: Sessions,
    /// When the session's chain began that a connection resumed.
    pub(crate) begun: Index<Ssl, UnixTime>,
}

impl Sessions {
    /// Tickets, under the keys of this ring. Sessions are resumed only under the same `context`: it says whatever decides who may come in, such as the
    /// name of the site and the authority of its clients. All nodes say the same.
    pub fn tickets(context: &[u8], ring: RingHandle) -> Self {
        let policy = PolicyBuilder::new().field("openssl", context).build();
        Self { ring, limits: Limits::new(), policy, store: None, clock: Arc::new(UnixTime::now) }
    }

    /// Sessions in a store, sealed under the keys of this ring; `context` as of [`Sessions::tickets`]. A session of TLS 1.3 is resumed once.
    pub fn stored(context: &[u8], ring: RingHandle, store: Arc<dyn SharedStore>) -> Self {
        Self { store: Some(store), ..Self::tickets(context, ring) }
    }

    /// How long sessions live; by default one of them an hour, and all that follow from one full handshake a day.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Another clock than the system's, by which keys and chains end. OpenSSL itself asks the system's for the age of a ticket.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> UnixTime + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    pub(crate) fn now(&self) -> UnixTime {
        (self.clock)()
    }

    /// In seconds.
    pub(crate) fn lifetime(&self) -> u64 {
        let now = self.now();
        let ring = self.ring.load(now);
        ring.encryption_key(now).map_or(self.limits, |key| self.limits.under(key)).lifetime.as_secs()
    }
}

impl Shared {
    /// Stores a session, before its client gets it.
    pub(crate) fn put(&self, ssl: &SslRef, session: &SslSession) {
        let sessions = &self.sessions;
        let (Some(store), Ok(state)) = (&sessions.store, session.to_der()) else { return };
        let issued = sessions.now();
        let first_authentication = self.begun(ssl).unwrap_or(issued).min(issued);
        let (ring, key) = (sessions.ring.load(issued), StoreKey::of(session.id()));
        let times = Times { first_authentication, issued };
        let sealed = seal(&ring, &sessions.policy, SealPurpose::Entry(&key), times, &state, &SystemRandom);
        if let Some(written) = sealed.and_then(|entry| store.put(key, entry, sessions.limits.lifetime)) {
            wait(written);
        }
    }

    /// Asks for a session by its ID. In TLS 1.3 it is taken: nobody resumes it twice.
    pub(crate) fn get(&self, ssl: &mut SslRef, id: &[u8]) -> Option<SslSession> {
        let sessions = &self.sessions;
        let key = StoreKey::of(id);
        let is_taken = ssl.version2() == Some(SslVersion::TLS1_3);
        let lookup = if is_taken { Lookup::Take(key) } else { Lookup::Get(key) };
        let answers = wait(sessions.store.as_ref()?.fetch(vec![lookup])).answers;
        let sealed = answers.into_iter().find_map(|(_, answer)| match answer {
            Answer::Found(sealed) => Some(sealed),
            _ => None,
        })?;
        let now = sessions.now();
        let ring = sessions.ring.load(now);
        let opened = open(&ring, &sessions.policy, SealPurpose::Entry(&key), &sessions.limits, now, &sealed);
        let opened = opened
            .inspect_err(|refused| tracing::debug!(reason = refused.label(), "a stored session is not resumed"))
            .ok()?;
        let session = SslSession::from_der(&opened.state).ok()?;
        if ffi::is_client_over(&session, now) {
            tracing::debug!("a stored session is not resumed: the client's certificate is over");
            return None;
        }
        ssl.set_ex_data(self.begun, opened.times.first_authentication);
        Some(session)
    }

    pub(crate) fn begun(&self, ssl: &SslRef) -> Option<UnixTime> {
        ssl.ex_data(self.begun).copied()
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("limits", &self.limits).field("store", &self.store).finish_non_exhaustive()
    }
}
