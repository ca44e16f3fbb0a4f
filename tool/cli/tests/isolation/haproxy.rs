//! HAProxy with two `bind` lines, one of which verifies clients.

use reprise_model::document::{Confidence, IsolationVerdict, Severity};
use reprise_servers::{HaProxy, HaProxyConfig, RealServer, require};

use crate::isolation::scene::Scene;

/// With these further options of the line that verifies, and of the one that does not; and whether they share their ticket keys.
fn start(scene: &Scene, [open, strict]: [&str; 2], global: &str) -> (HaProxy, [String; 2]) {
    let authority = scene.authority.display();
    let frontend =
        format!("bind 127.0.0.2:{{port}} ssl crt {{root}}/server.pem ca-file {authority} verify required {strict}");
    let config = HaProxyConfig::new(scene.server.clone());
    let config = HaProxyConfig { frontend, bind: open.to_owned(), global: global.to_owned(), ..config };
    let server = HaProxy::start(config).unwrap();
    let port = server.address().port();
    (server, ["127.0.0.1", "127.0.0.2"].map(|address| format!("{address}:{port}")))
}

fn keys(scene: &Scene, name: &str, letters: [&str; 3]) -> String {
    let keys = letters.map(|letter| format!("{}A=\n", letter.repeat(106)));
    format!("tls-ticket-keys {}", scene.lab.file(name, keys.concat()).display())
}

#[test]
fn a_session_of_the_open_line_enters_the_strict_one() {
    require!("haproxy");
    let scene = Scene::new();
    let shared = keys(&scene, "ticket.keys", ["B", "C", "D"]);
    let (_server, [open, strict]) = start(&scene, [&shared, &shared], "");
    let sarif = scene.lab.path("found.sarif");
    let junit = scene.lab.path("found.xml");
    let flags =
        ["--fail-if", "isolation.broken > 0", "--sarif", sarif.to_str().unwrap(), "--junit", junit.to_str().unwrap()];
    let found = scene.isolation(&[&open, &strict], &flags);
    assert_eq!(found.outcome.code, 1);
    assert!(found.outcome.stderr.contains("--fail-if 'isolation.broken > 0' is met"), "{}", found.outcome.stderr);
    let all =
        ["1.2 id", "1.2 ticket", "1.3 ticket"].map(|by| ["nobody", "stranger"].map(|holder| format!("{by}, {holder}")));
    assert_eq!(found.told(IsolationVerdict::Broken), all.concat());
    for record in found.of(IsolationVerdict::Broken) {
        assert_eq!((&record.from, &record.to), (&open, &strict));
        assert_eq!((record.came_to.as_deref(), record.full.let_in), (Some("HTTP 200"), 0));
    }
    let [finding] = *found.findings() else { panic!("{:#?}", found.findings()) };
    assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Certain));
    let sarif: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(sarif).unwrap()).unwrap();
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!((&rule["id"], &rule["properties"]["security-severity"]), (&"isolation-broken".into(), &"8.1".into()));
    assert!(std::fs::read_to_string(junit).unwrap().contains("<failure"));
}

#[test]
fn lines_that_share_neither_keys_nor_cache_are_isolated() {
    require!("haproxy");
    let scene = Scene::new();
    let others = [keys(&scene, "open.keys", ["B", "C", "D"]), keys(&scene, "strict.keys", ["E", "F", "G"])];
    let (_server, [open, strict]) = start(&scene, [&others[0], &others[1]], "tune.ssl.cachesize 0");
    scene.isolation(&[&open, &strict], &[]).assert_isolated();
}

#[test]
fn what_is_printed_closes_the_hole() {
    require!("haproxy");
    let scene = Scene::new();
    let shared = keys(&scene, "ticket.keys", ["B", "C", "D"]);
    let (_server, [open, strict]) = start(&scene, [&shared, "no-tls-tickets"], "tune.ssl.cachesize 0");
    scene.isolation(&[&open, &strict], &[]).assert_isolated();
}
