//! Certificates that are not to be trusted: refused with a reason, measured with `--insecure`, which says so.

use reprise_lab::{EmbeddedServer, KeyKind, ServerSpec, Validity};

use reprise_harness::{Lab, Reprise};

/// Refused with these words, and measured by who looks away.
fn assert_refused(lab: &Lab, server: &EmbeddedServer, words: &[&str]) {
    for tls in ["1.2", "1.3"] {
        lab.measure(server.address()).args(["--tls", tls]).count(2).run().exits(3).says(words);
    }
    let outcome = Reprise::measure(server.address()).arg("--insecure").count(2).run().exits(0);
    outcome.says(&["--insecure: the server's certificate is not verified"]);
}

fn server_with(lab: &Lab, spec: ServerSpec) -> EmbeddedServer {
    let identity = lab.authority.server(&spec).unwrap();
    lab.server_with(|config| config.identity = identity)
}

#[test]
fn expired() {
    let lab = Lab::new();
    let server = server_with(&lab, ServerSpec { validity: Validity::Expired, ..ServerSpec::new(KeyKind::P256) });
    assert_refused(&lab, &server, &["has expired", "renew it", "clock", "--insecure"]);
}

#[test]
fn not_valid_yet() {
    let lab = Lab::new();
    let server = server_with(&lab, ServerSpec { validity: Validity::NotYet, ..ServerSpec::new(KeyKind::P256) });
    assert_refused(&lab, &server, &["is not valid yet", "clock", "--insecure"]);
}

#[test]
fn for_another_name() {
    let lab = Lab::new();
    let names = vec!["one.example".to_owned(), "two.example".to_owned()];
    let server = server_with(&lab, ServerSpec { names, ..ServerSpec::new(KeyKind::P256) });
    let words = ["not valid for 127.0.0.1", "it is for", "one.example", "two.example", "--sni NAME", "--insecure"];
    assert_refused(&lab, &server, &words);
    lab.measure(server.address()).args(["--sni", "two.example"]).count(2).run().exits(0).silently();
}

#[test]
fn of_an_authority_that_nobody_trusts() {
    let lab = Lab::new();
    let stranger = Lab::new().identity(KeyKind::P256);
    let server = lab.server_with(|config| config.identity = stranger);
    assert_refused(&lab, &server, &["signed by no trusted root", "--ca FILE", "--insecure"]);
}

#[test]
fn unknown_to_the_system() {
    let lab = Lab::new();
    let server = lab.server_with(|_| {});
    let roots = lab.file("system.pem", Lab::new().authority.pem());
    let call = || Reprise::measure(server.address()).count(1);
    call().env("SSL_CERT_FILE", roots).run().exits(3).says(&["signed by no trusted root", "--ca FILE"]);
    call().env("SSL_CERT_FILE", lab.ca()).run().exits(0).silently();
    call().env("SSL_CERT_FILE", lab.path("absent.pem")).run().exits(2).says(&["no trusted root certificates", "--ca FILE"]);
}

#[test]
fn a_chain_of_intermediates_is_followed() {
    let lab = Lab::new();
    let server = server_with(&lab, ServerSpec { intermediates: 2, ..ServerSpec::new(KeyKind::P256) });
    lab.measure(server.address()).count(2).run().exits(0).silently();
}

#[test]
fn ca_and_insecure_contradict_each_other() {
    let lab = Lab::new();
    lab.measure("127.0.0.1:1").arg("--insecure").run().exits(2).says(&["cannot be used with"]);
}
