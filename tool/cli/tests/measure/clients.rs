//! `--like`: a connection offers what another client does, and what each client meets at one target.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use flate2::Compression;
use reprise_harness::{Lab, assert_valid};
use reprise_lab::KeyKind;
use reprise_model::document::{ClientsDocument, MeasureDocument};
use reprise_model::{Kind, Version};
use reprise_servers::{RealServer, SServer, SServerConfig};
use rustls::compress::{CertCompressor, CompressionFailed, CompressionLevel};
use rustls::{CertificateCompressionAlgorithm, ServerConfig, ServerConnection, Stream};

#[test]
fn each_client_meets_a_server_with_its_own_offer() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let config = SServerConfig { groups: Some("P-384".to_owned()), ..SServerConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let server = SServer::start(config).unwrap();
    let outcome = lab.measure(server.address()).args(["--like", "all", "--tls", "1.3"]).count(4).run();
    let outcome =
        outcome.exits(0).shows(&["start again with a HelloRetryRequest", "curl-openssl-3.0", "[hello-retry-request]"]);
    assert_valid(&outcome.json());
    let document: ClientsDocument = outcome.json();
    assert_eq!(document.results.len(), reprise_clients::rows().len());
    for result in &document.results {
        let like = result.target.like.as_ref().unwrap();
        let row = reprise_clients::ClientRow::named(&like.name).unwrap();
        assert_eq!((result.label.as_str(), like.client.as_str()), (row.name.as_str(), row.client.as_str()));
        let full = result.run(Version::Tls13, Kind::Full).unwrap();
        assert_eq!((full.n, full.observed.group.as_deref()), (4, Some("secp384r1")), "{}", row.name);
        // None shares that group; who remembers that it was wanted shares it from the second connection on.
        let retried = if row.remembers_retry { 0 } else { 4 };
        assert_eq!(full.observed.hello_retry_requests, retried, "{}", row.name);
        assert_eq!(full.round_trips, Some(if row.remembers_retry { 1 } else { 2 }), "{}", row.name);
        assert_eq!(result.run(Version::Tls13, Kind::Ticket).unwrap().n, 4, "{}", row.name);
    }
}

#[test]
fn a_hybrid_offer_is_sent_and_an_old_server_takes_its_part() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = SServer::start(SServerConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let sent = |flags: &[&str]| {
        let run = lab.measure(server.address()).args(["--tls", "1.3", "--kinds", "full"]).args(flags).count(3).run();
        let full = run.exits(0).measured(Version::Tls13, Kind::Full);
        (full.bytes.unwrap().sent.0, full.observed.group, full.observed.hello_retry_requests)
    };
    let (default, small, chrome) = (sent(&[]), sent(&["--groups", "x25519"]), sent(&["--like", "chrome"]));
    // A share of ML-KEM-768 has 1184 bytes, one of X25519 32 and four around it.
    assert!((1184..1300).contains(&(default.0 - small.0)), "{default:?} {small:?}");
    assert!(chrome.0 > default.0, "{chrome:?} {default:?}");
    for (_, group, retries) in [default, small, chrome] {
        assert_eq!((group.as_deref(), retries), (Some("x25519"), 0));
    }
}

#[test]
fn a_compressed_certificate_is_read_and_told() {
    let lab = Lab::new();
    let address = compressing(&lab, Some(&ZLIB));
    let run = |address: SocketAddr, client: &str| {
        let call = lab.measure(address).args(["--tls", "1.3", "--kinds", "full", "--like", client]);
        call.count(3).run().exits(0).document()
    };
    let compression = |document: &MeasureDocument| {
        document.run(Version::Tls13, Kind::Full).unwrap().observed.certificate_compression.clone()
    };
    let compressed = compression(&run(address, "firefox")).unwrap();
    assert_eq!(compressed.algorithm, "zlib");
    assert!(compressed.bytes < compressed.uncompressed_bytes, "{compressed:?}");
    // Who does not offer it gets the message as it is.
    assert_eq!(compression(&run(address, "go")), None);
    lab.measure(address).args(["--tls", "1.3", "--like", "firefox"]).count(3).run().shows(&["sent by zlib as"]);
}

#[test]
fn a_compressed_certificate_that_lies_ends_the_connection() {
    let lab = Lab::new();
    let address = compressing(&lab, Some(&BROKEN));
    let call = lab.measure(address).args(["--tls", "1.3", "--like", "firefox"]).count(3).timeout("5s");
    call.run().exits(3).says(&["the server's certificate cannot be read"]);
}

static ZLIB: Zlib = Zlib { is_broken: false };
static BROKEN: Zlib = Zlib { is_broken: true };

#[derive(Debug)]
struct Zlib {
    is_broken: bool,
}

impl CertCompressor for Zlib {
    fn compress(&self, mut input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        if self.is_broken {
            // One byte more than is said.
            input.push(0);
        }
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&input).map_err(|_| CompressionFailed)?;
        encoder.finish().map_err(|_| CompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Zlib
    }
}

/// A server of rustls that compresses a chain long enough to be worth it, and answers one request on each connection.
fn compressing(lab: &Lab, compressor: Option<&'static dyn CertCompressor>) -> SocketAddr {
    let identity = lab.identity(KeyKind::Rsa2048);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        builder.with_no_client_auth().with_single_cert([identity.chain(); 4].concat(), identity.key_der()).unwrap();
    config.cert_compressors = compressor.into_iter().collect();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let (Ok(mut socket), Ok(mut tls)) = (socket, ServerConnection::new(Arc::clone(&config))) else { return };
            std::thread::spawn(move || {
                let mut stream = Stream::new(&mut tls, &mut socket);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
                stream.conn.send_close_notify();
                let _ = stream.flush();
            });
        }
    });
    address
}
