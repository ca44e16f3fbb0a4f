//! Several servers behind one address, and one that is started anew while it is examined.

use reprise_lab::{Identity, KeyKind, Versions};
use reprise_servers::{Apache, ApacheConfig, ClientVerify, Nginx, NginxConfig, RealServer};
use reprise_servers::{Balancing, start_balancer};
use rustix::process::{Pid, Signal, kill_process};

use crate::diagnose::apache::APACHE;
use crate::diagnose::broken::{Software, Started, broken};
use crate::diagnose::nginx::NGINX;
use reprise_harness::{DEADLINE, Lab, start_redis};

const APACHE_WITH_REDIS: Software = Software { needs: &["redis-server"], ..APACHE };

/// What remedies name `ticket.key`: the same on every node.
const TICKET_KEY: [u8; 80] = [7; 80];

/// Nginx nodes with these lines and further ones of each, behind one address. Each has the certificate, which is theirs all if
/// there is but one.
fn behind_one_address(lines: &[String], identities: &[Identity], each: &[NginxConfig]) -> Started {
    dealt(Balancing::Random, lines, identities, each)
}

fn dealt(balancing: Balancing, lines: &[String], identities: &[Identity], each: &[NginxConfig]) -> Started {
    let start = |(place, own): (usize, &NginxConfig)| {
        let http_directives = format!("{}\n{}", lines.join("\n"), own.http_directives);
        let identities = vec![identities[place % identities.len()].clone()];
        let files = vec![("ticket.key", TICKET_KEY.to_vec())];
        Nginx::start(NginxConfig { http_directives, identities, files, ..own.clone() }).unwrap()
    };
    let mut nodes: Vec<Nginx> = each.iter().enumerate().map(start).collect();
    let balancer = start_balancer(nodes.iter().map(RealServer::address).collect(), balancing).unwrap();
    let address = balancer.address();
    let first: Box<dyn RealServer> = Box::new(nodes.remove(0));
    Started { address, server: Some(first), _others: vec![Box::new(nodes), Box::new(balancer)] }
}

fn alike() -> NginxConfig {
    NginxConfig::new(Vec::new())
}

fn with(http_directives: &str) -> NginxConfig {
    NginxConfig { http_directives: http_directives.to_owned(), ..alike() }
}

fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    behind_one_address(lines, &[lab.identity(KeyKind::P256)], &[alike(), alike()])
}

fn two_certificates(lab: &Lab, lines: &[String]) -> Started {
    behind_one_address(lines, &[lab.identity(KeyKind::P256), lab.identity(KeyKind::P256)], &[alike(), alike()])
}

fn two_suites(lab: &Lab, lines: &[String]) -> Started {
    let other = with("ssl_prefer_server_ciphers on;\nssl_ciphers ECDHE-ECDSA-CHACHA20-POLY1305;");
    behind_one_address(lines, &[lab.identity(KeyKind::P256)], &[alike(), other])
}

fn two_versions(lab: &Lab, lines: &[String]) -> Started {
    let older = NginxConfig { versions: Versions::Tls12, ..alike() };
    dealt(Balancing::RoundRobin, lines, &[lab.identity(KeyKind::P256)], &[alike(), older])
}

/// Two Apaches with these lines. What remedies call `HOST:6379` is a Redis for both.
fn two_apaches(lab: &Lab, lines: &[String]) -> Started {
    let identity = lab.identity(KeyKind::P256);
    let (redis, process) = start_redis(lab);
    let lines: Vec<String> = lines.iter().map(|line| line.replace("HOST:6379", &redis.to_string())).collect();
    let module = "LoadModule socache_redis_module /usr/lib/apache2/modules/mod_socache_redis.so";
    let directives = format!("{module}\n{}\n", lines.join("\n"));
    let node =
        || Apache::start(ApacheConfig { directives: directives.clone(), ..ApacheConfig::new(identity.clone()) }).unwrap();
    let nodes = [node(), node()];
    let balancer = start_balancer(nodes.iter().map(RealServer::address).collect(), Balancing::Random).unwrap();
    let address = balancer.address();
    Started { address, server: None, _others: vec![Box::new(nodes), Box::new(balancer), Box::new(process)] }
}

/// One nginx of two workers. With `reuseport` the system deals connections to them.
fn two_workers(lab: &Lab, lines: &[String]) -> Started {
    let config = NginxConfig { workers: 2, listen: vec!["reuseport".to_owned()], ..with(&lines.join("\n")) };
    Nginx::start(NginxConfig { identities: vec![lab.identity(KeyKind::P256)], ..config }).unwrap().into()
}

/// The same, and they ask clients for certificates.
fn two_workers_that_ask(lab: &Lab, lines: &[String]) -> Started {
    let client_verify = ClientVerify::Optional(lab.authority.pem());
    let config = NginxConfig { client_verify, workers: 2, listen: vec!["reuseport".to_owned()], ..with(&lines.join("\n")) };
    Nginx::start(NginxConfig { identities: vec![lab.identity(KeyKind::P256)], ..config }).unwrap().into()
}

fn nginx_of_one_key(lab: &Lab, lines: &[String]) -> Started {
    let files = vec![("ticket.key", TICKET_KEY.to_vec())];
    let identities = vec![lab.identity(KeyKind::P256)];
    Nginx::start(NginxConfig { identities, files, ..with(&lines.join("\n")) }).unwrap().into()
}

fn apache_of_one_key(lab: &Lab, lines: &[String]) -> Started {
    let files = vec![("ticket.key", TICKET_KEY[..48].to_vec())];
    let directives = format!("{}\n", lines.join("\n"));
    Apache::start(ApacheConfig { directives, files, ..ApacheConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

/// After the second full handshake it reads its configuration anew.
fn reload(started: &mut Started, signal: Signal) {
    let server = started.server.as_mut().unwrap();
    server.accounts_when(6, DEADLINE).unwrap();
    kill_process(Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap(), signal).unwrap();
}

/// Slowly enough that the next ones come after it.
const SLOWLY: &[&str] = &["--tls", "1.3", "--rate", "10", "--connections", "30"];

examined! {
    two_nginx_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &NGINX, &["# two nodes"], two_nodes).and(&["id-never-accepted"]);
    two_nginx_with_a_cache_each:
        broken("id-cache-per-process", &NGINX, &[
            "# two nodes", "ssl_session_ticket_key ticket.key;", "ssl_session_cache shared:SSL:10m;"], two_nodes)
            .beyond_directives();
    two_apaches_with_a_cache_each:
        broken("id-cache-per-process", &APACHE_WITH_REDIS, &[
            "# two nodes", "SSLSessionCache shmcb:logs/ssl_scache(512000)", "SSLSessionTickets off"], two_apaches);
    two_workers_with_a_builtin_cache_each:
        broken("id-cache-per-process", &NGINX, &[
            "# two workers", "ssl_session_cache builtin:1000;", "ssl_session_tickets off;"], two_workers);
    two_workers_of_certificates_with_a_builtin_cache_each:
        broken("id-cache-per-process", &NGINX, &[
            "# two workers, client certificates", "ssl_session_cache builtin:1000;", "ssl_session_tickets off;"], two_workers_that_ask)
            .with_certificate(20);
    two_nginx_of_different_certificates:
        broken("node-certificate-differs", &NGINX, &["# two nodes", "ssl_session_ticket_key ticket.key;"], two_certificates)
            .and(&["id-never-accepted"]);
    two_nginx_of_different_suites:
        broken("node-protocol-differs", &NGINX, &["# two nodes", "ssl_session_ticket_key ticket.key;"], two_suites)
            .and(&["id-never-accepted"]).flags(&["--tls", "1.2"]);
    two_nginx_of_different_versions:
        broken("node-protocol-differs", &NGINX, &["# one node without TLS 1.3", "ssl_session_ticket_key ticket.key;"], two_versions)
            .and(&["id-never-accepted"]);
    nginx_that_reloads_loses_its_keys:
        broken("restart-lost-keys", &NGINX, &["# reloaded"], nginx_of_one_key).flags(SLOWLY)
            .meanwhile(|started| reload(started, Signal::HUP));
    apache_that_restarts_loses_its_keys:
        broken("restart-lost-keys", &APACHE, &["# restarted"], apache_of_one_key).flags(SLOWLY)
            .meanwhile(|started| reload(started, Signal::USR1));
    apache_with_a_key_file_under_openssl_3:
        broken("ticket-key-zero", &APACHE, &["SSLSessionTicketKeyFile ticket.key"], apache_of_one_key);
}
