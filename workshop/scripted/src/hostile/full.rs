//! Full handshakes: a server, the line at which it deviates, how, and what is to come of it.

use reprise_model::Version;
use reprise_wire::{CipherSuite, ExtensionType, HandshakeType};

use super::Expected::{self, Borne, BorneUntilTimeout, Refused};
use super::HostileServer;
use super::sayings::{cookie, endless, extension, key_share, list, response, suite};
use crate::host::Wording;
use crate::play::Deviation as D;
use crate::play::Edit;
use crate::setting::{Line, Setting};

const TLS12: Version = Version::Tls12;
const TLS13: Version = Version::Tls13;

#[rustfmt::skip]
pub(super) fn cases() -> Vec<HostileServer> {
    vec![
        // Too early, too late, twice.
        case("its Finished before its Certificate", TLS13, Line::Certificate, D::Before(Line::Finished),
            Refused("the server misbehaved: Finished where Certificate was due")),
        case("CertificateVerify in place of its Certificate", TLS13, Line::Certificate, D::Omit,
            Refused("the server misbehaved: CertificateVerify where Certificate was due")),
        case("no proof that it holds its key", TLS13, Line::CertificateVerify, D::Omit,
            Refused("the server misbehaved: Finished where CertificateVerify was due")),
        case("no key exchange", TLS12, Line::ServerKeyExchange, D::Omit,
            Refused("the server misbehaved: ServerHelloDone where ServerKeyExchange was due")),
        case("its Finished in the clear", TLS12, Line::ChangeCipherSpec, D::Omit,
            Refused("the server misbehaved: Finished where ChangeCipherSpec was due")),
        case("a ticket that it announced and forgot", TLS12, Line::Ticket, D::Omit,
            Refused("the server misbehaved: a record of type change_cipher_spec where NewSessionTicket was due")),
        case("its hello twice", TLS13, Line::Hello, D::Repeat(1),
            Refused("the server misbehaved: a record of type handshake where a protected record was due")),
        case("its hello twice", TLS12, Line::Hello, D::Repeat(1),
            Refused("the server misbehaved: ServerHello where Certificate was due")),
        case("its Certificate twice", TLS13, Line::Certificate, D::Repeat(1),
            Refused("the server misbehaved: Certificate where CertificateVerify was due")),
        case("its ChangeCipherSpec twice", TLS12, Line::ChangeCipherSpec, D::Before(Line::ChangeCipherSpec),
            Refused("the server misbehaved: a record of type change_cipher_spec where Finished was due")),
        case("its ChangeCipherSpec twice", TLS13, Line::ChangeCipherSpec, D::Repeat(1),
            Borne("ChangeCipherSpec")),
        case("its ticket four times", TLS13, Line::Ticket, D::Repeat(3),
            Borne("NewSessionTicket")),
        // Cut, joined, interleaved.
        case("its flight in one record", TLS13, Line::EncryptedExtensions, D::Together,
            Borne("EncryptedExtensions")),
        case("messages of one byte a record", TLS13, Line::Certificate, D::Fragment(1),
            Borne("Certificate")),
        case("messages of one byte a record", TLS12, Line::Certificate, D::Fragment(1),
            Borne("Certificate")),
        case("its hello and what follows in one record", TLS13, Line::Hello, D::Together,
            Borne("EncryptedExtensions")),
        case("a ticket in the record of its Finished", TLS13, Line::Finished, D::Together,
            Refused("the server misbehaved: a handshake message spans a change of keys")),
        case("an alert in the middle of its Certificate", TLS13, Line::Certificate, D::Between(Line::Alert(1, 90)),
            Refused("the server misbehaved: a handshake message is interleaved with other records")),
        case("data in the middle of its Certificate", TLS12, Line::Certificate, D::Between(Line::Data(vec![1])),
            Refused("the server misbehaved: a record of type application_data where Certificate was due")),
        case("half a Certificate that says that it is whole", TLS13, Line::Certificate, D::EditBody(Edit::Truncate(0x8000)),
            Refused("the server's Certificate cannot be read")),
        case("half a hello that says that it is whole", TLS12, Line::Hello, D::EditBody(Edit::Truncate(0x8000)),
            Refused("the server's ServerHello cannot be read")),
        case("a hello that is longer than it says", TLS13, Line::EncryptedExtensions, D::EditBody(Edit::Insert(0xffff, vec![0])),
            Refused("the server's EncryptedExtensions cannot be read")),
        case("a record in the clear among protected ones", TLS13, Line::Certificate, D::Clear,
            Refused("the server misbehaved: a record of type handshake where a protected record was due")),
        case("a record that no key fits", TLS13, Line::Certificate, D::Wire([&[23, 3, 3, 0, 64][..], &[7; 64]].concat()),
            Refused("a record from the server does not decrypt")),
        case("a record longer than records are", TLS13, Line::Hello, D::Wire([&[22, 3, 3, 0xff, 0xff][..], &[0; 64]].concat()),
            Refused("the peer does not speak TLS")),
        case("a record longer than records are, later", TLS13, Line::Certificate, D::Wire([&[23, 3, 3, 0xff, 0xff][..], &[0; 64]].concat()),
            Refused("the server's record cannot be read")),
        case("a record of a type that is none", TLS13, Line::Certificate, D::As(99),
            Refused("the server misbehaved: a record of type")),
        case("a page of HTTP", TLS13, Line::Hello, D::Wire(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
            Refused("the peer does not speak TLS: its first bytes are \"HTTP/1.1 400 Bad Request\"")),
        case("a page of HTTP after its hello", TLS13, Line::EncryptedExtensions, D::Wire(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
            Refused("the server's record cannot be read")),
        case("a page of HTTP after its hello", TLS12, Line::Certificate, D::Wire(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
            Refused("the server's record cannot be read")),
        case("an alert instead of its hello", TLS12, Line::Hello, refusal(), Refused("the server refused with the alert handshake_failure")),
        case("an alert instead of its hello", TLS13, Line::Hello, refusal(), Refused("the server refused with the alert handshake_failure")),
        case("an alert instead of its Certificate", TLS12, Line::Certificate, refusal(),
            Refused("the server refused with the alert handshake_failure")),
        case("an alert instead of its Finished, in the clear", TLS12, Line::Finished, refusal(),
            Refused("a record from the server does not decrypt")),
        case("an alert among protected records, in the clear", TLS13, Line::Certificate, refusal(),
            Refused("the server misbehaved: a record of type alert where a protected record was due")),
        // Choices that were not offered.
        case("SSL 3.0", TLS12, Line::Hello, D::Say(Wording::Version(0x0300)),
            Refused("the server chose SSL 3.0, which Reprise does not support")),
        case("a version of the future", TLS13, Line::Hello, extension(ExtensionType::SUPPORTED_VERSIONS, &[3, 5]),
            Refused("the server misbehaved: it chose 0x0305, which was not offered")),
        case("a suite of another version", TLS13, Line::Hello, suite(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
            Refused("the server misbehaved: it chose TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, which was not offered")),
        case("a suite without encryption", TLS12, Line::Hello, D::Say(Wording::Suite(0x0001)),
            Refused("the server misbehaved: it chose TLS_RSA_WITH_NULL_MD5, which was not offered")),
        case("compression", TLS12, Line::Hello, D::Say(Wording::Compression(1)),
            Refused("the server misbehaved: it chose a compression method")),
        case("compression", TLS13, Line::Hello, D::Say(Wording::Compression(1)),
            Refused("the server misbehaved: it chose a compression method")),
        case("a key share that is the point at infinity", TLS13, Line::Hello, key_share(0x001d, &[0; 32]),
            Refused("the server misbehaved: its key share is invalid")),
        case("a key share of a group that nobody offered", TLS13, Line::Hello, key_share(0x001e, &[9; 56]),
            Refused("the server misbehaved: it chose the group x448, which was not offered")),
        case("no key share", TLS13, Line::Hello, D::Say(Wording::NoExtension(ExtensionType::KEY_SHARE.0)),
            Refused("the server misbehaved: its ServerHello lacks the extension key_share")),
        case("a PSK that nobody offered", TLS13, Line::Hello, extension(ExtensionType::PRE_SHARED_KEY, &[0, 0]),
            Refused("the server misbehaved: it answered an extension that was not offered: pre_shared_key")),
        case("an extension that nobody offered", TLS12, Line::Hello, extension(ExtensionType::STATUS_REQUEST, &[]),
            Refused("the server misbehaved: it answered an extension that was not offered: status_request")),
        case("an extension that nobody offered", TLS13, Line::EncryptedExtensions, extension(ExtensionType::STATUS_REQUEST, &[]),
            Refused("the server misbehaved: it answered an extension that was not offered: status_request")),
        case("another session ID than the client's", TLS13, Line::Hello, D::Say(Wording::SessionId(vec![1; 32])),
            Refused("the server misbehaved: it did not echo legacy_session_id")),
        case("a renegotiation_info of a handshake that never was", TLS12, Line::Hello, extension(ExtensionType::RENEGOTIATION_INFO, &[1, 7]),
            Refused("the server misbehaved: its renegotiation_info is not empty in a first handshake")),
        case("a certificate that is compressed to a bomb", TLS13, Line::Certificate, D::Instead(Line::Message(HandshakeType::COMPRESSED_CERTIFICATE, bomb())),
            Refused("the server misbehaved: CompressedCertificate where Certificate was due")),
        // For ever.
        case("warnings for ever", TLS12, Line::Hello, D::ForEver(Line::Alert(1, 112)),
            Refused("the server sent warning alerts more than 32 times")),
        case("warnings for ever, after the handshake", TLS12, Line::Data(response()), D::ForEver(Line::Alert(1, 90)),
            Refused("the server sent warning alerts more than 32 times")),
        case("warnings for ever", TLS13, Line::EncryptedExtensions, D::ForEver(Line::Alert(1, 90)),
            Refused("the server sent warning alerts more than 32 times")),
        case("ChangeCipherSpecs for ever", TLS13, Line::ChangeCipherSpec, D::ForEver(Line::ChangeCipherSpec),
            Refused("the server sent ChangeCipherSpec more than 32 times")),
        case("empty records for ever", TLS12, Line::Data(response()), D::ForEver(Line::Data(Vec::new())),
            Refused("the server sent empty records more than 32 times")),
        case("empty records for ever", TLS13, Line::Data(response()), D::ForEver(Line::Data(Vec::new())),
            Refused("the server sent empty records more than 32 times")),
        case("HelloRequests for ever", TLS12, Line::Certificate, D::ForEver(Line::HelloRequest),
            Refused("the server sent HelloRequest more than 32 times")),
        case("renegotiation for ever", TLS12, Line::Data(response()), D::ForEver(Line::HelloRequest),
            Refused("the server sent HelloRequest more than 32 times")),
        case("a million tickets", TLS13, Line::Ticket, D::ForEver(Line::Ticket),
            Refused("the server sent NewSessionTicket more than 1024 times")),
        case("KeyUpdates for ever", TLS13, Line::Data(response()), D::ForEver(Line::KeyUpdate(false)),
            Refused("the server sent KeyUpdate more than 32 times")),
        case("KeyUpdates that want an answer for ever", TLS13, Line::Data(response()), D::ForEver(Line::KeyUpdate(true)),
            Refused("the server sent KeyUpdate more than 32 times")),
        case("retries for ever", TLS13, Line::Hello, D::ForEver(Line::Retry),
            Refused("the server misbehaved: it sent a second HelloRetryRequest")),
        case("a response that never ends", TLS13, Line::Data(response()), D::ForEver(Line::Data(endless())),
            BorneUntilTimeout),
        case("a response that never ends", TLS12, Line::Data(response()), D::ForEver(Line::Data(endless())),
            BorneUntilTimeout),
        // Beyond measure.
        case("a chain of 16 MiB", TLS13, Line::Certificate, D::Instead(Line::LongCertificate(CHAIN)),
            Refused("the server's handshake message exceeds the limit of 262144 bytes")),
        case("a chain of 16 MiB", TLS12, Line::Certificate, D::Instead(Line::LongCertificate(CHAIN)),
            Refused("the server's handshake message exceeds the limit of 262144 bytes")),
        case("a chain of 200 kB", TLS13, Line::Certificate, D::Instead(Line::LongCertificate(200_000)),
            Borne("Certificate")),
        case("a ticket of 60 kB", TLS13, Line::Ticket, D::Instead(Line::Message(HandshakeType::NEW_SESSION_TICKET, long_ticket())),
            Borne("NewSessionTicket")),
        case("EncryptedExtensions of 60 kB", TLS13, Line::EncryptedExtensions, extension(ExtensionType::SUPPORTED_GROUPS, &list(60_000)),
            Borne("EncryptedExtensions")),
        // Once more from the start.
        case("renegotiation", TLS12, Line::Data(response()), D::Before(Line::HelloRequest),
            Borne("no_renegotiation")),
        case("renegotiation under TLS 1.3", TLS13, Line::Data(response()), D::Before(Line::HelloRequest),
            Refused("the server misbehaved: HelloRequest where application data was due")),
        case("another hello after the handshake", TLS12, Line::Data(response()), D::Before(Line::Hello),
            Refused("the server misbehaved: ServerHello where application data was due")),
        case("a CertificateRequest after the handshake", TLS13, Line::Data(response()), D::Before(Line::CertificateRequest),
            Refused("the server misbehaved: CertificateRequest where application data was due")),
    ]
}

/// A 16 MiB message less what stands around the chain.
const CHAIN: usize = 0xff_ffff - 1024;

fn case(name: &str, version: Version, line: Line, deviation: D, expected: Expected) -> HostileServer {
    HostileServer::at(name, Setting::full(version), &line, deviation, expected)
}

/// A fatal handshake_failure in the clear.
fn refusal() -> D {
    D::Wire(vec![21, 3, 3, 0, 2, 2, 40])
}

/// zlib, 16 MiB − 1 bytes when it is unpacked (RFC 8879 §4).
fn bomb() -> Vec<u8> {
    [&[0, 1, 0xff, 0xff, 0xff, 0, 0, 200][..], &[0x78; 200]].concat()
}

fn long_ticket() -> Vec<u8> {
    // lifetime, age_add, nonce, ticket, no extensions.
    [&[0, 0, 14, 16, 0, 0, 0, 1, 1, 9][..], &cookie(60_000), &[0, 0]].concat()
}
