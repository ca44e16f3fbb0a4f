//! Versions, suites, groups and keys: each is measured, and called by its name.

use std::process::{Command, Stdio};

use reprise_lab::{KeyKind, Versions, rsa_1024_server};
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, Outcome, Reprise, assert_account_for};

const COUNT: u32 = 2;

fn s_server(lab: &Lab, key: KeyKind, change: impl FnOnce(&mut SServerConfig)) -> SServer {
    let mut config = SServerConfig::new(vec![lab.identity(key)]);
    change(&mut config);
    SServer::start(config).unwrap()
}

fn measure(lab: &Lab, server: &mut SServer, arguments: &[&str], case: &str) -> Outcome {
    let outcome = lab.measure(server.address()).args(arguments).count(COUNT).run();
    assert_eq!(outcome.code, 0, "{case}: {}", outcome.stderr);
    assert_account_for(server, &outcome.document(), case);
    outcome
}

#[test]
fn every_suite_is_spoken_and_named() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
    for suite in tls13 {
        let mut server = s_server(&lab, KeyKind::P256, |_| {});
        let outcome = measure(&lab, &mut server, &["--tls", "1.3", "--ciphers", suite], suite);
        for kind in [Kind::Full, Kind::Ticket] {
            assert_eq!(outcome.measured(Version::Tls13, kind).observed.cipher.as_deref(), Some(suite));
        }
    }
    for (key, algorithm) in [(KeyKind::P256, "ECDSA"), (KeyKind::Rsa2048, "RSA")] {
        for cipher in ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256"] {
            let mut server = s_server(&lab, key, |_| {});
            let suite = format!("TLS_ECDHE_{algorithm}_WITH_{cipher}");
            let outcome = measure(&lab, &mut server, &["--tls", "1.2", "--ciphers", &suite], &suite);
            for kind in [Kind::Full, Kind::Ticket] {
                assert_eq!(outcome.measured(Version::Tls12, kind).observed.cipher.as_ref(), Some(&suite));
            }
        }
    }
}

#[test]
fn rsa_key_exchange_has_no_group_and_no_signature() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for (cipher, suite) in
        [("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"), ("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384")]
    {
        let mut server = s_server(&lab, KeyKind::Rsa2048, |config| config.ciphers = Some(cipher.to_owned()));
        let outcome = measure(&lab, &mut server, &["--tls", "1.2"], suite);
        let observed = outcome.measured(Version::Tls12, Kind::Full).observed;
        assert_eq!(observed.cipher.as_deref(), Some(suite));
        assert_eq!((observed.group, observed.signature), (None, None));
        assert_eq!(outcome.measured(Version::Tls12, Kind::Ticket).n, u64::from(COUNT));
    }
}

#[test]
fn a_group_that_the_server_insists_on_costs_a_round_trip() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = s_server(&lab, KeyKind::P256, |config| config.groups = Some("P-384".to_owned()));
    let outcome = measure(&lab, &mut server, &[], "P-384");
    let [full, ticket] = [Kind::Full, Kind::Ticket].map(|kind| outcome.measured(Version::Tls13, kind));
    for run in [full, ticket] {
        assert_eq!((run.observed.group.as_deref(), run.round_trips), (Some("secp384r1"), Some(2)), "HelloRetryRequest");
    }
    let tls12 = outcome.measured(Version::Tls12, Kind::Full);
    assert_eq!((tls12.observed.group.as_deref(), tls12.round_trips), (Some("secp384r1"), Some(2)));

    let guessed = measure(&lab, &mut server_of_p384(&lab), &["--groups", "secp384r1", "--tls", "1.3"], "--groups");
    assert_eq!(guessed.measured(Version::Tls13, Kind::Full).round_trips, Some(1), "with the right share at once");
}

fn server_of_p384(lab: &Lab) -> SServer {
    s_server(lab, KeyKind::P256, |config| config.groups = Some("P-384".to_owned()))
}

#[test]
fn every_group_is_spoken_and_named() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for group in ["x25519", "secp256r1", "secp384r1"] {
        // Under TLS 1.2 the groups are also those that an ECDSA key may have (RFC 8422, section 5.1).
        let mut server = s_server(&lab, KeyKind::Rsa2048, |_| {});
        let outcome = measure(&lab, &mut server, &["--groups", group], group);
        for tls in [Version::Tls12, Version::Tls13] {
            assert_eq!(outcome.measured(tls, Kind::Full).observed.group.as_deref(), Some(group), "{tls}");
        }
    }
}

#[test]
fn every_key_is_verified_and_named() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for (key, signatures) in [
        (KeyKind::Rsa2048, ["rsa_pss_rsae_sha256"; 2]),
        (KeyKind::Rsa4096, ["rsa_pss_rsae_sha256"; 2]),
        (KeyKind::P256, ["ecdsa_secp256r1_sha256"; 2]),
        // Under TLS 1.2 the name says SHA-256 and nothing of the curve (RFC 8446, section 4.2.3).
        (KeyKind::P384, ["ecdsa_secp256r1_sha256", "ecdsa_secp384r1_sha384"]),
        (KeyKind::Ed25519, ["ed25519"; 2]),
    ] {
        let mut server = s_server(&lab, key, |_| {});
        let outcome = measure(&lab, &mut server, &["--kinds", "full"], key.label());
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
    let mut server = SServer::start(config).unwrap();
    let call = Reprise::measure(server.address()).arg("--insecure").count(COUNT);
    let outcome = call.run().exits(0).says(&["certificate is not verified"]);
    assert_account_for(&mut server, &outcome.document(), "rsa-1024");
    for tls in [Version::Tls12, Version::Tls13] {
        assert_eq!(outcome.measured(tls, Kind::Full).observed.peer_key.as_deref(), Some("rsa-1024"));
    }
    outcome.shows(&["rsa-1024", "The server's signature is unverified: its rsa-1024 key is too weak"]);
    lab.measure(server.address()).count(COUNT).run().exits(3).says(&["--insecure"]);
}

#[test]
fn a_server_without_extended_master_secret_resumes() {
    reprise_servers::require!("nginx", "openssl");
    let lab = Lab::new();
    let config = NginxConfig {
        versions: Versions::Tls12,
        server_directives: "ssl_conf_command Options -ExtendedMasterSecret;".to_owned(),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let mut nginx = Nginx::start(config).unwrap();
    let address = nginx.address().to_string();
    let witness = Command::new("openssl").args(["s_client", "-connect", &address]).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&witness.stdout).contains("Extended master secret: no"), "{witness:?}");
    let outcome = lab.measure(address).count(4).args(["--tls", "1.2"]).run().exits(0);
    assert_account_for(&mut nginx, &outcome.document(), "no extended master secret");
    assert_eq!(outcome.measured(Version::Tls12, Kind::Ticket).n, 4);
}

#[test]
fn a_version_that_is_not_spoken_is_told_and_the_other_measured() {
    let lab = Lab::new();
    for (versions, spoken, silent) in
        [(Versions::Tls12, Version::Tls12, "TLS 1.3"), (Versions::Tls13, Version::Tls13, "TLS 1.2")]
    {
        let server = lab.server_with(|config| config.versions = versions);
        let outcome = lab.measure(server.address()).count(COUNT).run().exits(0);
        assert!(outcome.document().runs.iter().all(|run| run.asked.tls == spoken));
        outcome.shows(&[&format!("{silent} is not measured")]);
        let named = lab.measure(server.address()).count(COUNT).args(["--tls", silent.trim_start_matches("TLS ")]);
        named.run().exits(3).says(&["protocol_version", "without --tls these are TLS 1.2 and 1.3"]);
    }
}

#[test]
fn of_two_named_versions_the_spoken_one_is_measured() {
    let lab = Lab::new();
    for (versions, spoken, silent) in
        [(Versions::Tls12, Version::Tls12, "TLS 1.3"), (Versions::Tls13, Version::Tls13, "TLS 1.2")]
    {
        let server = lab.server_with(|config| config.versions = versions);
        let outcome = lab.measure(server.address()).count(COUNT).args(["--tls", "1.2,1.3"]).run().exits(0);
        assert!(outcome.document().runs.iter().all(|run| run.asked.tls == spoken && run.n == u64::from(COUNT)));
        outcome.shows(&[&format!("{silent} is not measured")]);
        let target = server.address().to_string();
        let trace = Reprise::new(["trace", &target, "--insecure", "--tls", "1.2,1.3"]).run().exits(0);
        trace.shows(&["ServerHello", &format!("{silent} is not traced")]);
    }
}

/// A server of TLS 1.2 alone that takes no other group.
fn of_tls12_that_wants(lab: &Lab, key: KeyKind, group: &str) -> SServer {
    s_server(lab, key, |config| {
        config.versions = Versions::Tls12;
        config.groups = Some(group.to_owned());
        config.ciphers = Some("ECDHE+AESGCM".to_owned());
    })
}

#[test]
fn a_version_that_is_not_spoken_wants_no_group() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = of_tls12_that_wants(&lab, KeyKind::Rsa2048, "P-521");
    let outcome = lab.measure(server.address()).count(COUNT).args(["--tls", "1.3"]).run().exits(3);
    let said = outcome.says(&["supports no offered version"]).stderr;
    assert!(!said.contains("secp521r1"), "{said}");
}

#[test]
fn a_group_is_advised_once_a_connection_with_it_was_made() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let refused = |key| {
        let server = of_tls12_that_wants(&lab, key, "P-384");
        lab.measure(server.address()).count(COUNT).args(["--tls", "1.2", "--groups", "x25519"]).run().exits(3)
    };
    refused(KeyKind::Rsa2048).says(&["it requests the group secp384r1", "--groups secp384r1"]);
    // The curve of the certificate must be among the groups too: with secp384r1 alone it is refused again.
    let said = refused(KeyKind::P256).says(&["must name the curve of an ECDSA certificate"]).stderr;
    assert!(!said.contains("secp384r1"), "{said}");
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

#[test]
fn a_version_without_a_suite_costs_no_connection() {
    let lab = Lab::new();
    let server = lab.server(reprise_lab::Resumption::Ticket);
    for (suite, measured, left_out) in
        [("TLS_AES_128_GCM_SHA256", Version::Tls13, "TLS 1.2"), ("ECDHE-ECDSA-AES128-GCM-SHA256", Version::Tls12, "TLS 1.3")]
    {
        let outcome = lab.measure(server.address()).count(2).args(["--ciphers", suite]).run().exits(0);
        assert_eq!(outcome.measured(measured, Kind::Full).n, 2);
        assert_eq!((outcome.document().all_connections.failed, outcome.document().failures.len()), (0, 0), "{suite}");
        outcome.shows(&[&format!("{left_out} is not measured: no offered cipher suite belongs to it")]);
    }
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
