//! How a target is approached: at which address, by whom, and with what to offer it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reprise_engine::suite::{self, SUITES};
use reprise_engine::{CertificatePolicy, Config, EcdhKeyShare, WebPkiVerifier};
use reprise_trace::document::{AllConnections, Target as TargetRecord, TicketRequest};
use reprise_trace::{Asked, Failure, Kind, Outcome, Version};
use rustls_pki_types::ServerName as PkiName;

use crate::addresses::Addresses;
use crate::application::Application;
use crate::clock::Clock;
use crate::discover::count;
use crate::failure;
use crate::interrupt::Interrupt;
use crate::options::{Alpn, Certificates, Options, ServerName};
use crate::random::{FreshKeyShares, SystemEntropy};
use crate::resolver;
use crate::route::{Proxy, Route};
use crate::sessions::{full, version_of};
use crate::socket::Dialer;
use crate::visitor::Visitor;
use reprise_attempt::Target;

/// The target as a document tells it; its address is not known yet.
pub(crate) fn record(target: &Target, options: &Options) -> TargetRecord {
    let request = options.request.as_ref().filter(|_| options.starttls.is_none());
    TargetRecord {
        host: target.host.clone(),
        port: target.port,
        address: None,
        path: request.map(|request| publishable(request.path.as_deref().unwrap_or(&target.path))),
        proxy: options.proxy.as_ref().map(ToString::to_string),
        proxy_protocol: options.proxy_protocol.map(|version| version.name().to_owned()),
        starttls: options.starttls.map(|protocol| protocol.name().to_owned()),
    }
}

/// How many tickets a document says were asked for.
pub(crate) fn ticket_request(options: &Options) -> Option<TicketRequest> {
    let request = options.tls13.ticket_request.as_ref()?;
    Some(TicketRequest { new_session: request.new_session_count, resumption: request.resumption_count })
}

/// Finds out the addresses.
pub(crate) fn route(target: &Target, options: &Options, interrupt: &Interrupt) -> Result<Route, Failure> {
    let mut names = Vec::new();
    let mut find = |host: &str, port: u16| -> Result<Addresses, Failure> {
        names.push((host.to_owned(), port));
        let (addresses, _) = resolver::resolve(host, port, options.timeout, interrupt)?;
        let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, port));
        Addresses::of(addresses).ok_or_else(failure::interrupted)
    };
    let proxy = options.proxy.clone();
    let of_target = match options.resolve.or_else(|| target.address()) {
        Some(address) => Addresses::of([SocketAddr::new(address, target.port)]),
        None if proxy.as_ref().is_some_and(Proxy::resolves_names) => None,
        None => Some(find(&target.host, target.port)?),
    };
    let (addresses, target_behind_proxy) = match &proxy {
        Some(proxy) => {
            let addresses = match proxy.host.parse::<IpAddr>() {
                Ok(address) => Addresses::of([SocketAddr::new(address, proxy.port)]),
                Err(_) => Some(find(&proxy.host, proxy.port)?),
            };
            // Behind a proxy, its reach counts and not ours.
            (addresses, of_target.map(|addresses| addresses.current()))
        }
        None => (of_target, None),
    };
    Ok(Route {
        addresses: addresses.ok_or_else(failure::interrupted)?,
        names,
        target_behind_proxy,
        target: target.clone(),
        proxy,
        proxy_protocol: options.proxy_protocol,
        starttls: options.starttls,
    })
}

/// Who makes the connections.
pub(crate) fn visitor(target: &Target, options: &Options, route: Route, interrupt: &Interrupt) -> Result<Visitor, Failure> {
    let dialer = Dialer::new(interrupt.clone()).map_err(|error| route.connect_failure(&error))?;
    Ok(Visitor {
        clock: Clock::new(),
        dialer,
        interrupt: interrupt.clone(),
        route,
        application: Application::new(target, options),
        reuse: options.connections,
        timeout: options.timeout,
        ticket_wait: options.ticket_wait,
        records: false,
    })
}

/// What may be negotiated with the target.
pub(crate) struct Configs {
    /// One for each version that is asked for, the oldest first.
    pub(crate) by_version: Vec<(Version, Arc<Config>)>,
    /// Those that no flag names and of which no cipher suite is to be offered.
    pub(crate) without_suite: Vec<Version>,
    /// Offers everything that is known, spoken here or not.
    pub(crate) survey: Arc<Config>,
}

/// From the options: what was not chosen there is all that the engine speaks.
pub(crate) fn configs(target: &Target, options: &Options) -> Result<Configs, Failure> {
    let name = match &options.server_name {
        ServerName::Host => target.host.clone(),
        ServerName::Name(name) => name.clone(),
    };
    let server_name = PkiName::try_from(name.clone()).map_err(|_| {
        failure::response(
            "bad_server_name",
            format!("'{name}' is no name that a certificate can be for"),
            Some("give one with --sni NAME"),
        )
    })?;
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
    let config = |versions: Vec<Version>, survey| {
        Arc::new(Config {
            versions,
            cipher_suites: cipher_suites.clone(),
            groups: groups.clone(),
            server_name: server_name.clone(),
            sni: sni.clone(),
            alpn: alpn.clone(),
            tls13: options.tls13.clone(),
            certificates: certificates.clone(),
            identity: options.identity.clone(),
            key_shares: Arc::new(FreshKeyShares),
            entropy: Arc::new(SystemEntropy),
            key_log: options.key_log.clone(),
            survey,
            signature_schemes: reprise_engine::SIGNATURE_SCHEMES.to_vec(),
            strictness: reprise_engine::Strictness::default(),
        })
    };
    let mut versions = options.versions.clone();
    if versions.is_empty() {
        versions = options.sessions.iter().map(version_of).collect();
    }
    if versions.is_empty() {
        versions = vec![Version::Tls12, Version::Tls13];
    }
    versions.sort_unstable();
    versions.dedup();
    // A version that is named has a suite, or the engine says that it has none.
    let has_suite = |version: &Version| {
        let mut suites = cipher_suites.iter().filter_map(|&id| suite::find(id));
        !options.versions.is_empty() || suites.any(|suite| suite.version == *version)
    };
    let (versions, without_suite): (Vec<_>, Vec<_>) = versions.into_iter().partition(has_suite);
    Ok(Configs {
        without_suite,
        by_version: versions.into_iter().map(|version| (version, config(vec![version], false))).collect(),
        survey: config(vec![Version::Tls12, Version::Tls13], true),
    })
}

/// A server that refuses everything that is spoken here is shown everything that is known, so that its choice names
/// what it would have wanted.
pub(crate) fn recognise(visitor: &mut Visitor, survey: &Arc<Config>, failure: Failure, all: &mut AllConnections) -> Failure {
    if !matches!(failure.name.as_str(), "alert_handshake_failure" | "alert_protocol_version" | "alert_insufficient_security")
    {
        return failure;
    }
    let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
    let visit = visitor.visit(survey, asked, full(asked));
    count(all, &visit);
    match visit.attempt {
        Err(recognised) if recognised.name == "unspoken" => recognised,
        Ok(sample) => Failure { hint: wanted(survey, &sample.outcome).or(failure.hint), ..failure },
        _ => failure,
    }
}

/// What the server chose of all that is spoken, where it had not been offered.
fn wanted(survey: &Config, outcome: &Outcome) -> Option<String> {
    let was_offered = |name: &String| survey.groups.iter().any(|group| group.to_string() == *name);
    let group = outcome.group.as_ref().filter(|group| !was_offered(group))?;
    Some(format!("it wants the group {group}, which was not offered: --groups {group}"))
}

/// A path without its query, which may carry a token.
fn publishable(path: &str) -> String {
    match path.split_once('?') {
        Some((path, _)) => format!("{path}?<hidden>"),
        None => path.to_owned(),
    }
}
