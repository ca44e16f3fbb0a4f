//! What is not spoken is recognised: the error names what the server chose.

use reprise_lab::{KeyKind, Versions};
use reprise_servers::{RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, Outcome};

fn measure(key: KeyKind, versions: Versions, change: impl FnOnce(&mut SServerConfig)) -> Outcome {
    let lab = Lab::new();
    let mut config = SServerConfig { versions, ..SServerConfig::new(vec![lab.identity(key)]) };
    change(&mut config);
    let server = SServer::start(config).unwrap();
    lab.measure(server.address()).count(2).run().exits(3)
}

fn only(ciphers: &str) -> impl FnOnce(&mut SServerConfig) {
    move |config| config.ciphers = Some(ciphers.to_owned())
}

#[test]
fn finite_field_diffie_hellman() {
    reprise_servers::require!("openssl");
    let outcome = measure(KeyKind::Rsa2048, Versions::Tls12, only("DHE-RSA-AES128-GCM-SHA256"));
    outcome.says(&["the server chose the cipher suite TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "does not support"]);
}

#[test]
fn cipher_block_chaining() {
    reprise_servers::require!("openssl");
    let outcome = measure(KeyKind::P256, Versions::Tls12, only("ECDHE-ECDSA-AES128-SHA"));
    outcome.says(&["the server chose the cipher suite TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"]);
    let outcome = measure(KeyKind::Rsa2048, Versions::Tls12, only("AES256-SHA256"));
    outcome.says(&["the server chose the cipher suite TLS_RSA_WITH_AES_256_CBC_SHA256"]);
}

#[test]
fn ccm() {
    reprise_servers::require!("openssl");
    let outcome = measure(KeyKind::P256, Versions::Tls12, only("ECDHE-ECDSA-AES128-CCM"));
    outcome.says(&["the server chose the cipher suite TLS_ECDHE_ECDSA_WITH_AES_128_CCM"]);
    let outcome =
        measure(KeyKind::P256, Versions::Tls13, |config| config.ciphersuites = Some("TLS_AES_128_CCM_SHA256".to_owned()));
    outcome.says(&["the server chose the cipher suite TLS_AES_128_CCM_SHA256"]);
}

#[test]
fn versions_before_tls_1_2() {
    reprise_servers::require!("openssl");
    for (flag, name) in [("-tls1", "TLS 1.0"), ("-tls1_1", "TLS 1.1")] {
        let outcome = measure(KeyKind::Rsa2048, Versions::Both, |config| {
            config.ciphers = Some("ALL:@SECLEVEL=0".to_owned());
            config.extra = vec![flag.to_owned()];
        });
        outcome.says(&[&format!("the server chose {name}")]);
    }
}

fn with_group(group: &str, versions: Versions) -> Outcome {
    measure(KeyKind::Rsa2048, versions, |config| {
        config.ciphers = Some("ECDHE-RSA-AES128-GCM-SHA256".to_owned());
        config.groups = Some(group.to_owned());
    })
}

#[test]
fn the_group_x448() {
    reprise_servers::require!("openssl");
    for versions in [Versions::Tls12, Versions::Tls13] {
        with_group("X448", versions).says(&["the server chose the group x448"]);
    }
}

#[test]
fn a_group_that_is_spoken_and_was_not_offered() {
    reprise_servers::require!("openssl");
    for versions in [Versions::Tls12, Versions::Tls13] {
        with_group("P-521", versions).says(&["it requests the group secp521r1", "--groups secp521r1"]);
    }
}
