//! Resumed handshakes: by ID, by ticket, by the PSK of a ticket, with early data. What each server does, what it is told.

use reprise_model::{Kind, Version};
use reprise_wire::{CipherSuite, ExtensionType, HandshakeType};

use super::Expected::{Borne, Refused};
use super::HostileServer;
use super::sayings::{cookie, extension, response, suite};
use crate::host::Wording;
use crate::play::Deviation as D;
use crate::play::Edit;
use crate::setting::{Line, Setting};

pub(super) fn cases() -> Vec<HostileServer> {
    [tls12(Kind::Id), tls12(Kind::Ticket), by_id(), by_tls12_ticket(), by_psk(), early(), retried(), tickets()].concat()
}

/// However TLS 1.2 resumes (RFC 5246 §7.4.1.3, RFC 7627 §5.3).
#[rustfmt::skip]
fn tls12(kind: Kind) -> Vec<HostileServer> {
    let refused = |name, line, deviation, words, alert| {
        refused(Setting::resumed(Version::Tls12, kind), name, line, deviation, words, alert)
    };
    let no_certificate = match kind {
        Kind::Ticket => "the server misbehaved: NewSessionTicket where Certificate was due",
        _ => "the server misbehaved: a record of type change_cipher_spec where Certificate was due",
    };
    vec![
        refused("another suite", Line::Hello, suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
            "the server misbehaved: it resumed the session with another cipher suite", "illegal_parameter"),
        refused("the master secret of old", Line::Hello, without(ExtensionType::EXTENDED_MASTER_SECRET),
            "the server misbehaved: it resumed the session with another derivation of the master secret", "illegal_parameter"),
        refused("TLS 1.1", Line::Hello, D::Say(Wording::Version(0x0302)),
            "the server chose TLS 1.1, which Reprise does not support", "protocol_version"),
        refused("another ID, and no handshake to it", Line::Hello, D::Say(Wording::SessionId(vec![1; 32])),
            no_certificate, "unexpected_message"),
        refused("no ID, and no handshake to it", Line::Hello, D::Say(Wording::SessionId(Vec::new())),
            no_certificate, "unexpected_message"),
        refused("a Certificate all the same", Line::ChangeCipherSpec, D::Before(Line::Certificate),
            "the server misbehaved: Certificate where ChangeCipherSpec was due", "unexpected_message"),
        refused("ServerHelloDone all the same", Line::ChangeCipherSpec, D::Before(Line::ServerHelloDone),
            "the server misbehaved: ServerHelloDone where ChangeCipherSpec was due", "unexpected_message"),
        refused("a CertificateRequest", Line::ChangeCipherSpec, D::Before(Line::CertificateRequest),
            "the server misbehaved: CertificateRequest where ChangeCipherSpec was due", "unexpected_message"),
        refused("its Finished in the clear", Line::ChangeCipherSpec, D::Omit,
            "the server misbehaved: Finished where ChangeCipherSpec was due", "unexpected_message"),
        refused("its ChangeCipherSpec twice", Line::ChangeCipherSpec, D::Before(Line::ChangeCipherSpec),
            "the server misbehaved: a record of type change_cipher_spec where Finished was due", "unexpected_message"),
        refused("a ChangeCipherSpec of two bytes", Line::ChangeCipherSpec, D::Edit(Edit::Insert(0xffff, vec![1])),
            "the server's ChangeCipherSpec cannot be read", "decode_error"),
        refused("a wrong Finished", Line::Finished, D::EditBody(Edit::Flip(0, 1)),
            "the server misbehaved: its Finished is wrong", "decrypt_error"),
        refused("half a Finished", Line::Finished, D::EditBody(Edit::Truncate(0x8000)),
            "the server misbehaved: its Finished is wrong", "decrypt_error"),
        refused("a Finished that no key fits", Line::Finished, D::Wire([&[22, 3, 3, 0, 40][..], &[7; 40]].concat()),
            "a record from the server does not decrypt", "bad_record_mac"),
        refused("data before its Finished", Line::Finished, D::Before(Line::Data(response())),
            "the server misbehaved: a record of type application_data where Finished was due", "unexpected_message"),
        refused("its Finished twice", Line::Finished, D::Repeat(1),
            "the server misbehaved: Finished where application data was due", "unexpected_message"),
        refused("a ticket where data is due", Line::Data(response()), D::Before(Line::Message(HandshakeType::NEW_SESSION_TICKET, tls12_ticket(300, b"t"))),
            "the server misbehaved: NewSessionTicket where application data was due", "unexpected_message"),
        refused("the renegotiation_info of a handshake that never was", Line::Hello, extension(ExtensionType::RENEGOTIATION_INFO, &[1, 7]),
            "the server misbehaved: its renegotiation_info is not empty in a first handshake", "handshake_failure"),
        refused("HelloRequests for ever", Line::ChangeCipherSpec, D::ForEver(Line::HelloRequest),
            "the server sent HelloRequest more than 32 times", "unexpected_message"),
        refused("warnings for ever", Line::ChangeCipherSpec, D::ForEver(Line::Alert(1, 112)),
            "the server sent warning alerts more than 32 times", "unexpected_message"),
        borne(Setting::resumed(Version::Tls12, kind), "renegotiation", Line::Data(response()), D::Before(Line::HelloRequest), "no_renegotiation"),
    ]
}

#[rustfmt::skip]
fn by_id() -> Vec<HostileServer> {
    let setting = Setting::resumed(Version::Tls12, Kind::Id);
    vec![
        refused(setting, "a ticket, announced to who asks for none", Line::Hello, extension(ExtensionType::SESSION_TICKET, &[]),
            "the server misbehaved: it answered an extension that was not offered: session_ticket", "unsupported_extension"),
        refused(setting, "a ticket, announced by nothing", Line::ChangeCipherSpec, D::Before(Line::Message(HandshakeType::NEW_SESSION_TICKET, tls12_ticket(300, b"t"))),
            "the server misbehaved: NewSessionTicket where ChangeCipherSpec was due", "unexpected_message"),
    ]
}

/// RFC 5077 §3.3.
#[rustfmt::skip]
fn by_tls12_ticket() -> Vec<HostileServer> {
    let setting = Setting::resumed(Version::Tls12, Kind::Ticket);
    let instead = |body: Vec<u8>| D::Instead(Line::Message(HandshakeType::NEW_SESSION_TICKET, body));
    let refused = |name, line, deviation, words, alert| refused(setting, name, line, deviation, words, alert);
    let borne = |name, body| borne(setting, name, Line::Ticket, instead(body), "NewSessionTicket");
    vec![
        refused("a ticket that it announced and forgot", Line::Ticket, D::Omit,
            "the server misbehaved: a record of type change_cipher_spec where NewSessionTicket was due", "unexpected_message"),
        refused("a ticket that it did not announce", Line::Hello, without(ExtensionType::SESSION_TICKET),
            "the server misbehaved: NewSessionTicket where ChangeCipherSpec was due", "unexpected_message"),
        refused("a ticket within its announcement", Line::Hello, extension(ExtensionType::SESSION_TICKET, b"ticket"),
            "the server's session_ticket cannot be read", "decode_error"),
        refused("tickets for ever", Line::Ticket, D::ForEver(Line::Ticket),
            "the server misbehaved: NewSessionTicket where ChangeCipherSpec was due", "unexpected_message"),
        refused("a ticket under its new keys", Line::Finished, D::Before(Line::Ticket),
            "the server misbehaved: NewSessionTicket where Finished was due", "unexpected_message"),
        refused("half a ticket", Line::Ticket, D::EditBody(Edit::Truncate(0x8000)),
            "the server's NewSessionTicket cannot be read", "decode_error"),
        refused("a ticket with something behind it", Line::Ticket, D::EditBody(Edit::Insert(0xffff, vec![0])),
            "the server's NewSessionTicket cannot be read", "decode_error"),
        borne("an empty ticket", tls12_ticket(300, b"")),
        borne("a ticket of no lifetime", tls12_ticket(0, b"t")),
        borne("a ticket of 136 years", tls12_ticket(u32::MAX, b"t")),
        borne("a ticket of 60 kB", [&[0, 0, 1, 44][..], &cookie(60_000)].concat()),
    ]
}

/// RFC 9846 §4.3.11, §4.4.2, §4.5.
#[rustfmt::skip]
fn by_psk() -> Vec<HostileServer> {
    let setting = Setting::resumed(Version::Tls13, Kind::Ticket);
    let refused = |name, line, deviation, words, alert| refused(setting, name, line, deviation, words, alert);
    vec![
        refused("a PSK that nobody offered", Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0, 1]),
            "the server misbehaved: it selected a PSK that was not offered", "illegal_parameter"),
        refused("the last PSK of 65,536", Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0xff, 0xff]),
            "the server misbehaved: it selected a PSK that was not offered", "illegal_parameter"),
        refused("half the number of a PSK", Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0]),
            "the server's pre_shared_key cannot be read", "decode_error"),
        refused("a suite of another hash", Line::Hello, suite(CipherSuite::TLS_AES_256_GCM_SHA384),
            "the server misbehaved: it selected the PSK with TLS_AES_256_GCM_SHA384, whose hash is another", "illegal_parameter"),
        refused("a suite of TLS 1.2", Line::Hello, suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
            "the server misbehaved: it chose TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, which was not offered", "illegal_parameter"),
        refused("another session ID than the client's", Line::Hello, D::Say(Wording::SessionId(vec![1; 32])),
            "the server misbehaved: it did not echo legacy_session_id", "illegal_parameter"),
        refused("no key share", Line::Hello, without(ExtensionType::KEY_SHARE),
            "the server misbehaved: its ServerHello lacks the extension key_share", "missing_extension"),
        refused("no PSK, and no certificate either", Line::Hello, without(ExtensionType::PRE_SHARED_KEY),
            "the server misbehaved: Finished where Certificate was due", "unexpected_message"),
        refused("a Certificate all the same", Line::Finished, D::Before(Line::Certificate),
            "the server misbehaved: Certificate where Finished was due", "unexpected_message"),
        refused("a CertificateVerify all the same", Line::Finished, D::Before(Line::CertificateVerify),
            "the server misbehaved: CertificateVerify where Finished was due", "unexpected_message"),
        refused("a CertificateRequest", Line::Finished, D::Before(Line::CertificateRequest),
            "the server misbehaved: CertificateRequest where Finished was due", "unexpected_message"),
        refused("early data that nobody sent", Line::EncryptedExtensions, extension(ExtensionType::EARLY_DATA, &[]),
            "the server misbehaved: it answered an extension that was not offered: early_data", "unsupported_extension"),
        refused("a PSK in its EncryptedExtensions", Line::EncryptedExtensions, extension(ExtensionType::PRE_SHARED_KEY, &[0, 0]),
            "the server misbehaved: its EncryptedExtensions carries the extension pre_shared_key, which has no place there", "illegal_parameter"),
        refused("a flight that its PSK does not open", Line::EncryptedExtensions, D::Wire([&[23, 3, 3, 0, 64][..], &[7; 64]].concat()),
            "a record from the server does not decrypt", "bad_record_mac"),
        refused("no EncryptedExtensions", Line::EncryptedExtensions, D::Omit,
            "the server misbehaved: Finished where EncryptedExtensions was due", "unexpected_message"),
        refused("a ticket before its Finished", Line::Finished, D::Before(Line::Ticket),
            "the server misbehaved: NewSessionTicket where Finished was due", "unexpected_message"),
        refused("data before its Finished", Line::Finished, D::Before(Line::Data(response())),
            "the server misbehaved: a record of type application_data where Finished was due", "unexpected_message"),
        refused("a wrong Finished", Line::Finished, D::EditBody(Edit::Flip(0, 1)),
            "the server misbehaved: its Finished is wrong", "decrypt_error"),
        refused("half a Finished", Line::Finished, D::EditBody(Edit::Truncate(0x8000)),
            "the server misbehaved: its Finished is wrong", "decrypt_error"),
        refused("its hello twice", Line::Hello, D::Repeat(1),
            "the server misbehaved: a record of type handshake where a protected record was due", "unexpected_message"),
        refused("ChangeCipherSpecs for ever", Line::ChangeCipherSpec, D::ForEver(Line::ChangeCipherSpec),
            "the server sent ChangeCipherSpec more than 32 times", "unexpected_message"),
        borne(setting, "another suite of the same hash", Line::Hello, suite(CipherSuite::TLS_CHACHA20_POLY1305_SHA256), "Finished"),
    ]
}

/// RFC 9846 §4.3.10.
#[rustfmt::skip]
fn early() -> Vec<HostileServer> {
    let setting = Setting::resumed(Version::Tls13, Kind::Early);
    let by_alpn = Setting { alpn: true, ..setting };
    let refused = |name, line, deviation, words, alert| refused(setting, name, line, deviation, words, alert);
    vec![
        refused("without the PSK", Line::Hello, without(ExtensionType::PRE_SHARED_KEY),
            "the server misbehaved: it accepted early data without the PSK that it belongs to", "illegal_parameter"),
        refused("under another PSK", Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0, 1]),
            "the server misbehaved: it selected a PSK that was not offered", "illegal_parameter"),
        refused("under another suite", Line::Hello, suite(CipherSuite::TLS_CHACHA20_POLY1305_SHA256),
            "the server misbehaved: it accepted early data under another cipher suite", "illegal_parameter"),
        refused("taken in its hello", Line::Hello, extension(ExtensionType::EARLY_DATA, &[]),
            "the server misbehaved: its ServerHello carries the extension early_data, which has no place there", "illegal_parameter"),
        refused("taken with a limit that has no place there", Line::EncryptedExtensions, extension(ExtensionType::EARLY_DATA, &[0, 0, 0, 1]),
            "the server's early_data cannot be read", "decode_error"),
        refused("an end of early data of its own", Line::Finished, D::Before(Line::Message(HandshakeType::END_OF_EARLY_DATA, Vec::new())),
            "the server misbehaved: EndOfEarlyData where Finished was due", "unexpected_message"),
        refused("an answer before its Finished", Line::Finished, D::Before(Line::Data(response())),
            "the server misbehaved: a record of type application_data where Finished was due", "unexpected_message"),
        refused("a wrong Finished", Line::Finished, D::EditBody(Edit::Flip(0, 1)),
            "the server misbehaved: its Finished is wrong", "decrypt_error"),
        self::refused(by_alpn, "by no protocol at all", Line::EncryptedExtensions, without(ExtensionType::ALPN),
            "the server misbehaved: it accepted early data with another ALPN protocol", "illegal_parameter"),
    ]
}

/// A HelloRetryRequest to who offers a ticket (RFC 9846 §4.2.4, §4.3.10).
#[rustfmt::skip]
fn retried() -> Vec<HostileServer> {
    let ticket = Setting { retry: true, ..Setting::resumed(Version::Tls13, Kind::Ticket) };
    let early = Setting { retry: true, ..Setting::resumed(Version::Tls13, Kind::Early) };
    vec![
        refused(ticket, "a PSK in its HelloRetryRequest", Line::Retry, extension(ExtensionType::PRE_SHARED_KEY, &[0, 0]),
            "the server misbehaved: its HelloRetryRequest carries the extension pre_shared_key, which has no place there", "illegal_parameter"),
        refused(ticket, "after a retry, another hash", Line::Hello, suite(CipherSuite::TLS_AES_256_GCM_SHA384),
            "the server misbehaved: it changed its mind after the HelloRetryRequest about the cipher suite", "illegal_parameter"),
        refused(ticket, "after a retry, a PSK that nobody offered", Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0, 1]),
            "the server misbehaved: it selected a PSK that was not offered", "illegal_parameter"),
        // Its hash is not the ticket's, so the second ClientHello offers no PSK.
        refused(ticket, "a retry under another hash, and the PSK after it", Line::Retry, suite(CipherSuite::TLS_AES_256_GCM_SHA384),
            "the server misbehaved: it answered an extension that was not offered: pre_shared_key", "unsupported_extension")
            .also(&Line::Hello, suite(CipherSuite::TLS_AES_256_GCM_SHA384)),
        refused(early, "early data that a retry has rejected", Line::EncryptedExtensions, extension(ExtensionType::EARLY_DATA, &[]),
            "the server misbehaved: it answered an extension that was not offered: early_data", "unsupported_extension"),
    ]
}

/// NewSessionTicket of TLS 1.3 (RFC 9846 §4.7.1).
#[rustfmt::skip]
fn tickets() -> Vec<HostileServer> {
    let setting = Setting::resumed(Version::Tls13, Kind::Ticket);
    let instead = |body: Vec<u8>| D::Instead(Line::Message(HandshakeType::NEW_SESSION_TICKET, body));
    let refused = |name, body, words, alert| refused(setting, name, Line::Ticket, instead(body), words, alert);
    let borne = |name, body| borne(setting, name, Line::Ticket, instead(body), "NewSessionTicket");
    let early = |limit: &[u8]| [&[0, 42, 0, limit.len() as u8][..], limit].concat();
    let unreadable = "the server's NewSessionTicket cannot be read";
    vec![
        refused("an empty ticket", tls13_ticket(60, b"", &[]), unreadable, "decode_error"),
        refused("early data of half a limit", tls13_ticket(60, b"t", &early(&[0, 1])), unreadable, "decode_error"),
        refused("early data of a limit and a half", tls13_ticket(60, b"t", &early(&[0; 6])), unreadable, "decode_error"),
        refused("early data of two limits", tls13_ticket(60, b"t", &[early(&[0; 4]), early(&[1; 4])].concat()), unreadable, "illegal_parameter"),
        refused("extensions that end too early", [tls13_ticket(60, b"t", &[]), vec![0]].concat(), unreadable, "decode_error"),
        borne("a ticket of no lifetime", tls13_ticket(0, b"t", &[])),
        borne("a ticket of 136 years", tls13_ticket(u32::MAX, b"t", &[])),
        borne("early data of no byte", tls13_ticket(60, b"t", &early(&[0; 4]))),
        borne("early data of 4 GiB", tls13_ticket(60, b"t", &early(&[0xff; 4]))),
        // Whoever does not know an extension of a ticket ignores it.
        borne("an extension that nobody knows", tls13_ticket(60, b"t", &[0xfa, 0xfa, 0, 2, 1, 2])),
        borne("a ticket of 60 kB", tls13_ticket(60, &[7; 60_000], &[])),
        HostileServer::at("a million tickets", setting, &Line::Ticket, D::ForEver(Line::Ticket),
            Refused("the server sent NewSessionTicket more than 1024 times")).telling("unexpected_message"),
    ]
}

fn refused(
    setting: Setting,
    name: &str,
    line: Line,
    deviation: D,
    words: &'static str,
    alert: &'static str,
) -> HostileServer {
    HostileServer::at(name, setting, &line, deviation, Refused(words)).telling(alert)
}

fn borne(setting: Setting, name: &str, line: Line, deviation: D, event: &'static str) -> HostileServer {
    HostileServer::at(name, setting, &line, deviation, Borne(event))
}

fn without(extension: ExtensionType) -> D {
    D::Say(Wording::NoExtension(extension.0))
}

/// The body of a NewSessionTicket of TLS 1.2.
fn tls12_ticket(lifetime_hint: u32, ticket: &[u8]) -> Vec<u8> {
    [&lifetime_hint.to_be_bytes()[..], &(ticket.len() as u16).to_be_bytes(), ticket].concat()
}

/// The body of a NewSessionTicket of TLS 1.3.
fn tls13_ticket(lifetime: u32, ticket: &[u8], extensions: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| (bytes.len() as u16).to_be_bytes();
    let (age_add, nonce) = ([0, 0, 0, 1], [1, 9]);
    let begin = [&lifetime.to_be_bytes()[..], &age_add, &nonce, &length(ticket), ticket].concat();
    [&begin[..], &length(extensions), extensions].concat()
}
