//! What may be negotiated with a target: a configuration for each version, from the options.

use std::sync::Arc;

use reprise_connection::{Detail, Fault, Target};
use reprise_engine::suite::{self, SUITES};
use reprise_engine::{CertificatePolicy, Config, EcdhKeyShare, FreshKeyShares, Session, SystemEntropy, WebPkiVerifier};
use reprise_model::{FaultName, Kind, Version};
use rustls_pki_types::ServerName as PkiName;

use crate::options::{Alpn, Certificates, Options, ServerName};
use crate::session_cache::version_of;

/// What may be negotiated with the target.
pub(crate) struct Offers {
    /// One for each version that is asked for, the oldest first.
    pub(crate) versions: Vec<VersionPlan>,
    /// Those that were not asked for by name and of which no cipher suite is to be offered.
    pub(crate) without_suite: Vec<Version>,
}

/// One version, and how it is found out what the target offers under it.
#[derive(Clone)]
pub(crate) struct VersionPlan {
    pub(crate) version: Version,
    pub(crate) config: Arc<Config>,
    /// The full connections that find it out, by what each asks for.
    pub(crate) probes: &'static [Kind],
    /// What another process left behind, which shows what the target speaks and offers without a connection.
    pub(crate) loaded: Vec<Session>,
}

/// A server that is asked for a ticket gives no ID: under TLS 1.2 it takes two connections.
fn probes(version: Version) -> &'static [Kind] {
    match version {
        Version::Tls12 => &[Kind::Ticket, Kind::Id],
        Version::Tls13 => &[Kind::Ticket],
    }
}

impl VersionPlan {
    /// Nothing has to be found out: whether an external PSK is taken is what is measured.
    pub(crate) fn of_psk_alone(self) -> Self {
        Self { probes: &[], ..self }
    }
}

impl Offers {
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
        let is_http = options.request.is_some() && options.starttls.is_none();
        let alpn = match &options.alpn {
            Alpn::Protocols(protocols) => protocols.clone(),
            Alpn::Default if is_http => vec![b"http/1.1".to_vec()],
            Alpn::Default => Vec::new(),
        };
        let certificates = match &options.certificates {
            Certificates::Roots(roots) => CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(roots).0)),
            Certificates::Insecure => CertificatePolicy::AcceptAnyChain,
        };
        let cipher_suites = match options.cipher_suites.as_slice() {
            [] => SUITES.iter().map(|suite| suite.id).collect(),
            given => given.to_vec(),
        };
        let groups = match options.groups.as_slice() {
            [] => EcdhKeyShare::GROUPS.to_vec(),
            given => given.to_vec(),
        };
        let config = |version| {
            Arc::new(Config {
                versions: vec![version],
                cipher_suites: cipher_suites.clone(),
                groups: groups.clone(),
                sni: sni.clone(),
                alpn: alpn.clone(),
                tls13: options.tls13.clone(),
                identity: options.identity.clone(),
                key_log: options.key_log.clone(),
                ..Config::new(server_name.clone(), certificates.clone(), Arc::new(FreshKeyShares), Arc::new(SystemEntropy))
            })
        };
        // A version that is named has a suite, or the engine says that it has none.
        let has_suite = |version: &Version| {
            let mut suites = cipher_suites.iter().filter_map(|&id| suite::find(id));
            !options.versions.is_empty() || suites.any(|suite| suite.version == *version)
        };
        let (versions, without_suite): (Vec<_>, Vec<_>) = versions(options).into_iter().partition(has_suite);
        let plan = |version| {
            let loaded = options.sessions.iter().filter(|session| version_of(session) == version).cloned();
            let loaded: Vec<Session> = loaded.collect();
            let probes = if loaded.is_empty() { probes(version) } else { &[] };
            VersionPlan { version, config: config(version), probes, loaded }
        };
        let mut versions: Vec<VersionPlan> = versions.into_iter().map(plan).collect();
        if options.kinds == [Kind::Psk] {
            versions.retain(|plan| plan.version == Version::Tls13 || !plan.loaded.is_empty());
            versions = versions.into_iter().map(VersionPlan::of_psk_alone).collect();
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
