//! A client that knows nothing of Reprise's own engine: rustls in this process.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use reprise_lab::{Authority, Versions};
use rustls::crypto::aws_lc_rs;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};

/// No test waits longer for a peer: it fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// A rustls client.
pub struct Client {
    config: Arc<ClientConfig>,
}

/// What came of one request.
pub struct Fetched {
    /// The client's port.
    pub port: u16,
    /// All that the server said.
    pub response: String,
}

/// A connection after its handshake.
pub type Stream = StreamOwned<ClientConnection, TcpStream>;

impl Client {
    /// Trusts `authority`.
    pub fn new(authority: &Authority, versions: Versions) -> Self {
        Self::build(authority, versions, |_| {})
    }

    /// The same, with its configuration changed by `adjust`.
    pub fn build(authority: &Authority, versions: Versions, adjust: impl FnOnce(&mut ClientConfig)) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().clone()).unwrap();
        let versions: &[&'static SupportedProtocolVersion] = match versions {
            Versions::Tls12 => &[&TLS12],
            Versions::Tls13 => &[&TLS13],
            Versions::Both => &[&TLS12, &TLS13],
        };
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        adjust(&mut config);
        Self { config: Arc::new(config) }
    }

    /// Completes a handshake.
    pub fn connect(&self, address: SocketAddr) -> io::Result<Stream> {
        let socket = TcpStream::connect_timeout(&address, PATIENCE)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_nodelay(true)?;
        let tls = ClientConnection::new(Arc::clone(&self.config), "localhost".try_into().unwrap()).unwrap();
        let mut stream = StreamOwned::new(tls, socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }

    /// Gets `path`, and reads until the server ends.
    pub fn fetch(&self, address: SocketAddr, path: &str) -> io::Result<Fetched> {
        self.exchange(address, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    /// Sends `request` as it is, and reads until the server ends.
    pub fn exchange(&self, address: SocketAddr, request: &str) -> io::Result<Fetched> {
        let mut stream = self.connect(address)?;
        stream.write_all(request.as_bytes())?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response)?;
        Ok(Fetched { port: stream.sock.local_addr()?.port(), response: String::from_utf8(response).unwrap() })
    }
}
