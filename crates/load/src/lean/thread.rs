//! What the connections of one thread share: prepared hellos, sessions, key shares.

use std::sync::Arc;

use reprise_trace::{Kind, Version};
use reprise_wire::NamedGroup;

use super::exchange::Exchange;
use super::hello::{Hello, HelloSpec};
use super::rsa_premaster::RsaPremasters;
use super::schedule13::Schedule;
use super::session::Session;
use super::sessions::Sessions;
use crate::entropy::Entropy;
use crate::fault::Fault;
use crate::options::TlsOptions;

/// What the connections of one thread share.
pub(crate) struct Thread {
    pub(super) options: Arc<TlsOptions>,
    pub(super) exchange: Exchange,
    pub(super) schedule: Schedule,
    pub(super) premasters: RsaPremasters,
    pub(super) sessions: Sessions,
    /// The first gets the key share: the one that was asked for, until the server wants another.
    pub(super) groups: Vec<NamedGroup>,
    /// The one that the server wanted last, by a HelloRetryRequest.
    wanted_group: Option<NamedGroup>,
    /// One for each name.
    pub(super) hellos: Vec<Hello>,
    pub(super) entropy: Entropy,
}

impl Thread {
    /// `sessions` are held by this thread.
    pub(crate) fn new(options: Arc<TlsOptions>, sessions: usize, wants: &[Kind]) -> Result<Self, Fault> {
        let exchange = Exchange::new(options.key_shares, &options.groups)?;
        let hellos = prepare(&options, &options.groups, &exchange)?;
        let reuse = options.version == Version::Tls12 || options.reuse_tickets;
        Ok(Self {
            exchange,
            schedule: Schedule::new(),
            premasters: RsaPremasters::default(),
            sessions: Sessions::new(sessions, options.server_names.len(), wants, reuse),
            groups: options.groups.clone(),
            wanted_group: None,
            hellos,
            entropy: Entropy::default(),
            options,
        })
    }

    /// Has a session of the engine's offered under the first name, in connections of this kind.
    pub(crate) fn hold(&mut self, session: &reprise_engine::Session, kind: Kind) {
        if let Some(session) = Session::of_engine(session, kind) {
            self.sessions.keep(session);
        }
    }

    pub(crate) fn wanted_group(&self) -> Option<NamedGroup> {
        self.wanted_group
    }

    /// RFC 8446 §4.1.4: the server wants a share of this group. It is not sent a second hello; the next ones begin with it.
    pub(super) fn prefer(&mut self, group: NamedGroup) -> Result<(), Fault> {
        // Only a group that was offered can be asked for.
        let place = self.groups.iter().position(|known| *known == group).ok_or(Fault::PeerMisbehaved)?;
        self.wanted_group = Some(group);
        if place > 0 {
            self.groups.swap(0, place);
            self.hellos = prepare(&self.options, &self.groups, &self.exchange)?;
        }
        Ok(())
    }
}

/// A hello for each name.
fn prepare(options: &TlsOptions, groups: &[NamedGroup], exchange: &Exchange) -> Result<Vec<Hello>, Fault> {
    let spec =
        |sni| HelloSpec { version: options.version, suites: &options.cipher_suites, groups, sni, alpn: &options.alpn };
    let names = options.server_names.iter().map(|name| name.name.as_deref());
    names.map(|sni| Hello::prepare(&spec(sni), exchange)).collect()
}
