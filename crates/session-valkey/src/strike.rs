use std::time::{Duration, Instant};

/// Tells whether a session that was taken from the store was surely taken once.
///
/// Taking is atomic, so that needs a store that has forgotten nothing. One that restarted may have come back with entries
/// that were taken before, and so may a replica that was promoted: both have another run ID. What such a store would let be
/// replayed is refused by the TLS library after two minutes: rustls allows a ticket's age to be wrong by 60 seconds either way.
#[derive(Debug)]
pub(crate) struct StrikeRegister {
    window: Duration,
    run_id: Option<String>,
    sure_from: Option<Instant>,
}

impl StrikeRegister {
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, run_id: None, sure_from: None }
    }

    /// A connection to the store was made. Without a run ID nothing is ever sure.
    pub(crate) fn connected(&mut self, run_id: Option<String>, now: Instant) {
        if run_id.is_none() || self.run_id != run_id {
            self.sure_from = run_id.is_some().then(|| now + self.window);
            self.run_id = run_id;
        }
    }

    pub(crate) fn is_sure(&self, now: Instant) -> bool {
        self.sure_from.is_some_and(|from| now >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sure_until_one_window_after_the_start() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let id = |name: &str| Some(name.to_owned());
        let mut register = StrikeRegister::new(Duration::from_secs(120));
        assert!(!register.is_sure(at(1000)), "never connected");
        register.connected(id("one"), at(1000));
        assert!(!register.is_sure(at(1119)) && register.is_sure(at(1120)));
        // The network was away, the store was not.
        register.connected(id("one"), at(1130));
        assert!(register.is_sure(at(1130)));
        // Restarted, or another one that was promoted.
        register.connected(id("two"), at(1200));
        assert!(!register.is_sure(at(1319)) && register.is_sure(at(1320)));
        register.connected(None, at(1400));
        assert!(!register.is_sure(at(9999)));
    }
}
