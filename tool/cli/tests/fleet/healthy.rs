//! Fleets that share: nothing is said against them. Two of each program that share by what is printed are in `remedies`.

use reprise_harness::{Lab, start_redis};
use reprise_lab::{EmbeddedConfig, EmbeddedResumption, EmbeddedServer, Identity, KeyKind};
use reprise_servers::{
    Apache, ApacheConfig, Go, GoConfig, GoProgram, HaProxy, HaProxyConfig, Nginx, NginxConfig, Process, RealServer,
    SessionCache, missing,
};

use crate::fleet::examined::{SHARED_KEY, addresses, examine};

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

fn some_nginx(identity: &Identity, count: usize) -> Vec<Nginx> {
    let start = |_| {
        Nginx::start(NginxConfig {
            http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
            files: vec![("ticket.key", SHARED_KEY.to_vec())],
            session_cache: SessionCache::Shared("1m".to_owned()),
            ..NginxConfig::new(vec![identity.clone()])
        })
        .unwrap()
    };
    (0..count).map(start).collect()
}

fn some_haproxy(lab: &Lab, identity: &Identity, count: usize) -> Vec<HaProxy> {
    let keys = lab.file("ticket.keys", haproxy_keys(1));
    let bind = format!("tls-ticket-keys {}", keys.display());
    let start = |_| HaProxy::start(HaProxyConfig { bind: bind.clone(), ..HaProxyConfig::new(identity.clone()) }).unwrap();
    (0..count).map(start).collect()
}

/// Over one Redis, which stays until the nodes are gone.
fn some_apache(lab: &Lab, identity: &Identity, count: usize) -> (Vec<Apache>, Process) {
    let (redis, process) = start_redis(lab);
    let start = |_| apache(identity, &format!("SSLSessionTickets off\nSSLSessionCache redis:{redis}"));
    ((0..count).map(start).collect(), process)
}

/// With a module that lets it keep sessions in Redis, and these directives.
pub(crate) fn apache(identity: &Identity, directives: &str) -> Apache {
    let module = "LoadModule socache_redis_module /usr/lib/apache2/modules/mod_socache_redis.so";
    let directives = format!("{module}\n{directives}\n");
    Apache::start(ApacheConfig { directives, ..ApacheConfig::new(identity.clone()) }).unwrap()
}

fn some_go(identity: &Identity, count: usize) -> Vec<Go> {
    let program = GoProgram::build_with(&["config.SetSessionTicketKeys([][32]byte{{1, 2, 3}})".to_owned()]).unwrap();
    (0..count).map(|_| Go::start(GoConfig::new(&program, identity.clone())).unwrap()).collect()
}

#[test]
fn eight_nginx_that_share_their_key() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nodes = some_nginx(&lab.identity(KeyKind::P256), 8);
    let examined = examine(&lab, &addresses(&nodes), "");
    examined.assert_healthy(8);
    let fleet = examined.fleet();
    assert!(fleet.connections <= 600 && fleet.seconds < 30.0, "{} in {} s", fleet.connections, fleet.seconds);
    assert!(fleet.matrix.iter().all(|cell| cell.offered >= 3), "{:?}", fleet.matrix);
    assert_eq!(fleet.matrix.len(), 3 * 64);
    assert!(examined.page.contains("All 8 nodes share their sessions"), "{}", examined.page);
}

/// Whatever was tried until then.
#[test]
fn an_examination_that_is_cut_short_accuses_no_node_that_shares() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nodes = some_nginx(&lab.identity(KeyKind::P256), 3);
    for connections in (4..40).step_by(6) {
        let examined = examine(&lab, &addresses(&nodes), &format!("--rate 500 --connections {connections}"));
        let fleet = examined.fleet();
        assert!(fleet.incomplete && examined.code == 0, "{}", examined.page);
        assert!(fleet.verdict.starts_with("Incomplete: "), "{}", fleet.verdict);
        let accuses = ["alone", "No node accepts", "among themselves"].iter().any(|words| fleet.verdict.contains(words));
        assert!(!accuses, "{}", examined.page);
    }
}

#[test]
#[ignore = "takes minutes: `just full`"]
fn fleets_that_share_are_healthy_ten_times_of_ten() {
    for program in ["nginx", "haproxy", "apache2", "go"] {
        if let Some(not_run) = missing(program) {
            not_run.announce();
            continue;
        }
        for count in [2, 3, 5] {
            let lab = Lab::new();
            let identity = lab.identity(KeyKind::P256);
            let mut others = Vec::new();
            let nodes: Vec<Box<dyn RealServer>> = match program {
                "nginx" => some_nginx(&identity, count).into_iter().map(boxed).collect(),
                "haproxy" => some_haproxy(&lab, &identity, count).into_iter().map(boxed).collect(),
                "apache2" => {
                    let (nodes, redis) = some_apache(&lab, &identity, count);
                    others.push(redis);
                    nodes.into_iter().map(boxed).collect()
                }
                _ => some_go(&identity, count).into_iter().map(boxed).collect(),
            };
            let addresses: Vec<_> = nodes.iter().map(|node| node.address()).collect();
            for _ in 0..10 {
                examine(&lab, &addresses, "").assert_healthy(count);
            }
        }
    }
}

fn boxed<S: RealServer + 'static>(server: S) -> Box<dyn RealServer> {
    Box::new(server)
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
            resumption: EmbeddedResumption::Ticket,
            ..EmbeddedConfig::new(identity.clone())
        })
        .unwrap()
    };
    let nodes: Vec<EmbeddedServer> = (0..3).map(start).collect();
    examine(&lab, &addresses(&nodes), "").assert_healthy(3);
}
