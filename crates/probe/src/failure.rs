//! Failures in words: what, where, and what to do next.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use reprise_engine::{CertificateError, Error, Misbehaviour};
use reprise_trace::{Failure, FailureClass, Version};
use reprise_wire::{AlertDescription, HandshakeType, NamedGroup, ProtocolVersion};

pub(crate) fn interrupted() -> Failure {
    Failure {
        class: FailureClass::Interrupted,
        name: "interrupted".to_owned(),
        message: "interrupted".to_owned(),
        hint: None,
        local_port: None,
    }
}

pub(crate) fn connect(address: SocketAddr, error: &io::Error) -> Failure {
    let (name, hint) = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            ("connection_refused", "nothing listens there: check the port, and that the server runs")
        }
        io::ErrorKind::TimedOut => ("connect_timeout", "a firewall may drop the packets; --timeout gives it longer"),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            ("unreachable", "check the address and the route; --resolve ADDRESS picks another of its addresses")
        }
        _ => ("connect_failed", "check the address and the network"),
    };
    Failure {
        class: FailureClass::Connect,
        name: name.to_owned(),
        message: format!("cannot connect to {address}: {}", plain(error)),
        hint: Some(hint.to_owned()),
        local_port: None,
    }
}

/// The failures of all the addresses of a name, in the order in which they were tried.
pub(crate) fn of_each_address(failures: Vec<Failure>) -> Failure {
    let messages: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
    let message = messages.join("; ");
    // The first address is the one that the system prefers.
    let first = failures.into_iter().next().unwrap_or_else(interrupted);
    Failure { message, ..first }
}

/// A timeout while `waiting_for` something.
pub(crate) fn timed_out(class: FailureClass, waiting_for: &str, timeout: Duration) -> Failure {
    Failure {
        class,
        name: "timeout".to_owned(),
        message: format!("no {waiting_for} within {} s", timeout.as_secs_f64()),
        hint: Some(match waiting_for {
            "ServerHello" => {
                "the port may not speak TLS, or want STARTTLS first: --starttls; --timeout gives it longer".to_owned()
            }
            "response" => "the service may not speak HTTP: try --no-request; --timeout gives it longer".to_owned(),
            _ => "--timeout gives it longer".to_owned(),
        }),
        local_port: None,
    }
}

/// An error of the socket in the middle of a connection.
pub(crate) fn socket(class: FailureClass, waiting_for: &str, error: &io::Error) -> Failure {
    let name = match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => "connection_reset",
        _ => "socket_error",
    };
    Failure {
        class,
        name: name.to_owned(),
        message: format!("the connection broke while waiting for {waiting_for}: {}", plain(error)),
        hint: None,
        local_port: None,
    }
}

/// An error of the engine.
pub(crate) fn tls(error: &Error, has_identity: bool) -> Failure {
    let class = match error {
        Error::Certificate(_) => FailureClass::Certificate,
        _ => FailureClass::Tls,
    };
    Failure {
        class,
        name: tls_name(error),
        message: tls_message(error),
        hint: tls_hint(error, has_identity),
        local_port: None,
    }
}

/// The same where it answers a ClientHello: no server has asked for a client's certificate by then.
pub(crate) fn of_hello(failure: Failure) -> Failure {
    match failure.name.as_str() {
        "alert_handshake_failure" => {
            let hint = "no version, cipher suite, group or kind of certificate in common (--tls, --ciphers, --groups), or a name \
                        that it does not know (--sni); its log may say which";
            Failure { hint: Some(hint.to_owned()), ..failure }
        }
        _ => failure,
    }
}

/// The same where an external PSK was offered, to which some alerts are an answer.
pub(crate) fn of_psk(failure: Failure) -> Failure {
    let hint = match failure.name.as_str() {
        // OpenSSL says illegal_parameter, where the RFC wants decrypt_error.
        "alert_decrypt_error" | "alert_illegal_parameter" => {
            "the PSK's binder does not verify (RFC 8446, section 4.2.11.2): the server has another key for this identity; \
             compare --psk-key and --psk-hash"
        }
        // OpenSSL again, which takes a binder of another length for none.
        "alert_decode_error" => "the server may know this PSK for another hash: compare --psk-hash",
        "alert_unknown_psk_identity" => "the server does not know this identity: compare --psk-identity",
        "alert_handshake_failure" | "alert_missing_extension" => {
            "the server does not take this PSK and has no certificate to go on with: compare --psk-identity and --psk-hash, or \
             try --psk-mode both"
        }
        _ => return failure,
    };
    Failure { hint: Some(hint.to_owned()), ..failure }
}

/// The same where the connection began with a PROXY header, which nothing answered that is TLS.
pub(crate) fn after_proxy_header(failure: Failure) -> Failure {
    match failure.name.as_str() {
        "not_tls" | "closed_early" | "connection_reset" | "timeout" => {
            let hint = "the server may expect no PROXY header, and take it for the first bytes of TLS: try without --proxy-protocol";
            Failure { hint: Some(hint.to_owned()), ..failure }
        }
        _ => failure,
    }
}

/// The same with [`hint_of_groups`], where there is one.
pub(crate) fn of_version(version: Version, groups: &[NamedGroup], failure: Failure) -> Failure {
    let hint = hint_of_groups(version, groups, &failure);
    Failure { hint: hint.or(failure.hint), ..failure }
}

/// What to do where `--groups` may be why TLS 1.2 was refused: there they are the certificate's curves too (RFC 8422 §5.1),
/// which users of TLS 1.3 forget.
pub(crate) fn hint_of_groups(version: Version, groups: &[NamedGroup], failure: &Failure) -> Option<String> {
    let has_no_curve = !groups.is_empty() && !groups.contains(&NamedGroup::SECP256R1);
    if version != Version::Tls12 || !has_no_curve || failure.name != "alert_handshake_failure" {
        return None;
    }
    let groups =
        "under TLS 1.2 --groups must name the curve of an ECDSA certificate too, as secp256r1 (RFC 8422, section 5.1)";
    Some(match &failure.hint {
        Some(hint) => format!("{groups}; {hint}"),
        None => groups.to_owned(),
    })
}

/// Whether the server spoke TLS and said no.
pub(crate) fn is_refusal(failure: &Failure) -> bool {
    failure.name.starts_with("alert_")
}

/// A full handshake where a PSK is there too: a server may know PSKs alone.
pub(crate) fn of_full_beside_psk(failure: Failure) -> Failure {
    match failure.name.as_str() {
        "alert_handshake_failure" | "alert_missing_extension" => {
            let hint = "if the server knows PSKs and no certificate, measure --kinds psk alone";
            Failure { hint: Some(hint.to_owned()), ..failure }
        }
        _ => failure,
    }
}

/// What went wrong with a response.
pub(crate) fn response(name: &str, message: String, hint: Option<&str>) -> Failure {
    Failure { class: FailureClass::Request, name: name.to_owned(), message, hint: hint.map(str::to_owned), local_port: None }
}

/// Under TLS 1.3 a handshake has completed only once the server has shown its application keys.
pub(crate) fn unconfirmed() -> Failure {
    Failure {
        class: FailureClass::Tls,
        name: "unconfirmed".to_owned(),
        message: "the server closed before it showed that it had finished: no record under its application keys".to_owned(),
        hint: Some(
            "it may have refused the handshake in silence (client certificate?); a longer --ticket-wait shows".to_owned(),
        ),
        local_port: None,
    }
}

fn tls_message(error: &Error) -> String {
    match error {
        // Against the letter of the protocol, and common: a server that knows no newer version answers with its own.
        Error::PeerMisbehaved(Misbehaviour::UnofferedVersion(version)) if *version <= ProtocolVersion::TLS_1_3 => {
            format!("the server answers with {version}, whatever is offered")
        }
        error => error.to_string(),
    }
}

fn tls_name(error: &Error) -> String {
    match error {
        Error::NotTls(_) => "not_tls".to_owned(),
        Error::Malformed { .. } => "malformed".to_owned(),
        Error::PeerMisbehaved(Misbehaviour::BadSignature) => "bad_signature".to_owned(),
        Error::PeerMisbehaved(Misbehaviour::UnofferedVersion(_)) => "other_version".to_owned(),
        Error::PeerMisbehaved(_) => "peer_misbehaved".to_owned(),
        Error::Unspoken(_) => "unspoken".to_owned(),
        Error::AlertReceived(description) => format!("alert_{description}"),
        Error::Certificate(certificate) => certificate.name().to_owned(),
        Error::BadRecordMac => "bad_record_mac".to_owned(),
        Error::ClosedEarly(_) => "closed_early".to_owned(),
        Error::TooLarge { .. } => "too_large".to_owned(),
        Error::TooMany { .. } => "too_many".to_owned(),
        Error::NothingToOffer(_) => "nothing_to_offer".to_owned(),
        Error::NoCommonSignatureScheme => "no_common_signature_scheme".to_owned(),
        Error::Crypto(_) => "crypto".to_owned(),
        Error::NoKeyUpdate(_) => "no_key_update".to_owned(),
        Error::Closed => "closed".to_owned(),
    }
}

fn tls_hint(error: &Error, has_identity: bool) -> Option<String> {
    let hint = match error {
        Error::NotTls(bytes) if [&b"HTTP/"[..], b"<!DOCTYPE", b"<html"].iter().any(|start| bytes.starts_with(start)) => {
            "this port speaks plain HTTP; its TLS port is often 443 or 8443"
        }
        Error::NotTls(_) => "this port speaks something else; if it wants STARTTLS first, name its protocol with --starttls",
        Error::PeerMisbehaved(Misbehaviour::UnexpectedMessage {
            received: HandshakeType::CERTIFICATE_REQUEST,
            expected: "application data",
        }) => {
            "it asks for a certificate after the handshake, which was not offered (RFC 8446, section 4.6.2): let it ask during \
             the handshake"
        }
        Error::Certificate(CertificateError::UnknownIssuer) => {
            "give the root that signed it with --ca FILE, or look away with --insecure"
        }
        Error::Certificate(CertificateError::Expired | CertificateError::NotValidYet) => {
            "renew it, check this machine's clock, or look away with --insecure"
        }
        Error::Certificate(CertificateError::WrongName { .. }) => {
            "ask for one of its names with --sni NAME, or look away with --insecure"
        }
        Error::Certificate(_) => "--insecure measures all the same",
        Error::AlertReceived(AlertDescription::PROTOCOL_VERSION) => {
            "it speaks no version that was offered: without --tls these are TLS 1.2 and 1.3"
        }
        Error::AlertReceived(AlertDescription::HANDSHAKE_FAILURE) if has_identity => {
            "no common cipher suite or group, or it does not accept the client's certificate"
        }
        Error::AlertReceived(
            AlertDescription::HANDSHAKE_FAILURE | AlertDescription::CERTIFICATE_REQUIRED | AlertDescription::BAD_CERTIFICATE,
        ) if !has_identity => "if it asks for a client certificate, give one with --cert FILE --key FILE",
        Error::AlertReceived(
            AlertDescription::UNKNOWN_CA
            | AlertDescription::BAD_CERTIFICATE
            | AlertDescription::UNSUPPORTED_CERTIFICATE
            | AlertDescription::CERTIFICATE_REVOKED
            | AlertDescription::CERTIFICATE_EXPIRED
            | AlertDescription::CERTIFICATE_UNKNOWN
            | AlertDescription::ACCESS_DENIED
            | AlertDescription::DECRYPT_ERROR,
        ) if has_identity => "it does not accept the client's certificate: check that its CA is the one the server trusts",
        Error::AlertReceived(AlertDescription::UNRECOGNIZED_NAME) => {
            "it does not know this name: --sni NAME asks for another"
        }
        Error::AlertReceived(AlertDescription::NO_APPLICATION_PROTOCOL) => {
            "it wants another protocol: --alpn NAME offers it"
        }
        Error::ClosedEarly(_) => "the server's log may say why",
        Error::NoCommonSignatureScheme => "use a client key of another kind",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// An error of the system without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_ascii_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No server that can be had here asks a client that did not offer it.
    #[test]
    fn post_handshake_authentication_is_refused_by_its_name() {
        let asked =
            Misbehaviour::UnexpectedMessage { received: HandshakeType::CERTIFICATE_REQUEST, expected: "application data" };
        let failure = tls(&Error::PeerMisbehaved(asked), true);
        assert!(failure.hint.is_some_and(|hint| hint.contains("after the handshake")));
    }

    #[test]
    fn a_wrong_psk_is_told_by_either_alert() {
        for alert in [AlertDescription::DECRYPT_ERROR, AlertDescription::ILLEGAL_PARAMETER] {
            let failure = of_psk(tls(&Error::AlertReceived(alert), false));
            assert!(failure.hint.is_some_and(|hint| hint.contains("--psk-key")), "{alert:?}");
        }
    }
}
