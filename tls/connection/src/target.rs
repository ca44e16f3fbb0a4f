//! What is to be measured: `HOST[:PORT][/PATH]` or an https URL.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use thiserror::Error;

/// A host, a port and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// The port, 443 unless given.
    pub port: u16,
    /// Whether the port was given.
    pub port_is_given: bool,
    /// The path with its query, `/` unless given.
    pub path: String,
}

/// Why a target cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// There is no host in it.
    #[error("'{0}' has no host: a target is HOST[:PORT][/PATH] or an https URL")]
    NoHost(String),
    /// Another scheme than https.
    #[error("'{0}' is not an https URL: only TLS is measured; use https://, or omit the scheme")]
    Scheme(String),
    /// A port that is none.
    #[error("invalid port '{0}': use a number from 1 to 65535")]
    Port(String),
    /// Characters that no host has.
    #[error("invalid host name '{0}': {1}")]
    Host(String, &'static str),
    /// A user name in the URL.
    #[error("a target has no user name or password: use --header 'Authorization: …'")]
    UserInfo,
    /// Control characters or spaces in the path.
    #[error("the path contains a space or a control character: percent-encode it")]
    Path,
}

/// HTTPS.
const DEFAULT_PORT: u16 = 443;

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let rest = match text.split_once("://") {
            // A path or a query may hold a URL of its own.
            Some((before, _)) if before.contains(['/', '?', '#']) => text,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => rest,
            Some(_) => return Err(TargetError::Scheme(text.to_owned())),
            None => text,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(TargetError::UserInfo);
        }
        let (host, port) = split_authority(authority)?;
        let (port, port_is_given) = (port.unwrap_or(DEFAULT_PORT), port.is_some());
        let host = check_host(text, host)?;
        if path.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(TargetError::Path);
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host, port, port_is_given, path })
    }
}

impl Target {
    /// What listens at this address, and its `/`.
    pub fn at(address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), port: address.port(), port_is_given: true, path: "/".to_owned() }
    }

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The same target at this port, unless one was given.
    #[must_use]
    pub fn or_port(self, port: u16) -> Self {
        if self.port_is_given { self } else { Self { port, ..self } }
    }

    /// `HOST[:PORT]` as a Host header writes it (RFC 9110 §7.2).
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == DEFAULT_PORT { host } else { format!("{host}:{}", self.port) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{host}:{}", self.port)
    }
}

/// `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT`, or a bare V6 address.
fn split_authority(authority: &str) -> Result<(&str, Option<u16>), TargetError> {
    if authority.contains('%') {
        let why = "IPv6 zones and percent-encoding are not supported";
        return Err(TargetError::Host(authority.to_owned(), why));
    }
    let (host, port) = if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) =
            bracketed.split_once(']').ok_or_else(|| TargetError::Host(authority.to_owned(), "missing closing bracket"))?;
        if host.parse::<Ipv6Addr>().is_err() {
            return Err(TargetError::Host(authority.to_owned(), "brackets are for an IPv6 address"));
        }
        match rest.strip_prefix(':') {
            None if !rest.is_empty() => {
                return Err(TargetError::Host(authority.to_owned(), "missing colon between the bracket and the port"));
            }
            port => (host, port),
        }
    } else if authority.parse::<IpAddr>().is_ok() {
        (authority, None)
    } else {
        match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    let parse = |port: &str| {
        // Rust's own parser takes a plus sign.
        let digits = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok()).filter(|&number| number != 0);
        number.ok_or_else(|| TargetError::Port(port.to_owned()))
    };
    Ok((host, port.map(parse).transpose()?))
}

fn check_host(text: &str, host: &str) -> Result<String, TargetError> {
    if host.is_empty() {
        return Err(TargetError::NoHost(text.to_owned()));
    }
    if host.parse::<IpAddr>().is_ok() {
        return Ok(host.to_owned());
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let complain = |why| Err(TargetError::Host(host.to_owned(), why));
    match host {
        _ if !host.is_ascii() => complain("use the xn-- form of an internationalised name"),
        _ if host.len() > 253 => complain("it is longer than 253 characters"),
        _ if host.split('.').any(|label| label.is_empty() || label.len() > 63) => {
            complain("a label is empty or longer than 63 characters")
        }
        _ if !host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_')) => {
            complain("it contains an invalid character")
        }
        _ => Ok(host.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, u16, String) {
        let target: Target = text.parse().unwrap();
        (target.host, target.port, target.path)
    }

    #[test]
    fn a_target_is_read_in_every_form() {
        let example = |port, path: &str| ("example.org".to_owned(), port, path.to_owned());
        assert_eq!(parsed("example.org"), example(443, "/"));
        assert_eq!(parsed("Example.ORG.:8443"), example(8443, "/"));
        assert_eq!(parsed("example.org/a?b=c#d"), example(443, "/a?b=c"));
        assert_eq!(parsed("https://example.org?x"), example(443, "/?x"));
        assert_eq!(parsed("HTTPS://example.org:1/a:b"), example(1, "/a:b"));
        assert_eq!(parsed("example.org/to?https://other.org"), example(443, "/to?https://other.org"));
        assert_eq!(parsed("[::1]:8443/x"), ("::1".to_owned(), 8443, "/x".to_owned()));
        assert_eq!(parsed("::1"), ("::1".to_owned(), 443, "/".to_owned()));
        assert_eq!(parsed("127.0.0.1:1"), ("127.0.0.1".to_owned(), 1, "/".to_owned()));
    }

    #[test]
    fn what_is_no_target_says_why() {
        let refused = |text: &str| text.parse::<Target>().unwrap_err();
        assert_eq!(refused(""), TargetError::NoHost(String::new()));
        assert_eq!(refused("https:///x"), TargetError::NoHost("https:///x".to_owned()));
        assert!(matches!(refused("http://example.org"), TargetError::Scheme(_)));
        for port in ["0", "65536", "x", "", "+443"] {
            assert_eq!(refused(&format!("example.org:{port}")), TargetError::Port(port.to_owned()));
        }
        assert_eq!(refused("user@example.org"), TargetError::UserInfo);
        for host in ["exa mple.org", "example.org..", ".", "fe80::1%eth0", "[fe80::1%eth0]:443", "ex%61mple.org"] {
            assert!(matches!(refused(host), TargetError::Host(..)), "{host}");
        }
        for bracketed in ["[::1", "[e]", "[example.org]:443", "[127.0.0.1]", "[]", "[::1]443"] {
            assert!(matches!(refused(bracketed), TargetError::Host(..)), "{bracketed}");
        }
        assert_eq!(refused("example.org/a b"), TargetError::Path);
    }

    #[test]
    fn a_host_header_brackets_addresses_and_hides_the_usual_port() {
        assert_eq!("[::1]:8443".parse::<Target>().unwrap().authority(), "[::1]:8443");
        assert_eq!("example.org".parse::<Target>().unwrap().authority(), "example.org");
    }
}
