//! HTTP/2 where ALPN chose it; `load/routes` has HTTP/1.1 where it did not.

use std::net::SocketAddr;

use reprise_lab::KeyKind;
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Go, GoConfig, GoProgram, RealServer};

use reprise_harness::{Lab, assert_account_for, nginx_listening};

/// Every connection is the server's own, chose h2 and got its answer.
#[track_caller]
fn assert_speaks(lab: &Lab, server: &mut dyn RealServer, address: SocketAddr) {
    let outcome = lab.measure(address).args(["--alpn", "h2,http/1.1"]).count(5).run().exits(0);
    assert_account_for(server, &outcome.document(), "h2");
    for tls in [Version::Tls12, Version::Tls13] {
        for kind in [Kind::Full, Kind::Ticket] {
            let run = outcome.measured(tls, kind);
            assert_eq!((run.n, run.observed.alpn.as_deref()), (5, Some("h2")), "{tls} {kind}");
            assert_eq!(run.http_status.get(&200), Some(&5), "{tls} {kind}");
            assert!(run.phases.contains_key(&Phase::Wait) && run.phases.contains_key(&Phase::Receive));
        }
    }
}

#[test]
fn nginx_agrees_on_every_connection() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let (mut nginx, address) = nginx_listening(&lab, "ssl http2", "");
    assert_speaks(&lab, &mut nginx, address);
}

#[test]
fn go_agrees_on_every_connection() {
    reprise_servers::require!("go");
    let lab = Lab::new();
    let mut go = Go::start(GoConfig::new(&GoProgram::build().unwrap(), lab.identity(KeyKind::P256))).unwrap();
    let address = go.address();
    assert_speaks(&lab, &mut go, address);
}

#[test]
fn a_connection_that_is_kept_alive_carries_a_second_stream() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let (nginx, address) = nginx_listening(&lab, "ssl http2", "");
    for (path, status) in [("/100k", 200), ("/nothing", 404)] {
        let arguments = ["--alpn", "h2", "--connections", "keepalive", "--path", path, "-H", "X-Test: 1", "--tls", "1.3"];
        let outcome = lab.measure(address).args(arguments).count(3).run().exits(0);
        let run = outcome.measured(Version::Tls13, Kind::Full);
        assert_eq!(run.next_request.map(|next| next.n), Some(3), "{path}");
        assert_eq!(run.http_status.get(&status), Some(&3), "{path}");
    }
    drop(nginx);
}
