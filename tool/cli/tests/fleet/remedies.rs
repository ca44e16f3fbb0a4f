//! What is printed for nodes that do not share, done on each of them: afterwards they share.

use reprise_harness::{Lab, start_redis};
use reprise_lab::{Identity, KeyKind};
use reprise_servers::{
    Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Nginx, NginxConfig, NodeConfig, NodeJs, RealServer, require,
};

use crate::fleet::examined::{SHARED_KEY, addresses, examine};
use crate::fleet::healthy::{apache, haproxy_keys};

/// Two nodes as `start` makes them without a remedy and with it.
fn repairs<S: RealServer>(software: &str, remedy: &str, start: impl Fn(&Lab, &Identity, &str) -> S) {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let examined_with = |remedy: &str| {
        let nodes: Vec<S> = (0..2).map(|_| start(&lab, &identity, remedy)).collect();
        examine(&lab, &addresses(&nodes), "")
    };
    let apart = examined_with("");
    assert_eq!(apart.blamed()[0], "ticket-key-per-node", "{}", apart.page);
    let mut printed = apart.fleet().findings[0].remedies.iter().filter(|it| it.software.as_deref() == Some(software));
    assert!(printed.any(|it| it.text.starts_with(remedy)), "{:?}", apart.fleet().findings[0].remedies);
    examined_with(remedy).assert_healthy(2);
}

#[test]
fn of_nginx() {
    require!("nginx");
    repairs("nginx", "ssl_session_ticket_key ticket.key;", |_, identity, remedy| {
        let files = vec![("ticket.key", SHARED_KEY.to_vec())];
        let http_directives = remedy.to_owned();
        Nginx::start(NginxConfig { http_directives, files, ..NginxConfig::new(vec![identity.clone()]) }).unwrap()
    });
}

#[test]
fn of_haproxy() {
    require!("haproxy");
    repairs("HAProxy", "tls-ticket-keys ticket.keys", |lab, identity, remedy| {
        let keys = lab.file("ticket.keys", haproxy_keys(1));
        let bind = remedy.replace("ticket.keys", &keys.display().to_string());
        HaProxy::start(HaProxyConfig { bind, ..HaProxyConfig::new(identity.clone()) }).unwrap()
    });
}

#[test]
fn of_apache() {
    require!("apache2", "redis-server");
    let lab = Lab::new();
    let (redis, _process) = start_redis(&lab);
    repairs("Apache", "SSLSessionTickets off and SSLSessionCache redis:HOST:6379", |_, identity, remedy| {
        apache(identity, &remedy.replace(" and ", "\n").replace("HOST:6379", &redis.to_string()))
    });
}

#[test]
fn of_go() {
    require!("go");
    repairs("Go", "config.SetSessionTicketKeys(keys)", |_, identity, remedy| {
        let statements = [format!("keys := [][32]byte{{{{1, 2, 3}}}}; _ = keys; {remedy}")];
        Go::start(GoConfig::new(&GoProgram::build_with(&statements).unwrap(), identity.clone())).unwrap()
    });
}

#[test]
fn of_node() {
    require!("node");
    repairs("Node", "ticketKeys: keys, sessionIdContext: 'app'", |_, identity, remedy| {
        let options = remedy.replace(": keys", ": Buffer.alloc(48, 7)");
        NodeJs::start(NodeConfig { options, ..NodeConfig::new(identity.clone()) }).unwrap()
    });
}
