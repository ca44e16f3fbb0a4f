//! What happens to a node while the fleet is examined.

use std::path::PathBuf;

use reprise_harness::{DEADLINE, Lab};
use reprise_lab::{Identity, KeyKind};
use reprise_servers::{Go, GoConfig, GoProgram, Nginx, NginxConfig, RealServer};
use rustix::process::{Pid, Signal, kill_process};

use crate::fleet::examined::{Examined, SHARED_KEY, addresses, prepared, read};

/// So many connections has the first node seen when something happens to it: each mechanism was tried, and not all is over.
const BEFORE: usize = 14;

/// Examines these nodes; once the first was asked for a while, `happens`.
fn examined_while<S: RealServer>(lab: &Lab, mut nodes: Vec<S>, happens: impl FnOnce(&mut Vec<S>)) -> Examined {
    let prepared = prepared(lab, &addresses(&nodes), "--rate 10");
    let running = prepared.reprise.start();
    nodes[0].accounts_when(BEFORE, DEADLINE).unwrap();
    happens(&mut nodes);
    let outcome = running.finish();
    read(&prepared.file, &outcome)
}

fn hang_up(server: &impl RealServer) {
    kill_process(Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap(), Signal::HUP).unwrap();
}

/// Its key is made at its start.
fn with_a_key_of_its_own(identity: &Identity) -> NginxConfig {
    NginxConfig::new(vec![identity.clone()])
}

/// It seals with the first key of these files and accepts the others.
fn with_keys(identity: &Identity, files: &[&PathBuf]) -> NginxConfig {
    let lines = files.iter().map(|file| format!("ssl_session_ticket_key {};\n", file.display()));
    NginxConfig { http_directives: lines.collect(), ..NginxConfig::new(vec![identity.clone()]) }
}

const NEW_KEY: [u8; 80] = [8; 80];

/// Keys of its own at a reload: what else is found is that the nodes never shared.
fn assert_reload_is_seen(examined: &Examined) {
    let found: Vec<&str> = examined.fleet().findings.iter().map(|it| it.id.as_str()).collect();
    assert!(found.contains(&"config-rebuilt-on-reload"), "{}", examined.page);
    assert_eq!(examined.blamed(), ["ticket-key-per-node"], "{}", examined.page);
}

#[test]
fn a_reload_of_nginx_that_loses_keys_is_seen() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = (0..2).map(|_| Nginx::start(with_a_key_of_its_own(&identity)).unwrap()).collect();
    assert_reload_is_seen(&examined_while(&lab, nodes, |nodes| hang_up(&nodes[0])));
}

/// Its tickets name no key.
#[test]
fn a_reload_of_go_that_loses_keys_is_seen() {
    reprise_servers::require!("go");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let program = GoProgram::build_with(&["rebuildOnHangup(config)".to_owned()]).unwrap();
    let nodes = (0..2).map(|_| Go::start(GoConfig::new(&program, identity.clone())).unwrap()).collect();
    assert_reload_is_seen(&examined_while(&lab, nodes, |nodes| hang_up(&nodes[0])));
}

#[test]
fn a_restart_that_loses_keys_is_seen() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = (0..2).map(|_| Nginx::start(with_a_key_of_its_own(&identity)).unwrap()).collect();
    let examined = examined_while(&lab, nodes, |nodes: &mut Vec<Nginx>| {
        let port = nodes.remove(0).address().port();
        // While it is away, it is asked in vain: it takes turns with the other.
        let asked = nodes[0].accounts().unwrap().len();
        nodes[0].accounts_when(asked + 3, DEADLINE).unwrap();
        nodes.push(Nginx::start(NginxConfig { port: Some(port), ..with_a_key_of_its_own(&identity) }).unwrap());
    });
    assert_eq!(examined.blamed(), ["ticket-key-per-node", "restart-lost-keys"], "{}", examined.page);
}

#[test]
fn a_key_replaced_without_the_old_one_is_seen() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let key = lab.file("ticket.key", SHARED_KEY);
    let nodes = (0..3).map(|_| Nginx::start(with_keys(&identity, &[&key])).unwrap()).collect();
    let examined = examined_while(&lab, nodes, |nodes: &mut Vec<Nginx>| {
        std::fs::write(&key, NEW_KEY).unwrap();
        nodes.iter().for_each(hang_up);
    });
    assert_eq!(examined.blamed(), ["rotation-no-overlap"], "{}", examined.page);
    assert_eq!(examined.group_sizes(), [3], "{}", examined.page);
}

#[test]
fn a_key_that_reaches_a_node_late_is_seen() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let [old, new] = [("old.key", SHARED_KEY), ("new.key", NEW_KEY)].map(|(name, key)| lab.file(name, key));
    let late = lab.file("late.key", SHARED_KEY);
    let nodes = [&late, &new, &new].map(|first| Nginx::start(with_keys(&identity, &[first, &old])).unwrap()).into();
    let examined = examined_while(&lab, nodes, |nodes: &mut Vec<Nginx>| {
        std::fs::write(&late, NEW_KEY).unwrap();
        hang_up(&nodes[0]);
    });
    assert_eq!(examined.blamed(), ["key-propagation-skew"], "{}", examined.page);
}

#[test]
fn a_node_that_dies_is_down() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let key = lab.file("ticket.key", SHARED_KEY);
    let nodes = (0..3).map(|_| Nginx::start(with_keys(&identity, &[&key])).unwrap()).collect();
    let examined = examined_while(&lab, nodes, |nodes: &mut Vec<Nginx>| drop(nodes.remove(0)));
    assert_eq!((examined.blamed(), examined.code), (vec!["node-down"], 1), "{}", examined.page);
    assert!((examined.fleet().shared.unwrap() - 4.0 / 9.0).abs() < 1e-9, "{}", examined.page);
}
