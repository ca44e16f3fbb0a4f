//! What a full handshake costs this client's processor, and that of a server whose process is named.

use std::fs;

use reprise_lab::KeyKind;
use reprise_model::document::{CpuCost, DiagnoseDocument};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, Reprise};

/// Tickets resume and session IDs do not, under a key whose signatures are dear.
fn start(lab: &Lab) -> Nginx {
    let config = NginxConfig::new(vec![lab.identity(KeyKind::Rsa2048)]);
    Nginx::start(NginxConfig { http_directives: "ssl_session_cache none;".to_owned(), ..config }).unwrap()
}

/// What the finding says, and the page.
fn diagnose(lab: &Lab, server: &Nginx, flags: &[&str]) -> (CpuCost, String) {
    let target = format!("localhost:{}", server.address().port());
    let json = lab.path("diagnosis.json");
    let call = Reprise::new(["diagnose", &target, "--resolve", "127.0.0.1", "--tls", "1.2", "--rate", "500"]);
    let page = call.arg("--ca").arg(lab.ca()).arg("--json").arg(&json).args(flags).run().page;
    let document: DiagnoseDocument = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let found = document.targets.iter().flat_map(|target| &target.findings).find(|it| it.id == "id-never-accepted");
    (found.unwrap().cost_cpu.unwrap_or_else(|| panic!("{found:?}")), page)
}

#[test]
fn processor_time_is_that_of_the_sides_that_were_measured() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let server = start(&lab);
    let (alone, page) = diagnose(&lab, &server, &[]);
    assert_eq!((alone.client_ns.is_some(), alone.server_ns), (true, None), "nobody named its process");
    assert!(!page.contains("processor time"), "the page says it where the server's is known: {page}");
    let (both, page) = diagnose(&lab, &server, &["--server-pid", &server.pid().to_string()]);
    assert!(both.client_ns.is_some() && both.server_ns.is_some(), "{both:?}");
    assert!(page.contains("of the server"), "{page}");
}
