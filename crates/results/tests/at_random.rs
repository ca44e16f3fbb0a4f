//! Where sessions are refused by chance, no diagnosis takes what happened to be varied for the reason.
//!
//! `REPRISE_SEEDS=20` examines each fleet twenty times instead of twice.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test's own functions, and its figures")]

use reprise_connection::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec};
use reprise_model::document::{Confidence, Finding, Provenance, Severity};
use reprise_probe::diagnose::{Limits, diagnose};
use reprise_probe::{Certificates, Interrupt, Options, Silent};
use reprise_results::diagnosis;
use reprise_servers::{Balancing, start_balancer};

/// What names as its reason a thing that an experiment varies.
const DIFFERENCES: [&str; 9] = [
    "cache-too-small",
    "client-psk-mode",
    "large-client-hello",
    "offer-breaks-connection",
    "session-too-large",
    "single-use",
    "sni-differs",
    "unclean-close-evicts",
    "vhost-directives",
];

/// One of two servers takes so many connections of the other's one.
const SHARES: [usize; 4] = [1, 2, 9, 19];

fn times() -> usize {
    std::env::var("REPRISE_SEEDS").map_or(2, |seeds| seeds.parse().unwrap())
}

/// Two servers that do not know each other's sessions, behind one address that takes either by chance.
fn findings_of_two(resumption: Resumption, share: usize) -> Vec<Vec<Finding>> {
    let authority = Authority::new().unwrap();
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let config = EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) };
    let [one, other] = [(); 2].map(|()| EmbeddedServer::start(config.clone()).unwrap());
    let addresses = std::iter::repeat_n(one.address(), share).chain([other.address()]).collect();
    let balancer = start_balancer(addresses, Balancing::Random).unwrap();
    let target: Target = format!("localhost:{}", balancer.address().port()).parse().unwrap();
    let certificates = Certificates::Roots(vec![authority.certificate().clone()]);
    let options = Options { certificates, ..Options::default() };
    let limits = Limits { rate: 10_000, ..Limits::default() };
    let examine = || {
        let examination = diagnose(&target, &options, limits, &Silent, &|| None, &Interrupt::default());
        assert!(examination.connections <= limits.connections);
        diagnosis(&target, &options, &examination, None, &Provenance::default()).findings
    };
    (0..times()).map(|_| examine()).collect()
}

fn no_difference_is_blamed(resumption: Resumption) {
    for share in SHARES {
        let all = findings_of_two(resumption, share);
        let is_of_a_difference = |it: &&Finding| DIFFERENCES.contains(&it.id.as_str()) && it.severity != Severity::Note;
        let blamed: Vec<&Finding> = all.iter().flatten().filter(is_of_a_difference).collect();
        let is_of_nodes = |it: &Finding| ["hidden-nodes", "id-cache-per-process"].contains(&it.id.as_str());
        let nodes = all.iter().filter(|findings| findings.iter().any(is_of_nodes)).count();
        println!(
            "{resumption:?}, {share} to 1: {nodes} of {} suspect nodes, {} blame a difference",
            all.len(),
            blamed.len()
        );
        assert!(blamed.iter().all(|finding| finding.confidence == Confidence::Possible), "{blamed:#?}");
    }
}

#[test]
fn sessions_unknown_to_a_node_are_not_lost_to_a_variation() {
    no_difference_is_blamed(Resumption::Id);
}

#[test]
fn tickets_that_a_node_cannot_open_are_not_lost_to_a_variation() {
    no_difference_is_blamed(Resumption::Ticket);
}
