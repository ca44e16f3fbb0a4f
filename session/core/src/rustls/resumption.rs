use std::sync::Arc;
use std::time::Duration;

use rustls::time_provider::{DefaultTimeProvider, TimeProvider};

use super::certificate::CertificateBinding;
use crate::metrics::{Metrics, NoMetrics, RingState};
use crate::ring_handle::RingHandle;
use crate::store::{LocalStore, SharedStore};
use crate::ticket::Limits;

/// How sessions are resumed: what all servers of a process have in common. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use reprise_session::rustls::Resumption;
/// use reprise_session::{RingHandle, Rotation};
/// # use rustls_pki_types::UnixTime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rotation = Rotation::new(Duration::from_secs(6 * 3600))?;
/// let ring = RingHandle::in_memory(rotation, UnixTime::now())?;
/// let resumption = Resumption::builder().tickets(ring).build()?;
/// # drop(resumption);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Resumption(pub(super) Option<Arc<Settings>>);

#[derive(Debug)]
pub(super) struct Settings {
    /// Tickets, if the ring is for those too.
    pub(super) tickets: Option<RingHandle>,
    pub(super) store: Store,
    pub(super) limits: Limits,
    pub(super) binding: CertificateBinding,
    pub(super) context: Vec<u8>,
    pub(super) max_hello: usize,
    pub(super) metrics: Arc<dyn Metrics>,
    pub(super) clock: Arc<dyn TimeProvider>,
}

#[derive(Debug)]
pub(super) enum Store {
    None,
    Local(Arc<LocalStore>),
    Shared { store: Arc<dyn SharedStore>, ring: RingHandle },
}

/// Why resumption cannot be configured so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumptionError {
    /// Neither tickets nor a store: say [`Resumption::off`] if that is meant.
    #[error("there are neither tickets nor a store; Resumption::off() switches resumption off")]
    NothingToResumeWith,
    /// A lifetime below a second, or above the seven days of RFC 9846 §4.7.1.
    #[error("a session lives from 1 second to 7 days, not {0:?}")]
    Lifetime(Duration),
    /// A cap on the chain below the lifetime of one session.
    #[error("the cap on a chain of sessions, {chain:?}, is below the lifetime of one, {lifetime:?}")]
    Chain {
        /// The cap.
        chain: Duration,
        /// One session's lifetime.
        lifetime: Duration,
    },
}

impl Resumption {
    /// Begins to configure. By default a session lives an hour and a chain of them a day, and is bound to the names and the
    /// issuer of the certificate.
    pub fn builder() -> ResumptionBuilder {
        ResumptionBuilder(Settings {
            tickets: None,
            store: Store::None,
            limits: Limits::new(),
            binding: CertificateBinding::default(),
            context: Vec::new(),
            max_hello: 32 * 1024,
            metrics: Arc::new(NoMetrics),
            clock: Arc::new(DefaultTimeProvider),
        })
    }

    /// Leaves rustls' configurations as they are: no look-ahead, no copy, no cost.
    pub fn off() -> Self {
        Self(None)
    }
}

/// Collects the parts of a [`Resumption`].
#[derive(Debug)]
pub struct ResumptionBuilder(Settings);

impl ResumptionBuilder {
    /// Tickets, sealed under `ring`: TLS 1.2 and 1.3. Clients of TLS 1.2 that take no tickets need a store too.
    #[must_use]
    pub fn tickets(mut self, ring: RingHandle) -> Self {
        self.0.tickets = Some(ring);
        self
    }

    /// Sessions in the memory of this process: session IDs of TLS 1.2, and TLS 1.3 unless there are tickets.
    #[must_use]
    pub fn local_store(mut self, store: Arc<LocalStore>) -> Self {
        self.0.store = Store::Local(store);
        self
    }

    /// The same in a store that all nodes share; entries are sealed under `ring`, which they share too.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn SharedStore>, ring: RingHandle) -> Self {
        self.0.store = Store::Shared { store, ring };
        self
    }

    /// How long a session lives, and a chain of them from the client's full handshake on: renewal prolongs only the
    /// first.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// What of the certificate a session is bound to.
    #[must_use]
    pub fn certificate_binding(mut self, binding: CertificateBinding) -> Self {
        self.0.binding = binding;
        self
    }

    /// Whatever else a session should be bound to: a tenant, an environment.
    #[must_use]
    pub fn context(mut self, context: impl Into<Vec<u8>>) -> Self {
        self.0.context = context.into();
        self
    }

    /// The most bytes of a ClientHello, 32 KiB by default; larger ones end the connection. No ticket is given that would
    /// take more than a quarter of it, as a client's long certificate chain can: such a client makes full handshakes.
    #[must_use]
    pub fn max_hello(mut self, bytes: usize) -> Self {
        self.0.max_hello = bytes;
        self
    }

    /// Who is told what happens: to handshakes, to the ring, and to what renews it, key files or a shared store. No other place
    /// asks for them.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.0.metrics = metrics;
        self
    }

    /// Another clock than the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn TimeProvider>) -> Self {
        self.0.clock = clock;
        self
    }

    /// Checks it all.
    ///
    /// # Errors
    /// [`ResumptionError`].
    pub fn build(self) -> Result<Resumption, ResumptionError> {
        let Limits { lifetime, chain } = self.0.limits;
        if self.0.tickets.is_none() && matches!(self.0.store, Store::None) {
            return Err(ResumptionError::NothingToResumeWith);
        }
        if !(Duration::from_secs(1)..=Duration::from_secs(7 * 86_400)).contains(&lifetime) {
            return Err(ResumptionError::Lifetime(lifetime));
        }
        if chain < lifetime {
            return Err(ResumptionError::Chain { chain, lifetime });
        }
        let now = self.0.clock.current_time();
        for ring in self.0.rings() {
            ring.report_to_holder_of(&self.0.metrics);
        }
        // Before the first handshake too.
        if let (Some(ring), Some(now)) = (self.0.rings().next(), now) {
            self.0.metrics.ring(RingState::of(&ring.load(now), now));
        }
        Ok(Resumption(Some(Arc::new(self.0))))
    }
}

impl Settings {
    /// That of tickets, then that of a shared store: often the same.
    pub(super) fn rings(&self) -> impl Iterator<Item = &RingHandle> {
        let shared = match &self.store {
            Store::Shared { ring, .. } => Some(ring),
            Store::None | Store::Local(_) => None,
        };
        self.tickets.iter().chain(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreLimits;

    #[test]
    fn what_cannot_work_is_refused_at_the_start() {
        assert_eq!(Resumption::builder().build().unwrap_err(), ResumptionError::NothingToResumeWith);
        let store = Arc::new(LocalStore::new(StoreLimits::new(10, 1000), [0; 16]));
        let with = |lifetime, chain| {
            let limits = Limits::new().lifetime(Duration::from_secs(lifetime)).chain(Duration::from_secs(chain));
            Resumption::builder().local_store(Arc::clone(&store)).limits(limits).build()
        };
        assert!(with(10, 10).is_ok());
        assert!(matches!(with(10, 9), Err(ResumptionError::Chain { .. })));
        assert!(matches!(with(0, 9), Err(ResumptionError::Lifetime(_))));
        assert!(matches!(with(604_801, 604_801), Err(ResumptionError::Lifetime(_))));
    }
}
