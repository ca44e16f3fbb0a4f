use std::time::{Duration, Instant};

/// Tells whether a session that was taken from the store was surely taken once.
///
/// Taking is atomic, so that needs a store that has forgotten nothing. One that restarted may have come back with entries
/// that were taken before, and so may a replica that was promoted: both have another identity. What such a store would let be
/// replayed is refused by the TLS library after two minutes: rustls allows a ticket's age to be wrong by 60 seconds either way.
#[derive(Debug)]
pub(crate) struct StrikeRegister {
    window: Duration,
    identity: Option<Identity>,
    sure_from: Option<Instant>,
}

/// Of a store and of what it holds: it has another run ID after a restart, and another replication ID after it was a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    run_id: String,
    replication_id: String,
}

impl Identity {
    /// Out of what `INFO` says. `None` if it does not say it, or the store is a replica.
    pub(crate) fn parse(info: &str) -> Option<Self> {
        let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
        if field("role")? != "master" {
            return None;
        }
        Some(Self { run_id: field("run_id")?.to_owned(), replication_id: field("master_replid")?.to_owned() })
    }
}

impl StrikeRegister {
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, identity: None, sure_from: None }
    }

    /// The store was looked at. Without an identity nothing is sure.
    pub(crate) fn seen(&mut self, identity: Option<Identity>, now: Instant) {
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

    fn store(run_id: &str, replication_id: &str) -> Option<Identity> {
        Identity::parse(&format!("# Server\r\nrun_id:{run_id}\r\nrole:master\r\nmaster_replid:{replication_id}\r\n"))
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

    #[test]
    fn a_replica_has_no_identity() {
        assert!(store("one", "a").is_some());
        assert_eq!(Identity::parse("run_id:one\r\nrole:slave\r\nmaster_replid:a\r\n"), None);
        assert_eq!(Identity::parse("run_id:one\r\nrole:master\r\n"), None);
    }
}
