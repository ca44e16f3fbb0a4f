//! `--proxy-protocol`: nginx and HAProxy take the header, and join their account to the port that stands in it.

use reprise_lab::KeyKind;
use reprise_servers::{HaProxy, HaProxyConfig, Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, assert_account_for, nginx_behind_proxy};

#[test]
fn nginx() {
    reprise_servers::require!("nginx");
    for version in ["v1", "v2"] {
        let lab = Lab::new();
        let (mut nginx, address) = nginx_behind_proxy(&lab);
        let outcome = lab.measure(address).args(["--proxy-protocol", version]).count(4).run().exits(0);
        assert_account_for(&mut nginx, &outcome.document(), version);
        assert_eq!(outcome.document().target.proxy_protocol.as_deref(), Some(version));
        let without = lab.measure(address).timeout("2s").run();
        assert_eq!(without.code, 3, "{}", without.stderr);
    }
}

#[test]
fn a_server_that_expects_no_header_is_still_tls() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    for version in ["v1", "v2"] {
        let outcome = lab.measure(nginx.address()).args(["--proxy-protocol", version]).count(1).run().exits(3);
        outcome.says(&["may not expect a PROXY header", "try without --proxy-protocol"]);
    }
}

#[test]
fn haproxy() {
    reprise_servers::require!("haproxy");
    for version in ["v1", "v2"] {
        let lab = Lab::new();
        let config = HaProxyConfig { accepts_proxy: true, ..HaProxyConfig::new(lab.identity(KeyKind::P256)) };
        let mut server = HaProxy::start(config).unwrap();
        let outcome = lab.measure(server.address()).args(["--proxy-protocol", version]).count(4).run().exits(0);
        assert_account_for(&mut server, &outcome.document(), version);
    }
}
