//! CONNECT to a SOCKS5 proxy (RFC 1928), with a user name and password (RFC 1929) where they were given.

use std::net::{IpAddr, SocketAddr};

use reprise_trace::Failure;

use super::credentials::Credentials;
use crate::dialogue::{Dialogue, Heard, Unexpected};
use reprise_attempt::Target;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const USERNAME_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const DOMAIN_NAME: u8 = 3;
const IPV6: u8 = 4;

pub(super) fn ask_for(
    dialogue: &mut Dialogue<'_>,
    credentials: Option<&Credentials>,
    target: &Target,
    address: Option<SocketAddr>,
) -> Result<(), Failure> {
    let methods: &[u8] = if credentials.is_some() { &[NO_AUTHENTICATION, USERNAME_PASSWORD] } else { &[NO_AUTHENTICATION] };
    dialogue.say(&[&[VERSION, methods.len() as u8], methods].concat())?;
    let choice = dialogue.hear("choice of a method", |heard| begins_with(heard, VERSION, 2))?;
    match (choice.get(1).copied(), credentials) {
        (Some(NO_AUTHENTICATION), _) => {}
        (Some(USERNAME_PASSWORD), Some(credentials)) => authenticate(dialogue, credentials)?,
        (Some(NO_ACCEPTABLE_METHOD), None) => {
            return Err(dialogue.refusal(
                "authentication_required",
                "asks for a user name and a password",
                Some("give them as --proxy socks5://USER:PASSWORD@HOST:PORT"),
            ));
        }
        (Some(NO_ACCEPTABLE_METHOD), Some(_)) => {
            let why = "accepts neither a user name and password nor a client without";
            return Err(dialogue.refusal("authentication_failed", why, None));
        }
        _ => return Err(dialogue.unexpected("choice of a method", &choice)),
    }

    dialogue.say(&request(target, address))?;
    let reply = dialogue.hear("reply", reply_length)?;
    match reply.get(1).copied() {
        Some(0) => Ok(()),
        code => {
            let why = format!("refuses to connect to {target}: {}", reason(code.unwrap_or_default()));
            let hint = "check the target's name and port from the proxy, and the proxy's rules";
            Err(dialogue.refusal("refused", &why, Some(hint)))
        }
    }
}

fn authenticate(dialogue: &mut Dialogue<'_>, credentials: &Credentials) -> Result<(), Failure> {
    /// The version of the negotiation within (RFC 1929 §2), not of SOCKS.
    const NEGOTIATION: u8 = 1;
    let Credentials { user, password } = credentials;
    // Both are 255 bytes at most.
    let request = zeroize::Zeroizing::new(
        [&[NEGOTIATION, user.len() as u8], user.as_slice(), &[password.len() as u8], password].concat(),
    );
    dialogue.say(&request)?;
    // Some proxies answer with the version of SOCKS.
    let answer = dialogue.hear("answer to the password", |heard| match heard.first() {
        Some(&(NEGOTIATION | VERSION)) | None => Ok((heard.len() >= 2).then_some(2)),
        Some(_) => Err(Unexpected),
    })?;
    match answer.get(1) {
        Some(0) => Ok(()),
        _ => Err(dialogue.refusal("authentication_failed", "does not accept the user name and password", None)),
    }
}

/// VER CMD RSV ATYP DST.ADDR DST.PORT (RFC 1928 §4).
fn request(target: &Target, address: Option<SocketAddr>) -> Vec<u8> {
    let mut request = vec![VERSION, CONNECT, 0];
    match address.map(|address| address.ip()) {
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
            request.extend([DOMAIN_NAME, target.host.len() as u8]);
            request.extend(target.host.as_bytes());
        }
    }
    request.extend(target.port.to_be_bytes());
    request
}

/// VER REP RSV ATYP BND.ADDR BND.PORT (RFC 1928 §6).
fn reply_length(heard: &[u8]) -> Heard {
    begins_with(heard, VERSION, 5)?;
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

fn begins_with(heard: &[u8], version: u8, length: usize) -> Heard {
    match heard.first() {
        Some(&first) if first != version => Err(Unexpected),
        _ => Ok((heard.len() >= length).then_some(length)),
    }
}

fn reason(code: u8) -> String {
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
