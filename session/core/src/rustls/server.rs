use std::sync::Arc;

use rustls::server::ServerConnection;
use rustls::{HandshakeKind as Rustls, ProtocolVersion, ServerConfig};

use super::bound::Bound;
use super::client_auth::ClientAuth;
use super::link::Link;
use super::resumption::{Resumption, Settings, Store};
use crate::hello::{LookAhead, ResumptionOffer};
use crate::metrics::{HandshakeFailure, HandshakeKind, Metrics};
use crate::store::{Answers, Fetch, Written};

/// A rustls configuration whose sessions are resumed as a [`Resumption`] says. Cheap to clone.
///
/// Blocking servers call [`ResumingServer::accept`], those on tokio `ResumingServer::accept_tokio` (feature `tokio`). Others
/// do the same by hand: [`ResumingServer::look_ahead`], [`ResumingServer::fetch`], [`ResumingServer::connection`],
/// [`Watch::written`].
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
    pub fn fetch(&self, offered: &ResumptionOffer) -> Option<Fetch> {
        let bound = self.bound.as_ref()?;
        let Store::Shared { store, .. } = &bound.settings.store else { return None };
        if bound.settings.tickets.is_some() && offered.tls13 && !bound.only_tls12() {
            return None;
        }
        let lookups = offered.lookups(bound.only_tls12());
        if lookups.is_empty() { None } else { Some(store.fetch(lookups)) }
    }

    /// Who is to be told of handshakes.
    pub(super) fn metrics(&self) -> Option<&dyn Metrics> {
        Some(&*self.bound.as_ref()?.settings.metrics)
    }

    /// The configuration for one connection, which gets what was offered and what the shared store answered, and who is to be
    /// told when its handshake is done.
    pub fn connection(&self, offered: &ResumptionOffer, answers: Answers) -> (Arc<ServerConfig>, Watch) {
        let Some(bound) = &self.bound else { return (Arc::clone(&self.config), Watch(None)) };
        let mut config = ServerConfig::clone(&self.config);
        // One's own memory is sure; a shared store says whether it is. Where nothing was asked there is no early data to accept,
        // but there are tickets, which say whether the next connection may send some.
        let is_sure = match &bound.settings.store {
            Store::Shared { store, .. } if offered.identities.is_empty() => store.is_sure(),
            Store::Shared { .. } => answers.early_data,
            Store::None | Store::Local(_) => true,
        };
        if !is_sure {
            config.max_early_data_size = 0;
        }
        // Or else what was sent early would be answered no earlier.
        config.send_half_rtt_data |= config.max_early_data_size > 0;
        let link = Arc::new(Link::new(Arc::clone(bound), answers, offered.tls13));
        config.cert_resolver = Arc::clone(&link) as _;
        config.ticketer = Arc::clone(&link) as _;
        config.session_storage = Arc::clone(&link) as _;
        (Arc::new(config), Watch(Some(link)))
    }
}

/// Follows one connection's handshake: what it wrote to the shared store, and its end, for the metrics.
#[derive(Debug)]
#[must_use = "without `completed` the metrics do not know the handshake"]
pub struct Watch(Option<Arc<Link>>);

impl Watch {
    /// Ends when the shared store has the sessions that this connection issued so far, or is not to be waited for. Wait for it
    /// before what the connection has to say is sent: a client that comes back at once then finds its session. `None`: there
    /// is nothing to wait for.
    pub fn written(&self) -> Option<Written> {
        let written = self.0.as_ref()?.take_written();
        (!written.is_empty()).then(|| {
            Box::pin(async move {
                for each in written {
                    each.await;
                }
            }) as Written
        })
    }

    /// The handshake failed. `accept` and `accept_tokio` tell by themselves.
    pub fn failed(&self, why: HandshakeFailure) {
        if let Some(link) = &self.0 {
            link.bound().settings.metrics.handshake_failed(why);
        }
    }

    /// The handshake is done.
    pub fn completed(&self, connection: &mut ServerConnection) {
        let Some(link) = &self.0 else { return };
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
            tracing::debug!(target: "reprise_session", reason = why.label(), "a session that was offered is not resumed");
            metrics.not_resumed(why);
        }
    }
}
