//! PostgreSQL and MariaDB.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{MariaDb, MariaDbConfig, PartialWitness, Postgres};

use super::bystander::Bystander;
use super::{COUNT, VERSIONS, assert_known, assert_phases, made, measure};
use reprise_harness::{DEADLINE, Lab};

/// PostgreSQL switches tickets and cache off by itself.
#[test]
fn a_database_that_keeps_no_sessions() {
    reprise_servers::require!("postgres");
    let lab = Lab::new();
    let server = Postgres::start(Some(&lab.identity(KeyKind::P256))).unwrap();
    // Before version 18 it accepts key shares of P-256 alone.
    let call = lab.measure(server.address()).args(["--starttls", "postgres", "--groups", "secp256r1"]);
    let outcome = call.count(COUNT).run().exits(0);
    assert_known(&outcome.document(), &server);
    for tls in VERSIONS {
        let full = outcome.measured(tls, Kind::Full);
        assert_eq!(
            (full.n, full.observed.tickets_given, full.observed.session_ids_given),
            (u64::from(COUNT), 0, 0),
            "{tls}"
        );
        assert_phases(&full);
    }
    assert_eq!(outcome.document().runs.len(), 2);
    // SSLRequest is one round trip, the handshake another.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(2));
    outcome.shows(&["TLS 1.3 offers no resumption", "PostgreSQL"]);
}

#[test]
fn a_database_without_tls_says_so() {
    reprise_servers::require!("postgres");
    let lab = Lab::new();
    let server = Postgres::start(None).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "postgres"]).run().exits(3);
    outcome.says(&["the server refuses TLS: it answers SSLRequest with N", "ssl = on"]);
}

/// Tickets and a cache are OpenSSL's own, and nothing switches them. MariaDB counts logins.
#[test]
fn a_database_that_resumes_in_every_way() {
    reprise_servers::require!("mariadbd", "my_print_defaults", "openssl");
    for key in [KeyKind::P256, KeyKind::Rsa2048] {
        let lab = Lab::new();
        let server = MariaDb::start(&MariaDbConfig::new(lab.identity(key))).unwrap();
        let outcome = measure(&lab, server.address(), "mysql");
        let logins = server.logins_when(made(&outcome.document()), DEADLINE).unwrap();
        assert_eq!(logins.len(), made(&outcome.document()));
        assert!(logins.iter().all(|login| login.contains("reprise@127.0.0.1")), "{logins:?}");
        for (tls, kind) in [(Version::Tls12, Kind::Id), (Version::Tls12, Kind::Ticket), (Version::Tls13, Kind::Ticket)] {
            let run = outcome.measured(tls, kind);
            assert_eq!(run.n, u64::from(COUNT), "{tls} {kind}");
            assert_phases(&run);
            assert!(Bystander::of_mysql(server.address()).resumes(tls), "{tls}");
        }
        // The greeting is one round trip, and nobody answers SSLRequest; the handshake is another.
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(2));
    }
}

/// Whoever is turned away has resumed all the same.
#[test]
fn a_database_that_knows_nobody() {
    reprise_servers::require!("mariadbd", "my_print_defaults");
    let lab = Lab::new();
    let config = MariaDbConfig { login: None, ..MariaDbConfig::new(lab.identity(KeyKind::P256)) };
    let server = MariaDb::start(&config).unwrap();
    let outcome = measure(&lab, server.address(), "mysql");
    for tls in VERSIONS {
        assert_eq!(outcome.measured(tls, Kind::Ticket).n, u64::from(COUNT), "{tls}");
        assert_phases(&outcome.measured(tls, Kind::Full));
    }
}

#[test]
fn another_database_without_tls_says_so() {
    reprise_servers::require!("mariadbd", "my_print_defaults");
    let lab = Lab::new();
    let server = MariaDb::start(&MariaDbConfig { identity: None, login: None }).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "mysql"]).run().exits(3);
    outcome.says(&["the server does not offer TLS: CLIENT_SSL is not among its capabilities", "ssl_cert"]);
}

/// Ctrl-C in the midst of it: what was measured is kept, and the server knows of each login.
#[cfg(unix)]
#[test]
fn an_endless_measurement_is_cut_short() {
    reprise_servers::require!("mariadbd", "my_print_defaults");
    let lab = Lab::new();
    let server = MariaDb::start(&MariaDbConfig::new(lab.identity(KeyKind::P256))).unwrap();
    let running = lab.measure(server.address()).args(["--starttls", "mysql"]).count(1_000_000).start();
    server.logins_when(40, DEADLINE).unwrap();
    running.interrupt();
    let document = running.finish().exits(130).silently().document();
    assert!(document.interrupted && document.failures.is_empty());
    assert!(document.run(Version::Tls13, Kind::Ticket).unwrap().n > 2);
    // The connection that Ctrl-C cut short is not counted; the server may have taken it for whole.
    let counted = made(&document);
    let logins = server.logins_when(counted, DEADLINE).unwrap().len();
    assert!((counted..=counted + 1).contains(&logins), "{counted} of {logins}");
}
