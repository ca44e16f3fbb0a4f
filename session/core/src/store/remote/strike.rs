use std::time::{Duration, Instant};

/// Tells whether a session that was taken from the store was surely taken once.
///
/// Taking is atomic, so that needs a store that has forgotten nothing. One that restarted may have come back with entries
/// that were taken before, and so may a replica that was promoted: both have another identity. What such a store would let be
/// replayed is refused by the TLS library after two minutes: rustls allows a ticket's age to be wrong by 60 seconds either way.
#[derive(Debug)]
pub(crate) struct StrikeRegister {
    window: Duration,
    identity: Option<StoreIdentity>,
    sure_from: Option<Instant>,
}

/// A name of a store and of what it holds: it has another one after a restart, and after it was a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreIdentity(String);

impl StoreIdentity {
    /// The one with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl StrikeRegister {
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, identity: None, sure_from: None }
    }

    /// The store was looked at. Without an identity nothing is sure.
    pub(crate) fn seen(&mut self, identity: Option<StoreIdentity>, now: Instant) {
        if identity.is_none() || self.identity != identity {
            // A window longer than time can be counted is never over.
            self.sure_from = identity.is_some().then(|| now.checked_add(self.window)).flatten();
            self.identity = identity;
        }
    }

    pub(crate) fn is_sure(&self, now: Instant) -> bool {
        self.sure_from.is_some_and(|from| now >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(run: &str, history: &str) -> Option<StoreIdentity> {
        Some(StoreIdentity::new(format!("{run} {history}")))
    }

    #[test]
    fn nothing_is_sure_until_one_window_after_the_start() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut register = StrikeRegister::new(Duration::from_secs(120));
        assert!(!register.is_sure(at(1000)), "never seen");
        register.seen(store("one", "a"), at(1000));
        assert!(!register.is_sure(at(1119)) && register.is_sure(at(1120)));
        // The network was away, the store was not.
        register.seen(store("one", "a"), at(1130));
        assert!(register.is_sure(at(1130)));
        // Restarted, or another one that was promoted.
        register.seen(store("two", "b"), at(1200));
        assert!(!register.is_sure(at(1319)) && register.is_sure(at(1320)));
        // Demoted and promoted again between two looks: what it took before the master it then followed had may be back.
        register.seen(store("two", "c"), at(1400));
        assert!(!register.is_sure(at(1519)) && register.is_sure(at(1520)));
        register.seen(None, at(1600));
        assert!(!register.is_sure(at(9999)));
    }

    #[test]
    fn a_window_without_end_is_never_over() {
        let mut register = StrikeRegister::new(Duration::MAX);
        register.seen(store("one", "a"), Instant::now());
        assert!(!register.is_sure(Instant::now() + Duration::from_secs(1_000_000)));
    }
}
