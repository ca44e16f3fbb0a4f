//! Key exchange groups: the hybrid one, and what offering another first costs.

use reprise_lab::KeyKind;
use reprise_lab::NamedGroup;
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{DEADLINE, Lab, assert_account_for};

#[test]
fn the_hybrid_group_is_spoken_with_rustls_and_costs_its_bytes() {
    let lab = Lab::new();
    let mut server = lab.server_with(|config| {
        config.groups = vec![NamedGroup::X25519MLKEM768, NamedGroup::X25519];
        config.resumption = reprise_lab::Resumption::Ticket;
    });
    let measure = |groups: &str| {
        let call = lab.measure(server.address()).count(4).args(["--tls", "1.3", "--groups", groups]);
        call.run().exits(0).measured(Version::Tls13, Kind::Full)
    };
    let hybrid = measure("X25519MLKEM768,x25519");
    assert_eq!((hybrid.observed.group.as_deref(), hybrid.round_trips), (Some("X25519MLKEM768"), Some(1)));
    let classic = measure("x25519");
    assert_eq!((classic.observed.group.as_deref(), classic.round_trips), (Some("x25519"), Some(1)));
    // FIPS 203: an encapsulation key has 1184 bytes, a ciphertext 1088; an ECDSA signature has a few bytes more or less.
    let [hybrid, classic] = [hybrid, classic].map(|run| run.bytes.unwrap());
    assert!(hybrid.sent.0 >= classic.sent.0 + 1184, "{hybrid:?} {classic:?}");
    assert!(hybrid.received.0 >= classic.received.0 + 1080, "{hybrid:?} {classic:?}");
    let accounts = RealServer::accounts_when(&mut server, 1, DEADLINE).unwrap();
    assert!(accounts.iter().any(|account| account.group.as_deref() == Some("X25519MLKEM768")), "{accounts:?}");
}

#[test]
fn by_default_no_server_asks_again_for_a_known_group() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut server = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let outcome = lab.measure(server.address()).count(2).run().exits(0);
    assert_account_for(&mut server, &outcome.document(), "by default");
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(1));
}

#[test]
fn a_server_without_the_hybrid_group_costs_a_round_trip() {
    let lab = Lab::new();
    let server = lab.server_with(|config| config.groups = vec![NamedGroup::X25519]);
    let call = lab.measure(server.address()).count(2).args(["--tls", "1.3", "--groups", "X25519MLKEM768,x25519"]);
    let full = call.run().exits(0).measured(Version::Tls13, Kind::Full);
    assert_eq!((full.observed.group.as_deref(), full.round_trips), (Some("x25519"), Some(2)));
}

/// RFC 8422, section 5.1: under TLS 1.2 the groups are the certificate's curves too.
#[test]
fn a_certificates_curve_that_the_groups_leave_out_is_named() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let server = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let measure =
        |arguments: &[&str]| lab.measure(server.address()).count(1).args(["--groups", "x25519"]).args(arguments).run();
    let hint = "--groups must name the curve of an ECDSA certificate too, as secp256r1";
    measure(&["--tls", "1.2"]).exits(3).says(&[hint]);
    let both = measure(&[]).exits(0).document();
    assert!(both.warnings.iter().any(|it| it.starts_with("TLS 1.2 is not measured") && it.contains(hint)), "{both:?}");
}
