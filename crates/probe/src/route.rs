//! The way to a target: what lies between the first packet and the first byte of TLS.
//!
//! ```text
//! resolve ─> connect ─> proxy ─> PROXY header ─> STARTTLS ─> TLS ─> application
//!                       └───────────── Route::pass ────────┘
//! ```

mod dialogue;
mod http_connect;
mod proxy;
mod proxy_protocol;
mod socks5;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reprise_trace::{Failure, Nanos, Phases};

use crate::clock::Clock;
use crate::failure;
use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::resolver;
use crate::socket::Stream;
use crate::starttls::{Introduction, StartTls};
use crate::target::Target;

pub(crate) use dialogue::{Correspondent, Dialogue, Heard, Unexpected, quoted};
pub use proxy::{Proxy, ProxyError};
pub use proxy_protocol::ProxyProtocol;

/// How long the first of several addresses is given before the next is tried.
const HAPPY: Duration = Duration::from_secs(1);

/// How every connection to one target is made.
pub(crate) struct Route {
    /// Where TCP connects to: the target, or the proxy.
    pub(crate) address: SocketAddr,
    /// The names to resolve before each connection; none where everything is an address.
    pub(crate) names: Vec<(String, u16)>,
    /// The target's address, where it is this machine that finds it out.
    pub(crate) target_address: Option<SocketAddr>,
    target: Target,
    proxy: Option<Proxy>,
    proxy_protocol: Option<ProxyProtocol>,
    starttls: Option<StartTls>,
}

impl Route {
    /// Finds out the addresses. The first that answers is kept, as every client does, and the measurement stays with it.
    pub(crate) fn plan(target: &Target, options: &Options, interrupt: &Interrupt) -> Result<Self, Failure> {
        let mut names = Vec::new();
        let proxy = options.proxy.clone();
        let target_address = match options.resolve.or_else(|| target.address()) {
            Some(address) => Some(SocketAddr::new(address, target.port)),
            None if proxy.as_ref().is_some_and(Proxy::resolves_names) => None,
            None => {
                names.push((target.host.clone(), target.port));
                // Through a proxy, its reach counts and not ours.
                let is_probed = proxy.is_none();
                Some(find(&target.host, target.port, is_probed, options.timeout, interrupt)?)
            }
        };
        let address = match (&proxy, target_address) {
            (Some(proxy), _) => match proxy.host.parse::<IpAddr>() {
                Ok(address) => SocketAddr::new(address, proxy.port),
                Err(_) => {
                    names.push((proxy.host.clone(), proxy.port));
                    find(&proxy.host, proxy.port, true, options.timeout, interrupt)?
                }
            },
            (None, Some(address)) => address,
            // Without a proxy the address is known by now, or resolving has failed.
            (None, None) => return Err(failure::interrupted()),
        };
        Ok(Self {
            address,
            names,
            target_address,
            target: target.clone(),
            proxy,
            proxy_protocol: options.proxy_protocol,
            starttls: options.starttls,
        })
    }

    /// Whether the service asks for TLS in the clear, and may say more there.
    pub(crate) fn begins_in_the_clear(&self) -> bool {
        self.starttls.is_some()
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
        let socket_error = |error| failure::connect(self.address, &error);
        let client = stream.local_address().map_err(socket_error)?;
        let mut dialogue = Dialogue::new(stream, timeout);
        let timed = |stage: &mut dyn FnMut() -> Result<(), Failure>| -> Result<Option<Nanos>, Failure> {
            let begun = clock.now();
            stage()?;
            Ok(Some(clock.now() - begun))
        };
        if let Some(proxy) = &self.proxy {
            phases.proxy = timed(&mut || proxy.ask_for(&mut dialogue, &self.target, self.target_address))?;
        }
        if let Some(version) = self.proxy_protocol {
            dialogue.tell(&version.header(client, self.target_address))?;
        }
        if let Some(starttls) = self.starttls {
            let introduction = Introduction { host: self.target.host.clone(), client: client.ip() };
            dialogue.turn_to(Correspondent::Server(starttls));
            phases.starttls = timed(&mut || starttls.protocol().preamble(&mut dialogue, &introduction))?;
        }
        dialogue.finish()
    }

    /// What a failure to connect says of the other end.
    pub(crate) fn connect_failure(&self, error: &std::io::Error) -> Failure {
        let failure = failure::connect(self.address, error);
        match &self.proxy {
            Some(_) => Failure { message: failure.message.replacen("connect to", "connect to the proxy", 1), ..failure },
            None => failure,
        }
    }
}

/// The address of a name: where there are several and `is_probed`, the first that answers.
fn find(host: &str, port: u16, is_probed: bool, timeout: Duration, interrupt: &Interrupt) -> Result<SocketAddr, Failure> {
    let (addresses, _) = resolver::resolve(host, port, timeout, interrupt)?;
    let answers = |address: &&IpAddr| {
        !is_probed
            || addresses.len() == 1
            || std::net::TcpStream::connect_timeout(&SocketAddr::new(**address, port), timeout.min(HAPPY)).is_ok()
    };
    let address = addresses.iter().find(answers).or(addresses.first());
    address.map(|&address| SocketAddr::new(address, port)).ok_or_else(failure::interrupted)
}
