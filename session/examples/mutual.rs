//! A server on axum whose clients have certificates, with ALPN and counters. `example-mutual CERTIFICATE KEY TICKET-KEYS CLIENT-CA`, all of them files.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::{Router, http::header::CONTENT_TYPE, routing::get};
use reprise_session::key_file::{KeyFileFormat, KeyFiles, watch};
use reprise_session::metrics::Counters;
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [certificate, key, ticket_keys, clients] = &arguments[..] else {
        return Err("CERTIFICATE KEY TICKET-KEYS CLIENT-CA".into());
    };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());

    // The keys of `reprise session-keys new own:FILE`, and counters for all: handshakes, the ring, and whoever renews it.
    let (ring, _watcher) = watch(KeyFiles::new(KeyFileFormat::Reprise, [ticket_keys]), Duration::from_secs(10))?;
    let counters = Arc::new(Counters::default());
    let resumption = Resumption::builder().tickets(ring).metrics(counters.clone()).build()?;

    // Certificates of these authorities, and no certificate revocation lists.
    let roots = CertificateDer::pem_file_iter(clients)?.collect::<Result<Vec<_>, _>>()?;
    let client_auth = ClientAuth::required(&roots, &[], Arc::clone(&provider))?;
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = client_auth.apply(builder).with_single_cert(chain, key)?;
    // Before the server is made: sessions are bound to it.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let server = ResumingServer::new(config, &client_auth, &resumption)?;

    let of_openmetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let metrics = get(async move || ([(CONTENT_TYPE, of_openmetrics)], counters.render()));
    let router = Router::new().route("/", get(async || "hello\n")).route("/metrics", metrics);
    let listener = server.listen(TcpListener::bind("127.0.0.1:0").await?);
    println!("{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
