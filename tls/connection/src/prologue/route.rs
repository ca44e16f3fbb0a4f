//! The way to a target: what lies between the first packet and the first byte of TLS.
//!
//! ```text
//! resolve ─> connect ─> proxy ─> PROXY header ─> STARTTLS ─> TLS ─> application
//!                       └────────── Prologue ───────────┘
//! ```

use std::collections::VecDeque;
use std::net::SocketAddr;

use super::dialogue::Dialogue;
use super::{Introduction, Peer, Proxy, ProxyProtocol, StartTls};
use crate::target::Target;

/// How a connection gets from its transport to the first byte of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Who is asked for a tunnel.
    pub proxy: Option<Proxy>,
    /// The header that says who connects.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// The protocol that begins in the clear.
    pub starttls: Option<StartTls>,
    /// What is connected to.
    pub target: Target,
    /// Its address, as far as this machine knows it: with a proxy that is given names, it does not.
    pub target_address: Option<SocketAddr>,
}

/// What lies between the transport and TLS, in order.
pub(super) enum Stage {
    /// Something that is said and not answered.
    Header(Vec<u8>),
    Dialogue(Peer, Box<dyn Dialogue>),
}

impl Route {
    /// Whether TLS begins at once.
    pub fn is_direct(&self) -> bool {
        self.proxy.is_none() && self.proxy_protocol.is_none() && self.starttls.is_none()
    }

    /// Whether the service asks for TLS in the clear, and may say more there.
    pub fn begins_in_the_clear(&self) -> bool {
        self.starttls.is_some()
    }

    /// What a connection from `client` goes through.
    pub(super) fn stages(&self, client: SocketAddr) -> VecDeque<Stage> {
        let proxy = self.proxy.as_ref().map(|proxy| {
            let (peer, dialogue) = proxy.dialogue(&self.target, self.target_address);
            Stage::Dialogue(peer, dialogue)
        });
        let header = self.proxy_protocol.map(|version| Stage::Header(version.header(client, self.target_address)));
        let service = self.starttls.map(|starttls| {
            let introduction = Introduction { host: self.target.host.clone(), client: client.ip() };
            Stage::Dialogue(Peer::Service(starttls), starttls.service(introduction))
        });
        [proxy, header, service].into_iter().flatten().collect()
    }
}
