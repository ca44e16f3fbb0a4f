//! CONNECT to a proxy that speaks HTTP/1.1 (RFC 9110 §9.3.6).

use std::net::SocketAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reprise_trace::Failure;

use super::credentials::Credentials;
use crate::dialogue::{Dialogue, Heard, Unexpected, quoted};
use reprise_attempt::Target;

const MAX_HEADERS: usize = 64;

pub(super) fn ask_for(
    dialogue: &mut Dialogue<'_>,
    credentials: Option<&Credentials>,
    target: &Target,
    address: Option<SocketAddr>,
) -> Result<(), Failure> {
    // CONNECT always names the port, the usual one too.
    let authority = address.map_or_else(|| target.to_string(), |address| address.to_string());
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    request += concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"), "\r\n");
    if let Some(Credentials { user, password }) = credentials {
        let pair = [user.as_slice(), b":", password.as_slice()].concat();
        request += &format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(pair));
    }
    request += "\r\n";
    dialogue.say(request.as_bytes())?;

    let head = loop {
        let head = dialogue.hear("response to CONNECT", head_length)?;
        // Interim responses may come first (RFC 9110 §15.2).
        if !status_of(&head).is_some_and(|status| (100..200).contains(&status)) {
            break head;
        }
    };
    match status_of(&head) {
        // Whatever length it claims, a successful response has no body: the tunnel begins (RFC 9112 §6.3).
        Some(200..=299) => Ok(()),
        Some(407) if credentials.is_some() => Err(dialogue.refusal(
            "authentication_failed",
            "does not accept the user name and password (407)",
            Some("it may want another scheme than Basic: its Proxy-Authenticate field says"),
        )),
        Some(407) => Err(dialogue.refusal(
            "authentication_required",
            "asks for a user name and a password (407)",
            Some("give them as --proxy http://USER:PASSWORD@HOST:PORT"),
        )),
        Some(status) => {
            let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
            let hint = match status {
                403 | 405 => "its rules allow no tunnel to this host or port",
                500..=599 => "it may not reach the target: check the target's name and port from there",
                _ => "check the proxy's address and its log",
            };
            Err(dialogue.refusal("refused", &format!("refuses to connect to {authority}: {}", quoted(line)), Some(hint)))
        }
        None => Err(dialogue.unexpected("response to CONNECT", &head)),
    }
}

fn head_length(heard: &[u8]) -> Heard {
    let could_be_http = heard.iter().zip(b"HTTP/1.").all(|(given, expected)| given == expected);
    if !could_be_http {
        return Err(Unexpected);
    }
    Ok(heard.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4))
}

fn status_of(head: &[u8]) -> Option<u16> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => response.code,
        _ => None,
    }
}
