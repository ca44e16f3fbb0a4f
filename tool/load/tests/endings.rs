//! How connections end: what comes together with the server's FIN, without a length, or with nothing said at all.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use reprise_connection::exchange;
use reprise_harness::Lab;
use reprise_harness::load::{self, REQUEST, document, load};
use reprise_lab::{EmbeddedResumption, EmbeddedServer, ServerApplication, Turn};
use reprise_load::{Arrival, LoadEnd, LoadOptions};
use reprise_model::{Kind, LoadNotice, Phase, Version};

const COUNT: u64 = 6;

fn options(address: SocketAddr, version: Version) -> LoadOptions {
    LoadOptions {
        arrival: Arrival::Closed { connections: 2 },
        end: LoadEnd::Count(COUNT),
        timeout: Duration::from_secs(5),
        ..load::options(address, version)
    }
}

/// Answers each hello with these bytes and a FIN in one segment.
fn last_words(words: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            // Held back until the FIN goes with it.
            socket2::SockRef::from(&client).set_tcp_cork(true).unwrap();
            let _ = client.read(&mut [0; 4096]);
            client.write_all(words).unwrap();
            let _ = client.shutdown(Shutdown::Write);
        }
    });
    address
}

#[test]
fn an_end_that_comes_with_the_last_bytes_is_heard() {
    // The beginning of a record whose rest never comes.
    let outcome = load(&options(last_words(&[22, 3, 3, 0, 90, 2, 0]), Version::Tls13));
    assert_eq!(outcome.errors(), BTreeMap::from([("closed_early".to_owned(), COUNT)]));
}

/// Says and hears these lines on each connection, and closes; no tickets are given.
fn dialogue(turns: Vec<Turn>) -> EmbeddedServer {
    Lab::new().server_with(|config| {
        config.application = ServerApplication::Dialogue(turns);
        config.resumption = EmbeddedResumption::Off;
    })
}

#[test]
fn servers_that_speak_first_show_that_they_have_finished() {
    let greeting = || vec![Turn::Says(b"220 mail.example\r\n".to_vec())];
    for turns in [greeting(), Vec::new()] {
        let server = dialogue(turns.clone());
        for version in [Version::Tls12, Version::Tls13] {
            let outcome = load(&LoadOptions { requests: 0, ..options(server.address(), version) });
            assert_eq!(outcome.completed(Kind::Full), COUNT, "{version} {turns:?}: {:?}", outcome.errors());
        }
    }
}

#[test]
fn a_response_without_a_length_is_received_until_its_end() {
    let response = [b"HTTP/1.0 200 OK\r\n\r\n", &[7; 1_000_000][..]].concat();
    let server = dialogue(vec![Turn::Hears(REQUEST.to_vec()), Turn::Says(response)]);
    let options = options(server.address(), Version::Tls13);
    let outcome = load(&options);
    assert_eq!(outcome.completed(Kind::Full), COUNT, "{:?}", outcome.errors());
    // A megabyte takes many reads, each with a time of its own.
    let latency = &document(&outcome, &options).latency_ns[&Kind::Full];
    assert!(latency[&Phase::Receive].p50 > 0, "{latency:?}");
}

#[test]
fn a_request_longer_than_a_socket_holds_is_sent_to_its_end() {
    let long = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", &[b'x'; 12_000_000][..], b"\r\n\r\n"].concat();
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec();
    let server = dialogue(vec![Turn::Hears(long.clone()), Turn::Says(response)]);
    for version in [Version::Tls12, Version::Tls13] {
        let options = options(server.address(), version);
        let options = LoadOptions {
            application: exchange::Application::Http1 { request: long.clone().into(), is_head: false },
            timeout: Duration::from_secs(60),
            end: LoadEnd::Count(1),
            ..options
        };
        let outcome = load(&options);
        assert_eq!(outcome.completed(Kind::Full), 1, "{version}: {:?}", outcome.errors());
    }
}

#[test]
fn a_request_that_is_refused_between_others_is_counted() {
    let says = |status: &str| Turn::Says(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes());
    let hears = || Turn::Hears(REQUEST.to_vec());
    let turns = vec![hears(), says("200 OK"), hears(), says("429 Too Many Requests"), hears(), says("200 OK")];
    let server = dialogue(turns);
    let options = LoadOptions { requests: 3, ..options(server.address(), Version::Tls13) };
    let outcome = load(&options);
    let document = document(&outcome, &options);
    assert_eq!(document.http_status, BTreeMap::from([(200, 2 * COUNT), (429, COUNT)]));
    assert!(outcome.notices(&document, &options).contains(&LoadNotice::ErrorResponses));
}

#[test]
fn a_server_that_refuses_every_request_is_warned_of() {
    let response = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_vec();
    let server = dialogue(vec![Turn::Hears(REQUEST.to_vec()), Turn::Says(response)]);
    let options = options(server.address(), Version::Tls13);
    let outcome = load(&options);
    let document = document(&outcome, &options);
    assert_eq!(document.http_status, BTreeMap::from([(503, COUNT)]));
    assert!(outcome.notices(&document, &options).contains(&LoadNotice::ErrorResponses));
}
