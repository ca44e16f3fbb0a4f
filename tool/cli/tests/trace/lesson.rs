//! Without a target, and with every message explained: a handshake can be read without owning a server.

use std::fs;

use reprise_model::document::{TraceDocument, TracedConnection};
use reprise_model::{Event, Kind};

use crate::trace::traced::only;
use reprise_harness::{Lab, Reprise};

fn event<'c>(connection: &'c TracedConnection, message: &str) -> &'c Event {
    connection.events.iter().find(|event| event.what.name() == message).unwrap_or_else(|| panic!("no {message}"))
}

/// The value of an extension of a message.
#[track_caller]
fn extension<'c>(connection: &'c TracedConnection, message: &str, name: &str) -> &'c str {
    let found = event(connection, message).extensions.iter().find(|extension| extension.name == name);
    found.unwrap_or_else(|| panic!("{message} has no {name}")).value.as_deref().unwrap_or_default()
}

#[test]
fn without_a_target_a_server_of_its_own_is_traced() {
    for (kind, named) in [(Kind::Id, "id"), (Kind::Early, "early"), (Kind::Ticket, "ticket")] {
        let outcome = Reprise::new(["trace", "--kind", named]).keeping_its_document().run().exits(0);
        let document: TraceDocument = outcome.json();
        let trace = only(&document);
        assert_eq!((trace.asked.kind, trace.has_resumed()), (kind, true), "{named}");
        assert!(!outcome.page.contains("key_share (51)"), "only -v explains: {}", outcome.page);
        if kind != Kind::Ticket {
            continue;
        }
        let (full, resumed) = (trace.full.as_ref().unwrap(), trace.resumed.as_ref().unwrap());
        assert_eq!(extension(full, "ClientHello", "key_share"), "X25519MLKEM768 (1216 bytes), x25519 (32 bytes)");
        assert_eq!(extension(full, "EncryptedExtensions", "application_layer_protocol_negotiation"), "http/1.1");
        let offered = extension(resumed, "ClientHello", "pre_shared_key");
        let ticket = &event(full, "NewSessionTicket").fields.iter().find(|field| field.name == "ticket").unwrap().value;
        assert!(offered.starts_with(&format!("identity of {ticket}, obfuscated_ticket_age ")), "{offered}, of {ticket}");
        assert!(event(full, "ClientHello").extensions.iter().all(|it| it.name != "pre_shared_key"));
    }
}

#[test]
fn every_message_is_explained_with_what_it_says() {
    let lab = Lab::new();
    let json = lab.path("lesson.json");
    let explained = Reprise::line("trace -v --tls 1.2,1.3 --json").arg(&json).run().exits(0).shows(&[
        "→ ClientHello",
        "The client offers versions",
        "key_share (51)",
        "supported_groups (10)",
        "⇐ CertificateVerify",
        "Skipped on resumption: without a certificate there is nothing to sign.",
        "← ServerKeyExchange",
        "without another key exchange.",
        "resumed by ticket only: selected_identity 0",
        "ticket_lifetime",
    ]);
    let again = |flags| Reprise::line("report").arg(&json).flags(flags).run().exits(0);
    assert_eq!(again("--verbose").page, explained.page);
    let markdown = again("-v --markdown -").page;
    assert!(markdown.contains("- key\\_share (51)") || markdown.contains("- key_share (51)"), "{markdown}");
    assert!(!fs::read_to_string(&json).unwrap().contains("The client offers versions"), "facts, no words");
}

#[test]
fn what_the_embedded_server_has_not_needs_a_target() {
    for (arguments, words) in [
        (&["--kind", "psk"][..], "needs a target"),
        (&["--proxy", "http://127.0.0.1:1"], "need a target"),
        (&["--session-out", "x"], "about one target"),
    ] {
        Reprise::new(["trace"]).args(arguments).run().exits(2).says(&[words]);
    }
}
