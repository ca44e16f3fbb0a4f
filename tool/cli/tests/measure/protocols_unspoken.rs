//! What is not spoken is recognised: the error names what the server chose.

use reprise_lab::{KeyKind, Versions};
use reprise_servers::{RealServer, SServer, SServerConfig};

use reprise_harness::Lab;

#[test]
fn what_the_server_chose_is_named() {
    reprise_servers::require!("openssl");
    let chose = |what: &str| vec![format!("the server chose {what}")];
    let suite = |name: &str| vec![format!("the server chose the cipher suite {name}"), "does not support".to_owned()];
    let [tls12, tls13, both] = [Versions::Tls12, Versions::Tls13, Versions::Both];
    let [p256, rsa] = [KeyKind::P256, KeyKind::Rsa2048];
    let any = "ALL:@SECLEVEL=0";
    let ecdhe = "ECDHE-RSA-AES128-GCM-SHA256";
    let unoffered = vec!["it requests the group secp521r1".to_owned(), "--groups secp521r1".to_owned()];
    for (key, versions, ciphers, more, words) in [
        (rsa, tls12, "DHE-RSA-AES128-GCM-SHA256", "", suite("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256")),
        (p256, tls13, any, "-ciphersuites TLS_AES_128_CCM_SHA256", suite("TLS_AES_128_CCM_SHA256")),
        (rsa, both, any, "-tls1", chose("TLS 1.0")),
        (rsa, tls12, ecdhe, "-groups X448", chose("the group x448")),
        (rsa, tls13, ecdhe, "-groups X448", chose("the group x448")),
        // Spoken, and not offered.
        (rsa, tls12, ecdhe, "-groups P-521", unoffered.clone()),
        (rsa, tls13, ecdhe, "-groups P-521", unoffered),
    ] {
        let lab = Lab::new();
        let mut config = SServerConfig { versions, ..SServerConfig::new(vec![lab.identity(key)]) };
        config.ciphers = Some(ciphers.to_owned());
        config.extra = more.split_whitespace().map(str::to_owned).collect();
        let server = SServer::start(config).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        lab.measure(server.address()).count(2).run().exits(3).says(&words);
    }
}
