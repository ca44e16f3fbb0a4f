//! External PSKs, the hybrid group, sessions of another process, tickets by number.

use reprise_lab::{ClientAuthRequest, EmbeddedResumption, Identity, KeyKind, NamedGroup};
use reprise_model::document::TracedConnection;
use reprise_model::{Kind, PskMode, Version};
use reprise_servers::{RealServer, SServer, SServerConfig};

use crate::trace::traced::{full, handshake_messages, only, trace};
use reprise_harness::Lab;

const PSK: [&str; 4] = ["--psk-identity", "device 7", "--psk-key", "00112233"];

fn psk_server(identities: Vec<Identity>) -> SServer {
    let mut config = SServerConfig::new(identities);
    config.psk = Some(("device 7".to_owned(), "00112233".to_owned()));
    config.extra = vec!["-allow_no_dhe_kex".to_owned()];
    SServer::start(config).unwrap()
}

#[test]
fn a_trace_says_by_what_both_hellos_are_known() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    for (tls, differs) in [("1.2", false), ("1.3", true)] {
        let (outcome, document) = trace(&lab, server.address(), &["--tls", tls]);
        let traced = only(&document);
        let [new, second] = [&traced.full, &traced.resumed].map(|it| it.as_ref().unwrap().fingerprint.clone().unwrap());
        assert!(traced.has_resumed() && new.stable == second.stable, "{new:?} {second:?}");
        assert_eq!(new.ja4 != second.ja4, differs, "{new:?} {second:?}");
        outcome.exits(0).silently().shows(&["JA4", &new.ja4, &second.ja4, "stable form", &second.stable]);
    }
}

#[test]
fn an_ech_that_holds_nothing_is_in_both_hellos() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--tls", "1.3", "--ech-grease"]);
    let traced = only(&document);
    let has_it = |connection: &TracedConnection| {
        connection.events.first().is_some_and(|hello| hello.extensions.iter().any(|it| it.number == 65037))
    };
    assert!(document.target.ech_grease && traced.has_resumed());
    assert!(traced.full.iter().chain(&traced.resumed).all(has_it), "{traced:#?}");
    outcome.exits(0).silently().shows(&["encrypted_client_hello that holds nothing (GREASE)"]);
    let (_, document) = trace(&lab, server.address(), &["--tls", "1.3"]);
    assert!(!document.target.ech_grease && !has_it(full(only(&document))));
}

#[test]
fn an_external_psk_takes_the_place_of_certificates() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = psk_server(vec![lab.identity(KeyKind::P256)]);
    for (mode, observed) in [("psk_dhe_ke", PskMode::PskDheKe), ("psk_ke", PskMode::PskKe)] {
        let (outcome, document) = trace(&lab, server.address(), &[&PSK[..], &["--psk-mode", mode]].concat());
        let resumed = only(&document).resumed.as_ref().unwrap();
        assert_eq!((resumed.outcome.kind, resumed.outcome.psk_mode), (Kind::Psk, Some(observed)));
        let outcome = outcome.exits(0).silently().shows(&[
            "by external PSK",
            "the server's Certificate, CertificateVerify.",
            "only its Finished proves that it knows the PSK",
        ]);
        assert_eq!(outcome.page.contains("the server sent no key share"), observed == PskMode::PskKe, "{mode}");
    }
}

#[test]
fn a_psk_only_server_is_traced_without_a_full_handshake() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = psk_server(Vec::new());
    for named in [&[][..], &["--kind", "psk"], &["--tls", "1.3"]] {
        let (outcome, document) = trace(&lab, server.address(), &[&PSK[..], named].concat());
        let traced = only(&document);
        assert!(traced.full.is_none() && traced.has_resumed() && traced.skipped.is_empty(), "{named:?}");
        outcome.exits(0).silently().shows(&[
            "x25519 · external PSK with psk_dhe_ke",
            "by external PSK",
            "There is no full handshake to compare it with",
            "it sent no certificate, and only its Finished proves that it knows the PSK",
            "A full TLS 1.3 handshake is not shown: the server refused with the alert handshake_failure",
        ]);
    }
    // Which of the two the server does not like is the PSK's own failure.
    let wrong = ["--tls", "1.3", "--psk-identity", "device 7", "--psk-key", "44"];
    let (outcome, document) = trace(&lab, server.address(), &wrong);
    outcome.exits(3).says(&["the PSK's binder does not verify", "--psk-key and --psk-hash"]);
    assert!(document.traces.is_empty());
}

/// Its certificate is another by now, or the roots are; or full handshakes need a client's certificate: a session says nothing of that.
#[test]
fn a_resumption_is_shown_though_the_full_handshake_fails() {
    let (lab, stranger) = (Lab::new(), Lab::new());
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| {
        config.resumption = EmbeddedResumption::Ticket;
        config.client_auth = ClientAuthRequest::Required(authority);
    });
    let client = lab.client("client.example");
    let (certificate, key) = (client.certificate.to_str().unwrap(), client.key.to_str().unwrap());
    let file = lab.path("sessions");
    let sessions = file.to_str().unwrap();
    for (tls, roots, code, why) in [
        ("1.2", &lab, 0, "is not shown: the server refused with the alert"),
        ("1.3", &lab, 0, "is not shown: the server refused with the alert"),
        ("1.3", &stranger, 3, "signed by no trusted root"),
    ] {
        let first = ["--tls", tls, "--cert", certificate, "--key", key, "--session-out", sessions];
        trace(&lab, server.address(), &first).0.exits(0);
        let (outcome, document) = trace(roots, server.address(), &["--tls", tls, "--session-in", sessions]);
        let outcome = outcome.exits(code).shows(&["resumed by ticket", "There is no full handshake", why]);
        assert!(only(&document).full.is_none() && only(&document).has_resumed(), "{}", outcome.page);
    }
}

#[test]
fn the_hybrid_group_makes_both_hellos_grow() {
    let lab = Lab::new();
    let server = lab.server_with(|config| config.groups = vec![NamedGroup::X25519MLKEM768, NamedGroup::X25519]);
    let hellos = |groups: &str| {
        let (outcome, document) = trace(&lab, server.address(), &["--tls", "1.3", "--groups", groups]);
        outcome.exits(0);
        let messages = handshake_messages(full(only(&document)));
        ["ClientHello", "ServerHello"].map(|name| messages.iter().find(|message| message.1 == name).unwrap().2)
    };
    let [[client, server], [hybrid_client, hybrid_server]] = [hellos("x25519"), hellos("X25519MLKEM768")];
    // FIPS 203: the encapsulation key has 1184 bytes, the ciphertext 1088, beside 32 of X25519 each.
    assert_eq!((hybrid_client - client, hybrid_server - server), (1184, 1088));
}

#[test]
fn another_processs_session_is_offered_before_the_full_one() {
    let lab = Lab::new();
    let file = lab.path("sessions");
    for (resumption, tls, kind) in [
        (EmbeddedResumption::Ticket, Version::Tls13, Kind::Ticket),
        (EmbeddedResumption::Ticket, Version::Tls12, Kind::Ticket),
        (EmbeddedResumption::Id, Version::Tls12, Kind::Id),
    ] {
        let server = lab.server(resumption);
        trace(&lab, server.address(), &["--tls", tls.number(), "--session-out", file.to_str().unwrap()]).0.exits(0);
        let (outcome, document) = trace(&lab, server.address(), &["--session-in", file.to_str().unwrap()]);
        outcome.exits(0).silently().shows(&["This process's first connection offered a TLS"]);
        let traced = only(&document);
        assert_eq!((traced.asked.tls, traced.asked.kind, traced.has_resumed()), (tls, kind, true));
        let resumed = traced.resumed.as_ref().unwrap().local_port;
        let ports: Vec<u16> = server.accounts().iter().map(|account| account.peer_port).collect();
        assert_eq!(ports[ports.len() - 2..], [resumed, full(traced).local_port], "the saved one first");
        assert_eq!(document.first_connection.map(|first| first.local_port), Some(resumed));
    }
}

#[test]
fn tickets_that_were_asked_for_by_number_are_counted() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--ticket-requests", "3"]);
    assert_eq!(document.ticket_request.map(|request| (request.new_session, request.resumption)), Some((3, 1)));
    outcome.exits(0).shows(&["3 were requested on the first connection (RFC 9149): 2 came, and the server did not answer \
        the request"]);
}
