//! The servers and the settings that each has.

use std::fmt;
use std::sync::Arc;

use reprise_lab::{EmbeddedConfig, EmbeddedResumption, EmbeddedServer, Identity};
use reprise_servers::{
    Apache, ApacheConfig, GnutlsServ, GnutlsServConfig, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Java, JavaConfig,
    Nginx, NginxConfig, NodeConfig, NodeJs, RealServer, SServer, SServerConfig, SessionCache, missing,
};

use super::beyond::{Beyond, PSK};
use reprise_harness::{locked_version, version};

/// A server and every setting of it that resumption depends on.
pub(super) struct Subject {
    pub(super) name: &'static str,
    /// The programs without which it cannot run.
    pub(super) needs: &'static [&'static str],
    pub(super) version: String,
    pub(super) settings: Vec<Setting>,
    /// How it is started for what it does only when told to.
    pub(super) beyond: Vec<(Beyond, Start)>,
}

impl Subject {
    fn told<Server: RealServer + 'static>(
        mut self,
        beyond: Beyond,
        start: fn(&Identity) -> reprise_servers::Result<Server>,
    ) -> Self {
        self.beyond.push((beyond, Box::new(move |identity| Box::new(start(identity).unwrap()))));
        self
    }
}

/// One setting of a server, and how to start it so.
pub(super) struct Setting {
    /// Whether the server stores sessions.
    pub(super) cache: Switch,
    /// Whether it seals them into tickets.
    pub(super) tickets: Switch,
    pub(super) start: Start,
}

pub(super) type Start = Box<dyn Fn(&Identity) -> Box<dyn RealServer> + Send + Sync>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Switch {
    Off,
    On,
    /// The server has nothing to switch.
    None,
}

impl From<bool> for Switch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::None => "–",
        })
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "(cache {}, tickets {})", self.cache, self.tickets)
    }
}

/// Every server, in the order of the table.
pub(super) fn all() -> Vec<Subject> {
    vec![
        subject("nginx", &["nginx"], "-v", |identity, cache, tickets| {
            let session_cache = if cache { SessionCache::Shared("1m".to_owned()) } else { SessionCache::Off };
            let config = NginxConfig::new(vec![identity.clone()]);
            Nginx::start(NginxConfig { session_cache, session_tickets: tickets, ..config })
        })
        .told(Beyond::PskKe, |identity| {
            let server_directives = "ssl_conf_command Options AllowNoDHEKEX;".to_owned();
            Nginx::start(NginxConfig { server_directives, ..NginxConfig::new(vec![identity.clone()]) })
        })
        .told(Beyond::Early, |identity| {
            Nginx::start(NginxConfig { early_data: true, ..NginxConfig::new(vec![identity.clone()]) })
        }),
        subject("Apache", &["apache2"], "-v", |identity, session_cache, session_tickets| {
            Apache::start(ApacheConfig { session_cache, session_tickets, ..ApacheConfig::new(identity.clone()) })
        })
        .told(Beyond::PskKe, |identity| {
            let directives = "SSLOpenSSLConfCmd Options AllowNoDHEKEX\n".to_owned();
            Apache::start(ApacheConfig { directives, ..ApacheConfig::new(identity.clone()) })
        }),
        subject("HAProxy", &["haproxy"], "-v", |identity, cache, session_tickets| {
            let cache_size = if cache { 20_000 } else { 0 };
            HaProxy::start(HaProxyConfig { cache_size, session_tickets, ..HaProxyConfig::new(identity.clone()) })
        })
        .told(Beyond::Early, |identity| {
            HaProxy::start(HaProxyConfig { early_data: true, ..HaProxyConfig::new(identity.clone()) })
        }),
        subject("OpenSSL s_server", &["openssl"], "version", |identity, cache, tickets| {
            SServer::start(SServerConfig { cache, tickets, ..SServerConfig::new(vec![identity.clone()]) })
        })
        .told(Beyond::PskKe, |identity| {
            let extra = vec!["-allow_no_dhe_kex".to_owned()];
            SServer::start(SServerConfig { extra, ..SServerConfig::new(vec![identity.clone()]) })
        })
        .told(Beyond::Psk, |identity| {
            SServer::start(SServerConfig { psk: psk(), ..SServerConfig::new(vec![identity.clone()]) })
        }),
        subject("gnutls-serv", &["gnutls-serv"], "--version", |identity, session_database, session_tickets| {
            let config = GnutlsServConfig::new(identity.clone());
            GnutlsServ::start(GnutlsServConfig { session_database, session_tickets, ..config })
        })
        .told(Beyond::PskKe, |identity| {
            let priority = ":+PSK".to_owned();
            GnutlsServ::start(GnutlsServConfig { priority, ..GnutlsServConfig::new(identity.clone()) })
        })
        .told(Beyond::Psk, |identity| {
            let priority = ":+ECDHE-PSK".to_owned();
            GnutlsServ::start(GnutlsServConfig { psk: psk(), priority, ..GnutlsServConfig::new(identity.clone()) })
        }),
        rustls()
            .told(Beyond::Early, |identity| {
                let config = EmbeddedConfig { resumption: EmbeddedResumption::Id, ..EmbeddedConfig::new(identity.clone()) };
                Ok(EmbeddedServer::start(EmbeddedConfig { max_early_data: 4096, ..config })?)
            })
            .told(Beyond::TicketRequest, |identity| {
                let config =
                    EmbeddedConfig { resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity.clone()) };
                Ok(EmbeddedServer::start(EmbeddedConfig { most_tickets: 8, ..config })?)
            }),
        go(),
        subject("Node", &["node"], "--version", |identity, session_store, session_tickets| {
            NodeJs::start(NodeConfig { session_store, session_tickets, ..NodeConfig::new(identity.clone()) })
        })
        .told(Beyond::PskKe, |identity| {
            NodeJs::start(NodeConfig { allow_no_dhe_kex: true, ..NodeConfig::new(identity.clone()) })
        })
        .told(Beyond::Psk, |identity| NodeJs::start(NodeConfig { psk: psk(), ..NodeConfig::new(identity.clone()) })),
        subject("Java", &["java", "javac"], "-version", |identity, session_cache, session_tickets| {
            Java::start(JavaConfig { session_cache, session_tickets, ..JavaConfig::new(identity.clone()) })
        }),
    ]
}

fn psk() -> Option<(String, String)> {
    Some((PSK.0.to_owned(), PSK.1.to_owned()))
}

/// A server that has a cache and tickets, each on or off by itself.
fn subject<Server: RealServer + 'static>(
    name: &'static str,
    needs: &'static [&'static str],
    version_argument: &str,
    start: fn(&Identity, bool, bool) -> reprise_servers::Result<Server>,
) -> Subject {
    let switches = [(false, false), (true, false), (false, true), (true, true)];
    let settings = switches.map(|(cache, tickets)| Setting {
        cache: cache.into(),
        tickets: tickets.into(),
        start: Box::new(move |identity| Box::new(start(identity, cache, tickets).unwrap())),
    });
    Subject { name, needs, version: version(needs[0], &[version_argument]), settings: settings.into(), beyond: Vec::new() }
}

/// The embedded server has one or the other.
fn rustls() -> Subject {
    let ways = [
        (false, false, EmbeddedResumption::Off),
        (true, false, EmbeddedResumption::Id),
        (false, true, EmbeddedResumption::Ticket),
    ];
    let settings = ways.map(|(cache, tickets, resumption)| {
        let start: Start = Box::new(move |identity| {
            let config = EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity.clone()) };
            Box::new(EmbeddedServer::start(config).unwrap())
        });
        Setting { cache: cache.into(), tickets: tickets.into(), start }
    });
    Subject { name: "rustls", needs: &[], version: locked_version("rustls"), settings: settings.into(), beyond: Vec::new() }
}

/// Go has tickets alone; the program is built once.
fn go() -> Subject {
    const NEEDS: &[&str] = &["go"];
    let program = missing(NEEDS[0]).is_none().then(|| Arc::new(GoProgram::build().unwrap()));
    let settings = program.into_iter().flat_map(|program| {
        [false, true].map(|session_tickets| {
            let program = Arc::clone(&program);
            let start: Start = Box::new(move |identity| {
                let config = GoConfig { session_tickets, ..GoConfig::new(&program, identity.clone()) };
                Box::new(Go::start(config).unwrap())
            });
            Setting { cache: Switch::None, tickets: session_tickets.into(), start }
        })
    });
    Subject {
        name: "Go",
        needs: NEEDS,
        version: version(NEEDS[0], &["version"]),
        settings: settings.collect(),
        beyond: Vec::new(),
    }
}
