//! Node in two processes with the same ticket keys, one of which verifies clients.

use reprise_model::document::{IsolationVerdict, Severity};
use reprise_servers::{NodeConfig, NodeJs, RealServer, require};

use crate::isolation::scene::{Found, Scene};

fn isolation(scene: &Scene, [open, strict]: [&str; 2]) -> Found {
    let authority = scene.authority.display();
    let verifies = format!("requestCert: true, rejectUnauthorized: true, ca: fs.readFileSync('{authority}')");
    let start = |options: String| NodeJs::start(NodeConfig { options, ..NodeConfig::new(scene.server.clone()) }).unwrap();
    let servers = [start(open.to_owned()), start(format!("{verifies}, {strict}"))];
    let targets = servers.each_ref().map(|server| format!("localhost:{}", server.address().port()));
    scene.isolation(&[&targets[0], &targets[1]], &["--resolve", "127.0.0.1"])
}

const KEYS: &str = "ticketKeys: Buffer.alloc(48, 7)";

#[test]
fn servers_of_one_session_context_are_open_to_each_other() {
    require!("node");
    let scene = Scene::new();
    let shared = format!("{KEYS}, sessionIdContext: 'app'");
    let found = isolation(&scene, [&shared, &shared]);
    let broken = found.told(IsolationVerdict::Broken);
    for entered in ["1.3 ticket, nobody", "1.3 ticket, stranger"] {
        assert!(broken.contains(&entered.to_owned()), "{:#?}\n{}", found.document.isolation, found.outcome.stderr);
    }
    assert_eq!((found.outcome.code, found.findings()[0].severity), (1, Severity::Fault));
}

/// What is printed to fix it.
#[test]
fn servers_of_a_session_context_each_are_isolated() {
    require!("node");
    let scene = Scene::new();
    let contexts = ["'open'", "'strict'"].map(|context| format!("{KEYS}, sessionIdContext: {context}"));
    isolation(&scene, [&contexts[0], &contexts[1]]).assert_isolated();
}
