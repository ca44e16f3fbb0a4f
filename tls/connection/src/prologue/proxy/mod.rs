//! The proxy that connections go through: `http://`, `socks5://` or `socks5h://`, as curl names them.

mod credentials;
mod http_connect;
mod socks5;

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use thiserror::Error;

use super::Peer;
use super::dialogue::Dialogue;
use crate::target::{Target, TargetError};
use credentials::Credentials;
use http_connect::HttpConnect;
use socks5::Socks5;

/// A proxy. Its `Debug` and `Display` leave out its credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    scheme: Scheme,
    /// A name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// The port, 1080 unless given.
    pub port: u16,
    credentials: Option<Credentials>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Socks5,
    Socks5h,
}

/// Why a proxy cannot be understood. No message repeats the credentials.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProxyError {
    /// No scheme, or another.
    #[error(
        "a proxy is http://HOST:PORT, socks5://HOST:PORT (names are resolved here) or socks5h://HOST:PORT (by the proxy)"
    )]
    Scheme,
    /// Its host or port is none.
    #[error("invalid proxy address: {0}")]
    Address(TargetError),
    /// A path, a query.
    #[error("a proxy has no path: use http://HOST:PORT")]
    Path,
    /// Its user name and password cannot be told to a proxy.
    #[error("the proxy's user name is empty or contains a colon, or the user name or the password is longer than 255 bytes")]
    Credentials,
}

/// As curl has it for every kind of proxy.
const DEFAULT_PORT: u16 = 1080;

impl Proxy {
    /// Whether the proxy is given names, rather than addresses that were found out here.
    pub fn resolves_names(&self) -> bool {
        matches!(self.scheme, Scheme::Http | Scheme::Socks5h)
    }

    /// Who asks it for a connection to the target: by its address, where that is known.
    pub(super) fn dialogue(&self, target: &Target, address: Option<SocketAddr>) -> (Peer, Box<dyn Dialogue>) {
        let (credentials, target) = (self.credentials.clone(), target.clone());
        match self.scheme {
            Scheme::Http => (Peer::HttpProxy, Box::new(HttpConnect::new(credentials, &target, address))),
            Scheme::Socks5 | Scheme::Socks5h => (Peer::Socks5Proxy, Box::new(Socks5 { credentials, target, address })),
        }
    }
}

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let (scheme, rest) = text.split_once("://").ok_or(ProxyError::Scheme)?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "socks5" => Scheme::Socks5,
            "socks5h" => Scheme::Socks5h,
            _ => return Err(ProxyError::Scheme),
        };
        // The last @ ends the credentials, so that one within a password is no part of the host that errors repeat.
        let (credentials, authority) = match rest.rsplit_once('@') {
            Some((credentials, authority)) => {
                (Some(Credentials::parse(credentials).ok_or(ProxyError::Credentials)?), authority)
            }
            None => (None, rest),
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        if authority.contains(['/', '?', '#']) {
            return Err(ProxyError::Path);
        }
        let target = authority.parse::<Target>().map_err(ProxyError::Address)?.or_port(DEFAULT_PORT);
        Ok(Self { scheme, host: target.host, port: target.port, credentials })
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Socks5 => "socks5",
            Scheme::Socks5h => "socks5h",
        };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{scheme}://{host}:{}", self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_and_shown_without_its_credentials() {
        let proxy: Proxy = "HTTP://us%65r:p%40ss:w@rd@[::1]:3128/".parse().unwrap();
        assert_eq!(format!("{proxy} {proxy:?}"), "http://[::1]:3128 Proxy(http://[::1]:3128)");
        let Credentials { user, password } = proxy.credentials.unwrap();
        assert_eq!((user.as_slice(), password.as_slice()), (&b"user"[..], &b"p@ss:w@rd"[..]));
        let proxy: Proxy = "socks5h://proxy.example".parse().unwrap();
        assert_eq!((proxy.to_string().as_str(), proxy.resolves_names()), ("socks5h://proxy.example:1080", true));
        assert!(!"socks5://10.0.0.1:1".parse::<Proxy>().unwrap().resolves_names());
    }

    #[test]
    fn what_is_no_proxy_says_why_and_keeps_the_password_to_itself() {
        for (text, expected) in [
            ("proxy:3128", ProxyError::Scheme),
            ("https://proxy:3128", ProxyError::Scheme),
            ("http://proxy/path", ProxyError::Path),
            ("http://:secret@proxy", ProxyError::Credentials),
            ("http://a%3ab:secret@proxy", ProxyError::Credentials),
        ] {
            assert_eq!(text.parse::<Proxy>().unwrap_err(), expected, "{text}");
        }
        for text in ["http://user:secret@proxy:0", "http://user:sec/ret@", "http://user:secret@pro xy:1"] {
            let error = text.parse::<Proxy>().unwrap_err();
            assert!(matches!(error, ProxyError::Address(_)) && !error.to_string().contains("sec"), "{text}: {error}");
        }
    }
}
