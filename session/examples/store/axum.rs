//! A server on axum whose nodes share keys through Valkey or Redis. `example-store-axum CERTIFICATE KEY STORE RING-KEY`, where STORE is a URL.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::{Router, routing::get};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::{KeyEncryptionKeys, Rotation};
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [certificate, key, store, ring_key] = &arguments[..] else { return Err("CERTIFICATE KEY STORE RING-KEY".into()) };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;

    let rotation = Rotation::new(Duration::from_secs(12 * 3600))?;
    let keys = KeyEncryptionKeys::from_file(ring_key)?;
    let (store, ring) = Valkey::start(ValkeyConfig::new(Topology::Single(store.clone()), rotation, keys))?;
    let resumption = Resumption::builder().tickets(ring).build()?;
    let client_auth = ClientAuth::none();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = client_auth.apply(builder).with_single_cert(chain, key)?;
    let server = ResumingServer::new(config, &client_auth, &resumption)?;

    let health = get(async move || store.status().to_string());
    let router = Router::new().route("/", get(async || "hello\n")).route("/health", health);
    let listener = server.listen(TcpListener::bind("127.0.0.1:0").await?);
    println!("{}", listener.local_addr()?);
    // Once told to end, it answers what clients have asked.
    let mut terminate = signal(SignalKind::terminate())?;
    let told = async move { terminate.recv().await.unwrap_or_default() };
    Ok(axum::serve(listener, router).with_graceful_shutdown(told).await?)
}
