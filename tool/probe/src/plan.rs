//! What is made of the options before the first connection: for each version, what may be negotiated and what is held to offer.

use std::sync::Arc;

use reprise_connection::{Detail, Fault, Target};
use reprise_engine::suite::{self, SUITES};
use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, HelloShape, Session, SystemEntropy, WebPkiVerifier};
use reprise_model::{FaultName, Kind, Version};
use rustls_pki_types::ServerName as PkiName;

use crate::connection_plan::HeldSession;
use crate::options::{Alpn, CertificateTrust, Options, ServerName};
use crate::session_cache::{SessionCache, has_ticket, version_of};

/// The versions to measure, of all that the options ask for.
pub(crate) struct Plan {
    /// The oldest first.
    pub(crate) versions: Vec<VersionPlan>,
    /// Those that were not asked for by name and of which no cipher suite is to be offered.
    pub(crate) without_suite: Vec<Version>,
}

/// One version: what may be negotiated, and the sessions that there are. Before discovery these are the ones that another
/// process left behind, after it the ones that the target gave.
pub(crate) struct VersionPlan {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// What can be resumed by ticket.
    pub(crate) ticket: SessionCache,
    /// What can be resumed by session ID alone.
    pub(crate) id: SessionCache,
    /// Whether another process left sessions behind: they show what the target offers, and the first connection offers one.
    pub(crate) is_loaded: bool,
}

impl VersionPlan {
    /// The full connections that find out what the target offers, by what each asks for. A server that is asked for a ticket
    /// gives no ID: under TLS 1.2 it takes two connections.
    pub(crate) fn discovery(&self) -> &'static [Kind] {
        match self.version {
            _ if self.is_loaded => &[],
            Version::Tls12 => &[Kind::Ticket, Kind::Id],
            Version::Tls13 => &[Kind::Ticket],
        }
    }

    /// Every session that is left, the newest last.
    pub(crate) fn into_sessions(self) -> impl Iterator<Item = Session> {
        self.ticket.into_sessions().chain(self.id.into_sessions())
    }
}

impl Plan {
    /// What was not chosen in the options is all that the engine speaks.
    ///
    /// # Errors
    /// If the server's name is none that a certificate can be for.
    pub(crate) fn new(target: &Target, options: &Options) -> Result<Self, Fault> {
        let name = match &options.server_name {
            ServerName::Host => target.host.clone(),
            ServerName::Name(name) => name.clone(),
        };
        let server_name = PkiName::try_from(name.clone())
            .map_err(|_| Fault::new(FaultName::BadServerName).with(Detail::Unusable(name.clone())))?;
        let sni = matches!(server_name, PkiName::DnsName(_)).then_some(name);
        let is_http = options.http_request().is_some();
        let alpn = match &options.alpn {
            Alpn::Protocols(protocols) => protocols.clone(),
            Alpn::Default if options.starttls.is_none() && options.like.is_some() => {
                options.like.map(|row| row.hello.alpn()).unwrap_or_default()
            }
            Alpn::Default if is_http => vec![b"http/1.1".to_vec()],
            Alpn::Default => Vec::new(),
        };
        let certificates = match &options.certificates {
            CertificateTrust::Roots(roots) => CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(roots).0)),
            CertificateTrust::Insecure => CertificatePolicy::AcceptAnyChain,
        };
        let cipher_suites = match options.cipher_suites.as_slice() {
            [] => SUITES.iter().map(|suite| suite.id).collect(),
            given => given.to_vec(),
        };
        let groups = options.offered_groups();
        let config = |version| {
            let mut config = Config {
                versions: vec![version],
                cipher_suites: cipher_suites.clone(),
                groups: groups.clone(),
                key_share_groups: options.key_share_groups(),
                sni: sni.clone(),
                alpn: alpn.clone(),
                tls13: options.tls13.clone(),
                shape: HelloShape { ech_grease: options.ech_grease, ..HelloShape::default() },
                identity: options.identity.clone(),
                key_log: options.key_log.clone(),
                ..Config::new(server_name.clone(), certificates.clone(), Arc::new(FreshKeyShares), Arc::new(SystemEntropy))
            };
            if let Some(row) = options.like {
                row.apply(&mut config);
            }
            Arc::new(config)
        };
        // A version that is named has a suite, or the engine says that it has none.
        let has_suite = |version: &Version| {
            let mut suites = cipher_suites.iter().filter_map(|&id| suite::find(id));
            !options.versions.is_empty() || suites.any(|suite| suite.version == *version)
        };
        let (versions, without_suite): (Vec<_>, Vec<_>) = versions(options).into_iter().partition(has_suite);
        let plan = |version| {
            let loaded: Vec<&Session> = options.sessions.iter().filter(|session| version_of(session) == version).collect();
            let cache = |is_by_ticket: bool| {
                let fitting = loaded.iter().filter(|session| has_ticket(session) == is_by_ticket);
                SessionCache::of(fitting.map(|session| HeldSession { session: Session::clone(session), origin: None }))
            };
            let (ticket, id) = (cache(true), cache(false));
            VersionPlan { version, config: config(version), ticket, id, is_loaded: !loaded.is_empty() }
        };
        let mut versions: Vec<VersionPlan> = versions.into_iter().map(plan).collect();
        if options.measures_psk_alone() {
            versions.retain(|plan| plan.version == Version::Tls13 || plan.is_loaded);
        }
        Ok(Self { versions, without_suite })
    }

    /// From here on the bytes of each handshake message are kept.
    pub(crate) fn keep_messages(&mut self) {
        self.versions.iter_mut().for_each(|plan| Arc::make_mut(&mut plan.config).keeps_messages = true);
    }
}

/// Those that are named; else those of the sessions that were loaded; else all. The oldest first.
fn versions(options: &Options) -> Vec<Version> {
    let mut versions = options.versions.clone();
    if versions.is_empty() {
        versions = options.sessions.iter().map(version_of).collect();
    }
    if versions.is_empty() {
        versions = vec![Version::Tls12, Version::Tls13];
    }
    versions.sort_unstable();
    versions.dedup();
    versions
}
