//! A client program on rustls: this test's own program, called again for this one function.

use std::env;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const ROUNDS: usize = 4;

#[test]
#[ignore = "a client program, run by other tests"]
fn acts_as_client() {
    let way = env::var("REPRISE_TEST_WAY").unwrap();
    let config = new_config();
    match way.as_str() {
        "right" => (0..ROUNDS).for_each(|_| finish(connect(Arc::clone(&config)))),
        "rebuild" => (0..ROUNDS).for_each(|_| finish(connect(new_config()))),
        "at-once" => {
            finish(connect(Arc::clone(&config)));
            let open: Vec<_> = (0..ROUNDS + 2).map(|_| connect(Arc::clone(&config))).collect();
            open.into_iter().for_each(finish);
        }
        other => panic!("no way {other}"),
    }
}

fn new_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(env::var("SSL_CERT_FILE").unwrap()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection whose handshake is over, and on which nothing was read after it.
fn connect(config: Arc<ClientConfig>) -> Stream {
    let url = env::var("REPRISE_URL").unwrap();
    let authority = url.trim_start_matches("https://").trim_end_matches('/');
    let (host, _) = authority.rsplit_once(':').unwrap();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let mut socket = TcpStream::connect(authority).unwrap();
    let mut tls = ClientConnection::new(config, name).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut socket).unwrap();
    }
    StreamOwned::new(tls, socket)
}

fn finish(mut stream: Stream) {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
