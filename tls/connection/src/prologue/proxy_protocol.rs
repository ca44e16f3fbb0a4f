//! The PROXY header, by which a proxy tells the server who the client is
//! (<https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>).

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Which form of the header a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// What no TLS record and no line of text begins with (section 2.2).
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, PROXY.
const PROXY: u8 = 0x21;
const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;
/// Version 2 with an address family that says nothing.
const UNSPECIFIED: u8 = 0x00;

impl ProxyProtocol {
    /// `v1` or `v2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }

    /// The header of a connection from `client` to `server`. Where a proxy resolves the server's name, or where the two
    /// are of different families, it says that the addresses are unknown.
    pub(super) fn header(self, client: SocketAddr, server: Option<SocketAddr>) -> Vec<u8> {
        let addresses = server.map(|server| (client.ip().to_canonical(), server.ip().to_canonical(), server.port()));
        let ports = |to: u16| [client.port().to_be_bytes(), to.to_be_bytes()].concat();
        let binary = |family: u8, addresses: &[&[u8]]| {
            let addresses = addresses.concat();
            let length = u16::try_from(addresses.len()).unwrap_or_default().to_be_bytes();
            [&SIGNATURE[..], &[PROXY, family], &length, &addresses].concat()
        };
        match (self, addresses) {
            (Self::V1, Some((IpAddr::V4(from), IpAddr::V4(to), port))) => {
                format!("PROXY TCP4 {from} {to} {} {port}\r\n", client.port()).into_bytes()
            }
            (Self::V1, Some((IpAddr::V6(from), IpAddr::V6(to), port))) => {
                format!("PROXY TCP6 {from} {to} {} {port}\r\n", client.port()).into_bytes()
            }
            (Self::V1, _) => b"PROXY UNKNOWN\r\n".to_vec(),
            (Self::V2, Some((IpAddr::V4(from), IpAddr::V4(to), port))) => {
                binary(TCP_OVER_IPV4, &[&from.octets(), &to.octets(), &ports(port)])
            }
            (Self::V2, Some((IpAddr::V6(from), IpAddr::V6(to), port))) => {
                binary(TCP_OVER_IPV6, &[&from.octets(), &to.octets(), &ports(port)])
            }
            (Self::V2, _) => binary(UNSPECIFIED, &[]),
        }
    }
}

impl FromStr for ProxyProtocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "v1" | "1" => Ok(Self::V1),
            "v2" | "2" => Ok(Self::V2),
            _ => Err(format!("unknown PROXY protocol version '{text}': use v1 or v2")),
        }
    }
}
