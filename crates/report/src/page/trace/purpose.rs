//! What each message of a handshake is for, and why a resumed one does without it: a plain sentence each.

use reprise_model::document::Trace;
use reprise_model::{Direction, Kind, Version, What};

use super::ladder::Step;

/// What the message does; `None` for what the page has no words for.
pub(super) fn of(step: &Step<'_>, version: Version) -> Option<&'static str> {
    let is_sent = step.event.direction == Direction::Sent;
    let is_tls13 = version == Version::Tls13;
    let message = match &step.event.what {
        What::Handshake { message } => message.as_ref(),
        What::ChangeCipherSpec if is_tls13 => {
            return Some(
                "It means nothing in TLS 1.3. It makes the handshake look like TLS 1.2 to middleboxes (RFC 8446, appendix D.4).",
            );
        }
        What::ChangeCipherSpec => return Some("What this side sends from here on is encrypted with the new keys."),
        What::Alert { description } if description == "close_notify" => {
            return Some("This side sends nothing more. It shows that nothing was cut off.");
        }
        What::ApplicationData if step.is_early => {
            return Some(
                "The request, encrypted with a key of the session, before the server has said anything. \
                 Someone who records it can send it again.",
            );
        }
        What::ApplicationData if is_sent => return Some("The request."),
        What::ApplicationData => return Some("The response."),
        What::Alert { .. } | What::Violation { .. } => return None,
    };
    Some(match message {
        "ClientHello" if is_tls13 => {
            "The client offers versions, cipher suites, groups and signature schemes. It guesses which group the server \
             prefers and sends its half of the key exchange for it (key_share), which saves a round trip."
        }
        "ClientHello" => "The client offers versions, cipher suites, groups and signature schemes.",
        "HelloRetryRequest" => {
            "The server wants another group than the one that the client sent a key share for. The client must start again, \
             which costs a round trip."
        }
        "ServerHello" if is_tls13 => {
            "The server chooses the version and the cipher suite and sends its half of the key exchange. Both sides now have \
             keys: everything that follows is encrypted."
        }
        "ServerHello" => "The server chooses the version and the cipher suite.",
        "EncryptedExtensions" => "The server answers the extensions that need not be readable by others, such as ALPN.",
        "CertificateRequest" => "The server asks for a certificate of the client (mutual TLS).",
        "Certificate" if is_sent => "The client's certificate and the chain to its CA; empty if it has none.",
        "Certificate" => "The server's certificate and the chain to its CA. The client checks names, dates and signatures.",
        "CertificateStatus" => "The CA's word that the certificate is not revoked (OCSP stapling).",
        "CertificateVerify" if is_sent => {
            "A signature over the handshake so far: the client has the key of its certificate."
        }
        "CertificateVerify" => {
            "A signature over the handshake so far: the server has the key of its certificate. This is the most expensive \
             step of the server."
        }
        "ServerKeyExchange" => {
            "The server's half of the key exchange, signed with the key of its certificate. This is the most expensive step \
             of the server."
        }
        "ServerHelloDone" => "The server has no more to say for now.",
        "ClientKeyExchange" => "The client's half of the key exchange. Both sides can now compute the keys.",
        "Finished" if is_sent => {
            "A checksum over the whole handshake, with a key that only both sides know. The server sees that nobody has changed \
             a message."
        }
        "Finished" => {
            "A checksum over the whole handshake, with a key that only both sides know. The client sees that nobody has changed \
             a message, and that the server has the keys."
        }
        "NewSessionTicket" => "A ticket with which the client can resume this session on a later connection.",
        "EndOfEarlyData" => "The end of the early data. The client goes on with the keys of the handshake.",
        "KeyUpdate" => "This side changes its keys.",
        "HelloRequest" => "The server asks for another handshake.",
        _ => return None,
    })
}

/// What is different in the message that resumes.
pub(super) fn on_resumption(step: &Step<'_>, trace: &Trace) -> Option<&'static str> {
    let What::Handshake { message } = &step.event.what else { return None };
    let has_resumed = trace.has_resumed();
    Some(match (message.as_ref(), trace.asked.tls, trace.asked.kind) {
        ("ClientHello", Version::Tls13, Kind::Psk) => {
            "The second one also names the external PSK (pre_shared_key) and proves with a binder that the client knows it."
        }
        ("ClientHello", Version::Tls13, Kind::Early) => {
            "The second one also carries the ticket (pre_shared_key), a binder which proves that the client knows its secret, \
             and early_data."
        }
        ("ClientHello", Version::Tls13, _) => {
            "The second one also carries the ticket (pre_shared_key) and a binder, which proves that the client knows its \
             secret."
        }
        ("ClientHello", Version::Tls12, Kind::Id) => "The second one carries the ID of the session (session_id).",
        ("ClientHello", Version::Tls12, _) => "The second one carries the ticket (session_ticket).",
        ("ServerHello", Version::Tls13, _) if has_resumed => "The second one accepts the session (pre_shared_key).",
        ("ServerHello", Version::Tls12, _) if has_resumed => {
            "The second one accepts the session: it repeats the session ID of the client."
        }
        _ => return None,
    })
}

/// Why the resumed handshake does without the message.
pub(super) fn of_skipping(step: &Step<'_>, trace: &Trace) -> &'static str {
    let is_sent = step.event.direction == Direction::Sent;
    match (step.event.what.name(), trace.asked.kind) {
        ("Certificate" | "CertificateVerify" | "CertificateRequest" | "CertificateStatus", Kind::Psk) => {
            "Skipped: both sides know the external PSK, which takes the place of certificates."
        }
        ("Certificate" | "CertificateVerify", _) if is_sent => {
            "Skipped on resumption: the session keeps the identity that the client proved in the full handshake."
        }
        ("Certificate" | "CertificateStatus", _) => {
            "Skipped on resumption: only the server of the full handshake, whose certificate was checked there, knows the \
             secret of the session."
        }
        ("CertificateVerify", _) => "Skipped on resumption: without a certificate there is nothing to sign.",
        ("CertificateRequest", _) => {
            "Skipped on resumption: the session keeps what the client proved in the full handshake."
        }
        ("ServerKeyExchange" | "ClientKeyExchange", _) => {
            "Skipped on resumption: TLS 1.2 makes the new keys from the secret of the session and two fresh random values, \
             without another key exchange."
        }
        ("ServerHelloDone", _) => {
            "Skipped on resumption: the server need not wait for the client, and goes on to its Finished."
        }
        ("NewSessionTicket", _) => {
            "Skipped on resumption: the server gives no new ticket, and the client keeps the one it has."
        }
        ("HelloRetryRequest", _) => "Skipped: this time the client sent a key share for a group that the server takes.",
        _ => "Skipped: the second connection has no such message.",
    }
}
