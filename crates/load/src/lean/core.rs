//! What every state of a connection reads and writes.

use reprise_engine::suite::Suite;
use reprise_model::{FaultName, Kind, Protocol};
use reprise_wire::extensions::SelectedProtocol;
use reprise_wire::{ExtensionType, Extensions, NamedGroup};

use super::key_exchange::KeyPair;
use super::record::Protection;
use super::session::Session;

/// One connection, whatever its state.
#[derive(Default)]
pub(super) struct Core {
    /// The record with the ClientHello. Its memory is kept.
    pub(super) hello: Vec<u8>,
    pub(super) random: [u8; 32],
    pub(super) session_id: SessionId,
    pub(super) session: Option<Session>,
    /// Which of the names it sends.
    pub(super) server_name: usize,
    pub(super) own: Option<KeyPair>,
    /// The group of the key share in the hello.
    pub(super) group: Option<NamedGroup>,
    pub(super) sealer: Option<Protection>,
    pub(super) opener: Option<Protection>,
    /// The session was accepted.
    pub(super) resumed: Option<Kind>,
    pub(super) suite: Option<&'static Suite>,
    /// What ALPN chose.
    pub(super) protocol: Option<Protocol>,
    /// Tickets of TLS 1.3 that came.
    pub(super) tickets: u32,
}

/// A session ID in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionId {
    bytes: [u8; 32],
    length: usize,
}

impl Core {
    /// The kind that was observed so far.
    pub(super) fn kind(&self) -> Kind {
        self.resumed.unwrap_or(Kind::Full)
    }

    /// Notes the protocol that ALPN chose (RFC 7301 §3.1). Where none was offered, nobody looks for one.
    pub(super) fn accept_alpn(&mut self, offered: &[Vec<u8>], extensions: Extensions<'_>) -> Result<(), FaultName> {
        let Some(selected) = extensions.find(ExtensionType::ALPN).filter(|_| !offered.is_empty()) else { return Ok(()) };
        let name = SelectedProtocol::parse(selected).map_err(malformed)?.protocol.0;
        if !offered.iter().any(|offered| offered == name) {
            return Err(FaultName::PeerMisbehaved);
        }
        self.protocol = Some(Protocol::new(name));
        Ok(())
    }

    /// Drops the keys; the session goes back to whoever asks.
    pub(super) fn reset(&mut self) -> Option<Session> {
        (self.sealer, self.opener, self.own) = (None, None, None);
        (self.resumed, self.suite, self.protocol, self.tickets) = (None, None, None, 0);
        self.session.take()
    }
}

impl SessionId {
    pub(super) fn new(id: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        bytes.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self { bytes, length: id.len() })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// A message that cannot be parsed; which rule it breaks, nobody asks here.
pub(super) fn malformed(_error: reprise_wire::Error) -> FaultName {
    FaultName::Malformed
}
