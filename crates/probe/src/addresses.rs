//! The addresses of a name: the first that answers is kept, as every client does, and the measurement stays with it.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use reprise_trace::Failure;

use crate::failure;
use crate::interrupt::Interrupt;

/// How long one of several addresses is given before the next is tried.
const HAPPY: Duration = Duration::from_secs(1);

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

    /// The one that answered, or is to be tried.
    pub(crate) fn current(&self) -> SocketAddr {
        self.current
    }

    /// How long it is waited for.
    pub(crate) fn patience(&self, timeout: Duration) -> Duration {
        if self.others.is_empty() { timeout } else { timeout.min(HAPPY) }
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

/// The first of several that accepts a connection, which is ended at once; a single one is not asked. `None` if none does in
/// time: each is given this long, and at most a second.
///
/// # Errors
/// If Ctrl-C came.
pub fn first_that_answers(
    addresses: &[SocketAddr],
    timeout: Duration,
    interrupt: &Interrupt,
) -> Result<Option<SocketAddr>, Failure> {
    for address in addresses.iter().filter(|_| addresses.len() > 1) {
        // There may be many, and each that is silent takes its time.
        if interrupt.is_raised() {
            return Err(failure::interrupted());
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
    fn the_first_of_several_that_accepts_is_found_and_ctrl_c_ends_the_search() {
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
        assert_eq!(first(&[refuses, answers]).unwrap_err().name, "interrupted");
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
