//! What the connections of one thread share: for each server name its configuration and its sessions.

use std::sync::Arc;

use reprise_clients::ClientRow;
use reprise_connection::Fault;
use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, GROUPS, HelloShape, KeyShares, Session};
use reprise_model::{FaultName, Kind, Version};
use reprise_wire::NamedGroup;
use rustls_pki_types::ServerName;

use crate::entropy::Entropy;
use crate::key_shares::{ReusedKeyShares, UnitKeyShares};
use crate::options::{KeyShareMode, TlsOptions};
use crate::sessions::Sessions;

/// What the connections of one thread share.
pub struct LoadShared {
    pub(crate) names: Vec<Name>,
    /// Whether the connection that ended last has offered a session and failed.
    pub(crate) has_failed_with_offer: bool,
}

/// What is offered under one name, behind which another server may stand than behind the others.
pub(crate) struct Name {
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Sessions,
    /// The group that the server wanted last, by a HelloRetryRequest.
    wanted_group: Option<NamedGroup>,
}

impl LoadShared {
    /// `sessions` are held, over all names, for connections of the kinds that it `wants`.
    ///
    /// # Errors
    /// If nothing can be offered.
    pub fn new(options: &TlsOptions, sessions: usize, wants: &[Kind]) -> Result<Self, Fault> {
        let nothing_to_offer = |_| Fault::new(FaultName::NothingToOffer);
        let key_shares: Arc<dyn KeyShares> = match options.key_shares {
            KeyShareMode::Unit => Arc::new(UnitKeyShares::default()),
            KeyShareMode::Reused => {
                // What is shared at once, and what a retry may ask for.
                let groups = options.like.map_or_else(|| options.groups.clone(), ClientRow::groups);
                let spoken: Vec<NamedGroup> = groups.into_iter().filter(|group| GROUPS.contains(group)).collect();
                Arc::new(ReusedKeyShares::new(&spoken).map_err(nothing_to_offer)?)
            }
            KeyShareMode::Fresh => Arc::new(FreshKeyShares),
        };
        let entropy = Arc::new(Entropy::default());
        let target = sessions.div_ceil(options.server_names.len().max(1));
        let reuse_tickets = options.version == Version::Tls12 || options.reuse_tickets;
        let name = |name: Option<&str>| {
            let mut config = Config {
                versions: vec![options.version],
                cipher_suites: options.cipher_suites.clone(),
                groups: options.groups.clone(),
                sni: name.map(str::to_owned),
                alpn: options.alpn.clone(),
                identity: options.identity.clone(),
                shape: HelloShape { ech_grease: options.ech_grease, ..HelloShape::default() },
                // A retry would cost two round trips each time, which nobody wants to measure by accident.
                records_events: false,
                answers_retry: !matches!(options.certificates, CertificatePolicy::Unchecked),
                ..Config::new(
                    verified_name(options, name)?,
                    options.certificates.clone(),
                    Arc::clone(&key_shares),
                    entropy.clone(),
                )
            };
            if let Some(row) = options.like {
                row.apply(&mut config);
                // A real client answers a retry, each time.
                config.answers_retry = true;
            }
            let sessions = Sessions::new(target, wants, reuse_tickets);
            Ok::<_, Fault>(Name { config: Arc::new(config), sessions, wanted_group: None })
        };
        let names = options.server_names.iter().map(|it| name(it.name.as_deref())).collect::<Result<_, _>>()?;
        Ok(Self { names, has_failed_with_offer: false })
    }

    /// Has a session offered under the first name.
    pub fn hold(&mut self, session: Session) {
        if let Some(name) = self.names.first_mut() {
            name.sessions.keep(session);
        }
    }

    /// The groups that were wanted, each with the place of its name.
    pub(crate) fn wanted_groups(&self) -> impl Iterator<Item = (usize, NamedGroup)> {
        self.names.iter().enumerate().filter_map(|(place, name)| Some((place, name.wanted_group?)))
    }
}

impl Name {
    /// The next connections begin with this group, of which the server wants a share (RFC 9846 §4.2.4).
    pub(crate) fn prefer(&mut self, group: NamedGroup) {
        self.wanted_group = Some(group);
        let groups = &mut Arc::make_mut(&mut self.config).groups;
        if let Some(place) = groups.iter().position(|known| *known == group) {
            groups.swap(0, place);
        }
    }
}

/// What the certificate has to be for: the name that is sent, or else the target.
fn verified_name(options: &TlsOptions, sent: Option<&str>) -> Result<ServerName<'static>, Fault> {
    let Some(sent) = sent else { return Ok(options.host.clone()) };
    match (ServerName::try_from(sent.to_owned()), &options.certificates) {
        (Ok(name), _) => Ok(name),
        (Err(_), CertificatePolicy::Unchecked) => Ok(options.host.clone()),
        (Err(_), _) => Err(Fault::new(FaultName::NothingToOffer)),
    }
}
