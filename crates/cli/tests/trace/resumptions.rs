//! Every resumption that TLS 1.3 knows, message by message: early data, PSKs, the hybrid group, sessions of another process.

use reprise_lab::{ClientAuth, EmbeddedServer, KeyKind, NamedGroup, Resumption};
use reprise_model::{EarlyData, Kind, PskMode, Version};
use reprise_servers::{RealServer, SServer, SServerConfig};

use crate::traced::{full, handshake_messages, messages, only, skipped, trace};
use reprise_harness::Lab;

fn early_server(lab: &Lab, max_early_data: u32) -> EmbeddedServer {
    lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = max_early_data;
    })
}

#[test]
fn early_data_leaves_before_the_server_hello() {
    let lab = Lab::new();
    let server = early_server(&lab, 4096);
    let (outcome, document) = trace(&lab, server.address(), &["--kind", "early"]);
    let outcome = outcome.exits(0).silently();
    let traced = only(&document);
    let resumed = traced.resumed.as_ref().unwrap();
    assert_eq!((resumed.outcome.kind, resumed.outcome.early_data), (Kind::Early, Some(EarlyData::Accepted)));
    assert_eq!((full(traced).max_early_data, resumed.round_trips), (Some(4096), 0));
    let all = messages(&resumed.events);
    let place = |name: &str| all.iter().position(|message| message == name).unwrap();
    assert!(place(">(application data)") < place("<ServerHello"));
    assert!(place("<(Finished)") < place(">(EndOfEarlyData)") && place(">(EndOfEarlyData)") < place(">(Finished)"));
    assert_eq!(skipped(traced), ["<(Certificate)", "<(CertificateVerify)"]);
    outcome.shows(&["⇒ early data", "EndOfEarlyData", "the server accepted it", "RFC 9846, section 8"]);
}

#[test]
fn rejected_early_data_is_sent_again_after_the_handshake() {
    let lab = Lab::new();
    let server = lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = 4096;
        config.groups = vec![NamedGroup::secp384r1];
    });
    let (outcome, document) = trace(&lab, server.address(), &["--kind", "early"]);
    let outcome = outcome.exits(1);
    let resumed = only(&document).resumed.as_ref().unwrap();
    assert_eq!((resumed.outcome.kind, resumed.outcome.early_data), (Kind::Ticket, Some(EarlyData::Rejected)));
    let sent = messages(&resumed.events).iter().filter(|message| *message == ">(application data)").count();
    assert_eq!((sent, resumed.http_status), (2, Some(200)));
    outcome.shows(&["resumed by ticket, early data rejected", "It was sent again after the handshake"]);
}

#[test]
fn a_ticket_that_allows_none_is_said_to() {
    let lab = Lab::new();
    let server = early_server(&lab, 0);
    let (outcome, document) = trace(&lab, server.address(), &["--kind", "early"]);
    let outcome = outcome.exits(1).says(&["early under TLS 1.3 was not observed"]);
    assert_eq!(only(&document).resumed.as_ref().unwrap().outcome.early_data, None);
    outcome.shows(&["allow none, so none was sent"]);
}

#[test]
fn an_external_psk_takes_the_place_of_certificates() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut config = SServerConfig::new(vec![lab.identity(KeyKind::P256)]);
    config.psk = Some(("device 7".to_owned(), "00112233".to_owned()));
    config.extra = vec!["-allow_no_dhe_kex".to_owned()];
    let server = SServer::start(config).unwrap();
    for (mode, observed) in [("psk_dhe_ke", PskMode::PskDheKe), ("psk_ke", PskMode::PskKe)] {
        let arguments = ["--psk-identity", "device 7", "--psk-key", "00112233", "--psk-mode", mode];
        let (outcome, document) = trace(&lab, server.address(), &arguments);
        let outcome = outcome.exits(0).silently();
        let traced = only(&document);
        let resumed = traced.resumed.as_ref().unwrap();
        assert_eq!((resumed.outcome.kind, resumed.outcome.psk_mode), (Kind::Psk, Some(observed)));
        assert_eq!(skipped(traced), ["<(Certificate)", "<(CertificateVerify)"]);
        let outcome = outcome.shows(&["by external PSK", "only its Finished proves that it knows the PSK"]);
        assert_eq!(outcome.page.contains("the server sent no key share"), observed == PskMode::PskKe, "{mode}");
    }
}

#[test]
fn a_psk_only_server_is_traced_without_a_full_handshake() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut config = SServerConfig::new(Vec::new());
    config.psk = Some(("device 7".to_owned(), "00112233".to_owned()));
    let server = SServer::start(config).unwrap();
    for named in [&[][..], &["--kind", "psk"], &["--tls", "1.3"]] {
        let arguments = [&["--psk-identity", "device 7", "--psk-key", "00112233"], named].concat();
        let (outcome, document) = trace(&lab, server.address(), &arguments);
        let outcome = outcome.exits(0).silently();
        let traced = only(&document);
        assert!(traced.full.is_none() && traced.has_resumed() && traced.skipped.is_empty(), "{named:?}");
        assert!(messages(&traced.resumed.as_ref().unwrap().events).contains(&"<(EncryptedExtensions)".to_owned()));
        outcome.shows(&[
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

/// Its certificate is another by now, or the roots are: a session says nothing of that.
#[test]
fn a_resumption_is_shown_though_the_full_handshake_fails() {
    let (lab, stranger) = (Lab::new(), Lab::new());
    let server = lab.server(Resumption::Ticket);
    let file = lab.path("sessions");
    let (outcome, _) = trace(&lab, server.address(), &["--session-out", file.to_str().unwrap()]);
    outcome.exits(0);
    let (outcome, document) = trace(&stranger, server.address(), &["--session-in", file.to_str().unwrap()]);
    let outcome = outcome.exits(3).shows(&["resumed by ticket", "There is no full handshake", "signed by no trusted root"]);
    assert!(only(&document).full.is_none() && only(&document).has_resumed(), "{}", outcome.page);
}

/// Whoever holds the session is the client, with or without the certificate.
#[test]
fn a_session_counts_where_full_handshakes_are_refused() {
    let lab = Lab::new();
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| {
        config.resumption = Resumption::Ticket;
        config.client_auth = ClientAuth::Required(authority);
    });
    let client = lab.client("client.example");
    let (certificate, key) = (client.certificate.to_str().unwrap(), client.key.to_str().unwrap());
    let file = lab.path("sessions");
    let sessions = file.to_str().unwrap();
    for tls in ["1.2", "1.3"] {
        let first = ["--tls", tls, "--cert", certificate, "--key", key, "--session-out", sessions];
        trace(&lab, server.address(), &first).0.exits(0);
        let (outcome, document) = trace(&lab, server.address(), &["--tls", tls, "--session-in", sessions]);
        let outcome = outcome.exits(0).silently().shows(&[
            "resumed by ticket",
            &format!("A full TLS {tls} handshake is not shown: the server refused with the alert"),
        ]);
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
        (Resumption::Ticket, "1.3", Kind::Ticket),
        (Resumption::Ticket, "1.2", Kind::Ticket),
        (Resumption::Id, "1.2", Kind::Id),
    ] {
        let server = lab.server(resumption);
        let (outcome, _) = trace(&lab, server.address(), &["--tls", tls, "--session-out", file.to_str().unwrap()]);
        outcome.exits(0);
        let (outcome, document) = trace(&lab, server.address(), &["--session-in", file.to_str().unwrap()]);
        let outcome = outcome.exits(0).silently();
        let traced = only(&document);
        assert_eq!((traced.asked.tls, traced.asked.kind), (tls.parse::<Version>().unwrap(), kind));
        assert!(traced.has_resumed(), "{kind} under {tls}");
        let resumed = traced.resumed.as_ref().unwrap().local_port;
        let ports: Vec<u16> = server.accounts().iter().map(|account| account.peer_port).collect();
        assert_eq!(ports[ports.len() - 2..], [resumed, full(traced).local_port], "the saved one first");
        assert_eq!(document.first_connection.map(|first| first.local_port), Some(resumed));
        outcome.shows(&["This process's first connection offered a TLS"]);
    }
}

#[test]
fn tickets_that_were_asked_for_by_number_are_counted() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (outcome, document) = trace(&lab, server.address(), &["--ticket-requests", "3"]);
    assert_eq!(document.ticket_request.map(|request| (request.new_session, request.resumption)), Some((3, 1)));
    outcome.exits(0).shows(&["3 were requested on the first connection (RFC 9149): 2 came, and the server did not answer \
        the request"]);
}
