//! The account of rustls' client, in this process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use reprise_model::Version;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, RootCertStore, StreamOwned};

use crate::differential::account::{Account, Visit, Visits, yes};
use crate::differential::combination::Combination;
use crate::differential::ours::certificate;
use reprise_harness::{DEADLINE, Lab};

pub(crate) fn visit(lab: &Lab, combination: &Combination) -> Option<Visits> {
    let config = Arc::new(config(lab, combination)?);
    let first = connect(&config, combination);
    let second = (first != Visit::Refused).then(|| connect(&config, combination));
    Some(Visits { first, second })
}

/// `None` where rustls does not know the suite: it has none without forward secrecy.
fn config(lab: &Lab, combination: &Combination) -> Option<ClientConfig> {
    let mut provider: CryptoProvider = aws_lc_rs::default_provider();
    let iana = combination.suite.iana;
    // It says TLS13_AES_128_GCM_SHA256 where IANA has TLS_AES_128_GCM_SHA256.
    provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()).replace("TLS13_", "TLS_") == iana);
    provider.kx_groups.retain(|group| format!("{:?}", group.name()).eq_ignore_ascii_case(combination.group));
    if provider.cipher_suites.is_empty() {
        return None;
    }
    assert_eq!((provider.cipher_suites.len(), provider.kx_groups.len()), (1, 1), "{combination}");
    let versions = match combination.version {
        Version::Tls12 => [&TLS12],
        Version::Tls13 => [&TLS13],
    };
    let mut roots = RootCertStore::empty();
    roots.add(lab.authority.certificate().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(provider)).with_protocol_versions(&versions).unwrap();
    let builder = builder.with_root_certificates(roots);
    let mut config = match certificate(lab, combination) {
        Some((certificate, key)) => {
            let chain = CertificateDer::pem_file_iter(certificate).unwrap().collect::<Result<_, _>>().unwrap();
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.enable_early_data = combination.early_data;
    if combination.alpn {
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
    }
    Some(config)
}

fn connect(config: &Arc<ClientConfig>, combination: &Combination) -> Visit {
    let socket = TcpStream::connect(combination.address).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut tls = ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap()).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // There is a writer only where the ticket allows early data.
    let sent_early = tls.early_data().map(|mut early| early.write_all(request.as_bytes()).unwrap()).is_some();
    let mut stream = StreamOwned::new(tls, socket);
    while stream.conn.is_handshaking() {
        if stream.conn.complete_io(&mut stream.sock).is_err() {
            return Visit::Refused;
        }
    }
    let is_accepted = stream.conn.is_early_data_accepted();
    let request = if is_accepted { "" } else { request };
    let mut response = Vec::new();
    // To the end, so that it has its tickets. A server that gives no close_notify is no matter here.
    let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut response));
    let tls = &stream.conn;
    let text = |name: String| name.replace("TLS13_", "TLS_");
    Visit::Done(Account {
        resumed: tls.handshake_kind() == Some(HandshakeKind::Resumed),
        version: Some(if tls.protocol_version() == Some(ProtocolVersion::TLSv1_3) { "1.3" } else { "1.2" }.to_owned()),
        cipher: tls.negotiated_cipher_suite().map(|suite| text(format!("{:?}", suite.suite()))),
        group: tls.negotiated_key_exchange_group().map(|group| iana_group(&format!("{:?}", group.name()))),
        alpn: Some(tls.alpn_protocol().map_or_else(|| "none".to_owned(), |name| String::from_utf8_lossy(name).into_owned())),
        extended_master_secret: None,
        certificate_requested: None,
        early_data_accepted: sent_early.then(|| yes(is_accepted)),
    })
}

/// It says X25519 and secp256r1.
fn iana_group(rustls: &str) -> String {
    if rustls == "X25519" { rustls.to_lowercase() } else { rustls.to_owned() }
}
