//! Apache with two virtual hosts, one of which verifies clients: in a version with the fix of CVE-2025-23048.

use reprise_servers::{Apache, ApacheConfig, RealServer, require};

use crate::isolation::scene::Scene;

#[test]
fn virtual_hosts_that_share_ticket_keys_are_isolated() {
    require!("apache2");
    let scene = Scene::new();
    let host = |name: &str, further: &str| {
        format!(
            "<VirtualHost *:*>\nServerName {name}\nSSLEngine on\nSSLCertificateFile {{root}}/server-cert.pem\n\
             SSLCertificateKeyFile {{root}}/server-key.pem\nSSLSessionTicketKeyFile {{root}}/ticket.key\n\
             DocumentRoot {{root}}/www\n{further}\n</VirtualHost>\n"
        )
    };
    let strict = format!("SSLVerifyClient require\nSSLCACertificateFile {}", scene.authority.display());
    let whole = "SSLCertificateFile {root}/server-cert.pem\nSSLCertificateKeyFile {root}/server-key.pem\n";
    let directives = whole.to_owned() + &host("open.test", "") + &host("strict.test", &strict);
    let files = vec![("ticket.key", vec![7; 48])];
    let config = ApacheConfig { directives, files, session_cache: true, ..ApacheConfig::new(scene.server.clone()) };
    let server = Apache::start(config).unwrap();
    let targets = ["open.test", "strict.test"].map(|name| format!("{name}:{}", server.address().port()));
    scene.isolation(&[&targets[0], &targets[1]], &["--resolve", "127.0.0.1"]).assert_nothing_enters();
}
