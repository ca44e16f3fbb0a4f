//! Go's crypto/tls in two programs with the same ticket keys, one of which verifies clients.

use reprise_model::document::{Confidence, IsolationVerdict, Severity};
use reprise_servers::{Go, GoConfig, GoProgram, RealServer, require};

use crate::isolation::scene::{Found, Scene};

/// Both know these keys.
const KEYS: &str = "config.SetSessionTicketKeys([][32]byte{{7}})";

/// What is found out where the strict one is told this.
fn isolation(scene: &Scene, strict: &str) -> Found {
    let start = |statements: &[String]| {
        let program = GoProgram::build_with(statements).unwrap();
        let server = Go::start(GoConfig::new(&program, scene.server.clone())).unwrap();
        (format!("localhost:{}", server.address().port()), server)
    };
    let friends = format!("friends := pool({:?})", scene.authority);
    let open = start(&[KEYS.to_owned(), "config.ClientAuth = tls.RequestClientCert".to_owned()]);
    let strict = start(&[KEYS.to_owned(), friends, strict.to_owned()]);
    scene.isolation(&[&open.0, &strict.0], &["--resolve", "127.0.0.1"])
}

#[test]
fn what_the_library_verifies_it_verifies_again() {
    require!("go");
    let scene = Scene::new();
    isolation(&scene, "config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, friends").assert_isolated();
}

/// `VerifyPeerCertificate` is not called where a session is resumed.
#[test]
fn what_a_program_verifies_in_full_handshakes_alone_is_open() {
    require!("go");
    let scene = Scene::new();
    let check = "config.VerifyPeerCertificate = func(chain [][]byte, _ [][]*x509.Certificate) error { return issuedBy(friends, chain[0]) }";
    let found = isolation(&scene, &format!("config.ClientAuth = tls.RequireAnyClientCert\n{check}"));
    assert_eq!(found.told(IsolationVerdict::Broken), ["1.2 ticket, stranger", "1.3 ticket, stranger"]);
    assert_eq!(found.outcome.code, 1);
    let [finding] = *found.findings() else { panic!("{:#?}", found.findings()) };
    assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Certain));
}

/// `VerifyConnection` is called each time: what is printed to fix it.
#[test]
fn what_a_program_verifies_each_time_is_isolated() {
    require!("go");
    let scene = Scene::new();
    let check = "config.VerifyConnection = func(state tls.ConnectionState) error { return issuedBy(friends, state.PeerCertificates[0].Raw) }";
    isolation(&scene, &format!("config.ClientAuth = tls.RequireAnyClientCert\n{check}")).assert_nothing_enters();
}
