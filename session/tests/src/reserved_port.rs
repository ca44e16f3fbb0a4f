//! A port that stays a test's own while nobody listens on it.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// A loopback port, reserved until this is dropped.
///
/// A socket is bound to it and does not listen: connections are refused, a server with `SO_REUSEADDR` may listen, and
/// the kernel gives the port to nobody who asks for any free one.
pub struct ReservedPort {
    _socket: OwnedFd,
    address: SocketAddr,
}

impl ReservedPort {
    /// Reserves one that is free.
    #[expect(clippy::new_without_default, reason = "each one differs")]
    pub fn new() -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = getsockname(&socket).unwrap().try_into().unwrap();
        Self { _socket: socket, address }
    }

    /// Where a server may listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port of the address.
    pub fn number(&self) -> u16 {
        self.address.port()
    }
}
