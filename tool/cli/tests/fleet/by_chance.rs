//! Fleets drawn by chance: groups are those that share a key, nothing that is certain is untrue, and what is wrong is found.

use std::collections::BTreeSet;

use reprise_harness::{Lab, drawn};
use reprise_lab::{Identity, KeyKind, Versions};
use reprise_model::document::{Confidence, Severity};
use reprise_servers::{ClientVerify, Nginx, NginxConfig, RealServer};

use crate::fleet::apart::nginx;
use crate::fleet::examined::examine;

/// What is drawn of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Oddity {
    None,
    Certificate,
    OnlyTls12,
    AsksForCertificate,
    Down,
}

use Oddity::{AsksForCertificate, Certificate, Down, OnlyTls12};

impl Oddity {
    /// What is to be found of such a node in a fleet of others.
    fn cause(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Certificate => Some("node-certificate-differs"),
            OnlyTls12 => Some("node-protocol-differs"),
            AsksForCertificate => Some("client-policy-changed"),
            Down => Some("node-down"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Drawn {
    key: u8,
    oddity: Oddity,
}

/// Most nodes share a key and are alike; at most one is odd.
fn some_fleet(seed: u64) -> Vec<Drawn> {
    let seed = seed * 1000;
    let count = drawn(&[2, 3, 3, 4, 5, 6, 8], seed);
    let keys: &[u8] = drawn(&[&[0], &[0], &[0, 0, 0, 1], &[0, 1], &[0, 1, 2, 3, 4, 5, 6]], seed + 1);
    let oddity = drawn(&[Oddity::None, Oddity::None, Certificate, OnlyTls12, AsksForCertificate, Down], seed + 2);
    let odd = drawn(&[0, 1], seed + 3);
    let node = |place: usize| {
        // Of two nodes, neither is the odd one.
        let oddity = if place == odd && count > 2 { oddity } else { Oddity::None };
        Drawn { key: drawn(keys, seed + 10 + place as u64), oddity }
    };
    (0..count).map(node).collect()
}

fn config(lab: &Lab, identity: &Identity, node: Drawn) -> NginxConfig {
    let plain = nginx(identity, node.key);
    match node.oddity {
        Oddity::None | Down => plain,
        Certificate => nginx(&lab.identity(KeyKind::P256), node.key),
        OnlyTls12 => NginxConfig { versions: Versions::Tls12, ..plain },
        AsksForCertificate => NginxConfig { client_verify: ClientVerify::Optional(lab.authority.pem()), ..plain },
    }
}

/// The sizes of the groups that share TLS 1.3 tickets, the largest first. A node that is down is in none.
fn sizes(nodes: &[Drawn]) -> Vec<usize> {
    let mut left: Vec<Drawn> = nodes.iter().copied().filter(|node| node.oddity != Down).collect();
    let mut sizes = Vec::new();
    while let Some(first) = left.first().copied() {
        let (group, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|it| *it == first);
        sizes.push(group.len());
        left = others;
    }
    sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
    sizes
}

fn causes(nodes: &[Drawn]) -> BTreeSet<&'static str> {
    let of_up = |node: &&Drawn| node.oddity != Down;
    let keys: BTreeSet<u8> = nodes.iter().filter(of_up).map(|node| node.key).collect();
    let keys = (keys.len() > 1).then_some("ticket-key-per-node");
    keys.into_iter().chain(nodes.iter().filter_map(|node| node.oddity.cause())).collect()
}

/// What is wrong with what is said of this fleet; `None` where nothing is.
fn wrong(seed: u64) -> Option<String> {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = some_fleet(seed);
    let servers: Vec<Nginx> = nodes.iter().map(|node| Nginx::start(config(&lab, &identity, *node)).unwrap()).collect();
    let addresses: Vec<_> = servers.iter().map(RealServer::address).collect();
    let up = servers.into_iter().zip(&nodes).filter(|(_, node)| node.oddity != Down);
    let _up: Vec<Nginx> = up.map(|(server, _)| server).collect();

    let examined = examine(&lab, &addresses, "--rate 500");
    let findings = || examined.document.findings().map(|(_, it)| it).filter(|it| it.severity != Severity::Note);
    let certain: BTreeSet<&str> =
        findings().filter(|it| it.confidence == Confidence::Certain).map(|it| it.id.as_str()).collect();
    // What another key hides is a note.
    let told: BTreeSet<&str> = examined.document.findings().map(|(_, it)| it.id.as_str()).collect();
    let truth = causes(&nodes);
    let is_true = certain.is_subset(&truth) && truth.is_subset(&told);
    let is_grouped = examined.group_sizes() == sizes(&nodes);
    (!is_true || !is_grouped).then(|| {
        let (sizes, groups) = (sizes(&nodes), examined.group_sizes());
        format!("seed {seed}: {nodes:?}\n{truth:?} and {sizes:?}, but {told:?} and {groups:?}\n{}", examined.page)
    })
}

fn examine_seeds(seeds: std::ops::Range<u64>) {
    let wrong: Vec<String> = seeds.filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn what_is_certain_of_some_fleets_is_true() {
    reprise_servers::require!("nginx");
    examine_seeds(0..4);
}

#[test]
#[ignore = "takes minutes: `just full`"]
fn what_is_certain_of_a_hundred_fleets_is_true() {
    reprise_servers::require!("nginx");
    examine_seeds(4..104);
}
