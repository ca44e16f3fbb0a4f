//! What CPU limits did to the generator or to the server, in words.

use std::time::Duration;

use reprise_trace::document::LoadCpuLimit;

/// A limit that ran out in this share of its periods was all that there was to be had.
const SPENT: f64 = 0.5;

/// Of a limit that cannot be seen, the periods are not known: it was spent if it held its group back for this share of the time.
const HELD_BACK: f64 = 0.1;

/// The limits of one side, and what they did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Restraint {
    /// The one that held it back most, of those that can be seen.
    pub(crate) limit: Option<LoadCpuLimit>,
    /// For how long any did, summed over processors; `None` where the kernel does not tell.
    pub(crate) throttled: Option<Duration>,
    /// In how long a time.
    pub(crate) time: Duration,
}

impl Restraint {
    /// Whether it was held back at all.
    pub(crate) fn was_felt(&self) -> bool {
        self.ran_out() || self.throttled.is_some_and(|time| !time.is_zero())
    }

    /// Whether there was nothing more to be had.
    pub(crate) fn was_spent(&self) -> bool {
        match &self.limit {
            Some(limit) if self.ran_out() => limit.ran_out() >= SPENT,
            _ => self.throttled.is_some_and(|time| time.as_secs_f64() >= HELD_BACK * self.time.as_secs_f64().max(1e-9)),
        }
    }

    /// Whether both have the same limit, and not one like the other's.
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        let group = |restraint: &Self| restraint.limit.as_ref().map(|limit| limit.group.clone());
        self.ran_out() && other.ran_out() && group(self) == group(other)
    }

    /// The limit that was felt, how often it ran out, and where to look.
    pub(crate) fn told(&self) -> String {
        match &self.limit {
            Some(limit) if self.ran_out() => format!(
                "a CPU limit of {}, which ran out in {} of {} periods of {} ms (cgroup {})",
                limit.in_words(),
                limit.throttled_periods,
                limit.periods,
                limit.period_ns as f64 / 1e6,
                limit.group
            ),
            _ => format!(
                "a CPU limit of a group above it, hidden from here, which held it back for {:.1} of {:.1} s, summed over \
                 processors",
                self.throttled.unwrap_or_default().as_secs_f64(),
                self.time.as_secs_f64()
            ),
        }
    }

    /// The kernel counts time in which a group may not run as time in which it waits for a processor: who had it then.
    pub(crate) fn kept(&self) -> &'static str {
        if self.was_felt() { "its CPU limit or others kept from it" } else { "others had" }
    }

    fn ran_out(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.throttled_periods > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_limit_is_told_by_what_it_did() {
        let hidden = |limit, millis| Restraint {
            limit,
            throttled: Some(Duration::from_millis(millis)),
            time: Duration::from_secs(3),
        };
        let spent = hidden(None, 1_700);
        assert!(spent.was_spent() && spent.was_felt());
        assert!(spent.told().contains("hidden from here, which held it back for 1.7 of 3.0 s"), "{}", spent.told());
        assert!(!hidden(None, 299).was_spent() && hidden(None, 299).was_felt() && !hidden(None, 0).was_felt());
        // One that can be seen, and did not run out, is not to blame.
        let (group, period_ns, periods) = ("/c".to_owned(), 100_000_000, 30);
        let seen = LoadCpuLimit { group, processors: 2.0, period_ns, periods, throttled_periods: 0, throttled_ns: 0 };
        assert!(hidden(Some(seen.clone()), 1_700).told().contains("hidden"));
        assert!(!hidden(Some(seen), 1_700).is_shared_with(&spent));
        assert!(!Restraint::default().was_spent() && !Restraint::default().was_felt());
    }
}
