//! Processor time of the client.

use serde::{Deserialize, Serialize};

/// Processor time of the client, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientCpu {
    /// In the program.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
}

impl ClientCpu {
    /// What was used since `before`.
    pub fn since(self, before: Self) -> Self {
        Self { user: self.user.saturating_sub(before.user), system: self.system.saturating_sub(before.system) }
    }

    /// The mean of each part; `None` of none.
    pub fn mean_of(all: impl Iterator<Item = Self>) -> Option<Self> {
        let (mut sum, mut count) = (Self::default(), 0u64);
        for one in all {
            sum.user = sum.user.saturating_add(one.user);
            sum.system = sum.system.saturating_add(one.system);
            count += 1;
        }
        (count > 0).then(|| Self { user: sum.user / count, system: sum.system / count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_each_part() {
        let of = |user, system| ClientCpu { user, system };
        assert_eq!(ClientCpu::mean_of([of(1, 10), of(3, 30)].into_iter()), Some(of(2, 20)));
        assert_eq!(ClientCpu::mean_of([].into_iter()), None);
        assert_eq!(of(5, 1).since(of(2, 3)), of(3, 0));
    }
}
