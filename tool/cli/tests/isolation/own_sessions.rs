//! Node alone, asking for a client certificate that its program checks: under TLS 1.3 `socket.authorized` is true on each resumed
//! connection, so that a session given to a client without a certificate lets it in.

use reprise_model::document::{Confidence, IsolationVerdict, Severity};
use reprise_servers::{NodeConfig, NodeJs, RealServer, require};

use crate::isolation::scene::{Found, Scene};

/// What is found out of one server whose program refuses these clients.
fn isolation(scene: &Scene, refused: &str) -> Found {
    let authority = scene.authority.display();
    let options = format!("requestCert: true, rejectUnauthorized: false, ca: fs.readFileSync('{authority}')");
    let statements = format!("server.refuses = (socket) => {refused}");
    let server = NodeJs::start(NodeConfig { options, statements, ..NodeConfig::new(scene.server.clone()) }).unwrap();
    scene.isolation(&[&format!("localhost:{}", server.address().port())], &["--resolve", "127.0.0.1"])
}

#[test]
fn a_check_of_full_handshakes_alone_is_open() {
    require!("node");
    let found = isolation(&Scene::new(), "!socket.authorized");
    assert_eq!(found.told(IsolationVerdict::Broken), ["1.3 ticket, nobody"], "{:#?}", found.document.isolation);
    assert_eq!(found.outcome.code, 1);
    let [finding] = *found.findings() else { panic!("{:#?}", found.findings()) };
    assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Certain));
    let first = &finding.remedies[0].text;
    assert!(first.starts_with("Check the client's certificate on every connection"), "{first}");
    assert!(finding.remedies.iter().all(|it| !it.text.contains("keys")), "there is one server: {:#?}", finding.remedies);
}

/// What is printed to fix it. The sessions are resumed, and the response refuses the request as it did before.
#[test]
fn a_check_of_each_connection_is_closed() {
    require!("node");
    let found = isolation(&Scene::new(), "!socket.authorized || !socket.getPeerCertificate().raw");
    assert!(found.findings().is_empty(), "{:#?}", found.findings());
    let by_design = found.of(IsolationVerdict::ByDesign);
    assert!(by_design.iter().any(|it| it.accepted > 0 && it.full.let_in == 0), "{:#?}", found.document.isolation);
    let verdict = &found.document.targets[0].verdict;
    assert!(verdict.ends_with("are refused by the response, as full handshakes are"), "{verdict}");
    found.outcome.exits(0);
}
