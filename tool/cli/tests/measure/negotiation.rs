//! Versions, suites, groups and keys: each is measured, and called by its name. Every suite with every group stands in
//! `tests/differential`.

use reprise_lab::{KeyKind, Versions, rsa_1024_server};
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, Outcome, Reprise, assert_account_for};

const COUNT: u32 = 2;

const VERSIONS: [(Versions, Version, &str); 2] =
    [(Versions::Tls12, Version::Tls12, "TLS 1.3"), (Versions::Tls13, Version::Tls13, "TLS 1.2")];

fn s_server(lab: &Lab, key: KeyKind, change: impl FnOnce(&mut SServerConfig)) -> SServer {
    let mut config = SServerConfig::new(vec![lab.identity(key)]);
    change(&mut config);
    SServer::start(config).unwrap()
}

#[test]
fn every_key_is_verified_and_named() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for (key, signatures) in [
        (KeyKind::Rsa2048, ["rsa_pss_rsae_sha256"; 2]),
        (KeyKind::Rsa4096, ["rsa_pss_rsae_sha256"; 2]),
        (KeyKind::P256, ["ecdsa_secp256r1_sha256"; 2]),
        // Under TLS 1.2 the name says SHA-256 and nothing of the curve (RFC 9846, section 4.3.3).
        (KeyKind::P384, ["ecdsa_secp256r1_sha256", "ecdsa_secp384r1_sha384"]),
        (KeyKind::Ed25519, ["ed25519"; 2]),
    ] {
        let mut server = s_server(&lab, key, |_| {});
        let outcome = lab.measure(server.address()).args(["--kinds", "full"]).count(COUNT).run().exits(0);
        assert_account_for(&mut server, &outcome.document(), key.label());
        for (tls, signature) in [Version::Tls12, Version::Tls13].into_iter().zip(signatures) {
            let observed = outcome.measured(tls, Kind::Full).observed;
            assert_eq!(observed.peer_key.as_deref(), Some(key.label()), "{tls}");
            assert_eq!(observed.signature.as_deref(), Some(signature), "{key} under {tls}");
        }
    }
}

#[test]
fn rsa_1024_is_measured_with_insecure_and_unverified() {
    reprise_servers::require!("openssl");
    let config = SServerConfig {
        ciphers: Some("ALL:@SECLEVEL=0".to_owned()),
        ..SServerConfig::new(vec![rsa_1024_server().unwrap()])
    };
    let lab = Lab::new();
    let server = SServer::start(config).unwrap();
    let call = Reprise::measure(server.address()).arg("--insecure").count(COUNT);
    let outcome = call.run().exits(0).says(&["certificate is not verified"]);
    for tls in [Version::Tls12, Version::Tls13] {
        assert_eq!(outcome.measured(tls, Kind::Full).observed.peer_key.as_deref(), Some("rsa-1024"));
    }
    outcome.shows(&["rsa-1024", "The server's signature is unverified: its rsa-1024 key is too weak"]);
    lab.measure(server.address()).count(COUNT).run().exits(3).says(&["--insecure"]);
}

#[test]
fn rsa_key_exchange_has_no_group_and_no_signature() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = s_server(&lab, KeyKind::Rsa2048, |config| config.ciphers = Some("AES128-GCM-SHA256".to_owned()));
    let outcome = lab.measure(server.address()).args(["--tls", "1.2"]).count(COUNT).run().exits(0);
    let observed = outcome.measured(Version::Tls12, Kind::Full).observed;
    assert_eq!(observed.cipher.as_deref(), Some("TLS_RSA_WITH_AES_128_GCM_SHA256"));
    assert_eq!((observed.group, observed.signature), (None, None));
}

#[test]
fn a_group_that_the_server_insists_on_costs_a_round_trip() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = s_server(&lab, KeyKind::P256, |config| config.groups = Some("P-384".to_owned()));
    let measure = |arguments: &[&str]| lab.measure(server.address()).args(arguments).count(COUNT).run().exits(0);
    let outcome = measure(&[]);
    for (tls, kind) in [(Version::Tls12, Kind::Full), (Version::Tls13, Kind::Full), (Version::Tls13, Kind::Ticket)] {
        let run = outcome.measured(tls, kind);
        assert_eq!((run.observed.group.as_deref(), run.round_trips), (Some("secp384r1"), Some(2)), "{tls} {kind}");
    }
    let guessed = measure(&["--groups", "secp384r1", "--tls", "1.3"]);
    assert_eq!(guessed.measured(Version::Tls13, Kind::Full).round_trips, Some(1), "with the right share at once");
}

#[test]
fn a_version_that_is_not_spoken_is_told_and_the_other_measured() {
    let lab = Lab::new();
    for (versions, spoken, silent) in VERSIONS {
        let server = lab.server_with(|config| config.versions = versions);
        for arguments in [&[][..], &["--tls", "1.2,1.3"]] {
            let outcome = lab.measure(server.address()).count(COUNT).args(arguments).run().exits(0);
            assert!(outcome.document().runs.iter().all(|run| run.asked.tls == spoken && run.n == u64::from(COUNT)));
            outcome.shows(&[&format!("{silent} is not measured")]);
        }
        let named = lab.measure(server.address()).count(COUNT).args(["--tls", silent.trim_start_matches("TLS ")]);
        named.run().exits(3).says(&["protocol_version", "without --tls these are TLS 1.2 and 1.3"]);
        let trace = lab.trace(server.address()).args(["--tls", "1.2,1.3"]).run().exits(0);
        trace.shows(&["ServerHello", &format!("{silent} is not traced")]);
    }
}

#[test]
fn a_version_without_a_suite_costs_no_connection() {
    let lab = Lab::new();
    let server = lab.server(reprise_lab::EmbeddedResumption::Ticket);
    for (suite, measured, left_out) in
        [("TLS_AES_128_GCM_SHA256", Version::Tls13, "TLS 1.2"), ("ECDHE-ECDSA-AES128-GCM-SHA256", Version::Tls12, "TLS 1.3")]
    {
        let outcome = lab.measure(server.address()).count(2).args(["--ciphers", suite]).run().exits(0);
        assert_eq!(outcome.measured(measured, Kind::Full).n, 2);
        assert_eq!((outcome.document().all_connections.failed, outcome.document().failures.len()), (0, 0), "{suite}");
        outcome.shows(&[&format!("{left_out} is not measured: no offered cipher suite belongs to it")]);
    }
}

/// A group is advised once a connection with it was made. RFC 8422, section 5.1: under TLS 1.2 the groups are the certificate's curves
/// too, so that with secp384r1 alone a P-256 certificate is refused again.
#[test]
fn a_group_is_advised_where_it_helps() {
    reprise_servers::require!("openssl", "nginx");
    let lab = Lab::new();
    let refused = |key, wanted: &str, arguments: &[&str]| {
        let server = s_server(&lab, key, |config| {
            config.versions = Versions::Tls12;
            config.groups = Some(wanted.to_owned());
            config.ciphers = Some("ECDHE+AESGCM".to_owned());
        });
        lab.measure(server.address()).count(COUNT).args(arguments).run().exits(3)
    };
    let x25519 = ["--tls", "1.2", "--groups", "x25519"];
    refused(KeyKind::Rsa2048, "P-384", &x25519).says(&["it requests the group secp384r1", "--groups secp384r1"]);
    let of_curve = refused(KeyKind::P256, "P-384", &x25519).says(&["must name the curve of an ECDSA certificate"]);
    assert!(!of_curve.stderr.contains("secp384r1"), "{}", of_curve.stderr);
    let of_version = refused(KeyKind::Rsa2048, "P-521", &["--tls", "1.3"]).says(&["supports no offered version"]);
    assert!(!of_version.stderr.contains("secp521r1"), "{}", of_version.stderr);

    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let measure =
        |arguments: &[&str]| lab.measure(nginx.address()).count(1).args(["--groups", "x25519"]).args(arguments).run();
    let hint = "--groups must name the curve of an ECDSA certificate too, as secp256r1";
    measure(&["--tls", "1.2"]).exits(3).says(&[hint]);
    let both = measure(&[]).exits(0).document();
    assert!(both.warnings.iter().any(|it| it.starts_with("TLS 1.2 is not measured") && it.contains(hint)), "{both:?}");
}

#[test]
fn the_protocol_that_alpn_chooses_is_told() {
    let lab = Lab::new();
    let server = lab.server_with(|config| config.alpn = vec![b"http/1.1".to_vec(), b"acme".to_vec()]);
    let call = |arguments: &[&str]| lab.measure(server.address()).count(1).args(arguments).run();
    let chosen = |outcome: &Outcome| outcome.measured(Version::Tls13, Kind::Full).observed.alpn;
    assert_eq!(chosen(&call(&[]).exits(0)).as_deref(), Some("http/1.1"));
    assert_eq!(chosen(&call(&["--alpn", "acme", "--no-request"])).as_deref(), Some("acme"));
    assert_eq!(chosen(&call(&["--alpn", ""])), None);
    call(&["--alpn", "imap", "--no-request"]).exits(3).says(&["no_application_protocol", "--alpn NAME"]);
}

/// A server that refuses a ClientHello has not asked for a client's certificate yet, so that is not what it misses.
#[test]
fn a_refused_hello_is_not_a_missing_client_certificate() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = s_server(&lab, KeyKind::P256, |_| {});
    let measure = lab.measure(server.address()).count(1).args(["--tls", "1.2", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256"]);
    let outcome = measure.run().exits(3).says(&["refused with the alert handshake_failure", "--ciphers, --groups", "--sni"]);
    assert!(!outcome.stderr.contains("--cert"), "{}", outcome.stderr);
}
