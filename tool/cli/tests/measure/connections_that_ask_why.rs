//! Connections that the program makes for itself, to find out what it is refused for, are counted like all others.

use std::fs;

use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{DEADLINE, Lab, wait_until};

/// Measures with the group alone, and finds every connection in one of nginx' two logs: of requests, and of handshakes that
/// did not complete.
#[track_caller]
fn assert_counted(groups: &str, arguments: &[&str], server_directives: &str, failed: u64, full: u64) {
    let lab = Lab::new();
    let log = lab.path("handshakes.log");
    let config = NginxConfig {
        http_directives: format!("error_log {} info;\n", log.display()),
        server_directives: server_directives.to_owned(),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let mut nginx = Nginx::start(config).unwrap();
    let outcome = lab.measure(nginx.address()).args(["--groups", groups]).args(arguments).run().exits(3);
    let all = outcome.document().all_connections;
    assert_eq!((all.failed, all.full, all.ticket + all.id), (failed, full, 0), "{groups} {arguments:?}: {}", outcome.stderr);

    let accounts = nginx.accounts_when(usize::try_from(full).unwrap(), DEADLINE).unwrap();
    let refused = || fs::read_to_string(&log).unwrap_or_default().matches("SSL_do_handshake() failed").count() as u64;
    wait_until("nginx' log of handshakes", || refused() >= failed);
    assert_eq!((refused(), accounts.len() as u64), (failed, full), "{groups} {arguments:?}");
}

#[test]
fn a_group_that_nginx_refuses() {
    reprise_servers::require!("nginx");
    let directive = "ssl_ecdh_curve prime256v1;";
    // Each version is refused once; one connection that offers all completes, and one with the group that was chosen there.
    assert_counted("x25519", &[], directive, 2, 2);
    assert_counted("x25519", &["--tls", "1.3"], directive, 1, 2);
    assert_counted("X25519MLKEM768", &[], directive, 2, 2);
}
