//! TLS 1.3 from the ServerHello on (RFC 9846 §4.2.3, §4.4 to §4.7).

mod authentication;
mod encrypted_extensions;
mod finished;
mod server_hello;
mod traffic;

pub(crate) use authentication::{ExpectCertificateOrRequest, ExpectCertificateVerify};
pub(crate) use encrypted_extensions::ExpectEncryptedExtensions;
pub(crate) use finished::ExpectFinished;
pub(crate) use server_hello::accept;
pub(crate) use traffic::ExpectTraffic;

use reprise_wire::SignatureScheme;

use super::Handshaking;
use crate::key_schedule::tls13::{HandshakeSecret, TrafficSecret};

/// What all states of a TLS 1.3 handshake carry from the ServerHello on.
struct Handshake13 {
    handshaking: Handshaking,
    keys: HandshakeKeys,
    client_certificate: ClientCertificate,
}

/// The secrets between ServerHello and Finished.
struct HandshakeKeys {
    secret: HandshakeSecret,
    client: TrafficSecret,
    server: TrafficSecret,
}

/// What the server asked of the client's certificate, and how it will be answered.
enum ClientCertificate {
    NotRequested,
    /// The scheme in which to sign; `None` where the client has no certificate.
    Requested(Option<SignatureScheme>),
}

/// What a CertificateVerify signs (RFC 9846 §4.5.2): 64 spaces, the context, a zero, the transcript's hash.
fn signed_content(context: &[u8], transcript: &[u8]) -> Vec<u8> {
    [&[b' '; 64][..], context, &[0], transcript].concat()
}
