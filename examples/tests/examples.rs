//! Two processes of each example: what the one gave resumes at the other. And the guide shows them as they are.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_session::key_file::{KeyFileFormat, write};
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

    fn start(&self, program: &str) -> (Running, SocketAddr) {
        let mut child = Command::new(program).args(&self.arguments).stdout(Stdio::piped()).spawn().unwrap();
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
    for (before, name) in [
        ("without/plain.rs", "plain"),
        ("without/tokio.rs", "tokio"),
        ("without/hyper.rs", "hyper"),
        ("without/axum.rs", "axum"),
        ("examples/axum.rs", "store/axum"),
    ] {
        let heading = format!("```diff\n--- {before}\n+++ examples/{name}.rs\n");
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

fn source(name: &str) -> String {
    std::fs::read_to_string(root().join(format!("examples/{name}.rs"))).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
