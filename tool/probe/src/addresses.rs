//! The addresses of a name: the first that answers is kept, as every client does, and the measurement stays with it.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use reprise_connection::prologue::Proxy;
use reprise_connection::{Fault, IoError, Target};
use reprise_model::{FaultName, Nanos};

use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::resolver;

/// How long one of several addresses is given before the next is tried.
const HAPPY: Duration = Duration::from_secs(1);

/// How long one of several addresses that has accepted a connection is given to say its first byte of TLS.
pub(crate) const SILENT: Duration = Duration::from_secs(3);

/// An address that did not accept a connection, or said nothing of TLS on it, so that another was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadAddress {
    /// The address.
    pub address: SocketAddr,
    /// What the system says of it.
    pub error: IoError,
    /// What became of the connection that it accepted; `None` where it accepted none.
    pub accepted: Option<FaultName>,
    /// How long it was waited for.
    pub took: Nanos,
}

/// Where connections go: to one address, or to several until one of them has answered.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    current: SocketAddr,
    others: VecDeque<SocketAddr>,
}

impl Addresses {
    /// `None` where there is none.
    pub(crate) fn of(addresses: impl IntoIterator<Item = SocketAddr>) -> Option<Self> {
        let mut others: VecDeque<SocketAddr> = addresses.into_iter().collect();
        others.pop_front().map(|current| Self { current, others })
    }

    /// This one alone.
    pub(crate) fn only(address: SocketAddr) -> Self {
        Self { current: address, others: VecDeque::new() }
    }

    /// The one that answered, or is to be tried.
    pub(crate) fn current(&self) -> SocketAddr {
        self.current
    }

    /// How long it is waited for.
    pub(crate) fn patience(&self, timeout: Duration) -> Duration {
        if self.others.is_empty() { timeout } else { timeout.min(HAPPY) }
    }

    /// Whether there are others to try.
    pub(crate) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// It has answered: the others do not matter any more.
    pub(crate) fn settle(&mut self) {
        self.others.clear();
    }

    /// It does not answer: whether there is another to try.
    pub(crate) fn move_on(&mut self) -> bool {
        let next = self.others.pop_front();
        self.current = next.unwrap_or(self.current);
        next.is_some()
    }
}

/// Where connections to a target go.
pub(crate) struct Place {
    /// All addresses of the target, where it is this machine that finds them out.
    pub(crate) of_target: Vec<SocketAddr>,
    /// Where TCP connects to: the target, or the proxy.
    pub(crate) addresses: Addresses,
    /// The names to resolve before each connection; none where everything is an address.
    pub(crate) names: Vec<(String, u16)>,
}

impl Place {
    /// Finds it out.
    ///
    /// # Errors
    /// If a name does not resolve in time.
    pub(crate) fn locate(target: &Target, options: &Options, interrupt: &Interrupt) -> Result<Self, Fault> {
        let mut names = Vec::new();
        let mut find = |host: &str, port: u16| {
            names.push((host.to_owned(), port));
            resolver::addresses_of(host, port, options.family, options.timeout, interrupt)
        };
        let proxy = options.proxy.as_ref();
        let of_target = match options.resolve.or_else(|| target.address()) {
            Some(address) => vec![SocketAddr::new(address, target.port)],
            // Behind a proxy, its reach counts and not ours.
            None if proxy.is_some_and(Proxy::resolves_names) => Vec::new(),
            None => find(&target.host, target.port)?,
        };
        let of_proxy = match proxy {
            Some(proxy) => match proxy.host.parse::<IpAddr>() {
                Ok(address) => Some(vec![SocketAddr::new(address, proxy.port)]),
                Err(_) => Some(find(&proxy.host, proxy.port)?),
            },
            None => None,
        };
        let addresses = Addresses::of(of_proxy.unwrap_or_else(|| of_target.clone()));
        let addresses = addresses.ok_or_else(|| resolver::no_address(proxy.map_or(&target.host, |proxy| &proxy.host)))?;
        Ok(Self { of_target, addresses, names })
    }
}

/// The first of several that accepts a connection, which is ended at once; a single one is not asked. `None` if none does in
/// time: each is given this long, and at most a second.
///
/// # Errors
/// If Ctrl-C came.
pub fn first_that_answers(
    addresses: &[SocketAddr],
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<Option<SocketAddr>, Fault> {
    for address in addresses.iter().filter(|_| addresses.len() > 1) {
        // There may be many, and each that is silent takes its time.
        if interrupt.is_raised() {
            return Err(Fault::interrupted());
        }
        if TcpStream::connect_timeout(address, timeout.min(HAPPY)).is_ok() {
            return Ok(Some(*address));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_first_that_accepts_is_found_and_ctrl_c_ends_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answers = listener.local_addr().unwrap();
        // Nobody listens there.
        let refuses: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let interrupt = Interrupt::default();
        let first = |addresses: &[SocketAddr]| first_that_answers(addresses, Duration::from_secs(10), &interrupt);
        assert_eq!(first(&[refuses, answers]), Ok(Some(answers)));
        assert_eq!(first(&[refuses, refuses]), Ok(None));
        assert_eq!(first(&[answers]), Ok(None), "a single one is not asked");
        interrupt.raise();
        assert_eq!(first(&[refuses, answers]).unwrap_err(), Fault::interrupted());
    }

    #[test]
    fn each_is_tried_and_only_the_last_has_all_the_time() {
        let [one, two] = [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let (long, short) = (Duration::from_secs(10), Duration::from_millis(10));
        let mut addresses = Addresses::of([one, two]).unwrap();
        assert_eq!((addresses.current(), addresses.patience(long), addresses.patience(short)), (one, HAPPY, short));
        assert!(addresses.move_on());
        assert_eq!((addresses.current(), addresses.patience(long)), (two, long));
        assert!(!addresses.move_on());
        assert_eq!(addresses.current(), two);

        let mut answered = Addresses::of([one, two]).unwrap();
        answered.settle();
        assert!(!answered.move_on());
        assert_eq!((answered.current(), answered.patience(long)), (one, long));
        assert!(Addresses::of([]).is_none());
    }
}
