//! What a HelloRetryRequest costs.

use serde::{Deserialize, Serialize};

use crate::Kind;

/// The groups of connections that a HelloRetryRequest made start again, and what that costs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloRetrySummary {
    /// The groups that the client offers, in order of preference.
    pub offered: Vec<String>,
    /// The one that its first key share is of.
    pub shared: String,
    /// The one that the server asks for instead; of several, the most frequent.
    pub group: String,
    /// The same connections beside others whose first key share is of that group; null where there are too few of either.
    pub comparison: Option<HelloRetryComparison>,
}

/// Connections that were retried beside connections, made in turn with them, whose first key share is of the group that the server asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloRetryComparison {
    /// The kind of both.
    pub kind: Kind,
    /// How many were retried.
    pub retried_n: u64,
    /// Median of `tls` of those.
    pub retried_ns: u64,
    /// How many were not, since they shared the group at once.
    pub at_once_n: u64,
    /// Median of `tls` of those.
    pub at_once_ns: u64,
    /// By how much the first median is longer.
    pub costs_ns: i64,
    /// The interval of that; null under six samples.
    pub ci95_ns: Option<[i64; 2]>,
}

impl HelloRetryComparison {
    /// What it costs, where the interval shows that it costs anything.
    pub fn shown_cost_ns(&self) -> Option<u64> {
        let is_shown = self.ci95_ns.is_some_and(|[low, _]| low > 0);
        u64::try_from(self.costs_ns).ok().filter(|_| is_shown)
    }
}
