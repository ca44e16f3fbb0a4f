//! Two processes of each example: what the one gave resumes at the other. And the guide shows them as they are.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
#[cfg(feature = "tokio")]
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_session::key_file::{KeyFileFormat, write};
#[cfg(feature = "tokio")]
use reprise_session::key_file::{new_keys, write_ring};
use reprise_session::{KeyRing, Rotation, SystemRandom};
use reprise_session_tests::client::{FULL, config, visit};
#[cfg(feature = "valkey")]
use reprise_session_tests::require_store;
use rustls_pki_types::UnixTime;

#[test]
fn plain_resumes_at_the_other_process() {
    World::of_file().resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-plain"), "hello\n");
}

#[cfg(feature = "tokio")]
#[test]
fn tokio_hyper_and_axum_resume_at_the_other_process() {
    let world = World::of_file();
    for program in
        [env!("CARGO_BIN_EXE_example-tokio"), env!("CARGO_BIN_EXE_example-hyper"), env!("CARGO_BIN_EXE_example-axum")]
    {
        world.resumes_at_the_other_process(program, "hello\n");
    }
}

/// An idle client and one that was served: both are told that the server ends.
#[cfg(feature = "tokio")]
#[test]
fn hyper_and_axum_end_when_they_are_told() {
    let world = World::of_file();
    for program in [env!("CARGO_BIN_EXE_example-hyper"), env!("CARGO_BIN_EXE_example-axum")] {
        let (mut running, address) = world.start(program);
        let mut kept = world.connect(address);
        kept.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = [0; 1000];
        let mut answered = String::new();
        while !answered.ends_with("hello\n") {
            let count = kept.read(&mut answer).unwrap();
            assert!(count > 0, "{program}: {answered}");
            answered += std::str::from_utf8(&answer[..count]).unwrap();
        }
        assert!(Command::new("kill").arg(running.0.id().to_string()).status().unwrap().success());
        // With a close_notify: without it this is an error.
        assert_eq!(kept.read(&mut answer).unwrap(), 0, "{program}");
        assert!(running.0.wait().unwrap().success(), "{program}");
    }
}

#[cfg(feature = "tokio")]
#[test]
fn with_client_certificates_sessions_resume_and_are_counted() {
    reprise_servers::require!("openssl");
    let world = World::of_file();
    let ring = new_keys(Duration::from_secs(86_400), 64, UnixTime::now(), &SystemRandom).unwrap();
    let path = |name: &str| world.folder.path().join(name).display().to_string();
    write_ring(path("own.keys").as_ref(), KeyFileFormat::Reprise, &ring, UnixTime::now()).unwrap();
    std::fs::write(path("ca.pem"), world.authority.pem()).unwrap();
    let client = world.authority.client("a client").unwrap().write_pem(world.folder.path(), "client").unwrap();
    let [certificate, key] = [client.certificate, client.key].map(|path| path.display().to_string());
    let arguments = [&world.arguments[..2], &[path("own.keys"), path("ca.pem")]].concat();
    let start = || World::start_with(env!("CARGO_BIN_EXE_example-mutual"), &arguments);
    let [(_one, one), (_other, other)] = [start(), start()];
    let session = path("session");
    let visit = |node: SocketAddr, more: &[&str], request: &str| {
        let mut client = Command::new("openssl");
        client.args(["s_client", "-tls1_2", "-alpn", "http/1.1", "-ign_eof", "-connect", &node.to_string()]).args(more);
        let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let request = format!("GET {request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        // One that is refused may have ended.
        let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
        String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
    };
    let with = ["-cert", &certificate, "-key", &key];
    assert!(!visit(one, &[], "/").contains("hello"), "it asks for a certificate");
    let first = visit(one, &[&with[..], &["-sess_out", &session]].concat(), "/");
    assert!(first.contains("New, TLSv1.2") && first.contains("hello"), "{first}");
    let second = visit(other, &[&with[..], &["-sess_in", &session]].concat(), "/metrics");
    assert!(second.contains("Reused, TLSv1.2"), "{second}");
    for line in ["handshakes_total{kind=\"ticket\"} 1", "keys_stale 0", "ring_keys 3", "issued_total{kind=\"ticket\"} 1"] {
        assert!(second.contains(&format!("reprise_session_{line}\n")), "{line} is not in\n{second}");
    }
    let page = visit(one, &with, "/metrics");
    assert!(page.contains("reprise_session_handshakes_failed_total{reason=\"refused\"} 1\n"), "{page}");
}

#[cfg(feature = "valkey")]
#[test]
fn with_a_store_all_resume_at_the_other_process() {
    require_store!();
    let world = World::new();
    for program in [
        env!("CARGO_BIN_EXE_example-store-std"),
        env!("CARGO_BIN_EXE_example-store-tokio"),
        env!("CARGO_BIN_EXE_example-store-hyper"),
        env!("CARGO_BIN_EXE_example-store-axum"),
    ] {
        world.resumes_at_the_other_process(program, "hello\n");
    }
}

#[cfg(feature = "frameworks")]
#[test]
fn with_a_store_actix_and_tonic_resume_at_the_other_process() {
    require_store!();
    reprise_servers::require!("curl");
    let world = World::new();
    world.resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-store-actix"), "hello\n");
    let (_tonic, address) = world.resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-store-tonic"), "");
    // grpc.health.v1: an empty request, and SERVING.
    let request = world.folder.path().join("request");
    std::fs::write(&request, [0; 5]).unwrap();
    let mut curl = Command::new("curl");
    curl.args(["-sk", "--http2", "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary"]);
    let url = format!("https://{address}/grpc.health.v1.Health/Check");
    let answer = curl.arg(format!("@{}", request.display())).arg(url).output().unwrap();
    assert_eq!(answer.stdout, [0, 0, 0, 0, 2, 8, 1], "{answer:?}");
}

#[cfg(feature = "frameworks")]
#[test]
fn with_a_store_quinn_resumes_at_the_other_process() {
    require_store!();
    let world = World::new();
    let [(_one, one), (_other, other)] = [(); 2].map(|()| world.start(env!("CARGO_BIN_EXE_example-store-quinn")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (client, certificates) = quic::client(&world.authority);
    // A certificate is sent in a full handshake alone.
    for (node, seen) in [(one, 1), (other, 1)] {
        assert_eq!(runtime.block_on(quic::visit(&client, node)), b"hello\n");
        assert_eq!(certificates.load(std::sync::atomic::Ordering::Relaxed), seen, "{node}");
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A certificate, and what all processes of an example are called with.
struct World {
    /// Of keys and certificates; it goes when this goes.
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "only examples on tokio read it"))]
    folder: tempfile::TempDir,
    authority: Authority,
    arguments: Vec<String>,
    #[cfg(feature = "valkey")]
    _store: Option<reprise_session_tests::store::Store>,
}

impl World {
    /// With keys in a file.
    fn of_file() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ticket_key = folder.path().join("ticket.key");
        let rotation = Rotation::new(Duration::from_secs(3600)).unwrap();
        let ring = KeyRing::generate(&rotation, UnixTime::now(), &SystemRandom).unwrap();
        write(&ticket_key, KeyFileFormat::Nginx, &ring.keys().collect::<Vec<_>>()).unwrap();
        Self::of(folder, vec![ticket_key.display().to_string()])
    }

    /// With keys in a store.
    #[cfg(feature = "valkey")]
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let ring_key = folder.path().join("ring.key");
        let mut secret = [0; 32];
        reprise_session::Random::fill(&SystemRandom, &mut secret).unwrap();
        std::fs::write(&ring_key, secret).unwrap();
        std::fs::set_permissions(&ring_key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let store = reprise_session_tests::store::Store::start(&[]);
        let world = Self::of(folder, vec![store.url(), ring_key.display().to_string()]);
        Self { _store: Some(store), ..world }
    }

    fn of(folder: tempfile::TempDir, rest: Vec<String>) -> Self {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let files = identity.write_pem(folder.path(), "server").unwrap();
        let files = [files.certificate, files.key].map(|path| path.display().to_string());
        let arguments = files.into_iter().chain(rest).collect();
        Self {
            folder,
            authority,
            arguments,
            #[cfg(feature = "valkey")]
            _store: None,
        }
    }

    /// A client of rustls, which says whether the server's end is one of TLS.
    #[cfg(feature = "tokio")]
    fn connect(&self, address: SocketAddr) -> rustls::StreamOwned<rustls::ClientConnection, std::net::TcpStream> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.authority.certificate().clone()).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let client = rustls::ClientConnection::new(config.into(), "localhost".try_into().unwrap()).unwrap();
        rustls::StreamOwned::new(client, std::net::TcpStream::connect(address).unwrap())
    }

    fn start(&self, program: &str) -> (Running, SocketAddr) {
        Self::start_with(program, &self.arguments)
    }

    fn start_with(program: &str, arguments: &[String]) -> (Running, SocketAddr) {
        let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let running = Running(child);
        (running, line.trim().parse().unwrap())
    }

    /// Returns the other process.
    fn resumes_at_the_other_process(&self, program: &str, body: &str) -> (Running, SocketAddr) {
        let [(_one, one), (running, other)] = [(); 2].map(|()| self.start(program));
        for version in [Version::Tls12, Version::Tls13] {
            let client = config(&self.authority, version);
            let first = visit(one, &client, FULL, "/").unwrap();
            assert_eq!((first.kind, first.body.as_str()), (Kind::Full, body), "{program}");
            assert_eq!(visit(other, &client, first.offer(), "/").unwrap().kind, Kind::Ticket, "{program} {version:?}");
        }
        (running, other)
    }
}

/// A client of quinn that counts the certificates that it verifies.
#[cfg(feature = "frameworks")]
mod quic {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use quinn::crypto::rustls::QuicClientConfig;
    use reprise_lab::Authority;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::aws_lc_rs::default_provider;
    use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
    use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

    #[derive(Debug)]
    struct Counting(Arc<WebPkiServerVerifier>, Arc<AtomicUsize>);

    impl ServerCertVerifier for Counting {
        fn verify_server_cert(
            &self,
            end_entity: &CertificateDer<'_>,
            intermediates: &[CertificateDer<'_>],
            name: &ServerName<'_>,
            ocsp: &[u8],
            now: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.verify_server_cert(end_entity, intermediates, name, ocsp, now)
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls12_signature(message, certificate, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls13_signature(message, certificate, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.supported_verify_schemes()
        }
    }

    pub(crate) fn client(authority: &Authority) -> (quinn::ClientConfig, Arc<AtomicUsize>) {
        let provider = Arc::new(default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().clone()).unwrap();
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
        let counted = Arc::new(AtomicUsize::new(0));
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let verifier = Arc::new(Counting(verifier, Arc::clone(&counted)));
        let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.alpn_protocols = vec![b"hello".to_vec()];
        (quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(config).unwrap())), counted)
    }

    pub(crate) async fn visit(client: &quinn::ClientConfig, node: SocketAddr) -> Vec<u8> {
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let connection = endpoint.connect_with(client.clone(), node, "localhost").unwrap().await.unwrap();
        let body = connection.accept_uni().await.unwrap().read_to_end(100).await.unwrap();
        connection.close(0u32.into(), b"");
        endpoint.wait_idle().await;
        body
    }
}

#[test]
fn every_example_has_fewer_than_60_lines() {
    for name in [
        "plain",
        "tokio",
        "hyper",
        "axum",
        "mutual",
        "store/std",
        "store/tokio",
        "store/hyper",
        "store/axum",
        "store/actix",
        "store/tonic",
    ] {
        let lines = source(name).lines().count();
        assert!(lines < 60, "{name}: {lines}");
    }
}

#[test]
fn the_guide_shows_what_the_examples_say() {
    let guide = std::fs::read_to_string(root().join("docs/guide/18-session-library.md")).unwrap();
    for (before, name) in
        [("without/plain.rs", "plain"), ("without/tokio.rs", "tokio"), ("session/examples/axum.rs", "store/axum")]
    {
        let heading = format!("```diff\n--- {before}\n+++ session/examples/{name}.rs\n");
        let (_, block) = guide.split_once(&heading).unwrap_or_else(|| panic!("no diff of {name}"));
        let (block, _) = block.split_once("```").unwrap();
        let source = source(name);
        for line in block.lines() {
            match line.split_at_checked(1) {
                Some(("+" | " ", line)) => assert!(source.contains(line), "{name}: {line}"),
                Some(("-", line)) => assert!(!source.contains(line), "{name}: {line}"),
                _ => panic!("{name}: {line:?}"),
            }
        }
    }
}

/// A reader has nothing but the page: its program is whole, and what is added to it compiles.
#[test]
fn the_guide_has_a_whole_program_and_parts_of_others() {
    let guide = std::fs::read_to_string(root().join("docs/guide/18-session-library.md")).unwrap();
    let mut whole = 0;
    for block in guide.split("```rust\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let Some((name, block)) = block.strip_prefix("// session/examples/").and_then(|rest| rest.split_once(".rs\n"))
        else {
            continue;
        };
        let source = source(name);
        if block.contains("fn main") {
            assert!(source.ends_with(block), "{name} is not\n{block}");
            whole += 1;
        } else {
            for line in block.lines() {
                assert!(source.contains(line.trim()), "{name}: {line}");
            }
        }
    }
    assert_eq!(whole, 1);
}

/// Nagle's algorithm would hold back the answer to a client's first request for 40 ms.
#[test]
fn every_example_sends_without_delay() {
    for name in [
        "plain",
        "tokio",
        "hyper",
        "axum",
        "mutual",
        "store/std",
        "store/tokio",
        "store/hyper",
        "store/axum",
        "store/actix",
        "store/tonic",
    ] {
        let source = source(name);
        assert!(source.contains("server.listen(") || source.contains("set_nodelay(true)"), "{name}");
    }
}

fn source(name: &str) -> String {
    std::fs::read_to_string(root().join(format!("session/examples/{name}.rs"))).unwrap()
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
