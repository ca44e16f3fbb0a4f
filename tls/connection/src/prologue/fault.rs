//! What went wrong with a proxy, or with a service that begins in the clear. Words are found where a message is made.

use reprise_model::FaultName;

use super::{Message, Problem, StartTls};

/// What went wrong in the clear; or under TLS with the question of a service that began there, or of DNS ([`Message::Answer`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearTextFault {
    /// Who was spoken with.
    pub peer: Peer,
    /// The message that was due, or that is at fault.
    pub message: Message,
    /// What is wrong.
    pub problem: Problem,
}

/// Who was spoken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A proxy that is asked with HTTP's CONNECT.
    HttpProxy,
    /// A SOCKS5 proxy.
    Socks5Proxy,
    /// A service of this protocol.
    Service(StartTls),
    /// A server of DNS over TLS (RFC 7858).
    Resolver,
}

impl ClearTextFault {
    /// The fixed name of the error.
    pub fn name(&self) -> FaultName {
        let is_proxy = self.peer.is_proxy();
        match &self.problem {
            Problem::Unexpected(_) if self.message == Message::Answer => FaultName::AnswerUnexpected,
            Problem::TooLong(_) if self.message == Message::Answer => FaultName::AnswerTooLong,
            _ if self.message == Message::Answer => FaultName::NoAnswer,
            Problem::Unexpected(_) if is_proxy => FaultName::ProxyUnexpected,
            Problem::Unexpected(_) => FaultName::StarttlsUnexpected,
            Problem::Injected(_) if is_proxy => FaultName::ProxyInjected,
            Problem::Injected(_) => FaultName::StarttlsInjected,
            Problem::TooLong(_) if is_proxy => FaultName::ProxyTooLong,
            Problem::TooLong(_) => FaultName::StarttlsTooLong,
            Problem::Closed if is_proxy => FaultName::ProxyClosed,
            Problem::Closed => FaultName::StarttlsClosed,
            Problem::AuthenticationRequired => FaultName::ProxyAuthenticationRequired,
            Problem::AuthenticationFailed => FaultName::ProxyAuthenticationFailed,
            Problem::NoTunnel { .. } => FaultName::ProxyRefused,
            Problem::NotOffered => FaultName::StarttlsNotOffered,
            Problem::Refused { .. } | Problem::StreamError { .. } => FaultName::StarttlsRefused,
        }
    }
}

impl Peer {
    /// Whether it is a proxy.
    pub const fn is_proxy(self) -> bool {
        matches!(self, Self::HttpProxy | Self::Socks5Proxy)
    }
}
