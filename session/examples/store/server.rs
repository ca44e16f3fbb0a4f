//! What the programs beside this file have in common, but for `axum`, which has all of it to be copied from: a server whose nodes share keys through Valkey or Redis.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::{KeyEncryptionKeys, Rotation};
use reprise_session_valkey::{Topology, Valkey, ValkeyConfig};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Of the program's arguments, `CERTIFICATE KEY STORE RING-KEY`, and the protocols that ALPN may choose.
pub(crate) fn server(protocols: &[&str]) -> Result<ResumingServer, Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [certificate, key, store, ring_key] = &arguments[..] else { return Err("CERTIFICATE KEY STORE RING-KEY".into()) };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let rotation = Rotation::new(Duration::from_secs(12 * 3600))?;
    let keys = KeyEncryptionKeys::from_file(ring_key)?;
    // The ring keeps the store, which renews it.
    let (_store, ring) = Valkey::start(ValkeyConfig::new(Topology::Single(store.clone()), rotation, keys))?;
    let resumption = Resumption::builder().tickets(ring).build()?;
    let client_auth = ClientAuth::none();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = client_auth.apply(builder).with_single_cert(chain, key)?;
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Ok(ResumingServer::new(config, &client_auth, &resumption)?)
}
