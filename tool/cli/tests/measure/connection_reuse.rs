//! Connections that are kept alive: the next request, on the same connection.

use std::fs;

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::{Kind, Version};
use reprise_scripted::play::{Deviation, Play};
use reprise_scripted::setting::{ConnectionEnd, Line, Setting};
use reprise_servers::start_played;
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{DEADLINE, Lab, Reprise, assert_agree, wait_until};

/// What a saving is told of.
const COUNT: u32 = 8;

#[test]
fn a_kept_connection_carries_two_requests() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let log = lab.path("requests.log");
    let config = NginxConfig {
        // The second log of the same name format: this server's own is for the accounts.
        http_directives: "log_format requests '$remote_port $connection_requests';".to_owned(),
        server_directives: format!("access_log {} requests;", log.display()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let nginx = Nginx::start(config).unwrap();
    let outcome = lab.measure(nginx.address()).count(COUNT).args(["--connections", "keepalive"]).run().exits(0);

    let all = outcome.document().all_connections;
    let made = usize::try_from(all.full + all.ticket).unwrap();
    let requests = || fs::read_to_string(&log).unwrap_or_default();
    wait_until("two requests for each connection", || requests().lines().count() == 2 * made);
    let of_number = |number| requests().lines().filter(|line| line.ends_with(number)).count();
    assert_eq!((of_number(" 1"), of_number(" 2")), (made, made));
    for (tls, kind) in [(Version::Tls12, Kind::Full), (Version::Tls13, Kind::Ticket)] {
        assert_eq!(outcome.measured(tls, kind).next_request.unwrap().n, u64::from(COUNT), "{kind} under {tls}");
    }
    outcome.shows(&["next request", "without a handshake"]);
}

#[test]
fn a_kept_connection_counts_once() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let outcome = lab.measure(nginx.address()).count(COUNT).args(["--connections", "keepalive"]).run().exits(0);
    let document = outcome.document();
    let all = document.all_connections;
    let accounts = nginx.accounts_when(usize::try_from(all.full + all.ticket).unwrap(), DEADLINE).unwrap();
    assert_agree(&document, &accounts, "keep-alive");
}

#[test]
fn a_server_that_closes_is_measured_without_next_request() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let config = NginxConfig { keepalive_requests: 1, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let nginx = Nginx::start(config).unwrap();
    let call = lab.measure(nginx.address()).count(2).args(["--connections", "keepalive", "--tls", "1.3"]);
    let outcome = call.run().exits(0).shows(&["The server closes 4 of 4 connections after the first response"]);
    assert!(outcome.measured(Version::Tls13, Kind::Full).next_request.is_none());
}

#[test]
fn a_whole_response_counts_before_a_reset() {
    let setting = Setting::full(Version::Tls13);
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    // In place of the last three lines: a response that closes, a close_notify, an orderly end.
    let answer = setting.lines().len() - 3;
    let instead = [(answer, Line::Data(response)), (answer + 1, Line::End(ConnectionEnd::Reset))];
    let deviations = instead.map(|(place, line)| (place, Deviation::Instead(line)));
    let server = start_played(move || Play::deviating(setting, &deviations)).unwrap();
    let call = Reprise::measure(server.address()).args(["--insecure", "--tls", "1.3", "--kinds", "full"]).count(COUNT);
    let outcome = call.args(["--connections", "keepalive"]).run().exits(0);
    let full = outcome.measured(Version::Tls13, Kind::Full);
    assert_eq!((full.n, full.failed, full.next_request), (u64::from(COUNT), 0, None));
    outcome.shows(&["after the first response"]);
}

#[test]
fn closing_is_the_default() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let outcome = lab.measure(server.address()).count(2).run().exits(0);
    assert!(outcome.document().runs.iter().all(|run| run.next_request.is_none()));
}
