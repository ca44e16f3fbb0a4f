//! Servers that misbehave: each failure is counted by its name, and the load ends in time. What the client makes of each message that is
//! not what is due is in `hostile_table`.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reprise_harness::Lab;
use reprise_harness::load::{self, load};
use reprise_lab::KeyKind;
use reprise_load::{Arrival, ArrivalSpread, LoadEnd, LoadObserver, LoadOptions, NoLoadObserver, run};
use reprise_model::{Kind, Nanos, Version};
use reprise_servers::{MisbehavingServer, Nginx, NginxConfig, RealServer, ScriptStep};

const COUNT: u64 = 6;

fn options(address: SocketAddr, version: Version) -> LoadOptions {
    LoadOptions {
        arrival: Arrival::Closed { connections: 3 },
        end: LoadEnd::Count(COUNT),
        timeout: Duration::from_millis(300),
        ..load::options(address, version)
    }
}

fn errors(address: SocketAddr) -> BTreeMap<String, u64> {
    load(&options(address, Version::Tls13)).errors()
}

fn all(name: &str) -> BTreeMap<String, u64> {
    BTreeMap::from([(name.to_owned(), COUNT)])
}

#[test]
fn servers_that_do_not_speak_are_named() {
    assert_eq!(errors(MisbehavingServer::silent().unwrap().address()), all("timeout"));
    assert_eq!(errors(MisbehavingServer::plain_http().unwrap().address()), all("not_tls"));
    assert_eq!(errors(MisbehavingServer::garbage().unwrap().address()), all("not_tls"));
    let after_the_hello = |last: ScriptStep| MisbehavingServer::start(vec![ScriptStep::ReadRecord, last]).unwrap();
    assert_eq!(errors(after_the_hello(ScriptStep::Close).address()), all("closed_early"));
    assert_eq!(errors(after_the_hello(ScriptStep::Reset).address()), all("connection_reset"));
    let alert = ScriptStep::Send(vec![21, 3, 3, 0, 2, 2, 40]);
    assert_eq!(errors(after_the_hello(alert).address()), all("alert_handshake_failure"));
}

/// Not until their timeout: that could be hours.
#[test]
fn connections_that_hang_are_cut_off_soon_after_the_end() {
    let silent = MisbehavingServer::silent().unwrap();
    let end = LoadEnd::After(Duration::from_millis(50));
    let timeout = Duration::from_secs(3600);
    let outcome = load(&LoadOptions { end, timeout, ..options(silent.address(), Version::Tls13) });
    assert_eq!(outcome.errors(), BTreeMap::from([("cut_off".to_owned(), 3)]));
    assert!(outcome.target_is_gone());
}

#[test]
fn a_port_where_nobody_listens_refuses() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    assert_eq!(errors(address), all("connection_refused"));
}

/// Kills nothing but its own server, once connections have completed, and starts it anew at the same port.
struct Restart {
    nginx: std::sync::Mutex<Option<Nginx>>,
    config: NginxConfig,
    stage: AtomicU64,
}

impl LoadObserver for Restart {
    fn proceeded(&self, _elapsed: Nanos, completed: u64, failed: u64) {
        let mut nginx = self.nginx.lock().unwrap();
        match self.stage.load(Ordering::Relaxed) {
            0 if completed > 20 => {
                *nginx = None;
                self.stage.store(1, Ordering::Relaxed);
            }
            1 if failed > 5 => {
                *nginx = Some(Nginx::start(self.config.clone()).unwrap());
                self.stage.store(2, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

#[test]
fn a_server_that_dies_and_comes_back_is_loaded_again() {
    reprise_servers::require!("nginx");
    let config = NginxConfig::new(vec![Lab::new().identity(KeyKind::P256)]);
    let nginx = Nginx::start(config.clone()).unwrap();
    let address = nginx.address();
    let config = NginxConfig { port: Some(address.port()), ..config };
    let restart = Restart { nginx: std::sync::Mutex::new(Some(nginx)), config, stage: AtomicU64::new(0) };
    let before_the_end = std::time::Instant::now();
    let done = AtomicU64::new(0);
    // Ends once it has gone on for a while after the restart, at the latest after 20 seconds.
    let stop = || {
        let again = restart.stage.load(Ordering::Relaxed) == 2 && done.fetch_add(1, Ordering::Relaxed) > 200;
        again || before_the_end.elapsed() > Duration::from_secs(20)
    };
    let options = LoadOptions { end: LoadEnd::After(Duration::from_secs(60)), ..options(address, Version::Tls13) };
    let outcome = run(&options, &stop, &restart).unwrap();
    assert_eq!(restart.stage.load(Ordering::Relaxed), 2);
    assert!(outcome.errors().contains_key("connection_refused"), "{:?}", outcome.errors());
    assert!(outcome.completed(Kind::Full) > 40, "{}", outcome.completed(Kind::Full));
}

#[test]
fn a_rate_beyond_reach_says_what_was_not_started() {
    let server = MisbehavingServer::silent().unwrap();
    let options = LoadOptions {
        arrival: Arrival::Open { rate: 1000.0, spread: ArrivalSpread::Constant, most: 4 },
        end: LoadEnd::After(Duration::from_millis(400)),
        timeout: Duration::from_millis(100),
        ..options(server.address(), Version::Tls13)
    };
    let outcome = load(&options);
    let (errors, not_started) = (outcome.errors(), outcome.not_started());
    assert!(not_started > 300 && !errors.contains_key("not_started"), "{not_started} {errors:?}");
    let all = errors.values().sum::<u64>() + not_started;
    assert!((398..=402).contains(&all), "{not_started} {errors:?}");
}

#[test]
fn stopping_keeps_what_was_seen() {
    let server = MisbehavingServer::silent().unwrap();
    let options = LoadOptions {
        end: LoadEnd::After(Duration::from_secs(3600)),
        timeout: Duration::from_millis(50),
        ..options(server.address(), Version::Tls13)
    };
    let asked = AtomicU64::new(0);
    let outcome = run(&options, &|| asked.fetch_add(1, Ordering::Relaxed) > 10, &NoLoadObserver).unwrap();
    assert!(outcome.errors()["timeout"] >= 3);
}
