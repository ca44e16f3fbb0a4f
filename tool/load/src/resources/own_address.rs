//! Whether an address is one of this machine's own, loopback's or a network interface's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Whether what is sent there stays on this machine: then the kernel takes the address itself as the source. Nothing is sent: UDP
/// has no handshake.
pub fn is_on_this_machine(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let source = |socket: UdpSocket| {
        // The discard service's port: any would do.
        socket.connect((address, 9))?;
        socket.local_addr()
    };
    address.is_loopback() || UdpSocket::bind((any, 0)).and_then(source).is_ok_and(|source| source.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_here_and_an_address_for_documentation_is_not() {
        for (address, is_here) in
            [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("192.0.2.1", false), ("2001:db8::1", false)]
        {
            assert_eq!(is_on_this_machine(address.parse().unwrap()), is_here, "{address}");
        }
    }
}
