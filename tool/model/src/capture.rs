//! The bytes of one connection as they went over its socket, for whoever wants to look at them with other tools.

use std::net::SocketAddr;

use crate::{Direction, Nanos};

/// Both directions of one TCP connection, in the order of time. Its points in time count from one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The client's address and port.
    pub client: SocketAddr,
    /// The server's.
    pub server: SocketAddr,
    /// When connecting began.
    pub connecting: Nanos,
    /// When the connection was established.
    pub connected: Nanos,
    /// What was written and read.
    pub segments: Vec<Segment>,
}

/// The bytes of one write or one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When they were handed to the socket, or when they were had from it.
    pub at: Nanos,
    /// Which way they went.
    pub direction: Direction,
    /// The bytes; none where this direction of the connection ended.
    pub bytes: Vec<u8>,
}
