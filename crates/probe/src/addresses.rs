//! The addresses of a name: the first that answers is kept, as every client does, and the measurement stays with it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

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

#[cfg(test)]
mod tests {
    use super::*;

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
