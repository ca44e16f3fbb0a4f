//! The traces of RFC 8448: every message and record is understood, and emitted again byte for byte. The engine replays the
//! same traces, and looks into what its states use.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test stops where it fails")]

use reprise_harness::reemit::{self, EXTENSIONS, MESSAGES, Reemit};
use reprise_harness::vector_file::{Values, rfc8448};
use reprise_wire::extensions::*;
use reprise_wire::*;

const SIMPLE: &str = "section-3-simple-1-rtt.txt";
const RESUMED: &str = "section-4-resumed-0-rtt.txt";
const RETRY: &str = "section-5-hello-retry-request.txt";
const CLIENT_AUTHENTICATION: &str = "section-6-client-authentication.txt";
const COMPATIBILITY: &str = "section-7-compatibility-mode.txt";

const TRACES: [&str; 5] = [SIMPLE, RESUMED, RETRY, CLIENT_AUTHENTICATION, COMPATIBILITY];

#[test]
fn every_message_is_emitted_again_byte_for_byte() {
    let mut seen = 0;
    for file in TRACES {
        for (name, raw) in messages(&rfc8448(file)) {
            let (message, consumed) = Handshake::parse(&raw).unwrap().unwrap();
            assert_eq!(consumed, raw.len(), "{file}: {name}");

            let body = parser_of(&name)(message.body).unwrap_or_else(|error| panic!("{file}: {name}: {error}"));
            let mut framed = Vec::new();
            frame(&mut framed, message.msg_type, |out| out.extend_from_slice(&body));
            assert_eq!(framed, raw, "{file}: {name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 40);
}

#[test]
fn every_record_is_emitted_again_byte_for_byte() {
    let mut seen = 0;
    for file in TRACES {
        for (label, bytes) in rfc8448(file).into_iter().filter(|(label, _)| label.contains(" record ")) {
            let (record, consumed) = Record::parse(&bytes).unwrap().unwrap();
            assert_eq!(consumed, bytes.len(), "{file}: {label}");
            let mut emitted = Vec::new();
            record.emit(&mut emitted);
            assert_eq!(emitted, bytes, "{file}: {label}");
            seen += 1;
        }
    }
    assert_eq!(seen, 41);
}

#[test]
fn every_extension_is_understood() {
    let mut seen = 0;
    for file in TRACES {
        for (name, raw) in messages(&rfc8448(file)) {
            for (extension, data) in extensions_of(&name, body_of(&raw)).iter() {
                let understood = extension == ExtensionType::PADDING
                    || EXTENSIONS
                        .iter()
                        .filter(|(known, _)| *known == extension.to_string() || *known == "(empty)")
                        .any(|(_, reemit)| reemit(data).is_ok_and(|emitted| emitted == data));
                assert!(understood, "{file}: {name}: {extension}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 86);
}

#[test]
fn a_message_cut_anywhere_is_refused() {
    for file in TRACES {
        for (name, raw) in messages(&rfc8448(file)) {
            for cut in 0..raw.len() {
                assert_eq!(Handshake::parse(&raw[..cut]), Ok(None), "{file}: {name} at {cut}");
            }
            // Finished is whatever it is, and a hello may end before its extensions.
            if name == "Finished" {
                continue;
            }
            let body = body_of(&raw);
            let without_extensions = match name.as_str() {
                "ClientHello" | "ServerHello" | "HelloRetryRequest" => {
                    Some(body.len() - extensions_of(&name, body).as_bytes().len() - 2)
                }
                _ => None,
            };
            for cut in 0..body.len() {
                let refused = parser_of(&name)(&body[..cut]).is_err();
                assert_eq!(refused, Some(cut) != without_extensions, "{file}: {name} at {cut}");
            }
        }
    }
}

#[test]
fn a_record_cut_anywhere_is_not_yet_complete() {
    for file in TRACES {
        for (label, bytes) in rfc8448(file).into_iter().filter(|(label, _)| label.contains(" record ")) {
            for cut in 0..bytes.len() {
                assert_eq!(Record::parse(&bytes[..cut]), Ok(None), "{file}: {label} at {cut}");
            }
        }
    }
}

#[test]
fn no_changed_byte_is_misread() {
    for file in TRACES {
        for (_, raw) in messages(&rfc8448(file)) {
            let mut body = body_of(&raw).to_vec();
            for at in 0..body.len() {
                for flip in [0x01, 0x80, 0xff] {
                    body[at] ^= flip;
                    reemit::holds_for(MESSAGES, &body);
                    body[at] ^= flip;
                }
            }
        }
    }
}

#[test]
fn section_4_offers_the_ticket_of_section_3() {
    let simple = rfc8448(SIMPLE);
    let trace = rfc8448(RESUMED);
    let ticket = NewSessionTicketTls13::parse(body_of(value(&simple, "server NewSessionTicket"))).unwrap();

    let raw = value(&trace, "client ClientHello");
    let extensions = ClientHello::parse(body_of(raw)).unwrap().extensions.unwrap();
    let offered = OfferedPsks::parse(extensions.find(ExtensionType::PRE_SHARED_KEY).unwrap()).unwrap();
    let identity = offered.identities.first().unwrap();
    assert_eq!(identity.identity, ticket.ticket);
    assert_eq!(identity.obfuscated_ticket_age.wrapping_sub(ticket.age_add), 6);
    assert_eq!(offered.binders.first(), Some(PskBinder(value(&trace, "binder"))));
    assert_eq!(raw[raw.len() - offered.binders_len() + 3..], *value(&trace, "binder"));

    let extensions = EncryptedExtensions::parse(body_of(value(&trace, "server EncryptedExtensions"))).unwrap().extensions;
    assert_eq!(extensions.find(ExtensionType::EARLY_DATA).map(Empty::parse), Some(Ok(Empty)));
}

/// The messages of a trace: `client ClientHello 2` is a `ClientHello`.
fn messages(trace: &Values) -> Vec<(String, Vec<u8>)> {
    let name_of = |label: &str| {
        let name = label.strip_prefix("client ").or_else(|| label.strip_prefix("server "))?;
        let name = name.strip_suffix(" 2").unwrap_or(name);
        MESSAGES.iter().any(|(known, _)| *known == name).then(|| name.to_owned())
    };
    trace.iter().filter_map(|(label, raw)| Some((name_of(label)?, raw.clone()))).collect()
}

fn parser_of(name: &str) -> Reemit {
    MESSAGES.iter().find(|(known, _)| *known == name).unwrap().1
}

fn extensions_of<'a>(name: &str, body: &'a [u8]) -> Extensions<'a> {
    match name {
        "ClientHello" => ClientHello::parse(body).unwrap().extensions.unwrap(),
        "ServerHello" | "HelloRetryRequest" => ServerHello::parse(body).unwrap().extensions.unwrap(),
        "EncryptedExtensions" => EncryptedExtensions::parse(body).unwrap().extensions,
        "CertificateRequest" => CertificateRequestTls13::parse(body).unwrap().extensions,
        "NewSessionTicket" => NewSessionTicketTls13::parse(body).unwrap().extensions,
        _ => Extensions::default(),
    }
}

fn body_of(raw: &[u8]) -> &[u8] {
    Handshake::parse(raw).unwrap().unwrap().0.body
}

fn value<'a>(trace: &'a Values, label: &str) -> &'a [u8] {
    &trace.iter().find(|(known, _)| known == label).unwrap_or_else(|| panic!("{label}")).1
}
