//! RFC 8448, every section: what each secret, key, hash, binder and Finished is made from, and that every record opens
//! and is sealed again byte for byte.

use reprise_wire::{CertificateRequestTls13, ContentType, Handshake, NamedGroup, NewSessionTicketTls13};

use super::*;
use crate::key_share::{EcdhKeyShare, KeyShare};
use crate::protection::{Opener, Sealer};
use crate::suite::{SUITES, Suite};
use crate::transcript::{Transcript, hash_of};
use crate::vector_file::Trace;

const HASH: Hash = Hash::Sha256;

#[test]
fn section_3_simple() {
    follow("section-3-simple-1-rtt.txt", |trace, secrets| {
        let ticket = trace.get("server NewSessionTicket");
        let ticket = NewSessionTicketTls13::parse(body_of(ticket)).unwrap();
        assert_eq!(secrets.resumption.psk(ticket.nonce).unwrap().as_ref(), trace.get("resumption psk"));
    });
}

#[test]
fn section_4_resumed_with_early_data() {
    follow("section-4-resumed-0-rtt.txt", |_, _| {});
}

#[test]
fn section_5_hello_retry_request() {
    follow("section-5-hello-retry-request.txt", |_, _| {});
}

#[test]
fn section_6_client_authentication() {
    follow("section-6-client-authentication.txt", |trace, _| {
        let request = CertificateRequestTls13::parse(body_of(trace.get("server CertificateRequest"))).unwrap();
        assert!(request.context.is_empty());
    });
}

#[test]
fn section_7_compatibility_mode() {
    follow("section-7-compatibility-mode.txt", |_, _| {});
}

struct Secrets {
    resumption: ResumptionSecret,
}

/// Derives everything that the section shows, in its order, and leaves nothing out.
fn follow(file: &str, more: impl FnOnce(&Trace, &Secrets)) {
    let trace = &Trace::read(file);
    let suite = &SUITES[0];
    let empty = hash_of(HASH, &[]);

    // Early secret.
    let early = EarlySecret::new(HASH, trace.find("psk")).unwrap();
    is_secret(&early.0, trace.get("early secret"));
    let hello = trace.get("client ClientHello");
    if trace.find("psk").is_some() {
        early_secrets(trace, suite, &early, hello);
    }
    let derived = early.0.derive(b"derived", empty.as_ref()).unwrap();
    assert_eq!(derived.as_ref(), trace.get("derived for handshake"));

    // Key exchange, from both sides.
    let group = if trace.find("client secp256r1 private key").is_some() { "secp256r1" } else { "x25519" };
    let shared = agree(trace, group);
    assert_eq!(&*shared, trace.get("shared secret"));

    // Handshake secret.
    let mut transcript = hellos(trace, hello);
    transcript.add(trace.get("server ServerHello"));
    assert_eq!(transcript.current().as_ref(), trace.get("ClientHello..ServerHello hash"));
    let secret = early.handshake(Some(&shared)).unwrap();
    is_secret(&secret.0, trace.get("handshake secret"));
    let client = secret.client_traffic(transcript.current().as_ref()).unwrap();
    let server = secret.server_traffic(transcript.current().as_ref()).unwrap();
    keys(trace, "c hs", &client);
    keys(trace, "s hs", &server);
    let derived = secret.0.derive(b"derived", empty.as_ref()).unwrap();
    assert_eq!(derived.as_ref(), trace.get("derived for master"));
    let master = secret.master().unwrap();
    is_secret(&master.0, trace.get("master secret"));

    // The server's flight.
    let mut flight = Vec::new();
    for message in ["EncryptedExtensions", "CertificateRequest", "Certificate", "CertificateVerify"] {
        flight.extend_from_slice(trace.find(&format!("server {message}")).unwrap_or_default());
    }
    transcript.add(&flight);
    finished_of(trace, "server", &server, &transcript);
    transcript.add(trace.get("server Finished"));
    flight.extend_from_slice(trace.get("server Finished"));
    let mut opener = Opener::tls13(suite, &server).unwrap();
    opens(&mut opener, trace.get("server record EncryptedExtensions..Finished"), ContentType::HANDSHAKE, &flight);

    // Application secrets.
    let hash = transcript.current();
    assert_eq!(hash.as_ref(), trace.get("ClientHello..server Finished hash"));
    let client_application = master.client_traffic(hash.as_ref()).unwrap();
    let server_application = master.server_traffic(hash.as_ref()).unwrap();
    keys(trace, "c ap", &client_application);
    keys(trace, "s ap", &server_application);
    assert_eq!(master.exporter(hash.as_ref()).unwrap().as_ref(), trace.get("exp master"));

    // The client's flight.
    let mut flight = Vec::new();
    transcript.add(trace.find("client EndOfEarlyData").unwrap_or_default());
    for message in ["Certificate", "CertificateVerify"] {
        flight.extend_from_slice(trace.find(&format!("client {message}")).unwrap_or_default());
    }
    transcript.add(&flight);
    finished_of(trace, "client", &client, &transcript);
    transcript.add(trace.get("client Finished"));
    flight.extend_from_slice(trace.get("client Finished"));
    let record = trace.find("client record Certificate..Finished").or_else(|| trace.find("client record Finished"));
    let mut sealer = Sealer::tls13(suite, &client).unwrap();
    seals(&mut sealer, record.unwrap(), ContentType::HANDSHAKE, &flight);

    assert_eq!(transcript.current().as_ref(), trace.get("ClientHello..client Finished hash"));
    let resumption = master.resumption(transcript.current().as_ref()).unwrap();
    assert_eq!(resumption.secret.as_ref(), trace.get("res master"));

    application_records(trace, suite, &client_application, &server_application);
    more(trace, &Secrets { resumption });

    // Records in the clear hold the very message; the engine's own replay compares them.
    for message in ["client ClientHello", "client ClientHello 2", "server ServerHello", "server HelloRetryRequest"] {
        if let Some(record) = trace.find(&message.replacen(' ', " record ", 1)) {
            assert_eq!(&record[5..], trace.get(message), "{message}");
        }
    }
    for side in ["client", "server"] {
        let change_cipher_spec = trace.find(&format!("{side} record ChangeCipherSpec"));
        assert!(change_cipher_spec.is_none_or(|record| record == [20, 3, 3, 0, 1, 1]));
    }
    assert_eq!(trace.left_over(), [""; 0]);
}

/// The binder and what early data is sent under.
fn early_secrets(trace: &Trace, suite: &Suite, early: &EarlySecret, hello: &[u8]) {
    let binder_key = early.0.derive(b"res binder", hash_of(HASH, &[]).as_ref()).unwrap();
    assert_eq!(binder_key.as_ref(), trace.get("res binder"));
    let key = Expander::new(HASH, &binder_key).expand_label(b"finished", &[], 32).unwrap();
    assert_eq!(key.as_ref(), trace.get("binder finished key"));
    let prefix = hash_of(HASH, &hello[..hello.len() - 2 - 1 - 32]);
    assert_eq!(prefix.as_ref(), trace.get("ClientHello prefix hash"));
    let binder = early.binder(BinderLabel::Resumption, prefix.as_ref()).unwrap();
    assert_eq!(binder.as_ref(), trace.get("binder"));
    assert_eq!(&hello[hello.len() - 32..], trace.get("binder"));

    let hash = hash_of(HASH, hello);
    assert_eq!(hash.as_ref(), trace.get("ClientHello hash"));
    let traffic = early.client_early_traffic(hash.as_ref()).unwrap();
    keys(trace, "c e", &traffic);
    let exporter = early.0.derive(b"e exp master", hash.as_ref()).unwrap();
    assert_eq!(exporter.as_ref(), trace.get("e exp master"));
    let mut sealer = Sealer::tls13(suite, &traffic).unwrap();
    let (record, data) = (trace.get("client record early data"), trace.get("client early data"));
    seals(&mut sealer, record, ContentType::APPLICATION_DATA, data);
    let (record, end) = (trace.get("client record EndOfEarlyData"), trace.get("client EndOfEarlyData"));
    seals(&mut sealer, record, ContentType::HANDSHAKE, end);
}

fn agree(trace: &Trace, group: &str) -> crate::SharedSecret {
    let [ours, theirs] = ["client", "server"].map(|side| {
        let group_id = NamedGroup::from_name(group).unwrap();
        let share = EcdhKeyShare::from_private_key(group_id, trace.get(&format!("{side} {group} private key"))).unwrap();
        assert_eq!(share.public(), trace.get(&format!("{side} {group} public key")));
        share
    });
    if group != "x25519" {
        // The share of the first ClientHello, of no use after all.
        let unused = trace.get("client x25519 private key");
        let unused = EcdhKeyShare::from_private_key(NamedGroup::X25519, unused).unwrap();
        assert_eq!(unused.public(), trace.get("client x25519 public key"));
    }
    let public = ours.public().to_vec();
    let shared = ours.agree(theirs.public()).unwrap();
    assert_eq!(theirs.agree(&public).unwrap(), shared);
    shared
}

/// The transcript of one ClientHello, or of two with a HelloRetryRequest between them.
fn hellos(trace: &Trace, hello: &[u8]) -> Transcript {
    let Some(retry) = trace.find("server HelloRetryRequest") else { return Transcript::beginning(HASH, hello) };
    assert_eq!(hash_of(HASH, hello).as_ref(), trace.get("ClientHello hash"));
    let mut transcript = Transcript::after_retry(HASH, hello);
    transcript.add(retry);
    transcript.add(trace.get("client ClientHello 2"));
    transcript
}

fn keys(trace: &Trace, label: &str, secret: &TrafficSecret) {
    assert_eq!(secret.as_bytes(), trace.get(&format!("{label} traffic")));
    let (key, iv) = secret.key_and_iv(16).unwrap();
    assert_eq!(key.as_ref(), trace.get(&format!("{label} key")));
    assert_eq!(iv, trace.get(&format!("{label} iv")));
}

/// The HMAC key hides the secret that it was made of: so what both make of the same message is compared.
fn is_secret(ours: &Expander, traced: &[u8]) {
    let tag = hmac::sign(&hmac::Key::new(HASH.hmac(), traced), b"message");
    assert_eq!(hmac::sign(&ours.key, b"message").as_ref(), tag.as_ref());
}

fn finished_of(trace: &Trace, side: &str, secret: &TrafficSecret, transcript: &Transcript) {
    let key = Expander::new(HASH, &secret.secret).expand_label(b"finished", &[], 32).unwrap();
    assert_eq!(key.as_ref(), trace.get(&format!("{side} finished key")));
    let hash = transcript.current();
    assert_eq!(hash.as_ref(), trace.get(&format!("hash before {side} Finished")));
    let verify_data = secret.finished(hash.as_ref()).unwrap();
    assert_eq!(verify_data.as_ref(), body_of(trace.get(&format!("{side} Finished"))));
}

/// Ticket, data and alerts, in the order in which each side sends them.
fn application_records(trace: &Trace, suite: &Suite, client: &TrafficSecret, server: &TrafficSecret) {
    let sent = [
        ("NewSessionTicket", ContentType::HANDSHAKE),
        ("application data", ContentType::APPLICATION_DATA),
        ("alert", ContentType::ALERT),
    ];
    let (mut sealer, mut opener) = (Sealer::tls13(suite, client).unwrap(), Opener::tls13(suite, server).unwrap());
    for (what, content_type) in sent {
        if let Some(record) = trace.find(&format!("client record {what}")) {
            seals(&mut sealer, record, content_type, trace.get(&format!("client {what}")));
        }
        if let Some(record) = trace.find(&format!("server record {what}")) {
            opens(&mut opener, record, content_type, trace.get(&format!("server {what}")));
        }
    }
}

fn opens(opener: &mut Opener, record: &[u8], content_type: ContentType, plaintext: &[u8]) {
    let mut record = record.to_vec();
    let (opened, place) = opener.open(&mut record).unwrap();
    assert_eq!((opened, &record[place]), (content_type, plaintext));
}

fn seals(sealer: &mut Sealer, record: &[u8], content_type: ContentType, plaintext: &[u8]) {
    let mut sealed = Vec::new();
    sealer.seal(content_type, plaintext, &mut sealed).unwrap();
    assert_eq!(sealed, record);
}

fn body_of(message: &[u8]) -> &[u8] {
    Handshake::parse(message).unwrap().unwrap().0.body
}
