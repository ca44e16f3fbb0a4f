//! How many connections failed, by name.

use std::collections::BTreeMap;

use reprise_connection::fault_name;
use reprise_model::FaultName;

/// How many connections failed, by name; counting allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct FaultCounts {
    named: [u64; FaultName::NAMED.len()],
    alerts: [u64; 256],
}

impl FaultCounts {
    /// One more.
    pub(crate) fn add(&mut self, fault: FaultName) {
        let place = match fault {
            FaultName::Alert(number) => self.alerts.get_mut(usize::from(number)),
            named => place_of(named).and_then(|place| self.named.get_mut(place)),
        };
        if let Some(count) = place {
            *count += 1;
        }
    }

    /// How many there were of this one.
    pub(crate) fn of(&self, fault: FaultName) -> u64 {
        let count = match fault {
            FaultName::Alert(number) => self.alerts.get(usize::from(number)),
            named => place_of(named).and_then(|place| self.named.get(place)),
        };
        count.copied().unwrap_or_default()
    }

    /// Those that occurred, with their counts.
    fn iter(&self) -> impl Iterator<Item = (FaultName, u64)> {
        let alerts = (0..=u8::MAX).map(FaultName::Alert).zip(&self.alerts);
        let all = FaultName::NAMED.iter().copied().zip(&self.named).chain(alerts);
        all.map(|(fault, count)| (fault, *count)).filter(|(_, count)| *count > 0)
    }

    /// Those that occurred, by their names in documents.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        self.iter().map(|(fault, count)| (fault_name(fault), count)).collect()
    }

    /// The one that occurred most often, of several the last by name.
    pub(crate) fn most_frequent(&self) -> Option<(FaultName, u64)> {
        self.iter().max_by_key(|(fault, count)| (*count, fault_name(*fault)))
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let ours = self.named.iter_mut().chain(&mut self.alerts);
        ours.zip(other.named.iter().chain(&other.alerts)).for_each(|(to, from)| *to += from);
    }
}

impl Default for FaultCounts {
    fn default() -> Self {
        Self { named: [0; FaultName::NAMED.len()], alerts: [0; 256] }
    }
}

fn place_of(name: FaultName) -> Option<usize> {
    FaultName::NAMED.iter().position(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use reprise_wire::AlertDescription;

    use super::*;

    #[test]
    fn every_fault_is_counted_under_its_own_name() {
        let mut counts = FaultCounts::default();
        counts.add(FaultName::Timeout);
        counts.add(FaultName::Alert(AlertDescription::HANDSHAKE_FAILURE.0));
        let mut twice = counts.clone();
        twice.merge(&counts);
        let shown: Vec<_> = twice.by_name().into_iter().collect();
        assert_eq!(shown, [("alert_handshake_failure".to_owned(), 2), ("timeout".to_owned(), 2)]);
        assert_eq!(twice.of(FaultName::Timeout), 2);
    }
}
