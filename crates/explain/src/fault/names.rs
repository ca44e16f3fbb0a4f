//! The fixed names of faults, each with its meaning and what to do: the guide's table, and the words where nothing else is known.

use reprise_trace::FaultName;
use reprise_wire::AlertDescription;

/// The name by which documents, counts and tests call a fault: `connection_refused`, `alert_handshake_failure`.
pub fn name(fault: FaultName) -> String {
    match fault {
        // IANA's name.
        FaultName::Alert(number) => format!("alert_{}", AlertDescription(number)),
        named => named.to_string(),
    }
}

/// What it means.
pub(super) fn meaning(fault: FaultName) -> &'static str {
    about(fault).0
}

/// What to do; empty where there is nothing to advise.
pub(super) fn next_step(fault: FaultName) -> &'static str {
    about(fault).1
}

fn about(fault: FaultName) -> (&'static str, &'static str) {
    match fault {
        FaultName::Interrupted => ("interrupted", ""),
        FaultName::NameNotResolved => {
            ("the name has no address", "check the name, or give its address with --resolve ADDRESS")
        }
        FaultName::ConnectionRefused => {
            ("the connection was refused", "nothing listens there: check the port, and that the server runs")
        }
        FaultName::ConnectTimeout => {
            ("no answer to the SYN within the timeout", "a firewall may drop the packets; --timeout gives it longer")
        }
        FaultName::Unreachable => (
            "there is no route to the address",
            "check the address and the route; --resolve ADDRESS picks another of its addresses",
        ),
        FaultName::ConnectFailed => {
            ("the connection could not be made for another reason", "check the address and the network")
        }
        FaultName::PortsExhausted => (
            "no local port is left for this target",
            "--close rst leaves none in TIME_WAIT; or widen net.ipv4.ip_local_port_range",
        ),
        FaultName::DescriptorLimit => {
            ("this process may open no more descriptors", "raise the limit (ulimit -n), or use fewer connections")
        }
        FaultName::CutOff => ("the connection was under way at the end, or at Ctrl-C", ""),
        FaultName::Timeout => ("what was awaited did not come within the timeout", "--timeout gives it longer"),
        FaultName::ConnectionReset => ("the server reset the connection", "the server's log may say why"),
        FaultName::SocketError => ("the socket failed in another way", ""),
        FaultName::ProxyRefused => ("the proxy refuses to connect to the target", "the proxy's log may say why"),
        FaultName::ProxyAuthenticationRequired => {
            ("the proxy wants a user name and a password", "give them with --proxy, as http://USER:PASSWORD@HOST:PORT")
        }
        FaultName::ProxyAuthenticationFailed => {
            ("the proxy does not accept the user name and password", "check those given with --proxy")
        }
        FaultName::ProxyUnexpected => (
            "the proxy's answer does not belong to its protocol",
            "check the proxy's port, and whether it is http:// or socks5://",
        ),
        FaultName::ProxyTooLong => ("the proxy's answer does not end", "check the proxy's port"),
        FaultName::ProxyClosed => ("the proxy closed the connection", "its log may say why"),
        FaultName::ProxyInjected => {
            ("more bytes came before TLS than the proxy may send", "someone on the path may have slipped it in")
        }
        FaultName::StarttlsRefused => ("the server refuses to begin TLS", "its log may say why"),
        FaultName::StarttlsNotOffered => ("the server does not offer STARTTLS", "check the port and the server's setting"),
        FaultName::StarttlsUnexpected => {
            ("the server's answer does not belong to the protocol", "check the port; --starttls names the protocol")
        }
        FaultName::StarttlsTooLong => ("the server's answer before TLS does not end", "check the port"),
        FaultName::StarttlsClosed => ("the server closed the connection before TLS", "the server's log may say why"),
        FaultName::StarttlsInjected => (
            "more bytes came before TLS than the server may send (CVE-2011-0411)",
            "someone on the path may have slipped it in",
        ),
        FaultName::BadServerName => ("the name cannot be one of a certificate", "give one with --sni NAME"),
        FaultName::NotTls => {
            ("the peer does not speak TLS", "if the port wants STARTTLS first, name its protocol with --starttls")
        }
        FaultName::Malformed => ("a message of the server cannot be parsed", ""),
        FaultName::BadSignature => ("the server's signature over the handshake is wrong", ""),
        FaultName::BadFinished => ("the server's Finished does not verify", ""),
        FaultName::OtherVersion => ("the server answers with a version that was not offered", "offer others with --tls"),
        FaultName::PeerMisbehaved => ("the server broke another rule of the protocol", ""),
        FaultName::Unspoken => (
            "the server chose what Reprise recognises and does not speak",
            "let the server allow another cipher suite, group or version",
        ),
        FaultName::BadRecordMac => ("a record from the server does not decrypt", ""),
        FaultName::ClosedEarly => {
            ("the server closed the connection in the middle of the handshake", "the server's log may say why")
        }
        FaultName::TooLarge => ("a message or record of the server is longer than is held", ""),
        FaultName::TooMany => ("the server sent a message too often", ""),
        FaultName::NothingToOffer => {
            ("the options leave nothing that could be negotiated", "allow more with --tls, --ciphers and --groups")
        }
        FaultName::NoCommonSignatureScheme => {
            ("the client's key cannot sign in any scheme that the server accepts", "use a client key of another kind")
        }
        FaultName::Crypto => ("the crypto library failed", ""),
        FaultName::NoKeyUpdate => ("the keys cannot be updated now", ""),
        FaultName::Closed => ("the connection was used after its end", ""),
        FaultName::HelloRetryRequest => {
            ("the server wants another group first", "put the group that it wants first in --groups")
        }
        FaultName::Unconfirmed => (
            "the server never showed that it had finished: no record under its application keys",
            "it may have refused the handshake in silence (client certificate?); a longer --ticket-wait shows",
        ),
        FaultName::UnknownIssuer => (
            "no trusted root signed the server's certificate",
            "give the root that signed it with --ca FILE, or skip verification with --insecure",
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
            "ask for one of its names with --sni NAME, or skip verification with --insecure",
        ),
        FaultName::CertificateUnsupportedKey => {
            ("the certificate's key is one that no current verifier takes", "--insecure measures all the same")
        }
        FaultName::UnreadableCertificate => ("the server's certificate cannot be read", "--insecure measures all the same"),
        FaultName::NoCertificate => ("the server sent no certificate", ""),
        FaultName::BadCertificate => {
            ("the server's certificate is invalid for another reason", "--insecure measures all the same")
        }
        FaultName::UnfitRequest => {
            ("the request cannot be sent by the protocol that was chosen", "offer another protocol with --alpn")
        }
        FaultName::NoResponse => {
            ("the server closed the connection without a response", "the service may not speak HTTP: try --no-request")
        }
        FaultName::EarlyDataUnanswered => (
            "the server accepted early data and never answered it",
            "let what stands behind TLS read early data, or let TLS reject it; --kinds full,ticket leaves it out",
        ),
        FaultName::ResponseTruncated => ("the server closed the connection in the middle of its response", ""),
        FaultName::NotHttp => ("what came is no HTTP response", "the service may not speak HTTP: try --no-request"),
        FaultName::HeadTooLarge => ("the head of the response is longer than is read", ""),
        FaultName::BadFraming => ("the body is not framed as HTTP wants it: a chunk, a length", ""),
        FaultName::UnexpectedData => ("more came than the response that was asked for", ""),
        FaultName::ProtocolSwitched => ("the server switched to another protocol, which nobody asked for", ""),
        FaultName::Http2Error => ("HTTP/2 ended without a response", "try HTTP/1.1: --alpn http/1.1"),
        FaultName::Http2Blocked => ("the server's settings allow no request by HTTP/2", "try HTTP/1.1: --alpn http/1.1"),
        FaultName::AnswerTooLong => ("the service's answer under TLS does not end", "--no-request asks nothing"),
        FaultName::AnswerUnexpected => ("the service's answer under TLS is none", "--no-request asks nothing"),
        FaultName::NoAnswer => (
            "the server closed the connection under TLS without an answer",
            "--no-request asks nothing, and only waits for tickets",
        ),
        FaultName::Alert(_) => {
            ("the server ended the connection with this alert (IANA, TLS Alerts)", "what to do depends on the alert")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../../docs/guide/14-errors.md");

    #[test]
    fn the_guide_has_a_row_for_every_name() {
        let row = |name: &str, fault| format!("| `{name}` | {} | {} |", meaning(fault), next_step(fault));
        let named = FaultName::NAMED.iter().map(|fault| row(&name(*fault), *fault));
        let missing: Vec<String> = named
            .chain([row("alert_…", FaultName::Alert(0))])
            .filter(|row| !GUIDE.lines().any(|line| line == row.as_str()))
            .collect();
        assert!(missing.is_empty(), "docs/guide/14-errors.md lacks:\n{}", missing.join("\n"));
    }

    #[test]
    fn an_alert_has_ianas_name_and_an_unknown_one_its_number() {
        assert_eq!(name(FaultName::Alert(40)), "alert_handshake_failure");
        assert_eq!(name(FaultName::Alert(99)), "alert_0x63");
        assert_eq!(name(FaultName::ConnectionRefused), "connection_refused");
    }
}
