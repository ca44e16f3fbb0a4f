//! The servers that every client goes to.

use std::net::SocketAddr;

use reprise_lab::{EmbeddedResumption, EmbeddedServer, KeyKind};
use reprise_servers::{
    ClientVerify, GnutlsServ, GnutlsServConfig, Nginx, NginxConfig, RealServer, SServer, SServerConfig, SessionCache,
};

use reprise_harness::Lab;

/// Where a server is and what matters to the choice of offers.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) asks_for_certificate: bool,
    pub(crate) resumes: bool,
    pub(crate) early_data: bool,
}

/// All of them, running.
pub(crate) struct Servers {
    all: Vec<Server>,
    _running: Vec<Box<dyn RealServer>>,
}

impl Servers {
    /// What tells stacks apart: tickets and session IDs, RSA and ECDSA, a server that asks for certificates, one
    /// that resumes nothing, one that knows no extended_master_secret, and two that take early data.
    pub(crate) fn start(lab: &Lab) -> Self {
        let both = || vec![lab.identity(KeyKind::Rsa2048), lab.identity(KeyKind::P256)];
        let tickets = Nginx::start(NginxConfig::new(both())).unwrap();
        let ids = Nginx::start(NginxConfig {
            session_tickets: false,
            session_cache: SessionCache::Shared("1m".to_owned()),
            client_verify: ClientVerify::Optional(lab.authority.pem()),
            ..NginxConfig::new(both())
        })
        .unwrap();
        let gnutls = GnutlsServ::start(GnutlsServConfig::new(lab.identity(KeyKind::P256))).unwrap();
        let legacy = GnutlsServ::start(GnutlsServConfig {
            priority: ":%NO_SESSION_HASH".to_owned(),
            ..GnutlsServConfig::new(lab.identity(KeyKind::Rsa2048))
        })
        .unwrap();
        let off = SServer::start(SServerConfig {
            tickets: false,
            cache: false,
            num_tickets: Some(0),
            ..SServerConfig::new(vec![lab.identity(KeyKind::P384)])
        })
        .unwrap();
        let rustls = lab.server(EmbeddedResumption::Ticket);
        let nginx_early =
            Nginx::start(NginxConfig { early_data: true, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) }).unwrap();
        let rustls_early = lab.server_with(|config| {
            config.resumption = EmbeddedResumption::Id;
            config.max_early_data = 16_384;
        });

        let server = |name, address| Server { name, address, asks_for_certificate: false, resumes: true, early_data: false };
        let all = vec![
            server("nginx, tickets", tickets.address()),
            Server { asks_for_certificate: true, ..server("nginx, IDs, client certificates", ids.address()) },
            server("gnutls-serv", gnutls.address()),
            server("gnutls-serv without extended_master_secret", legacy.address()),
            Server { resumes: false, ..server("s_server, no resumption", off.address()) },
            server("rustls, tickets", EmbeddedServer::address(&rustls)),
            Server { early_data: true, ..server("nginx, early data", nginx_early.address()) },
            Server { early_data: true, ..server("rustls, early data", EmbeddedServer::address(&rustls_early)) },
        ];
        let running: Vec<Box<dyn RealServer>> = vec![
            Box::new(nginx_early),
            Box::new(rustls_early),
            Box::new(tickets),
            Box::new(ids),
            Box::new(gnutls),
            Box::new(legacy),
            Box::new(off),
            Box::new(rustls),
        ];
        Self { all, _running: running }
    }

    pub(crate) fn all(&self) -> &[Server] {
        &self.all
    }
}
