//! What a server's own connections show of how it guards sessions.

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_model::document::{Confidence, DiagnoseDocument, Finding, Severity};
use reprise_servers::{Nginx, NginxConfig, RealServer, require};

/// The finding of this name where nginx is told this.
fn finding(directives: &str, early_data: bool, name: &str) -> Option<Finding> {
    let lab = Lab::new();
    let config = NginxConfig {
        http_directives: directives.to_owned(),
        early_data,
        files: vec![("zero.key", vec![0; 80]), ("ticket.key", vec![7; 80])],
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let server = Nginx::start(config).unwrap();
    let target = format!("localhost:{}", server.address().port());
    let flags = ["--resolve", "127.0.0.1", "--rate", "1000", "--patience", "0s", "--tls", "1.3"];
    let document: DiagnoseDocument = lab.diagnose(target).args(flags).run().json();
    let findings = document.targets.into_iter().flat_map(|target| target.findings);
    findings.into_iter().find(|finding| finding.id == name)
}

#[test]
fn a_ticket_key_of_zeros_is_a_certain_fault() {
    require!("nginx");
    let found = finding("ssl_session_ticket_key zero.key;", false, "ticket-key-zero").unwrap();
    assert_eq!((found.severity, found.confidence), (Severity::Fault, Confidence::Certain));
    assert_eq!(finding("ssl_session_ticket_key ticket.key;", false, "ticket-key-zero"), None);
}

#[test]
fn early_data_that_is_accepted_twice_is_a_risk() {
    require!("nginx");
    let found = finding("", true, "early-data-replayable").unwrap();
    assert_eq!((found.severity, found.confidence), (Severity::Risk, Confidence::Certain), "{found:#?}");
    assert!(found.title.contains("accepted twice"), "{found:#?}");
    assert_eq!(finding("", false, "early-data-replayable"), None);
}
