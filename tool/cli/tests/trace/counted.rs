//! The counted connections beside a trace, whose medians it shows.

use std::time::Duration;

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::document::TraceDocument;
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, Outcome, Reprise};

/// `reprise trace TARGET ARGUMENTS`, with counted connections unless the arguments say otherwise.
fn trace(lab: &Lab, target: impl ToString, arguments: &[&str]) -> (Outcome, TraceDocument) {
    let call = Reprise::new(["trace", &target.to_string(), "--ca"]).arg(lab.ca()).args(arguments);
    let outcome = call.keeping_its_document().run();
    let document = outcome.json();
    (outcome, document)
}

#[test]
fn medians_of_ten_connections_stand_beside_the_messages() {
    let lab = Lab::new();
    let server = lab.server_with(|config| config.resumption = EmbeddedResumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--tls", "1.2,1.3"]);
    let outcome = outcome.exits(0).shows(&["tls and total are medians of 10 more, ± half their 95 % interval."]);
    for tls in [Version::Tls12, Version::Tls13] {
        for kind in [Kind::Full, Kind::Ticket] {
            let run = document.counted(tls, kind).unwrap();
            assert_eq!((run.n, run.observed.kinds.of(kind)), (10, 10), "{tls} {kind}");
            assert!(run.phases[&Phase::Tls].ci95_ns.is_some());
        }
        assert!(document.ratios.iter().any(|it| it.tls == tls && it.to == Kind::Ticket && it.phase == Phase::Tls));
    }
    assert!(outcome.page.contains('±'), "{}", outcome.page);
}

#[test]
fn of_a_pair_alone_no_time_is_saved() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--count", "0", "--tls", "1.3"]);
    let outcome = outcome.exits(0).shows(&["One connection each"]);
    assert!(document.counted.is_empty() && document.ratios.is_empty());
    let saves: Vec<&str> =
        outcome.page.lines().find(|line| line.starts_with("  saves")).unwrap().split_whitespace().collect();
    // Messages, round trips, bytes sent and received: no time.
    assert_eq!(saves.len(), 5, "{saves:?}");
}

#[test]
fn what_resumes_nothing_is_counted_in_full_alone() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let (outcome, document) = trace(&lab, server.address(), &["--count", "3", "--tls", "1.3"]);
    outcome.exits(0).shows(&["medians of 3 more"]);
    let kinds: Vec<_> = document.counted.iter().map(|run| (run.asked.kind, run.n)).collect();
    assert_eq!(kinds, [(Kind::Full, 3)]);
}

#[test]
fn a_real_servers_account_has_them_all() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let (outcome, document) = trace(&lab, nginx.address(), &["--tls", "1.3"]);
    outcome.exits(0);
    let counted: usize = document.counted.iter().map(|run| run.observed.kinds.total() as usize).sum();
    let seen = nginx.accounts_when(counted + 2, Duration::from_secs(10)).unwrap().len();
    assert!(counted == 20 && seen >= counted + 2, "{counted} counted, {seen} in the log");
}
