//! Fleets that share: nothing is said against them.

use reprise_harness::Lab;
use reprise_lab::{EmbeddedConfig, EmbeddedServer, KeyKind, Resumption};
use reprise_servers::{
    Apache, ApacheConfig, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Nginx, NginxConfig, SessionCache, missing,
};

use crate::examined::{SHARED_KEY, addresses, examine};

/// As HAProxy reads them: three lines of Base64 of 80 bytes.
pub(crate) fn haproxy_keys(byte: u8) -> String {
    use std::fmt::Write as _;
    (0..3).fold(String::new(), |mut keys, nth| {
        let _ = writeln!(keys, "{}", base64(&[byte + nth; 80]));
        keys
    })
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let all = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        let kept = group.len() + 1;
        all.into_iter().enumerate().map(move |(place, digit)| if place < kept { digit } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn eight_nginx_that_share_their_key() {
    if let Some(not_run) = missing("nginx") {
        return not_run.announce();
    }
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let start = |_| {
        Nginx::start(NginxConfig {
            http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
            files: vec![("ticket.key", SHARED_KEY.to_vec())],
            session_cache: SessionCache::Shared("1m".to_owned()),
            ..NginxConfig::new(vec![identity.clone()])
        })
        .unwrap()
    };
    let nodes: Vec<Nginx> = (0..8).map(start).collect();
    let examined = examine(&lab, &addresses(&nodes), "");
    examined.assert_healthy(8);
    let fleet = examined.fleet();
    assert!(fleet.connections <= 600 && fleet.seconds < 30.0, "{} in {} s", fleet.connections, fleet.seconds);
    assert!(fleet.matrix.iter().all(|cell| cell.offered >= 3), "{:?}", fleet.matrix);
    assert_eq!(fleet.matrix.len(), 3 * 64);
    assert!(examined.page.contains("All 8 nodes share their sessions"), "{}", examined.page);
}

#[test]
fn three_haproxy_that_share_their_keys() {
    if let Some(not_run) = missing("haproxy") {
        return not_run.announce();
    }
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let keys = lab.file("ticket.keys", haproxy_keys(1));
    let bind = format!("tls-ticket-keys {}", keys.display());
    let start = |_| HaProxy::start(HaProxyConfig { bind: bind.clone(), ..HaProxyConfig::new(identity.clone()) }).unwrap();
    let nodes: Vec<HaProxy> = (0..3).map(start).collect();
    examine(&lab, &addresses(&nodes), "").assert_healthy(3);
}

#[test]
fn two_apache_that_share_their_key() {
    if let Some(not_run) = missing("apache2") {
        return not_run.announce();
    }
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let start = |_| {
        let files = vec![("ticket.key", SHARED_KEY[..48].to_vec())];
        let directives = "SSLSessionTicketKeyFile ticket.key\n".to_owned();
        Apache::start(ApacheConfig { directives, files, ..ApacheConfig::new(identity.clone()) }).unwrap()
    };
    let nodes: Vec<Apache> = (0..2).map(start).collect();
    examine(&lab, &addresses(&nodes), "").assert_healthy(2);
}

#[test]
fn five_go_that_share_their_key() {
    if let Some(not_run) = missing("go") {
        return not_run.announce();
    }
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let program = GoProgram::build_with(&["config.SetSessionTicketKeys([][32]byte{{1, 2, 3}})".to_owned()]).unwrap();
    let nodes: Vec<Go> = (0..5).map(|_| Go::start(&program, GoConfig::new(identity.clone())).unwrap()).collect();
    examine(&lab, &addresses(&nodes), "").assert_healthy(5);
}

#[test]
fn three_rustls_that_share_store_and_keys() {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
    let start = |_| {
        let ticketer = Some(ticketer.clone());
        EmbeddedServer::start(EmbeddedConfig {
            ticketer,
            resumption: Resumption::Ticket,
            ..EmbeddedConfig::new(identity.clone())
        })
        .unwrap()
    };
    let nodes: Vec<EmbeddedServer> = (0..3).map(start).collect();
    examine(&lab, &addresses(&nodes), "").assert_healthy(3);
}
