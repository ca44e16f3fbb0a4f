//! From a name to an address, within a time.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use reprise_connection::{Detail, Fault};
use reprise_model::{FaultName, Nanos};

use crate::interrupt::Interrupt;

/// Which addresses of a name are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFamily {
    /// IPv4 alone.
    V4,
    /// IPv6 alone.
    V6,
}

impl AddressFamily {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    /// Whether this address is one of it.
    pub fn has(self, address: IpAddr) -> bool {
        address.is_ipv4() == (self == Self::V4)
    }
}

/// How often a wait looks at Ctrl-C.
const SLICE: Duration = Duration::from_millis(50);

/// The addresses of `host` in the system's order of preference, and how long it took to find them out. The system's
/// resolver cannot be interrupted, so it runs on a thread of its own, whose start is not counted.
pub(crate) fn resolve(
    host: &str,
    port: u16,
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<(Vec<IpAddr>, Nanos), Fault> {
    let (sender, receiver) = mpsc::channel();
    let name = host.to_owned();
    thread::spawn(move || {
        let start = Instant::now();
        let found =
            (name.as_str(), port).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect::<Vec<_>>());
        let _ = sender.send((found, Nanos::from(start.elapsed())));
    });

    let deadline = Instant::now() + timeout;
    loop {
        match receiver.recv_timeout(SLICE) {
            Ok((Ok(addresses), took)) if !addresses.is_empty() => return Ok((addresses, took)),
            Ok((Ok(_), _)) => return Err(no_address(host)),
            Ok((Err(error), _)) => return Err(failed(host, Some(why(&error)))),
            Err(RecvTimeoutError::Disconnected) => return Err(failed(host, Some("the resolver timed out".to_owned()))),
            Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => return Err(Fault::interrupted()),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                return Err(failed(host, None));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The addresses of a name in the system's order of preference, at least one, each with this port; of one family, where it is given.
///
/// # Errors
/// If there is none within the time, or Ctrl-C came before.
pub fn addresses_of(
    host: &str,
    port: u16,
    family: Option<AddressFamily>,
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<SocketAddr>, Fault> {
    let (mut addresses, _) = resolve(host, port, timeout, interrupt)?;
    addresses.retain(|address| family.is_none_or(|family| family.has(*address)));
    match family {
        Some(family) if addresses.is_empty() => Err(failed(host, Some(format!("it has no {} address", family.name())))),
        _ => Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect()),
    }
}

/// That a name is known and has no address.
pub(crate) fn no_address(host: &str) -> Fault {
    failed(host, Some("it has no address".to_owned()))
}

/// The resolver's own words, without those that say it once more.
fn why(error: &io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned()
}

fn failed(host: &str, reason: Option<String>) -> Fault {
    Fault::new(FaultName::NameNotResolved).with(Detail::Resolve { host: host.to_owned(), reason })
}
