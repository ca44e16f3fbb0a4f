//! Behind a balancer: how many nodes there are is named rightly or left open, what they accept now and then is not called refused, and
//! no diagnosis takes what happened to be varied for the reason.
//!
//! `REPRISE_SEEDS=20` tries twenty orders of each instead of one or two.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test's own functions, and its figures")]

use reprise_connection::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::document::{Confidence, Finding, Provenance, Severity};
use reprise_model::{Kind, Version};
use reprise_probe::diagnose::{DiagnoseLimits, diagnose};
use reprise_probe::{CertificateTrust, Interrupt, NoObserver, Options, measure};
use reprise_results::{diagnosis, measure_document};
use reprise_servers::{Balancing, start_balancer};

/// From two series to six.
const WANTED: [(&[Version], &[Kind]); 5] = [
    (&[Version::Tls13], &[Kind::Full, Kind::Ticket]),
    (&[Version::Tls12], &[Kind::Full, Kind::Id, Kind::Ticket]),
    (&[Version::Tls12, Version::Tls13], &[Kind::Full, Kind::Ticket]),
    (&[Version::Tls12, Version::Tls13], &[Kind::Full, Kind::Id, Kind::Ticket]),
    (&[Version::Tls12, Version::Tls13], &[Kind::Full, Kind::Id, Kind::Ticket, Kind::Early]),
];

struct Fleet {
    balancer: reprise_lab::Listener,
    certificates: CertificateTrust,
    _nodes: Vec<EmbeddedServer>,
}

impl Fleet {
    /// Nodes with the same certificate and each its own ticket keys or sessions; the first takes so many connections of another's one.
    fn new(nodes: usize, first: usize, resumption: EmbeddedResumption, balancing: Balancing) -> Self {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let max_early_data = if resumption == EmbeddedResumption::Id { 4_096 } else { 0 };
        let config = EmbeddedConfig { resumption, max_early_data, ..EmbeddedConfig::new(identity) };
        let nodes: Vec<_> = (0..nodes).map(|_| EmbeddedServer::start(config.clone()).unwrap()).collect();
        let addresses = nodes.iter().enumerate().flat_map(|(place, node)| {
            let share = if place == 0 { first } else { 1 };
            std::iter::repeat_n(node.address(), share)
        });
        let certificates = CertificateTrust::Roots(vec![authority.certificate().clone()]);
        Self { balancer: start_balancer(addresses.collect(), balancing).unwrap(), certificates, _nodes: nodes }
    }

    fn target(&self) -> Target {
        format!("localhost:{}", self.balancer.address().port()).parse().unwrap()
    }

    fn diagnosed(&self) -> Vec<Finding> {
        let options = Options { certificates: self.certificates.clone(), ..Options::default() };
        let limits = DiagnoseLimits { rate: 10_000, ..DiagnoseLimits::default() };
        let examination = diagnose(&self.target(), &options, limits, &NoObserver, &|| None, &Interrupt::default());
        assert!(examination.connections <= limits.connections);
        diagnosis(&self.target(), &options, &examination, None, &Provenance::default()).findings
    }

    /// Of sixty connections of each kind.
    fn findings(&self, (versions, kinds): (&[Version], &[Kind]), seed: u64) -> Vec<Finding> {
        let target = self.target();
        let (versions, kinds) = (versions.to_vec(), kinds.to_vec());
        let certificates = self.certificates.clone();
        let options = Options { versions, kinds, count: 60, certificates, seed, ..Options::default() };
        let measurement = measure(&target, &options, &NoObserver, &Interrupt::default());
        assert_eq!(measurement.ended_by, None);
        measure_document(&target, &options, &measurement, Provenance::default()).findings
    }
}

/// The numbers of nodes that a finding names.
fn named(finding: &Finding) -> Vec<usize> {
    let words: Vec<&str> = finding.evidence.iter().flat_map(|line| line.split(' ')).collect();
    let pairs = words.windows(2).filter(|pair| pair[1] == "nodes");
    pairs.filter_map(|pair| pair[0].parse().ok()).collect()
}

fn seeds(usual: u64) -> u64 {
    std::env::var("REPRISE_SEEDS").map_or(usual, |seeds| seeds.parse().unwrap())
}

/// Of all findings about resumption, how many name the nodes; a wrong number fails.
fn named_rightly(resumption: EmbeddedResumption, balancing: Balancing) -> (usize, usize) {
    let (mut rightly, mut all) = (0, 0);
    for nodes in [2, 3, 5] {
        let fleet = Fleet::new(nodes, 1, resumption, balancing);
        for wanted in WANTED {
            for seed in 0..seeds(1) {
                let findings = fleet.findings(wanted, seed);
                let shown =
                    || format!("{nodes} nodes, {resumption:?}, {balancing:?}, {wanted:?}, seed {seed}: {findings:#?}");
                for finding in &findings {
                    let is_refusal = ["not-offered", "id-never-accepted"].contains(&finding.id.as_str());
                    let says_refused = finding.title.contains("never accepted");
                    assert!(!is_refusal || !says_refused || finding.confidence == Confidence::Possible, "{}", shown());
                    assert_ne!(finding.id, "resumed-ticket-refused", "{}", shown());
                    if ["hidden-nodes", "id-cache-per-process"].contains(&finding.id.as_str()) {
                        all += 1;
                        let named = named(finding);
                        rightly += named.len().min(1);
                        assert!(named.iter().all(|named| *named == nodes), "{}", shown());
                        let is_sure = finding.confidence == Confidence::Certain;
                        assert!(!is_sure || !named.is_empty(), "{}", shown());
                    }
                }
            }
        }
    }
    println!("{resumption:?}, {balancing:?}: {rightly} of {all} findings name the nodes");
    (rightly, all)
}

#[test]
fn nodes_taken_in_turn_are_counted_by_distance() {
    let (rightly, all) = named_rightly(EmbeddedResumption::Id, Balancing::RoundRobin);
    assert!(rightly * 2 > all, "{rightly} of {all}");
}

#[test]
fn nodes_taken_in_turn_are_counted_by_key_name() {
    let (rightly, all) = named_rightly(EmbeddedResumption::Ticket, Balancing::RoundRobin);
    assert!(rightly * 2 > all, "{rightly} of {all}");
}

#[test]
fn nodes_taken_at_random_are_left_open() {
    let (rightly, all) = named_rightly(EmbeddedResumption::Id, Balancing::Random);
    assert!(rightly == 0 && all > 0, "{rightly} of {all}");
}

#[test]
fn nodes_taken_at_random_are_counted_by_key_name() {
    let (rightly, all) = named_rightly(EmbeddedResumption::Ticket, Balancing::Random);
    assert!(rightly * 2 > all, "{rightly} of {all}");
}

/// What names as its reason a thing that an experiment varies.
const DIFFERENCES: [&str; 10] = [
    "cache-too-small",
    "client-psk-mode",
    "ech-grease-refused",
    "large-client-hello",
    "offer-breaks-connection",
    "session-too-large",
    "single-use",
    "sni-differs",
    "unclean-close-evicts",
    "vhost-directives",
];

/// Of two nodes that do not know each other's sessions, one takes so many connections of the other's one.
fn no_difference_is_blamed(resumption: EmbeddedResumption) {
    for share in [1, 2, 9, 19] {
        let fleet = Fleet::new(2, share, resumption, Balancing::Random);
        for _ in 0..seeds(2) {
            let is_of_a_difference = |it: &Finding| DIFFERENCES.contains(&it.id.as_str()) && it.severity != Severity::Note;
            let blamed: Vec<Finding> = fleet.diagnosed().into_iter().filter(is_of_a_difference).collect();
            println!("{resumption:?}, {share} to 1: {} blame a difference", blamed.len());
            assert!(blamed.iter().all(|finding| finding.confidence == Confidence::Possible), "{blamed:#?}");
        }
    }
}

#[test]
fn sessions_unknown_to_a_node_are_not_lost_to_a_variation() {
    no_difference_is_blamed(EmbeddedResumption::Id);
}

#[test]
fn tickets_that_a_node_cannot_open_are_not_lost_to_a_variation() {
    no_difference_is_blamed(EmbeddedResumption::Ticket);
}
