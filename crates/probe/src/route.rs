//! The way to a target: what lies between the first packet and the first byte of TLS.
//!
//! ```text
//! resolve ─> connect ─> proxy ─> PROXY header ─> STARTTLS ─> TLS ─> application
//!                       └───────────── Route::pass ────────┘
//! ```

mod credentials;
mod http_connect;
mod proxy;
mod proxy_protocol;
mod socks5;

use std::net::SocketAddr;
use std::time::Duration;

use reprise_trace::{Failure, Nanos, Phases};

use crate::addresses::Addresses;
use crate::clock::Clock;
use crate::dialogue::{Correspondent, Dialogue};
use crate::failure;
use crate::socket::Stream;
use crate::starttls::{Introduction, StartTls};
use reprise_attempt::Target;

pub use proxy::{Proxy, ProxyError};
pub use proxy_protocol::ProxyProtocol;

/// How every connection to one target is made.
pub(crate) struct Route {
    /// Where TCP connects to: the target, or the proxy.
    pub(crate) addresses: Addresses,
    /// The names to resolve before each connection; none where everything is an address.
    pub(crate) names: Vec<(String, u16)>,
    /// The target's address, where a proxy leads to it and it is this machine that finds it out.
    pub(crate) target_behind_proxy: Option<SocketAddr>,
    pub(crate) target: Target,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) proxy_protocol: Option<ProxyProtocol>,
    pub(crate) starttls: Option<StartTls>,
}

impl Route {
    /// Whether the service asks for TLS in the clear, and may say more there.
    pub(crate) fn begins_in_the_clear(&self) -> bool {
        self.starttls.is_some()
    }

    /// The target's address, as far as this machine knows it.
    pub(crate) fn target_address(&self) -> Option<SocketAddr> {
        match self.proxy {
            Some(_) => self.target_behind_proxy,
            None => Some(self.addresses.current()),
        }
    }

    /// Whether there is anything between connecting and TLS.
    fn is_direct(&self) -> bool {
        self.proxy.is_none() && self.proxy_protocol.is_none() && self.starttls.is_none()
    }

    /// From an established connection to one on which the server expects a ClientHello. Enters how long the stages took,
    /// and returns how many round trips they cost.
    pub(crate) fn pass(
        &self,
        stream: &mut Stream,
        clock: Clock,
        timeout: Duration,
        phases: &mut Phases,
    ) -> Result<u64, Failure> {
        if self.is_direct() {
            return Ok(0);
        }
        let socket_error = |error| failure::connect(self.addresses.current(), &error);
        let client = stream.local_address().map_err(socket_error)?;
        let mut dialogue = Dialogue::new(stream, timeout);
        let timed = |stage: &mut dyn FnMut() -> Result<(), Failure>| -> Result<Option<Nanos>, Failure> {
            let begun = clock.now();
            stage()?;
            Ok(Some(clock.now() - begun))
        };
        if let Some(proxy) = &self.proxy {
            phases.proxy = timed(&mut || proxy.ask_for(&mut dialogue, &self.target, self.target_address()))?;
        }
        if let Some(version) = self.proxy_protocol {
            dialogue.tell(&version.header(client, self.target_address()))?;
        }
        if let Some(starttls) = self.starttls {
            let introduction = Introduction { host: self.target.host.clone(), client: client.ip() };
            dialogue.turn_to(Correspondent::Server(starttls.name()));
            phases.starttls = timed(&mut || starttls.protocol().preamble(&mut dialogue, &introduction))?;
        }
        dialogue.finish()
    }

    /// What a failure to connect says of the other end.
    pub(crate) fn connect_failure(&self, error: &std::io::Error) -> Failure {
        let failure = failure::connect(self.addresses.current(), error);
        match &self.proxy {
            Some(_) => Failure { message: failure.message.replacen("connect to", "connect to the proxy", 1), ..failure },
            None => failure,
        }
    }
}
