//! The fixed names of faults, each with its meaning and what to do: the guide's table, and the words where nothing else is known.

use reprise_model::FaultName;

/// What it means.
pub(super) fn meaning(fault: FaultName) -> &'static str {
    about(fault).0
}

/// What to do; empty where there is nothing to advise.
pub(super) fn next_step(fault: FaultName) -> &'static str {
    about(fault).1
}

/// What it means, and what to do.
pub fn about(fault: FaultName) -> (&'static str, &'static str) {
    match fault {
        FaultName::Interrupted => ("interrupted", ""),
        FaultName::NameNotResolved => {
            ("the name has no address", "check the name, or set its address with --resolve ADDRESS")
        }
        FaultName::ConnectionRefused => ("the connection was refused", "check the port, and that the server is running"),
        FaultName::ConnectTimeout => {
            ("no answer to the SYN within the timeout", "a firewall may drop the packets; --timeout waits longer")
        }
        FaultName::Unreachable => (
            "there is no route to the address",
            "check the address and the route; --resolve ADDRESS selects another address",
        ),
        FaultName::ConnectFailed => ("connecting failed for another reason", "check the address and the network"),
        FaultName::PortsExhausted => (
            "no local port is left for this target",
            "wait until ports in TIME_WAIT are free, or widen net.ipv4.ip_local_port_range",
        ),
        FaultName::DescriptorLimit => {
            ("this process cannot open more descriptors", "raise the limit (ulimit -n), or use fewer connections")
        }
        FaultName::CutOff => ("the connection was still open at the end, or at Ctrl-C", ""),
        FaultName::Timeout => ("no data arrived within the timeout", "increase --timeout"),
        FaultName::ConnectionReset => ("the server reset the connection", "check the server's log"),
        FaultName::SocketError => ("the socket failed in another way", ""),
        FaultName::ProxyRefused => ("the proxy refuses to connect to the target", "check the proxy's log"),
        FaultName::ProxyAuthenticationRequired => {
            ("the proxy requires a user name and a password", "set them with --proxy http://USER:PASSWORD@HOST:PORT")
        }
        FaultName::ProxyAuthenticationFailed => {
            ("the proxy does not accept the user name and password", "check them in --proxy")
        }
        FaultName::ProxyUnexpected => {
            ("the proxy's answer violates its protocol", "check the proxy's port, and whether it is http:// or socks5://")
        }
        FaultName::ProxyTooLong => ("the proxy's answer is too long", "check the proxy's port"),
        FaultName::ProxyClosed => ("the proxy closed the connection", "check its log"),
        FaultName::ProxyInjected => {
            ("the proxy sent extra bytes before TLS", "an attacker on the path may have injected them")
        }
        FaultName::StarttlsRefused => ("the server refuses to start TLS", "check its log"),
        FaultName::StarttlsNotOffered => ("the server does not offer STARTTLS", "check the port and the server's setting"),
        FaultName::StarttlsUnexpected => {
            ("the server's answer violates the protocol", "check the port; --starttls names the protocol")
        }
        FaultName::StarttlsTooLong => ("the server's answer before TLS is too long", "check the port"),
        FaultName::StarttlsClosed => ("the server closed the connection before TLS", "check the server's log"),
        FaultName::StarttlsInjected => {
            ("the server sent extra bytes before TLS (CVE-2011-0411)", "an attacker on the path may have injected them")
        }
        FaultName::BadServerName => ("the name is not a valid server name", "set one with --sni NAME"),
        FaultName::NotTls => ("the peer does not speak TLS", "if the port needs STARTTLS, set its protocol with --starttls"),
        FaultName::Malformed => ("a message of the server cannot be parsed", ""),
        FaultName::BadSignature => ("the server's signature over the handshake is wrong", ""),
        FaultName::BadFinished => ("the server's Finished does not verify", ""),
        FaultName::OtherVersion => ("the server answers with a version that was not offered", "offer others with --tls"),
        FaultName::PeerMisbehaved => ("the server broke another rule of the protocol", ""),
        FaultName::Unspoken => (
            "the server chose something that Reprise does not support",
            "allow another cipher suite, group or version on the server",
        ),
        FaultName::BadRecordMac => ("a record from the server does not decrypt", ""),
        FaultName::ClosedEarly => {
            ("the server closed the connection in the middle of the handshake", "check the server's log")
        }
        FaultName::TooLarge => ("a message or record of the server is too large", ""),
        FaultName::TooMany => ("the server sent a message too many times", ""),
        FaultName::NothingToOffer => {
            ("the options leave nothing to negotiate", "allow more with --tls, --ciphers and --groups")
        }
        FaultName::NoCommonSignatureScheme => {
            ("the client's key supports no signature scheme that the server accepts", "use a client key of another kind")
        }
        FaultName::Crypto => ("the crypto library failed", ""),
        FaultName::NoKeyUpdate => ("the keys cannot be updated now", ""),
        FaultName::Closed => ("the connection was used after its end", ""),
        FaultName::HelloRetryRequest => {
            ("the server requests another group", "put the group that it wants first in --groups")
        }
        FaultName::Unconfirmed => (
            "the server never confirmed the handshake: no record under its application keys",
            "it may have rejected the handshake silently (client certificate?); increase --ticket-wait to see",
        ),
        FaultName::UnknownIssuer => (
            "no trusted root signed the server's certificate",
            "trust its root with --ca FILE, or skip verification with --insecure",
        ),
        FaultName::CertificateExpired => (
            "the server's certificate has expired",
            "renew it, check this machine's clock, or skip verification with --insecure",
        ),
        FaultName::CertificateNotValidYet => {
            ("the server's certificate is not valid yet", "check this machine's clock, or skip verification with --insecure")
        }
        FaultName::CertificateWrongName => (
            "the server's certificate is for another name",
            "set one of its names with --sni NAME, or skip verification with --insecure",
        ),
        FaultName::CertificateUnsupportedKey => {
            ("no current verifier accepts the certificate's key", "skip verification with --insecure")
        }
        FaultName::UnreadableCertificate => ("the server's certificate cannot be read", "skip verification with --insecure"),
        FaultName::NoCertificate => ("the server sent no certificate", ""),
        FaultName::BadCertificate => {
            ("the server's certificate is invalid for another reason", "skip verification with --insecure")
        }
        FaultName::UnfitRequest => ("the negotiated protocol cannot send the request", "offer another protocol with --alpn"),
        FaultName::NoResponse => {
            ("the server closed the connection without a response", "the service may not speak HTTP: try --no-request")
        }
        FaultName::EarlyDataUnanswered => (
            "the server accepted early data and never answered it",
            "let the service behind TLS read early data, or let TLS reject it; kinds without early data skip it",
        ),
        FaultName::ResponseTruncated => ("the server closed the connection in the middle of its response", ""),
        FaultName::NotHttp => ("the response is not HTTP", "the service may not speak HTTP: try --no-request"),
        FaultName::HeadTooLarge => {
            ("the head of the response is too large", "request another resource with --path, or none with --no-request")
        }
        FaultName::BadFraming => ("invalid framing of the body: a chunk, a length", ""),
        FaultName::UnexpectedData => ("the server sent more than the response", ""),
        FaultName::ProtocolSwitched => (
            "the server switched to another protocol without being asked",
            "the service may not speak HTTP: try --no-request",
        ),
        FaultName::Http2Error => ("HTTP/2 ended without a response", "try HTTP/1.1: --alpn http/1.1"),
        FaultName::Http2Blocked => ("the server's settings allow no request by HTTP/2", "try HTTP/1.1: --alpn http/1.1"),
        FaultName::AnswerTooLong => ("the service's answer under TLS is too long", "use --no-request"),
        FaultName::AnswerUnexpected => ("the service's answer under TLS is invalid", "use --no-request"),
        FaultName::NoAnswer => (
            "the server closed the connection under TLS without an answer",
            "--no-request sends nothing and only waits for tickets",
        ),
        FaultName::Alert(_) => (
            "the server ended the connection with this alert (IANA, TLS Alerts)",
            "see the message: it depends on the \
                alert",
        ),
    }
}

#[cfg(test)]
mod tests {
    use reprise_connection::fault_name;

    use super::*;

    #[test]
    fn the_guide_has_a_row_for_every_name() {
        let Some(guide) = crate::guide::page("23-errors.md") else { return };
        let row = |name: &str, fault| format!("| `{name}` | {} | {} |", meaning(fault), next_step(fault));
        let named = FaultName::NAMED.iter().map(|fault| row(&fault_name(*fault), *fault));
        let missing: Vec<String> = named
            .chain([row("alert_…", FaultName::Alert(0))])
            .filter(|row| !guide.lines().any(|line| line == row.as_str()))
            .collect();
        assert!(missing.is_empty(), "docs/guide/23-errors.md lacks:\n{}", missing.join("\n"));
    }
}
