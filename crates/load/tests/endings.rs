//! How connections end: what comes together with the server's FIN, without a length, or with nothing said at all.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reprise_load::{Arrival, End, Options, Outcome, Silent, TlsOptions, run};
use reprise_trace::Version;

const COUNT: u64 = 6;

fn options(address: SocketAddr, version: Version) -> Options {
    Options {
        tls: Arc::new(TlsOptions::new(version)),
        arrival: Arrival::Closed { connections: 2 },
        end: End::Count(COUNT),
        timeout: Duration::from_secs(5),
        ..Options::new(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec())
    }
}

fn load(options: &Options) -> Outcome {
    run(options, &|| false, &Silent).unwrap()
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
