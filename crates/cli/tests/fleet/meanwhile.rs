//! What happens to a node while the fleet is examined.

use reprise_harness::{DEADLINE, Lab};
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer, missing};
use rustix::process::{Pid, Signal, kill_process};

use crate::examined::{Examined, addresses, prepared, read};

/// Two nginx that make their keys at their start and share nothing; the first is told `signal` once both were asked.
fn signalled(signal: Signal) -> Option<Examined> {
    if let Some(not_run) = missing("nginx") {
        not_run.announce();
        return None;
    }
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let mut nodes: Vec<Nginx> = (0..2).map(|_| Nginx::start(NginxConfig::new(vec![identity.clone()])).unwrap()).collect();
    let prepared = prepared(&lab, &addresses(&nodes), "--rate 10");
    let running = prepared.reprise.start();
    nodes[0].accounts_when(14, DEADLINE).unwrap();
    kill_process(Pid::from_raw(i32::try_from(nodes[0].pid()).unwrap()).unwrap(), signal).unwrap();
    let outcome = running.finish();
    Some(read(&prepared.file, &outcome))
}

#[test]
fn a_reload_that_loses_keys_is_seen() {
    let Some(examined) = signalled(Signal::HUP) else { return };
    let found: Vec<&str> = examined.fleet().findings.iter().map(|it| it.id.as_str()).collect();
    assert!(found.contains(&"config-rebuilt-on-reload") && found.contains(&"ticket-key-per-node"), "{}", examined.page);
    assert!(!examined.blamed().contains(&"key-propagation-skew"), "{}", examined.page);
}
