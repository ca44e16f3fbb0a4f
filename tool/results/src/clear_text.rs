//! What went wrong with a proxy or with a service that begins in the clear, in words.

use reprise_connection::{ClearTextFault, Message, Peer, Problem, StartTls};
use reprise_model::FailureClass;

/// Characters of an answer that an error quotes.
const MAX_QUOTED: usize = 120;

/// The message, and what to do about it where more is known than of its name.
pub(crate) fn words(fault: &ClearTextFault) -> (String, Option<String>) {
    let message = if fault.message == Message::Answer { under_tls(&fault.problem) } else { in_the_clear(fault) };
    (message, advice(fault))
}

/// Who did not answer in time, where that was before TLS, and what to do about it.
pub(crate) fn silence(class: FailureClass) -> Option<(&'static str, &'static str)> {
    match class {
        FailureClass::Proxy => {
            Some(("the proxy", "the proxy may not reach the target, or may speak another protocol; --timeout waits longer"))
        }
        FailureClass::Starttls => {
            Some(("the server", "if the port starts with TLS (465, 993, 636, …), remove --starttls; --timeout waits longer"))
        }
        _ => None,
    }
}

/// What a peer said, fit to be printed: its control characters escaped, its length bounded.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\r', '\n']);
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    // An apostrophe ends nothing here, and XML is full of them.
    let escaped = cut.escape_debug().to_string().replace("\\'", "'");
    format!("\"{escaped}{more}\"")
}

fn under_tls(problem: &Problem) -> String {
    match problem {
        Problem::TooLong(limit) => format!("the server's answer under TLS exceeds {limit} bytes"),
        Problem::Unexpected(bytes) => format!("the server's answer under TLS is invalid: {}", quoted(bytes)),
        _ => "the server closed the connection under TLS without an answer".to_owned(),
    }
}

fn in_the_clear(fault: &ClearTextFault) -> String {
    let peer = name(fault.peer);
    let message = fault.message.name();
    match &fault.problem {
        Problem::Unexpected(bytes) => format!("invalid {message} from {peer}: {}", quoted(bytes)),
        Problem::Injected(bytes) => format!("{peer} sent extra bytes before TLS: {}", quoted(bytes)),
        Problem::TooLong(limit) => format!("{peer} sent {limit} bytes without a {message}"),
        Problem::Closed => format!("{peer} closed the connection without a {message}"),
        Problem::AuthenticationRequired => format!("{peer} asks for a user name and a password{}", status(fault.peer)),
        Problem::AuthenticationFailed if fault.message == Message::MethodSelection => {
            format!("{peer} accepts neither a user name and password nor an anonymous client")
        }
        Problem::AuthenticationFailed => {
            format!("{peer} does not accept the user name and password{}", status(fault.peer))
        }
        Problem::NotOffered if fault.message == Message::Greeting => {
            format!("{peer} does not offer TLS: CLIENT_SSL is not among its capabilities")
        }
        Problem::NotOffered => format!("{peer} does not offer STARTTLS"),
        Problem::NoTunnel { to, code, said } => {
            let why = if fault.peer == Peer::HttpProxy { quoted(said) } else { socks_reason(*code) };
            format!("{peer} refuses to connect to {to}: {why}")
        }
        Problem::Refused { code, said } => format!("{peer} {}", refusal(fault.message, *code, said)),
        Problem::StreamError { condition, text } => {
            let text = text.as_ref().map(|text| format!(", {}", quoted(text.as_bytes())));
            format!("{peer} ends the stream: {}{}", quoted(condition.as_bytes()), text.unwrap_or_default())
        }
    }
}

fn refusal(message: Message, code: Option<u16>, said: &[u8]) -> String {
    match message {
        Message::Greeting => format!("does not greet but says {}", quoted(said)),
        Message::EhloReply => format!("answers EHLO with {}", quoted(said)),
        Message::AuthTlsReply => format!("refuses AUTH TLS: {}", quoted(said)),
        Message::StlsResponse => format!("refuses STLS: {}", quoted(said)),
        Message::ExtendedResponse => {
            let code = code.unwrap_or_default();
            format!("refuses StartTLS: result code {code}{}", ldap_meaning(code))
        }
        Message::SslRequestAnswer if said == b"N" => "refuses TLS: it answers SSLRequest with N".to_owned(),
        Message::SslRequestAnswer => "answers SSLRequest with an error".to_owned(),
        _ => format!("refuses STARTTLS: {}", quoted(said)),
    }
}

/// What can be done about it, where the peer or what it said shows more than the fault's name.
fn advice(fault: &ClearTextFault) -> Option<String> {
    let words = match (&fault.problem, fault.peer) {
        (Problem::Unexpected(_), Peer::Service(protocol)) if fault.message != Message::Answer => {
            let check = format!("check the port, and that it speaks {protocol} in the clear: --starttls names the protocol");
            return Some(check);
        }
        (Problem::Unexpected(_) | Problem::Closed, Peer::Resolver) => {
            "check that the port speaks DNS over TLS (853), which --alpn dot asks for"
        }
        (Problem::AuthenticationRequired, Peer::Socks5Proxy) => "set them with --proxy socks5://USER:PASSWORD@HOST:PORT",
        (Problem::AuthenticationFailed, Peer::HttpProxy) => {
            "it may require another scheme than Basic: see its Proxy-Authenticate field"
        }
        (Problem::NoTunnel { .. }, Peer::Socks5Proxy) => {
            "check the target's name and port from the proxy, and the proxy's rules"
        }
        (Problem::NoTunnel { code: 403 | 405, .. }, _) => "its rules allow no tunnel to this host or port",
        (Problem::NoTunnel { code: 500..=599, .. }, _) => {
            "it may not reach the target: check the target's name and port from there"
        }
        (Problem::NotOffered, Peer::Service(StartTls::Smtp)) => {
            "it may offer it on another port (587), to other clients, or not at all"
        }
        (Problem::NotOffered, Peer::Service(StartTls::MySql)) => "my.cnf: ssl_cert and ssl_key; and no skip_ssl",
        (Problem::Refused { said, .. }, Peer::Service(StartTls::Postgres)) if said.starts_with(b"N") => {
            "postgresql.conf: ssl = on, with ssl_cert_file and ssl_key_file"
        }
        // RFC 6120 §4.9.3.5 to §4.9.3.7.
        (Problem::StreamError { condition, .. }, _)
            if ["host-unknown", "host-gone", "improper-addressing"].contains(&condition.as_str()) =>
        {
            "it serves host names: the target must be one of them; set its address with --resolve ADDRESS"
        }
        _ => return None,
    };
    Some(words.to_owned())
}

fn name(peer: Peer) -> &'static str {
    if peer.is_proxy() { "the proxy" } else { "the server" }
}

/// HTTP has a status for a password that is wanted.
fn status(peer: Peer) -> &'static str {
    if peer == Peer::HttpProxy { " (407)" } else { "" }
}

/// RFC 1928 §6.
fn socks_reason(code: u16) -> String {
    let reason = match code {
        1 => "general SOCKS server failure",
        2 => "connection not allowed by ruleset",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => return format!("code {code}, which RFC 1928 does not assign"),
    };
    format!("{reason} (code {code})")
}

/// RFC 4511 §4.1.9.
fn ldap_meaning(code: u16) -> &'static str {
    match code {
        1 => " (operationsError)",
        2 => " (protocolError): it does not know the operation",
        10 => " (referral)",
        52 => " (unavailable): it is set up without TLS",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_says(peer: Peer, message: Message, problem: Problem, expected: &str, hint: Option<&str>) {
        let (said, advice) = words(&ClearTextFault { peer, message, problem });
        assert_eq!((said.as_str(), advice.as_deref()), (expected, hint));
    }

    fn refused(code: Option<u16>, said: &[u8]) -> Problem {
        Problem::Refused { code, said: said.to_vec() }
    }

    #[test]
    fn what_a_peer_says_is_printed_as_it_reads_and_cannot_act() {
        let cases = [
            ("<a xmlns='b'/>\r\n", "\"<a xmlns='b'/>\""),
            ("say \"no\"", "\"say \\\"no\\\"\""),
            ("\u{1b}[31m", "\"\\u{1b}[31m\""),
            ("back\\'", "\"back\\\\'\""),
        ];
        for (said, shown) in cases {
            assert_eq!(quoted(said.as_bytes()), shown);
        }
        assert_eq!(quoted("é".repeat(200).as_bytes()), format!("\"{}…\"", "é".repeat(MAX_QUOTED)));
    }

    #[test]
    fn a_proxy_that_wants_a_password() {
        let (http, socks) = (Peer::HttpProxy, Peer::Socks5Proxy);
        let required = "the proxy asks for a user name and a password (407)";
        assert_says(http, Message::ConnectResponse, Problem::AuthenticationRequired, required, None);
        let required = "the proxy asks for a user name and a password";
        let give = "set them with --proxy socks5://USER:PASSWORD@HOST:PORT";
        assert_says(socks, Message::MethodSelection, Problem::AuthenticationRequired, required, Some(give));
        let failed = "the proxy does not accept the user name and password (407)";
        let scheme = "it may require another scheme than Basic: see its Proxy-Authenticate field";
        assert_says(http, Message::ConnectResponse, Problem::AuthenticationFailed, failed, Some(scheme));
        let failed = "the proxy accepts neither a user name and password nor an anonymous client";
        assert_says(socks, Message::MethodSelection, Problem::AuthenticationFailed, failed, None);
        let failed = "the proxy does not accept the user name and password";
        assert_says(socks, Message::PasswordStatus, Problem::AuthenticationFailed, failed, None);
    }

    #[test]
    fn a_proxy_that_makes_no_tunnel() {
        for (code, hint) in [
            (403, Some("its rules allow no tunnel to this host or port")),
            (502, Some("it may not reach the target: check the target's name and port from there")),
            (404, None),
        ] {
            let problem = Problem::NoTunnel { to: "a.example:443".to_owned(), code, said: b"HTTP/1.1 no".to_vec() };
            let expected = "the proxy refuses to connect to a.example:443: \"HTTP/1.1 no\"";
            assert_says(Peer::HttpProxy, Message::ConnectResponse, problem, expected, hint);
        }
        for (code, reason) in [(4, "host unreachable (code 4)"), (9, "code 9, which RFC 1928 does not assign")] {
            let problem = Problem::NoTunnel { to: "a.example:443".to_owned(), code, said: Vec::new() };
            let expected = format!("the proxy refuses to connect to a.example:443: {reason}");
            let hint = "check the target's name and port from the proxy, and the proxy's rules";
            assert_says(Peer::Socks5Proxy, Message::SocksReply, problem, &expected, Some(hint));
        }
    }

    #[test]
    fn a_peer_that_keeps_to_no_protocol() {
        let service = Peer::Service(StartTls::Imap);
        let unexpected = || Problem::Unexpected(b"x".to_vec());
        let check = "check the port, and that it speaks imap in the clear: --starttls names the protocol";
        assert_says(service, Message::Greeting, unexpected(), "invalid greeting from the server: \"x\"", Some(check));
        assert_says(
            Peer::HttpProxy,
            Message::ConnectResponse,
            unexpected(),
            "invalid response to CONNECT from the proxy: \"x\"",
            None,
        );
        let more = "the server sent extra bytes before TLS: \"x\"";
        assert_says(service, Message::StartTlsResponse, Problem::Injected(b"x".to_vec()), more, None);
        let long = "the server sent 16384 bytes without a greeting";
        assert_says(service, Message::Greeting, Problem::TooLong(16384), long, None);
        let closed = "the server closed the connection without a response to STARTTLS";
        assert_says(service, Message::StartTlsResponse, Problem::Closed, closed, None);
        let closed = "the proxy closed the connection without a reply";
        assert_says(Peer::Socks5Proxy, Message::SocksReply, Problem::Closed, closed, None);
    }

    #[test]
    fn a_service_that_refuses() {
        let cases = [
            (
                StartTls::Smtp,
                Message::Greeting,
                refused(Some(554), b"554 no\r\n"),
                "does not greet but says \"554 no\"",
                None,
            ),
            (StartTls::Smtp, Message::EhloReply, refused(Some(500), b"500 no\r\n"), "answers EHLO with \"500 no\"", None),
            (
                StartTls::Smtp,
                Message::StartTlsReply,
                refused(Some(502), b"502 no\r\n"),
                "refuses STARTTLS: \"502 no\"",
                None,
            ),
            (
                StartTls::Smtp,
                Message::EhloReply,
                Problem::NotOffered,
                "does not offer STARTTLS",
                Some("it may offer it on another port (587), to other clients, or not at all"),
            ),
            (StartTls::Ftp, Message::AuthTlsReply, refused(Some(500), b"500 no\r\n"), "refuses AUTH TLS: \"500 no\"", None),
            (StartTls::Imap, Message::StartTlsResponse, refused(None, b"a NO\r\n"), "refuses STARTTLS: \"a NO\"", None),
            (StartTls::Pop3, Message::StlsResponse, refused(None, b"-ERR no\r\n"), "refuses STLS: \"-ERR no\"", None),
            (
                StartTls::Ldap,
                Message::ExtendedResponse,
                refused(Some(52), b""),
                "refuses StartTLS: result code 52 (unavailable): it is set up without TLS",
                None,
            ),
            (
                StartTls::Postgres,
                Message::SslRequestAnswer,
                refused(None, b"N"),
                "refuses TLS: it answers SSLRequest with N",
                Some("postgresql.conf: ssl = on, with ssl_cert_file and ssl_key_file"),
            ),
            (StartTls::Postgres, Message::SslRequestAnswer, refused(None, b"E"), "answers SSLRequest with an error", None),
            (
                StartTls::MySql,
                Message::Greeting,
                Problem::NotOffered,
                "does not offer TLS: CLIENT_SSL is not among its capabilities",
                Some("my.cnf: ssl_cert and ssl_key; and no skip_ssl"),
            ),
            (StartTls::Xmpp, Message::StreamFeatures, Problem::NotOffered, "does not offer STARTTLS", None),
            (
                StartTls::Xmpp,
                Message::StartTlsVerdict,
                refused(None, b"<failure/>"),
                "refuses STARTTLS: \"<failure/>\"",
                None,
            ),
        ];
        for (protocol, message, problem, expected, hint) in cases {
            assert_says(Peer::Service(protocol), message, problem, &format!("the server {expected}"), hint);
        }
    }

    #[test]
    fn a_stream_error_is_told_by_its_condition_and_text() {
        let served = "it serves host names: the target must be one of them; set its address with --resolve ADDRESS";
        for (condition, text, expected, hint) in [
            ("host-unknown", Some("No x here"), "\"host-unknown\", \"No x here\"", Some(served)),
            ("undefined-condition", None, "\"undefined-condition\"", None),
        ] {
            let problem = Problem::StreamError { condition: condition.to_owned(), text: text.map(str::to_owned) };
            let expected = format!("the server ends the stream: {expected}");
            assert_says(Peer::Service(StartTls::Xmpp), Message::StreamFeatures, problem, &expected, hint);
        }
    }

    #[test]
    fn a_question_under_tls_without_an_answer() {
        let service = Peer::Service(StartTls::Smtp);
        let closed = "the server closed the connection under TLS without an answer";
        assert_says(service, Message::Answer, Problem::Closed, closed, None);
        let none = "the server's answer under TLS is invalid: \"\\u{7}\"";
        assert_says(service, Message::Answer, Problem::Unexpected(vec![7]), none, None);
        let long = "the server's answer under TLS exceeds 65536 bytes";
        assert_says(service, Message::Answer, Problem::TooLong(65536), long, None);
    }

    #[test]
    fn silence_before_tls_says_whose_it_is() {
        assert_eq!(silence(FailureClass::Proxy).map(|(peer, _)| peer), Some("the proxy"));
        assert_eq!(silence(FailureClass::Starttls).map(|(peer, _)| peer), Some("the server"));
        assert_eq!(silence(FailureClass::Tls), None);
    }
}
