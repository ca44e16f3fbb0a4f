//! Two clients that know nothing of Reprise's own engine: rustls in this process, and `openssl s_client`.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reprise_lab::{Authority, Identity, Versions};
use rustls::crypto::aws_lc_rs;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned, SupportedProtocolVersion};

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
    /// Whether the session was resumed.
    pub resumed: bool,
    /// All that the server said.
    pub response: String,
}

/// A connection after its handshake.
pub type Stream = StreamOwned<ClientConnection, TcpStream>;

impl Client {
    /// Trusts `authority`.
    pub fn new(authority: &Authority, versions: Versions) -> Self {
        Self::build(authority, versions, None, |_| {})
    }

    /// The same, with a certificate of its own.
    pub fn with_identity(authority: &Authority, versions: Versions, identity: &Identity) -> Self {
        Self::build(authority, versions, Some(identity), |_| {})
    }

    /// The same, with its configuration changed by `adjust`.
    pub fn build(
        authority: &Authority,
        versions: Versions,
        identity: Option<&Identity>,
        adjust: impl FnOnce(&mut ClientConfig),
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().clone()).unwrap();
        let versions: &[&'static SupportedProtocolVersion] = match versions {
            Versions::Tls12 => &[&TLS12],
            Versions::Tls13 => &[&TLS13],
            Versions::Both => &[&TLS12, &TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match identity {
            Some(identity) => builder.with_client_auth_cert(identity.chain().to_vec(), identity.key_der()).unwrap(),
            None => builder.with_no_client_auth(),
        };
        adjust(&mut config);
        Self { config: Arc::new(config) }
    }

    /// Completes a handshake.
    pub fn connect(&self, address: SocketAddr) -> io::Result<Stream> {
        self.connect_within(address, PATIENCE)
    }

    /// Gives up when the server has been silent for `silence`.
    pub fn connect_within(&self, address: SocketAddr, silence: Duration) -> io::Result<Stream> {
        let socket = TcpStream::connect_timeout(&address, PATIENCE)?;
        socket.set_read_timeout(Some(silence))?;
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
        Ok(Fetched {
            port: stream.sock.local_addr()?.port(),
            resumed: stream.conn.handshake_kind() == Some(HandshakeKind::Resumed),
            response: String::from_utf8(response).unwrap(),
        })
    }
}

impl Client {
    /// Sends `request` as early data and reads until the server ends; panics if it was not accepted.
    pub fn exchange_early(&self, address: SocketAddr, request: &[u8]) -> (u16, String) {
        let mut socket = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut tls = ClientConnection::new(Arc::clone(&self.config), "localhost".try_into().unwrap()).unwrap();
        tls.early_data().unwrap().write_all(request).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut socket).unwrap();
        }
        assert!(tls.is_early_data_accepted());
        let port = socket.local_addr().unwrap().port();
        let mut response = String::new();
        StreamOwned::new(tls, socket).read_to_string(&mut response).unwrap();
        (port, response)
    }
}

/// What `openssl s_client` says of a connection: whether it was resumed. It verifies the server against `authority`.
pub fn s_client(address: SocketAddr, authority: &Path, arguments: &[&str]) -> bool {
    let output = s_client_output(address, authority, arguments);
    match (output.contains("\nNew, TLSv1"), output.contains("\nReused, TLSv1")) {
        (true, false) => false,
        (false, true) => true,
        _ => panic!("s_client does not say whether it resumed:\n{output}"),
    }
}

/// All that `openssl s_client` prints for one request.
pub fn s_client_output(address: SocketAddr, authority: &Path, arguments: &[&str]) -> String {
    let mut child = Command::new("openssl")
        .args(["s_client", "-ign_eof", "-verify_return_error", "-servername", "localhost", "-connect"])
        .arg(address.to_string())
        .arg("-CAfile")
        .arg(authority)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = "GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // A client that was refused has gone before it reads its input.
    let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
