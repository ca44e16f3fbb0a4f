//! Faults in words: what, where, and what to do next.

mod names;

use std::time::Duration;

use reprise_connection::{Detail, Fault, IoError, RequestPart, fault_name};
use reprise_engine::{CertificateError, Error, Misbehaviour};
use reprise_model::{Failure, FailureClass, FaultName, Version};
use reprise_wire::{AlertDescription, HandshakeType, NamedGroup, ProtocolVersion};

pub use names::about;

use crate::clear_text;

/// What is known of a connection that failed beside its fault: its words depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultContext<'a> {
    /// The version that was asked for; `None` where several were.
    pub version: Option<Version>,
    /// The groups that the user named; none where all that are spoken were offered.
    pub groups: &'a [NamedGroup],
    /// How long the connection was given.
    pub timeout: Duration,
    /// Whether a client certificate was there to be sent.
    pub has_identity: bool,
    /// Whether this connection offered an external PSK.
    pub offers_external_psk: bool,
    /// Whether this was a full handshake, and an external PSK is to be measured too.
    pub psk_beside_full: bool,
    /// Whether TCP connected to a proxy.
    pub is_through_proxy: bool,
    /// Whether the connection began with a PROXY header.
    pub sent_proxy_header: bool,
    /// Whether the server had answered the ClientHello: once it has chosen a version, there are facts.
    pub is_answered: bool,
    /// What the server chose when it was offered every group, where the user had not named it.
    pub wanted_group: Option<NamedGroup>,
    /// The client's port, where there was a connection.
    pub local_port: Option<u16>,
}

/// What went wrong, and what to do next; `None` where there is nothing to advise.
type Words = (String, Option<String>);

/// The fault as documents and people are told of it.
pub fn failure(fault: &Fault, context: &FaultContext<'_>) -> Failure {
    let (message, hint) = words(fault, context);
    let hint = of_circumstances(fault, context, hint);
    Failure { class: fault.class, name: fault_name(fault.name), message, hint, local_port: context.local_port }
}

/// Why something was left out, in a sentence's second half: the message, and what to do where `--groups` may be the reason.
pub fn reason(fault: &Fault, context: &FaultContext<'_>) -> String {
    let failure = failure(fault, context);
    match failure.hint {
        Some(hint) if lacks_the_certificates_curve(fault, context) => format!("{}; {hint}", failure.message),
        _ => failure.message,
    }
}

fn words(fault: &Fault, context: &FaultContext<'_>) -> Words {
    match fault.detail.as_deref() {
        Some(Detail::Tls { error, answers_hello }) => (tls_message(error), tls_hint(error, *answers_hello, context)),
        Some(Detail::Awaited(what)) => timed_out(fault, what, context),
        Some(Detail::Transport { awaited, error }) => {
            (format!("the connection broke while waiting for {awaited}: {}", plain(error)), None)
        }
        Some(Detail::Connect(attempts)) => {
            let to = if context.is_through_proxy { "the proxy " } else { "" };
            let each = attempts.iter().map(|(address, error)| format!("cannot connect to {to}{address}: {}", plain(error)));
            (each.collect::<Vec<_>>().join("; "), next_step(fault.name))
        }
        Some(Detail::Resolve { host, reason }) => {
            let why = match reason.as_deref() {
                // The resolver says it once more.
                Some(text) => text.strip_prefix("failed to lookup address information: ").unwrap_or(text).to_owned(),
                None => format!("no answer within {} s", context.timeout.as_secs_f64()),
            };
            (format!("cannot resolve {host}: {why}"), next_step(fault.name))
        }
        Some(Detail::ClearText(problem)) => {
            let (message, advice) = clear_text::words(problem);
            (message, advice.or_else(|| next_step(fault.name)))
        }
        Some(Detail::Unusable(name)) if fault.name == FaultName::BadServerName => {
            (format!("'{name}' is not a valid server name"), next_step(fault.name))
        }
        Some(Detail::Unfit(part)) => (unfit(part), next_step(fault.name)),
        Some(Detail::Said(bytes)) => (said(fault.name, bytes), next_step(fault.name)),
        Some(Detail::Unusable(_)) | None => match fault.name {
            FaultName::Unconfirmed => (closed_unconfirmed(), next_step(fault.name)),
            FaultName::Alert(alert) => {
                let error = Error::AlertReceived(AlertDescription(alert));
                (tls_message(&error), tls_hint(&error, false, context))
            }
            other => (names::meaning(other).to_owned(), next_step(other)),
        },
    }
}

/// What a request has that HTTP/2 cannot carry.
fn unfit(part: &RequestPart) -> String {
    let what = match part {
        RequestPart::Method => "the method".to_owned(),
        RequestPart::HostOrPath => "the host or the path".to_owned(),
        RequestPart::Field(name) => format!("the header field '{name}'"),
    };
    format!("{what} cannot be sent by HTTP/2")
}

/// What the server said in place of a response.
fn said(name: FaultName, bytes: &[u8]) -> String {
    let said = String::from_utf8_lossy(bytes);
    match name {
        FaultName::NotHttp => format!("the response is not HTTP/1.1: it starts with \"{}\"", said.escape_debug()),
        FaultName::BadFraming => {
            format!("the response's Content-Length is invalid or repeated: \"{}\"", said.escape_debug())
        }
        FaultName::Http2Error => format!("no response over HTTP/2: {said}"),
        other => names::meaning(other).to_owned(),
    }
}

fn next_step(name: FaultName) -> Option<String> {
    Some(names::next_step(name)).filter(|step| !step.is_empty()).map(str::to_owned)
}

fn timed_out(fault: &Fault, what: &str, context: &FaultContext<'_>) -> Words {
    if fault.name == FaultName::Unconfirmed {
        return (
            format!("the server sent nothing more before it confirmed the handshake: no {what}"),
            next_step(fault.name),
        );
    }
    let message = format!("no {what} within {} s", context.timeout.as_secs_f64());
    if fault.name == FaultName::EarlyDataUnanswered {
        return (format!("{message} to early data that the server had accepted"), next_step(fault.name));
    }
    if let Some((peer, hint)) = clear_text::silence(fault.class) {
        return (format!("{message} from {peer}"), Some(hint.to_owned()));
    }
    match fault.class {
        FailureClass::Request => {
            (message, Some("the service may not speak HTTP: try --no-request; --timeout waits longer".to_owned()))
        }
        FailureClass::Tls if !context.is_answered => (
            message,
            Some("the port may not speak TLS, or may need STARTTLS: --starttls; --timeout waits longer".to_owned()),
        ),
        _ => (message, next_step(fault.name)),
    }
}

/// Where it is known of one connection that it was closed; the name is of those that fell silent too.
fn closed_unconfirmed() -> String {
    "the server closed the connection before it confirmed the handshake: no record under its application keys".to_owned()
}

fn tls_message(error: &Error) -> String {
    match error {
        Error::AlertReceived(AlertDescription::CLOSE_NOTIFY) => {
            "the server closed the connection with a close_notify in the middle of the handshake".to_owned()
        }
        // Against the letter of the protocol, and common: a server that knows no newer version answers with its own.
        Error::PeerMisbehaved(Misbehaviour::UnofferedVersion(version)) if *version <= ProtocolVersion::TLS_1_3 => {
            format!("the server answers with {version}, whatever is offered")
        }
        error => error.to_string(),
    }
}

fn tls_hint(error: &Error, answers_hello: bool, context: &FaultContext<'_>) -> Option<String> {
    let hint = match error {
        Error::NotTls(bytes) if [&b"HTTP/"[..], b"<!DOCTYPE", b"<html"].iter().any(|start| bytes.starts_with(start)) => {
            "this port speaks plain HTTP; its TLS port is often 443 or 8443"
        }
        Error::NotTls(_) => "this port uses another protocol; if it needs STARTTLS, set the protocol with --starttls",
        Error::PeerMisbehaved(Misbehaviour::UnexpectedMessage {
            received: HandshakeType::CERTIFICATE_REQUEST,
            expected: "application data",
        }) => {
            "it requests a certificate after the handshake, which was not offered (RFC 9846, section 4.7.2): let it \
                request one during the handshake"
        }
        Error::Certificate(CertificateError::UnknownIssuer) => {
            "trust the CA that signed it with --ca FILE, where FILE is the CA's certificate in PEM, or skip verification with --insecure"
        }
        Error::Certificate(CertificateError::SelfSigned) => {
            "trust it with --ca FILE, where FILE is this certificate in PEM, or skip verification with --insecure"
        }
        Error::Certificate(CertificateError::OfCa) => {
            "let the CA sign a certificate for the server; or trust this one with --ca FILE, where FILE is this certificate \
             in PEM, or skip verification with --insecure"
        }
        Error::Certificate(CertificateError::Expired | CertificateError::NotValidYet) => {
            "renew it, check this machine's clock, or skip verification with --insecure"
        }
        Error::Certificate(CertificateError::WrongName { .. }) => {
            "set one of its names with --sni NAME, or skip verification with --insecure"
        }
        Error::Certificate(CertificateError::Empty) => return None,
        Error::Certificate(_) => "replace it, or skip verification with --insecure",
        Error::ClosedEarly(_) | Error::AlertReceived(AlertDescription::CLOSE_NOTIFY) => "check the server's log",
        Error::AlertReceived(alert) => alert_hint(*alert, answers_hello, context.has_identity)?,
        Error::NoCommonSignatureScheme => "use a client key of another kind",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// `answers_hello`: no server has asked for a client's certificate by then.
fn alert_hint(alert: AlertDescription, answers_hello: bool, has_identity: bool) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::PROTOCOL_VERSION => "it supports no offered version: without --tls these are TLS 1.2 and 1.3",
        AlertDescription::HANDSHAKE_FAILURE if answers_hello => {
            "no version, cipher suite, group or kind of certificate in common (--tls, --ciphers, --groups), or a name that it \
             does not know (--sni); its log may say which"
        }
        AlertDescription::HANDSHAKE_FAILURE if has_identity => {
            "no common cipher suite or group, or it does not accept the client's certificate"
        }
        AlertDescription::HANDSHAKE_FAILURE | AlertDescription::CERTIFICATE_REQUIRED | AlertDescription::BAD_CERTIFICATE
            if !has_identity =>
        {
            "if it requests a client certificate, set one with --cert FILE --key FILE"
        }
        AlertDescription::UNKNOWN_CA
        | AlertDescription::BAD_CERTIFICATE
        | AlertDescription::UNSUPPORTED_CERTIFICATE
        | AlertDescription::CERTIFICATE_REVOKED
        | AlertDescription::CERTIFICATE_EXPIRED
        | AlertDescription::CERTIFICATE_UNKNOWN
        | AlertDescription::ACCESS_DENIED
        | AlertDescription::DECRYPT_ERROR
            if has_identity =>
        {
            "it does not accept the client's certificate: check that its CA is the one the server trusts"
        }
        AlertDescription::UNRECOGNIZED_NAME => "it does not know this name: set another with --sni NAME",
        AlertDescription::NO_APPLICATION_PROTOCOL => "it requires another protocol: offer it with --alpn NAME",
        _ => return None,
    })
}

/// The hint that the circumstances call for, or the fault's own.
fn of_circumstances(fault: &Fault, context: &FaultContext<'_>, own: Option<String>) -> Option<String> {
    let FaultName::Alert(alert) = fault.name else {
        return if is_misled_by_proxy_header(fault, context) { Some(NO_PROXY_HEADER.to_owned()) } else { own };
    };
    let alert = AlertDescription(alert);
    let wants_a_psk = matches!(alert, AlertDescription::HANDSHAKE_FAILURE | AlertDescription::MISSING_EXTENSION);
    if context.psk_beside_full && wants_a_psk {
        return Some("if the server knows PSKs and no certificate, use `reprise measure --kinds psk`".to_owned());
    }
    if let Some(group) = context.wanted_group {
        return Some(format!("it requests the group {group}, which was not offered: --groups {group}"));
    }
    let of_psk = psk_hint(alert).filter(|_| context.offers_external_psk).map(str::to_owned);
    let hint = of_psk.or(own);
    if !lacks_the_certificates_curve(fault, context) {
        return hint;
    }
    let groups =
        "under TLS 1.2 --groups must name the curve of an ECDSA certificate too, as secp256r1 (RFC 8422, section 5.1)";
    Some(hint.map_or_else(|| groups.to_owned(), |hint| format!("{groups}; {hint}")))
}

const NO_PROXY_HEADER: &str = "the server may not expect a PROXY header and take it for TLS: try without --proxy-protocol";

/// Whether a PROXY header was sent and nothing answered that is TLS.
fn is_misled_by_proxy_header(fault: &Fault, context: &FaultContext<'_>) -> bool {
    let answers = [FaultName::NotTls, FaultName::ClosedEarly, FaultName::ConnectionReset, FaultName::Timeout];
    context.sent_proxy_header && !context.is_answered && answers.contains(&fault.name)
}

/// What an alert means where an external PSK was offered.
fn psk_hint(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        // OpenSSL says illegal_parameter, where the RFC wants decrypt_error.
        AlertDescription::DECRYPT_ERROR | AlertDescription::ILLEGAL_PARAMETER => {
            "the PSK's binder does not verify (RFC 9846, section 4.3.11.2): the server has another key for this identity; \
             compare --psk-key and --psk-hash"
        }
        // OpenSSL again, which takes a binder of another length for none.
        AlertDescription::DECODE_ERROR => "the server may know this PSK for another hash: compare --psk-hash",
        AlertDescription::UNKNOWN_PSK_IDENTITY => "the server does not know this identity: compare --psk-identity",
        AlertDescription::HANDSHAKE_FAILURE | AlertDescription::MISSING_EXTENSION => {
            "the server does not accept this PSK and has no certificate to fall back on: check --psk-identity and \
                --psk-hash, or try --psk-mode both"
        }
        _ => return None,
    })
}

/// Whether `--groups` may be why TLS 1.2 was refused: there they are the certificate's curves too (RFC 8422 §5.1), which users
/// of TLS 1.3 forget.
fn lacks_the_certificates_curve(fault: &Fault, context: &FaultContext<'_>) -> bool {
    let has_no_curve = !context.groups.is_empty() && !context.groups.contains(&NamedGroup::SECP256R1);
    let is_refused = fault.name == FaultName::Alert(AlertDescription::HANDSHAKE_FAILURE.0);
    context.version == Some(Version::Tls12) && has_no_curve && is_refused
}

/// An error of the system without its number.
pub(crate) fn plain(error: &IoError) -> String {
    match error.text.split_once(" (os error") {
        Some((text, _)) => text.to_ascii_lowercase(),
        None => error.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::SocketAddr;

    use super::*;

    fn alert(alert: AlertDescription) -> Fault {
        Fault::of_engine(Error::AlertReceived(alert), true)
    }

    fn hint(fault: &Fault, context: &FaultContext<'_>) -> String {
        failure(fault, context).hint.unwrap_or_default()
    }

    /// No server that can be had here asks a client that did not offer it.
    #[test]
    fn post_handshake_authentication_is_refused_by_its_name() {
        let asked =
            Misbehaviour::UnexpectedMessage { received: HandshakeType::CERTIFICATE_REQUEST, expected: "application data" };
        let fault = Fault::of_engine(Error::PeerMisbehaved(asked), false);
        let context = FaultContext { has_identity: true, ..FaultContext::default() };
        assert!(hint(&fault, &context).contains("after the handshake"));
    }

    #[test]
    fn what_the_server_said_is_quoted_and_escaped() {
        let said = |name, bytes: &[u8]| {
            let told = failure(&Fault::new(name).with(Detail::Said(bytes.to_vec())), &FaultContext::default());
            (told.message, told.hint.unwrap_or_default())
        };
        let (message, hint) = said(FaultName::NotHttp, b"220 \"mail\"\r\n");
        assert_eq!(message, r#"the response is not HTTP/1.1: it starts with "220 \"mail\"\r\n""#);
        assert!(hint.ends_with("try --no-request"));
        let (message, hint) = said(FaultName::BadFraming, b"-1");
        assert_eq!(message, "the response's Content-Length is invalid or repeated: \"-1\"");
        assert_eq!(hint, "");
        assert_eq!(said(FaultName::Http2Error, b"reset").0, "no response over HTTP/2: reset");
    }

    #[test]
    fn a_wrong_psk_is_told_by_either_alert() {
        let context = FaultContext { offers_external_psk: true, ..FaultContext::default() };
        for description in [AlertDescription::DECRYPT_ERROR, AlertDescription::ILLEGAL_PARAMETER] {
            assert!(hint(&alert(description), &context).contains("--psk-key"), "{description:?}");
        }
    }

    #[test]
    fn an_alert_has_one_name_and_hints_that_know_the_circumstances() {
        let refused = alert(AlertDescription::HANDSHAKE_FAILURE);
        let told = failure(&refused, &FaultContext { local_port: Some(7), ..FaultContext::default() });
        assert_eq!((told.name.as_str(), told.local_port), ("alert_handshake_failure", Some(7)));
        assert_eq!(told.message, "the server refused with the alert handshake_failure");
        assert!(told.hint.unwrap().starts_with("no version, cipher suite, group"));

        let later = Fault::of_engine(Error::AlertReceived(AlertDescription::HANDSHAKE_FAILURE), false);
        assert!(hint(&later, &FaultContext::default()).contains("--cert FILE"));
        let mutual = FaultContext { has_identity: true, ..FaultContext::default() };
        assert!(hint(&later, &mutual).contains("does not accept the client's certificate"));
        let beside = FaultContext { psk_beside_full: true, ..FaultContext::default() };
        assert!(hint(&refused, &beside).ends_with("--kinds psk`"));
        let wanted = FaultContext { wanted_group: Some(NamedGroup::SECP521R1), ..FaultContext::default() };
        assert!(hint(&refused, &wanted).ends_with("--groups secp521r1"));
    }

    #[test]
    fn groups_without_the_certificates_curve_are_named() {
        let groups = [NamedGroup::X25519];
        let context = FaultContext { version: Some(Version::Tls12), groups: &groups, ..FaultContext::default() };
        let refused = alert(AlertDescription::HANDSHAKE_FAILURE);
        assert!(hint(&refused, &context).starts_with("under TLS 1.2 --groups must name"));
        assert!(reason(&refused, &context).contains("; under TLS 1.2 --groups"));
        let newer = FaultContext { version: Some(Version::Tls13), ..context };
        assert_eq!(reason(&refused, &newer), "the server refused with the alert handshake_failure");
    }

    #[test]
    fn a_silent_server_after_a_proxy_header_may_not_expect_it() {
        let fault = Fault::new(FaultName::Timeout).with(Detail::Awaited("ServerHello"));
        let context = FaultContext { timeout: Duration::from_secs(1), ..FaultContext::default() };
        assert_eq!(failure(&fault, &context).message, "no ServerHello within 1 s");
        assert!(hint(&fault, &context).contains("--starttls"));
        let header = FaultContext { sent_proxy_header: true, ..context };
        assert_eq!(hint(&fault, &header), NO_PROXY_HEADER);
        assert_eq!(hint(&fault, &FaultContext { is_answered: true, ..header }), "increase --timeout");
    }

    #[test]
    fn a_silent_server_is_not_said_to_have_closed() {
        let message = |fault| failure(&fault, &FaultContext::default()).message;
        let ends = "before it confirmed the handshake: no record under its application keys";
        assert_eq!(message(Fault::unconfirmed()), format!("the server sent nothing more {ends}"));
        assert_eq!(message(Fault::new(FaultName::Unconfirmed)), format!("the server closed the connection {ends}"));
    }

    #[test]
    fn a_close_notify_refuses_nothing() {
        let told = failure(&alert(AlertDescription::CLOSE_NOTIFY), &FaultContext::default());
        assert_eq!(told.message, "the server closed the connection with a close_notify in the middle of the handshake");
        assert_eq!((told.name.as_str(), told.hint.as_deref()), ("alert_close_notify", Some("check the server's log")));
    }

    #[test]
    fn unanswered_early_data_does_not_blame_http() {
        let context = FaultContext { timeout: Duration::from_secs(4), ..FaultContext::default() };
        let silent = Fault::new(FaultName::EarlyDataUnanswered).with(Detail::Awaited("response"));
        let told = failure(&silent, &context);
        assert_eq!(told.message, "no response within 4 s to early data that the server had accepted");
        assert!(!told.hint.unwrap().contains("HTTP"));
        let closed = failure(&Fault::new(FaultName::EarlyDataUnanswered), &context);
        assert_eq!(closed.message, "the server accepted early data and never answered it");
    }

    #[test]
    fn each_address_that_was_tried_says_why() {
        let refused = io::Error::from_raw_os_error(111);
        let tried = |address: &str| (address.parse::<SocketAddr>().unwrap(), IoError::from(&refused));
        let detail = Detail::Connect(vec![tried("127.0.0.1:1"), tried("[::1]:1")]);
        let fault = Fault::new(FaultName::ConnectionRefused).with(detail);
        let told = failure(&fault, &FaultContext::default());
        assert_eq!(
            told.message,
            "cannot connect to 127.0.0.1:1: connection refused; cannot connect to [::1]:1: connection refused"
        );
        assert_eq!(told.hint.unwrap(), "check the port, and that the server is running");
        let through = FaultContext { is_through_proxy: true, ..FaultContext::default() };
        assert!(failure(&fault, &through).message.starts_with("cannot connect to the proxy 127.0.0.1:1: "));
    }

    #[test]
    fn a_fault_without_detail_has_words_too() {
        let told = failure(&Fault::new(FaultName::Unconfirmed), &FaultContext::default());
        assert!(told.message.ends_with("no record under its application keys") && told.hint.is_some());
        let told = failure(&Fault::new(FaultName::Alert(112)), &FaultContext::default());
        assert_eq!(told.message, "the server refused with the alert unrecognized_name");
        assert!(told.hint.unwrap().contains("--sni NAME"));
    }
}
