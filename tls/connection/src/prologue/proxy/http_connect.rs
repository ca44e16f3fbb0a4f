//! CONNECT to a proxy that speaks HTTP/1.1 (RFC 9110 §9.3.6).

use std::net::SocketAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::credentials::Credentials;
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected, agree};
use crate::prologue::{Message, Problem};
use crate::target::Target;

const MAX_HEADERS: usize = 64;

pub(super) struct HttpConnect {
    credentials: Option<Credentials>,
    authority: String,
}

impl HttpConnect {
    /// CONNECT always names the port, the usual one too.
    pub(super) fn new(credentials: Option<Credentials>, target: &Target, address: Option<SocketAddr>) -> Self {
        let authority = address.map_or_else(|| target.to_string(), |address| address.to_string());
        Self { credentials, authority }
    }
}

impl Dialogue for HttpConnect {
    fn opening(&self) -> (Vec<u8>, Message) {
        let Self { credentials, authority } = self;
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        request += concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"), "\r\n");
        if let Some(Credentials { user, password }) = credentials {
            let pair = [user.as_slice(), b":", password.as_slice()].concat();
            request += &format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(pair));
        }
        request += "\r\n";
        (request.into_bytes(), Message::ConnectResponse)
    }

    fn length(&self, _due: Message, heard: &[u8]) -> Length {
        if !agree(heard, b"HTTP/1.") {
            return Err(Unexpected);
        }
        Ok(heard.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4))
    }

    fn answer(&self, due: Message, head: &[u8]) -> Turn {
        match status_of(head) {
            // Interim responses may come first (RFC 9110 §15.2).
            Some(100..=199) => Turn::Await(due),
            // Whatever length it claims, a successful response has no body: the tunnel begins (RFC 9112 §6.3).
            Some(200..=299) => Turn::Done,
            Some(407) if self.credentials.is_some() => Turn::Fail(Problem::AuthenticationFailed),
            Some(407) => Turn::Fail(Problem::AuthenticationRequired),
            Some(code) => {
                let said = head.split(|&byte| byte == b'\r').next().unwrap_or_default().to_vec();
                Turn::Fail(Problem::NoTunnel { to: self.authority.clone(), code, said })
            }
            None => Turn::Fail(Problem::Unexpected(head.to_vec())),
        }
    }
}

fn status_of(head: &[u8]) -> Option<u16> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => response.code,
        _ => None,
    }
}
