//! A target that dies under a load is told from one of which the last connections happened to fail.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use reprise_harness::Lab;
use reprise_harness::load::{document, load, options};
use reprise_lab::EmbeddedServer;
use reprise_load::{LoadEnd, LoadOptions, LoadOutcome};
use reprise_model::{Kind, Version};
use reprise_servers::{Relay, RelayFault, RelayRule};

const COUNT: u64 = 8;

fn server() -> EmbeddedServer {
    Lab::new().server_with(|_| {})
}

const TIMEOUT: Duration = Duration::from_millis(500);

fn of_count(address: SocketAddr) -> LoadOptions {
    LoadOptions { end: LoadEnd::Count(COUNT), timeout: TIMEOUT, ..options(address, Version::Tls13) }
}

/// One connection after the other.
fn outcome(address: SocketAddr) -> LoadOutcome {
    load(&of_count(address))
}

/// Forwards connections but those with the numbers that `fails` tells, which it closes.
fn failing(upstream: SocketAddr, fails: fn(u64) -> bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, client) in (0..).zip(listener.incoming()) {
            if !fails(number) {
                let (client, server) = (client.unwrap(), TcpStream::connect(upstream).unwrap());
                let (client_again, server_again) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut &client_again, &mut &server_again));
                thread::spawn(move || std::io::copy(&mut &server, &mut &client));
            }
        }
    });
    address
}

#[test]
fn death_before_the_very_last_connection_is_noticed() {
    let server = server();
    for failed in 1..=3 {
        for fault in [RelayFault::Reset, RelayFault::Stall] {
            let rule = RelayRule { skip_connections: (COUNT - failed) as usize, record: 0, fault };
            let relay = Relay::start(server.address(), rule).unwrap();
            let address = relay.address();
            let outcome = outcome(address);
            assert_eq!(outcome.completed(Kind::Full), COUNT - failed, "{failed} {fault:?}");
            assert!(outcome.target_is_gone(), "{failed} {fault:?}");
            let document = document(&outcome, &of_count(address));
            assert_eq!(document.rate.mean, (COUNT - failed) as f64 / document.seconds);
            if fault == RelayFault::Stall {
                let window = document.window.unwrap();
                let asked_ns = (window.to_unix_ns - window.from_unix_ns) as f64;
                let waited = TIMEOUT.as_secs_f64() * failed as f64;
                assert!(document.seconds + waited <= asked_ns / 1e9, "{} counts what died", document.seconds);
            }
        }
    }
}

#[test]
fn failures_at_the_end_are_no_death_while_others_complete() {
    let server = server();
    let cases = [|number| number == COUNT - 1, |number| (COUNT - 4..COUNT).contains(&number), |number: u64| number % 2 == 1];
    for (fails, failed) in cases.into_iter().zip([1, 4, 4]) {
        let outcome = outcome(failing(server.address(), fails));
        assert_eq!(outcome.completed(Kind::Full), COUNT - failed);
        // Those that were tried at the end are counted nowhere.
        assert_eq!(outcome.errors().values().sum::<u64>(), failed, "{:?}", outcome.errors());
        assert!(!outcome.target_is_gone(), "{failed} failed");
    }
}
