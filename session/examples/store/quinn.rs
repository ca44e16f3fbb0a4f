//! A QUIC server on quinn: tickets of QUIC under the ring of all nodes. `example-store-quinn CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of
//! Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::error::Error;
use std::sync::Arc;

use quinn::crypto::rustls::QuicServerConfig;
use quinn::crypto::{Keys, ServerConfig, Session, UnsupportedVersion};
use quinn_proto::ConnectionId;
use quinn_proto::transport_parameters::TransportParameters;
use reprise_session::ResumptionOffer;
use reprise_session::rustls::ResumingServer;
use reprise_session::store::Answers;

/// As quinn asks for each connection, and rustls tells a ticketer nothing of the connection, each gets a configuration of its own.
struct Resuming {
    server: ResumingServer,
    /// Of no connection: the keys of first packets are the same for all.
    any: Arc<QuicServerConfig>,
}

impl Resuming {
    fn new(server: ResumingServer) -> Result<Self, Box<dyn Error>> {
        let any = Arc::new(Self::config(&server)?);
        Ok(Self { server, any })
    }

    fn config(server: &ResumingServer) -> Result<QuicServerConfig, Box<dyn Error>> {
        let (config, _watch) = server.connection(&ResumptionOffer::default(), Answers::default());
        Ok(QuicServerConfig::try_from(config)?)
    }
}

impl ServerConfig for Resuming {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.any.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.any.retry_tag(version, id, packet)
    }

    fn start_session(self: Arc<Self>, version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        let config = Self::config(&self.server).map_or_else(|_| Arc::clone(&self.any), Arc::new);
        config.start_session(version, parameters)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let crypto = Resuming::new(server::server(&["hello"])?)?;
    let endpoint = quinn::Endpoint::server(quinn::ServerConfig::with_crypto(Arc::new(crypto)), "127.0.0.1:0".parse()?)?;
    println!("{}", endpoint.local_addr()?);
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await?;
            let mut stream = connection.open_uni().await?;
            stream.write_all(b"hello\n").await?;
            stream.finish()?;
            connection.closed().await;
            Ok::<_, Box<dyn Error + Send + Sync>>(())
        });
    }
    Ok(())
}
