//! The phases of one connection.

use serde::{Deserialize, Serialize};

use crate::Nanos;

named! {
    /// A stretch of a connection's life. One begins where another ends, but for the client's write of its request between `tls` and
    /// `wait`: that is in `total` alone.
    pub enum Phase {
        /// Name to address.
        Resolve = "resolve",
        /// SYN to established: with the proxy, where there is one.
        Connect = "connect",
        /// A proxy was asked for the target, until it said that it had connected.
        Proxy = "proxy",
        /// The server's greeting or the client's first byte in the clear, until the server agreed to begin TLS (STARTTLS).
        Starttls = "starttls",
        /// First handshake byte until application data may first be sent. It carries the time of the server's first flight.
        Tls = "tls",
        /// Request sent to the first byte of the final response; interim ones (1xx) are in it.
        Wait = "wait",
        /// First byte of the response to the last.
        Receive = "receive",
        /// All of it.
        Total = "total",
    }
}

impl Phase {
    /// Whether it is, at least in part, of what comes after a connection is established and in the clear no more: what is TLS's
    /// and the service's, and not the network's or the machine's alone.
    pub fn is_after_connecting(self) -> bool {
        matches!(self, Self::Tls | Self::Wait | Self::Receive | Self::Total)
    }
}

/// How long each phase of one connection took; `None` where there was no such phase. Unknown is never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phases {
    /// See [`Phase::Resolve`]; `None` where the target is an address.
    pub resolve: Option<Nanos>,
    /// See [`Phase::Connect`].
    pub connect: Option<Nanos>,
    /// See [`Phase::Proxy`]; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Nanos>,
    /// See [`Phase::Starttls`]; `None` where TLS begins at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starttls: Option<Nanos>,
    /// See [`Phase::Tls`].
    pub tls: Option<Nanos>,
    /// See [`Phase::Wait`]; `None` where no request was sent.
    pub wait: Option<Nanos>,
    /// See [`Phase::Receive`]; `None` where no request was sent.
    pub receive: Option<Nanos>,
    /// See [`Phase::Total`].
    pub total: Option<Nanos>,
}

impl Phases {
    /// How long this phase took.
    pub fn of(&self, phase: Phase) -> Option<Nanos> {
        match phase {
            Phase::Resolve => self.resolve,
            Phase::Connect => self.connect,
            Phase::Proxy => self.proxy,
            Phase::Starttls => self.starttls,
            Phase::Tls => self.tls,
            Phase::Wait => self.wait,
            Phase::Receive => self.receive,
            Phase::Total => self.total,
        }
    }
}
