//! An HTTP request: what it asks, and its text.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::target::Target;

/// An HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD`, …
    pub method: String,
    /// Request this path instead of the target's.
    pub path: Option<String>,
    /// Further header fields, name and value. They replace the usual ones of their name.
    pub headers: Vec<(String, String)>,
}

/// What happens to a connection after its first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionReuse {
    /// It is closed: `Connection: close`.
    Close,
    /// It carries the same request once more, which shows what the next message costs without any handshake.
    KeepAlive,
}

/// What a client is called, as User-Agent.
pub(super) const USER_AGENT: &str = concat!("reprise/", env!("CARGO_PKG_VERSION"));

impl Request {
    /// Whether it may be sent as early data, which anyone who records it can send again: a client does so with safe
    /// methods alone (RFC 8470 §4; RFC 9110 §9.2.1).
    pub fn may_be_replayed(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE")
    }

    /// Whether the response has no body, whatever its head says.
    pub fn is_head(&self) -> bool {
        self.method.eq_ignore_ascii_case("HEAD")
    }

    /// The path that is requested of this target.
    pub fn path<'r>(&'r self, target: &'r Target) -> &'r str {
        self.path.as_deref().unwrap_or(&target.path)
    }

    /// Whether this header field was given.
    pub fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    /// Its bytes in HTTP/1.1. `reuse`: what the Connection field says; `None` for no such field, which leaves the connection
    /// open until the client closes it (RFC 9112 §9.3): so load asks, whose connections end as its options say, never by the
    /// server's close.
    pub fn text(&self, target: &Target, reuse: Option<ConnectionReuse>) -> Arc<[u8]> {
        let authority = target.authority();
        let usual = [
            ("Host", Some(authority.as_str())),
            ("User-Agent", Some(USER_AGENT)),
            ("Accept", Some("*/*")),
            ("Content-Length", matches!(self.method.as_str(), "POST" | "PUT" | "PATCH").then_some("0")),
            (
                "Connection",
                reuse.map(|reuse| match reuse {
                    ConnectionReuse::Close => "close",
                    ConnectionReuse::KeepAlive => "keep-alive",
                }),
            ),
        ];
        let usual = usual.into_iter().filter(|(name, _)| !self.has(name)).filter_map(|(name, value)| Some((name, value?)));
        let given = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path(target));
        for (name, value) in usual.chain(given) {
            // To write to a string does not fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text += "\r\n";
        Arc::from(text.into_bytes())
    }
}

impl Default for Request {
    fn default() -> Self {
        Self { method: "GET".to_owned(), path: None, headers: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &Request, reuse: Option<ConnectionReuse>) -> String {
        String::from_utf8(request.text(&"example.org:8443/x".parse().unwrap(), reuse).to_vec()).unwrap()
    }

    #[test]
    fn given_headers_replace_the_usual_ones() {
        let request = Request { headers: vec![("host".into(), "other".into())], ..Request::default() };
        let text = text(&request, Some(ConnectionReuse::Close));
        assert!(text.starts_with("GET /x HTTP/1.1\r\n") && text.contains("host: other\r\n"));
        assert!(!text.contains("Host:"));
        assert!(text.contains("Connection: close\r\n") && text.ends_with("\r\n\r\n"));
    }

    #[test]
    fn without_reuse_nothing_is_said_of_the_connection() {
        let said = |reuse| text(&Request::default(), reuse);
        assert!(said(Some(ConnectionReuse::KeepAlive)).contains("Connection: keep-alive\r\n"));
        assert_eq!(
            said(None),
            format!("GET /x HTTP/1.1\r\nHost: example.org:8443\r\nUser-Agent: {USER_AGENT}\r\nAccept: */*\r\n\r\n")
        );
    }

    #[test]
    fn a_method_with_a_body_says_that_it_is_empty() {
        let request = Request { method: "POST".into(), path: Some("/y".into()), ..Request::default() };
        assert!(text(&request, None).starts_with("POST /y HTTP/1.1\r\n"));
        assert!(text(&request, None).contains("Content-Length: 0\r\n"));
        assert!(!request.may_be_replayed() && Request::default().may_be_replayed());
    }
}
