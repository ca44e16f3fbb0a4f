//! nginx with two server blocks, one of which verifies clients: in a version with the fix of CVE-2025-23419, as distributions have it.

use reprise_model::document::{Confidence, IsolationVerdict, Severity};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache, require};

use crate::isolation::scene::Scene;

const KEY: [u8; 80] = [7; 80];

/// A strict server block beside the one that is everyone's, with these directives in both and these in each.
fn start(scene: &Scene, both: &str, [open, strict]: [&str; 2]) -> (Nginx, [String; 2]) {
    let authority = scene.authority.display();
    let http_directives = format!(
        "{both}\nserver {{\nlisten {{address}} ssl;\nserver_name strict.test;\nssl_certificate {{root}}/server-0-cert.pem;\n\
         ssl_certificate_key {{root}}/server-0-key.pem;\nssl_verify_client on;\nssl_client_certificate {authority};\n{strict}\n\
         location / {{ return 200 strict; }}\n}}\n"
    );
    let config = NginxConfig {
        http_directives,
        server_directives: open.to_owned(),
        listen: vec!["default_server".to_owned()],
        files: vec![("ticket.key", KEY.to_vec())],
        session_cache: SessionCache::Shared("1m".to_owned()),
        ..NginxConfig::new(vec![scene.server.clone()])
    };
    let server = Nginx::start(config).unwrap();
    let port = server.address().port();
    (server, ["localhost", "strict.test"].map(|name| format!("{name}:{port}")))
}

const RESOLVE: &[&str] = &["--resolve", "127.0.0.1"];

/// Under TLS 1.2 the name comes too late for OpenSSL: the session is resumed, and the response is a 421.
#[test]
fn a_session_that_the_response_refuses_is_a_note() {
    require!("nginx");
    let scene = Scene::new();
    let (_server, [open, strict]) = start(&scene, "ssl_session_ticket_key ticket.key;", ["", ""]);
    let found = scene.isolation(&[&open, &strict], RESOLVE);
    assert_eq!(found.told(IsolationVerdict::Broken), [""; 0]);
    assert_eq!(found.outcome.code, 0, "{}", found.outcome.stderr);
    let noticed = found.of(IsolationVerdict::Noticed);
    assert!(noticed.iter().all(|it| it.to == strict && it.full.let_in == 0), "{noticed:#?}");
    let of_tls12: Vec<_> = found.told(IsolationVerdict::Noticed).into_iter().filter(|it| it.starts_with("1.2 t")).collect();
    assert_eq!(of_tls12, ["1.2 ticket, nobody", "1.2 ticket, stranger"]);
    assert!(found.findings().iter().all(|it| it.severity == Severity::Note), "{:#?}", found.findings());
}

#[test]
fn what_is_printed_keeps_sessions_apart() {
    require!("nginx");
    let scene = Scene::new();
    let apart = "ssl_session_tickets off;";
    let (_server, [open, strict]) = start(&scene, "", [apart, &format!("{apart}\nssl_session_cache shared:strict:1m;")]);
    scene.isolation(&[&open, &strict], RESOLVE).assert_nothing_enters();
}

/// As nginx 1.27.4 binds sessions to certificate and client CA: where nobody is refused, to share them is by design.
#[test]
fn one_name_at_two_ports_is_no_breach() {
    require!("nginx");
    let scene = Scene::new();
    let config = NginxConfig {
        http_directives: "ssl_session_ticket_key ticket.key;".to_owned(),
        files: vec![("ticket.key", KEY.to_vec())],
        ..NginxConfig::new(vec![scene.server.clone()])
    };
    let servers = [(); 2].map(|()| Nginx::start(config.clone()).unwrap());
    let targets = servers.each_ref().map(|server| format!("localhost:{}", server.address().port()));
    let found = scene.isolation(&[&targets[0], &targets[1]], RESOLVE);
    assert_eq!((found.outcome.code, found.findings().len()), (0, 0), "{}", found.outcome.stderr);
    assert!(found.of(IsolationVerdict::ByDesign).len() >= 4, "{:#?}", found.document.isolation);
    let warning = &found.document.targets[0].warnings;
    assert!(warning.iter().any(|text| text.starts_with("Everyone is let in everywhere")), "{warning:?}");
}

/// The default server block verifies clients against another authority than the strict one.
fn start_of_two_authorities(scene: &Scene) -> (Nginx, [String; 2]) {
    let strangers = scene.lab.file("strangers.pem", &scene.stranger_authority_pem);
    let open = format!("ssl_verify_client on;\nssl_client_certificate {};", strangers.display());
    start(scene, "ssl_session_ticket_key ticket.key;", [&open, ""])
}

#[test]
fn names_of_other_authorities_are_not_entered() {
    require!("nginx");
    let scene = Scene::new();
    let (_server, [one, other]) = start_of_two_authorities(&scene);
    scene.isolation(&[&one, &other], RESOLVE).assert_nothing_enters();
}

/// Debian's 1.22.1 compares names, and open.test is none of a server block: it comes to the default one.
#[test]
fn a_name_that_no_server_block_has_leads_around_the_fix() {
    require!("nginx");
    let scene = Scene::new();
    let (server, [_, strict]) = start_of_two_authorities(&scene);
    let open = format!("open.test:{}", server.address().port());
    let found = scene.isolation(&[&open, &strict], RESOLVE);
    let shown = format!("{:#?}", found.document.isolation);
    assert!(found.told(IsolationVerdict::Broken).contains(&"1.2 ticket, stranger".to_owned()), "{shown}");
    assert!(found.told(IsolationVerdict::Broken).contains(&"1.3 ticket, friend".to_owned()), "{shown}");
    let fault = found.findings().into_iter().find(|it| it.severity == Severity::Fault).unwrap();
    assert_eq!((fault.confidence, found.outcome.code), (Confidence::Certain, 1));
}
