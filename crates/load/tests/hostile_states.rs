//! An alert, and bytes that are no TLS, in the place of each of the server's records: in every state of the client.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use reprise_harness::Lab;
use reprise_harness::load::{load, options};
use reprise_lab::{EmbeddedServer, Versions};
use reprise_load::{LoadEnd, Options};
use reprise_model::{Kind, Version};

const COUNT: u64 = 3;

/// A fatal handshake_failure in the clear.
const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
const GARBAGE: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";

/// Forwards COUNT connections, the server's record of this number replaced in each.
fn replacing(upstream: SocketAddr, record: usize, replacement: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().take(COUNT as usize) {
            thread::spawn(move || forward(&client.unwrap(), &TcpStream::connect(upstream).unwrap(), record, replacement));
        }
    });
    address
}

fn forward(mut client: &TcpStream, mut server: &TcpStream, record: usize, replacement: &[u8]) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::copy(&mut &*client, &mut &*server);
            let _ = server.shutdown(Shutdown::Both);
        });
        for number in 0.. {
            let mut bytes = vec![0; 5];
            if server.read_exact(&mut bytes).is_err() {
                break;
            }
            let length = usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
            bytes.resize(5 + length, 0);
            if server.read_exact(&mut bytes[5..]).is_err() {
                break;
            }
            let bytes = if number == record { replacement } else { &bytes };
            if client.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    });
}

/// What becomes of connections whose server's record of this number is replaced.
fn errors(server: &EmbeddedServer, version: Version, record: usize, replacement: &'static [u8]) -> BTreeMap<String, u64> {
    let address = replacing(server.address(), record, replacement);
    let options = Options { end: LoadEnd::Count(COUNT), timeout: Duration::from_secs(20), ..options(address, version) };
    let outcome = load(&options);
    assert_eq!(outcome.completed(Kind::Full), 0, "{version} record {record}");
    outcome.errors()
}

#[test]
fn nothing_in_the_place_of_a_record_passes_and_each_is_named() {
    let lab = Lab::new();
    for (version, versions) in [(Version::Tls13, Versions::Tls13), (Version::Tls12, Versions::Tls12)] {
        let server = lab.server_with(|config| config.versions = versions);
        // ServerHello, ChangeCipherSpec and the rest of the flight; in TLS 1.2, what comes after our Finished.
        for record in 0..3 {
            let all = |name: &str| BTreeMap::from([(name.to_owned(), COUNT)]);
            let alert = errors(&server, version, record, ALERT);
            // Once the server's records are protected, an alert in the clear may be anybody's.
            let anybodys = ["bad_record_mac", "peer_misbehaved"].map(all).contains(&alert);
            let named = alert == all("alert_handshake_failure") || (record > 0 && anybodys);
            assert!(named, "{version} record {record}: {alert:?}");
            // Whoever has spoken TLS before is one that speaks it badly.
            let garbage = if record == 0 { "not_tls" } else { "malformed" };
            assert_eq!(errors(&server, version, record, GARBAGE), all(garbage), "{version} record {record}");
        }
    }
}
