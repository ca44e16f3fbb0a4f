//! A client certificate: asked for and sent in the full handshake, neither in the resumed one.

use reprise_lab::{ClientAuth, KeyKind, Resumption};
use reprise_model::ClientAuthentication;
use reprise_servers::{ClientVerify, Nginx, NginxConfig, RealServer};

use crate::traced::{VERSIONS, full, messages, only, skipped, trace};
use reprise_harness::{DEADLINE, Lab};

const RELIES: &str = "It relies on the authentication of the full handshake, which the session inherits";

#[test]
fn a_server_that_resumes_relies_on_the_session() {
    let lab = Lab::new();
    let client = lab.client("client.example");
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| {
        config.client_auth = ClientAuth::Required(authority);
        config.resumption = Resumption::Ticket;
    });
    let (certificate, key) = (client.certificate.to_str().unwrap(), client.key.to_str().unwrap());
    for (version, tls) in VERSIONS {
        let arguments = ["--tls", tls, "--cert", certificate, "--key", key];
        let (outcome, document) = trace(&lab, server.address(), &arguments);
        let traced = only(&document);
        assert!(document.client_certificate_given);
        assert_eq!(full(traced).outcome.client_authentication, ClientAuthentication::Sent);
        let resumed = traced.resumed.as_ref().unwrap();
        assert_eq!(resumed.outcome.client_authentication, ClientAuthentication::NotRequested);
        let mutual = match version {
            reprise_model::Version::Tls12 => ["<CertificateRequest", ">Certificate", ">CertificateVerify"],
            reprise_model::Version::Tls13 => ["<(CertificateRequest)", ">(Certificate)", ">(CertificateVerify)"],
        };
        for message in mutual {
            assert!(messages(full(traced).handshake()).contains(&message.to_owned()), "{tls}: {message}");
            assert!(skipped(traced).contains(&message.to_owned()), "{tls}: {message}");
        }
        outcome.exits(0).shows(&["The client: in the full handshake the server requested its certificate", RELIES]);
    }
}

#[test]
fn nginx_reports_a_resumed_client_verified_without_its_chain() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let client = lab.client("client.example");
    let config = NginxConfig {
        client_verify: ClientVerify::Required(lab.authority.pem()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let mut nginx = Nginx::start(config).unwrap();
    let (certificate, key) = (client.certificate.to_str().unwrap(), client.key.to_str().unwrap());
    let (outcome, document) = trace(&lab, nginx.address(), &["--cert", certificate, "--key", key]);
    outcome.exits(0).shows(&[RELIES]);
    let traced = only(&document);
    assert!(skipped(traced).contains(&">(Certificate)".to_owned()));
    let accounts = nginx.accounts_when(2, DEADLINE).unwrap();
    let port = traced.resumed.as_ref().unwrap().local_port;
    let account = accounts.iter().find(|account| account.client_port == port).unwrap();
    assert_eq!((account.resumed, account.client_verify.as_deref()), (true, Some("SUCCESS")));
}

#[test]
fn a_certificate_that_nobody_asks_for_is_told() {
    let lab = Lab::new();
    let client = lab.client("client.example");
    let server = lab.server(Resumption::Ticket);
    let arguments = ["--cert", client.certificate.to_str().unwrap(), "--key", client.key.to_str().unwrap()];
    let (outcome, document) = trace(&lab, server.address(), &arguments);
    assert_eq!(full(only(&document)).outcome.client_authentication, ClientAuthentication::NotRequested);
    outcome.exits(0).shows(&["the server requested none, so none was sent"]);
}

#[test]
fn a_client_without_one_resumes_as_a_client_without_one() {
    let lab = Lab::new();
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| {
        config.client_auth = ClientAuth::Optional(authority);
        config.resumption = Resumption::Ticket;
    });
    let (outcome, document) = trace(&lab, server.address(), &[""; 0]);
    assert_eq!(full(only(&document)).outcome.client_authentication, ClientAuthentication::RequestedNoneSent);
    outcome.exits(0).shows(&["sent an empty Certificate", "a client without a certificate"]);
}
