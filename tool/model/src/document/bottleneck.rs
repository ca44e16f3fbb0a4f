//! Who was the bottleneck of a load.

use serde::{Deserialize, Serialize};

/// Who was the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bottleneck {
    /// Who.
    pub verdict: Verdict,
    /// One sentence.
    pub reason: String,
    /// The share of its processor that the busiest thread of the generator used, 0 to 1.
    pub client_busy: f64,
    /// The share of the time in which it waited for a processor: one that others had, or that its CPU limit kept from it.
    pub client_waiting: f64,
    /// How much of what it can use the server's process used that was nearest to its limit: of one processor by its busiest
    /// thread, or of as many as all its threads may use at once, whichever is more; null where the server was not named.
    pub server_busy: Option<f64>,
    /// The share of the time in which that process waited for a processor; null where the server was not named.
    pub server_waiting: Option<f64>,
    /// The CPU limit that held the generator back most, or else its lowest; null where it is known to have none, or nothing is
    /// known.
    #[serde(default)]
    pub client_limit: Option<LoadCpuLimit>,
    /// The same of the server's processes.
    #[serde(default)]
    pub server_limit: Option<LoadCpuLimit>,
    /// For how long CPU limits held the generator's own group back, summed over processors: those of groups above too, even where
    /// they cannot be seen, as from inside a container. Null where the kernel does not tell.
    #[serde(default)]
    pub client_throttled_ns: Option<u64>,
    /// The same of the groups of the server's processes.
    #[serde(default)]
    pub server_throttled_ns: Option<u64>,
}

/// A limit that a cgroup sets to processor time, as a container's CPU limit is, and how often it ran out until the last
/// connections were begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadCpuLimit {
    /// The group's folder, as the generator sees it.
    pub group: String,
    /// How many processors' time may be used in each period.
    pub processors: f64,
    /// How long a period is.
    pub period_ns: u64,
    /// Periods in which the group had something to run.
    pub periods: u64,
    /// Those of them in which it used up the limit, and was held back until the next.
    pub throttled_periods: u64,
    /// For how long it was held back, summed over processors.
    pub throttled_ns: u64,
}

impl LoadCpuLimit {
    /// The share of the periods in which it ran out, 0 to 1.
    pub fn ran_out(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }

    /// How much it is: `1 processor`, `0.25 processors`.
    pub fn in_words(&self) -> String {
        let processors = (self.processors * 1e3).round() / 1e3;
        format!("{processors} processor{}", if processors == 1.0 { "" } else { "s" })
    }
}

named! {
    /// Who was the bottleneck.
    pub enum Verdict {
        /// The server: it could not have done more.
        Server = "server",
        /// The generator: the figures are its own.
        Client = "client",
        /// Neither was busy: what lies between them, or how many connections there were at once.
        Network = "network",
        /// Nobody: what was asked for was held.
        None = "none",
        /// Not known, since too little is.
        Unknown = "unknown",
    }
}
