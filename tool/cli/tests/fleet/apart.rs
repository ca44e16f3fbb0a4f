//! Fleets that do not share: who stands apart, and why.

use reprise_harness::Lab;
use reprise_lab::{Identity, KeyKind, Versions};
use reprise_model::document::Confidence;
use reprise_servers::{ClientVerify, Go, GoConfig, GoProgram, Nginx, NginxConfig, RealServer};

use crate::fleet::examined::{Examined, SHARED_KEY, addresses, examine};

/// An nginx with this ticket key.
pub(crate) fn nginx(identity: &Identity, key: u8) -> NginxConfig {
    NginxConfig {
        http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
        files: vec![("ticket.key", SHARED_KEY.map(|byte| byte + key).to_vec())],
        ..NginxConfig::new(vec![identity.clone()])
    }
}

fn start(configs: Vec<NginxConfig>) -> Vec<Nginx> {
    configs.into_iter().map(|config| Nginx::start(config).unwrap()).collect()
}

/// What is said of these nginx, which are configured for one identity.
fn of_nginx(flags: &str, configs: impl FnOnce(&Lab, &Identity) -> Vec<NginxConfig>) -> Examined {
    let lab = Lab::new();
    let nodes = start(configs(&lab, &lab.identity(KeyKind::P256)));
    examine(&lab, &addresses(&nodes), flags)
}

#[test]
fn two_nginx_with_a_key_each() {
    reprise_servers::require!("nginx");
    let examined = of_nginx("", |_, identity| vec![nginx(identity, 0), nginx(identity, 1)]);
    assert_eq!((examined.blamed(), examined.code), (vec!["ticket-key-per-node"], 1), "{}", examined.page);
    let finding = &examined.fleet().findings[0];
    assert_eq!(finding.confidence, Confidence::Certain);
    assert!(finding.remedies.iter().all(|it| it.software.as_deref().is_none_or(|it| it == "nginx")), "{finding:?}");
    assert_eq!(examined.fleet().shared, Some(0.5));
    assert!(examined.page.contains("another ticket key"), "{}", examined.page);
    examined.assert_fits();
}

#[test]
fn six_of_eight_nginx_share() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = start([0, 0, 1, 0, 0, 2, 0, 0].map(|key| nginx(&identity, key)).into());
    let examined = examine(&lab, &addresses(&nodes), "");
    assert_eq!(
        (examined.blamed(), examined.group_sizes()),
        (vec!["ticket-key-per-node"], vec![6, 1, 1]),
        "{}",
        examined.page
    );
    let fleet = examined.fleet();
    let alone =
        format!("6 of 8 nodes share; {} and {} stand alone: another ticket key", nodes[2].address(), nodes[5].address());
    assert!(fleet.verdict == alone && fleet.connections <= 600, "{}", fleet.verdict);
    assert!((fleet.shared.unwrap() - 38.0 / 64.0).abs() < 1e-9, "{:?}", fleet.shared);
    examined.assert_fits();
}

/// Their tickets name no key.
#[test]
fn two_go_with_a_key_each() {
    reprise_servers::require!("go");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let program = GoProgram::build().unwrap();
    let nodes: Vec<Go> = (0..2).map(|_| Go::start(GoConfig::new(&program, identity.clone())).unwrap()).collect();
    let examined = examine(&lab, &addresses(&nodes), "");
    assert_eq!(examined.blamed(), ["ticket-key-per-node"], "{}", examined.page);
    assert_eq!(examined.fleet().findings[0].confidence, Confidence::Likely);
}

#[test]
fn nodes_of_different_certificates_under_one_key() {
    reprise_servers::require!("nginx");
    let examined = of_nginx("", |lab, _| (0..2).map(|_| nginx(&lab.identity(KeyKind::P256), 0)).collect());
    assert_eq!(examined.blamed(), ["node-certificate-differs"], "{}", examined.page);
}

#[test]
fn a_node_without_tls13() {
    reprise_servers::require!("nginx");
    let examined = of_nginx("", |_, identity| {
        let older = NginxConfig { versions: Versions::Tls12, ..nginx(identity, 0) };
        vec![nginx(identity, 0), nginx(identity, 0), older]
    });
    assert_eq!(examined.blamed(), ["node-protocol-differs"], "{}", examined.page);
}

#[test]
fn a_node_that_asks_for_client_certificates() {
    reprise_servers::require!("nginx");
    let ca = reprise_lab::Authority::new().unwrap();
    let examined = of_nginx("", |_, identity| {
        let asks = NginxConfig { client_verify: ClientVerify::Optional(ca.pem()), ..nginx(identity, 0) };
        vec![nginx(identity, 0), nginx(identity, 0), asks]
    });
    assert_eq!(examined.blamed(), ["client-policy-changed"], "{}", examined.page);
}

/// Under one key: Go takes no ticket that is older than seven days.
#[test]
fn a_clock_that_is_eight_days_ahead() {
    reprise_servers::require!("go");
    let examined = go_ahead_by("8 * 24 * time.Hour");
    assert_eq!(examined.blamed(), ["clock-skew"], "{}", examined.page);
    assert!(examined.page.contains("691200 s ahead") || examined.page.contains("691199 s ahead"), "{}", examined.page);
}

/// Nothing is refused for it.
#[test]
fn a_clock_that_is_ten_seconds_ahead_is_a_note() {
    reprise_servers::require!("go");
    let examined = go_ahead_by("10 * time.Second");
    let found: Vec<&str> = examined.fleet().findings.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((found, examined.blamed(), examined.code), (vec!["clock-skew"], vec![], 0), "{}", examined.page);
}

/// Three Go that share their key, of which one's clock is wrong.
fn go_ahead_by(duration: &str) -> Examined {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let nodes = ["0", "0", duration].map(|duration| {
        let keys = "config.SetSessionTicketKeys([][32]byte{{1, 2, 3}})".to_owned();
        let program = GoProgram::build_with(&[keys, format!("ahead = {duration}")]).unwrap();
        Go::start(GoConfig::new(&program, identity.clone())).unwrap()
    });
    examine(&lab, &addresses(&nodes), "")
}

/// One has the new key and the old one, the other the old one alone.
#[test]
fn a_key_that_has_not_reached_a_node() {
    reprise_servers::require!("nginx");
    let examined = of_nginx("", |_, identity| {
        let mut ahead = nginx(identity, 1);
        ahead.http_directives += "\nssl_session_ticket_key old.key;";
        ahead.files.push(("old.key", SHARED_KEY.to_vec()));
        vec![ahead, nginx(identity, 0), nginx(identity, 0)]
    });
    assert_eq!(examined.blamed(), ["key-propagation-skew"], "{}", examined.page);
}

#[test]
fn caches_of_ids_per_node() {
    reprise_servers::require!("nginx");
    let examined = of_nginx("--tls 1.2", |_, identity| {
        let node = || NginxConfig {
            session_tickets: false,
            session_cache: reprise_servers::SessionCache::Shared("1m".to_owned()),
            ..NginxConfig::new(vec![identity.clone()])
        };
        vec![node(), node()]
    });
    assert_eq!(examined.blamed(), ["id-cache-per-process"], "{}", examined.page);
}
