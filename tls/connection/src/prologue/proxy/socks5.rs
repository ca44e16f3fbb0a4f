//! CONNECT to a SOCKS5 proxy (RFC 1928), with a user name and password (RFC 1929) where they were given.

use std::net::{IpAddr, SocketAddr};

use super::credentials::Credentials;
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected};
use crate::prologue::{Message, Problem};
use crate::target::Target;

const VERSION: u8 = 5;
/// The version of the negotiation of a password (RFC 1929 §2), not of SOCKS.
const NEGOTIATION: u8 = 1;
const NO_AUTHENTICATION: u8 = 0;
const USERNAME_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const DOMAIN_NAME: u8 = 3;
const IPV6: u8 = 4;

pub(super) struct Socks5 {
    pub(super) credentials: Option<Credentials>,
    pub(super) target: Target,
    pub(super) address: Option<SocketAddr>,
}

impl Dialogue for Socks5 {
    fn opening(&self) -> (Vec<u8>, Message) {
        let methods: &[u8] = match self.credentials {
            Some(_) => &[2, NO_AUTHENTICATION, USERNAME_PASSWORD],
            None => &[1, NO_AUTHENTICATION],
        };
        ([&[VERSION], methods].concat(), Message::MethodSelection)
    }

    fn length(&self, due: Message, heard: &[u8]) -> Length {
        match (due, heard.first()) {
            (_, None) => Ok(None),
            // Some proxies answer with the version of SOCKS.
            (Message::PasswordStatus, Some(&(NEGOTIATION | VERSION))) | (Message::MethodSelection, Some(&VERSION)) => {
                Ok((heard.len() >= 2).then_some(2))
            }
            (Message::SocksReply, Some(&VERSION)) => reply_length(heard),
            _ => Err(Unexpected),
        }
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        let code = message.get(1).copied().unwrap_or_default();
        match (due, code, &self.credentials) {
            (Message::MethodSelection, NO_AUTHENTICATION, _) | (Message::PasswordStatus, 0, _) => {
                Turn::Say(self.request(), Message::SocksReply)
            }
            (Message::MethodSelection, USERNAME_PASSWORD, Some(credentials)) => {
                Turn::Say(negotiation(credentials), Message::PasswordStatus)
            }
            (Message::MethodSelection, NO_ACCEPTABLE_METHOD, None) => Turn::Fail(Problem::AuthenticationRequired),
            (Message::MethodSelection, NO_ACCEPTABLE_METHOD, Some(_)) | (Message::PasswordStatus, ..) => {
                Turn::Fail(Problem::AuthenticationFailed)
            }
            (Message::SocksReply, 0, _) => Turn::Done,
            (Message::SocksReply, ..) => {
                Turn::Fail(Problem::NoTunnel { to: self.target.to_string(), code: code.into(), said: Vec::new() })
            }
            _ => Turn::Fail(Problem::Unexpected(message.to_vec())),
        }
    }
}

impl Socks5 {
    /// VER CMD RSV ATYP DST.ADDR DST.PORT (RFC 1928 §4).
    fn request(&self) -> Vec<u8> {
        let mut request = vec![VERSION, CONNECT, 0];
        match self.address.map(|address| address.ip()) {
            Some(IpAddr::V4(address)) => {
                request.push(IPV4);
                request.extend(address.octets());
            }
            Some(IpAddr::V6(address)) => {
                request.push(IPV6);
                request.extend(address.octets());
            }
            // A host name has 253 characters at most.
            None => {
                request.extend([DOMAIN_NAME, self.target.host.len() as u8]);
                request.extend(self.target.host.as_bytes());
            }
        }
        request.extend(self.target.port.to_be_bytes());
        request
    }
}

/// VER ULEN UNAME PLEN PASSWD (RFC 1929 §2); both are 255 bytes at most.
fn negotiation(Credentials { user, password }: &Credentials) -> Vec<u8> {
    [&[NEGOTIATION, user.len() as u8], user.as_slice(), &[password.len() as u8], password].concat()
}

/// VER REP RSV ATYP BND.ADDR BND.PORT (RFC 1928 §6).
fn reply_length(heard: &[u8]) -> Length {
    let [_, code, _, kind, length, ..] = *heard else {
        return Ok(None);
    };
    let address = match kind {
        IPV4 => 4,
        IPV6 => 16,
        DOMAIN_NAME => 1 + usize::from(length),
        _ if code != 0 => 0,
        _ => return Err(Unexpected),
    };
    let whole = 4 + address + 2;
    Ok((heard.len() >= whole).then_some(whole))
}
