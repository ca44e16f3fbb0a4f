//! What the connections of one thread share: prepared hellos, sessions, key shares.

use std::sync::Arc;

use reprise_model::{Kind, Version};
use reprise_wire::NamedGroup;

use super::hello::{Hello, HelloSpec};
use super::key_exchange::KeyExchanges;
use super::rsa_premaster::RsaPremasters;
use super::schedule13::Schedule;
use super::session::Session;
use super::sessions::Sessions;
use crate::entropy::Entropy;
use crate::options::TlsOptions;
use reprise_model::FaultName;

/// What the connections of one thread share.
pub struct LeanShared {
    pub(super) options: Arc<TlsOptions>,
    pub(super) keys: KeyExchanges,
    pub(super) schedule: Schedule,
    pub(super) premasters: RsaPremasters,
    pub(super) sessions: Sessions,
    /// One for each name, behind which another server may stand.
    pub(super) names: Vec<Name>,
    pub(super) entropy: Entropy,
}

/// What is offered under one name.
pub(crate) struct Name {
    /// The first gets the key share: the one that was asked for, until the server wants another.
    pub(super) groups: Vec<NamedGroup>,
    /// The one that the server wanted last, by a HelloRetryRequest.
    wanted_group: Option<NamedGroup>,
    pub(super) hello: Hello,
}

impl LeanShared {
    /// `sessions` are held for connections of the kinds that it `wants`.
    ///
    /// # Errors
    /// If nothing can be offered.
    pub fn new(options: Arc<TlsOptions>, sessions: usize, wants: &[Kind]) -> Result<Self, FaultName> {
        let keys = KeyExchanges::new(options.key_shares, &options.groups)?;
        let prepare = |sni| {
            let hello = prepare(&options, &options.groups, sni, &keys)?;
            Ok::<_, FaultName>(Name { groups: options.groups.clone(), wanted_group: None, hello })
        };
        let names = options.server_names.iter().map(|name| prepare(name.name.as_deref())).collect::<Result<_, _>>()?;
        let reuse = options.version == Version::Tls12 || options.reuse_tickets;
        Ok(Self {
            keys,
            schedule: Schedule::new(),
            premasters: RsaPremasters::default(),
            sessions: Sessions::new(sessions, options.server_names.len(), wants, reuse),
            names,
            entropy: Entropy::default(),
            options,
        })
    }

    /// Has a session of the engine's offered under the first name, in connections of this kind.
    pub fn hold(&mut self, session: &reprise_engine::Session, kind: Kind) {
        if let Some(session) = Session::of_engine(session, kind) {
            self.sessions.keep(session);
        }
    }

    /// The groups that were wanted, each with the place of its name.
    pub(crate) fn wanted_groups(&self) -> impl Iterator<Item = (usize, NamedGroup)> {
        self.names.iter().enumerate().filter_map(|(place, name)| Some((place, name.wanted_group?)))
    }

    /// RFC 8446 §4.1.4: the server wants a share of this group. It is not sent a second hello; the next ones under this name
    /// begin with it.
    pub(super) fn prefer(&mut self, group: NamedGroup, server_name: usize) -> Result<(), FaultName> {
        let name = self.names.get_mut(server_name).ok_or(FaultName::Crypto)?;
        // Only a group that was offered can be asked for.
        let place = name.groups.iter().position(|known| *known == group).ok_or(FaultName::PeerMisbehaved)?;
        name.wanted_group = Some(group);
        if place > 0 {
            name.groups.swap(0, place);
            let sni = self.options.server_names.get(server_name).and_then(|name| name.name.as_deref());
            name.hello = prepare(&self.options, &name.groups, sni, &self.keys)?;
        }
        Ok(())
    }
}

fn prepare(options: &TlsOptions, groups: &[NamedGroup], sni: Option<&str>, keys: &KeyExchanges) -> Result<Hello, FaultName> {
    let spec = HelloSpec { version: options.version, suites: &options.cipher_suites, groups, sni, alpn: &options.alpn };
    Hello::prepare(&spec, keys)
}
