//! Finds out whether one target resumes and what keeps it from it: experiments, each a few connections.

mod data_channel;
mod ended_connections;
mod examiner;
mod experiment;
mod history;
mod judgement;
mod probe_record;
mod rate_limited_connector;
mod spent;
mod steps;
mod variation;

use std::net::SocketAddr;
use std::time::Duration;

use reprise_connection::Fault;
use reprise_model::{AnsweredConnection, Asked, Nanos, Version};

use crate::addresses::DeadAddress;
use crate::failed::FailedConnection;
use crate::hello_retry::RetryComparison;
use crate::series::Series;
pub use data_channel::{DataChannel, DataTransfer, NoTransfer};
pub use ended_connections::EndedConnections;
pub use examiner::{REPEATS, diagnose};
pub use experiment::{CONTROL, EXPERIMENTS, Experiment, Gravity, Needs, Step};
pub use judgement::{Judgement, NodeNames, are_named, key_name};
pub use probe_record::ProbeRecord;
pub use spent::{ServerClock, Spent};
pub use variation::Variation;

/// How much a diagnosis may ask of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnoseLimits {
    /// Connections in all.
    pub connections: u32,
    /// Connections begun in a second, but for those of a burst.
    pub rate: u32,
    /// How long it may take in all.
    pub time: Duration,
    /// Full handshakes between a session's connection and the next, where that is what is varied; none where it is 0.
    pub fill: u32,
    /// Connections at once, where that is what is varied.
    pub burst: u32,
    /// How long to wait before a session is offered, to see whether it is still good; `None` waits a few seconds in all, as the
    /// judge sees fit, and 0 does not wait.
    pub patience: Option<Duration>,
}

impl Default for DiagnoseLimits {
    fn default() -> Self {
        Self { connections: 200, rate: 50, time: Duration::from_secs(60), fill: 0, burst: 8, patience: None }
    }
}

/// What the experiments came to.
#[derive(Default)]
pub struct Examination {
    /// The target's address, as far as this machine knows it.
    pub address: Option<SocketAddr>,
    /// Further addresses that its name has.
    pub other_addresses: Vec<SocketAddr>,
    /// The addresses that were tried before it, in vain.
    pub dead_addresses: Vec<DeadAddress>,
    /// What its responses say that it is.
    pub software: Option<String>,
    /// The experiments that were made, in the order of time.
    pub runs: Vec<ExperimentRun>,
    /// What the judge concludes of each mechanism.
    pub judgements: Vec<Judgement>,
    /// What FTP's data connections came to; `None` where nothing is served by FTP.
    pub data_channel: Option<DataChannel>,
    /// Those that were not, and why.
    pub not_made: Vec<NotMade>,
    /// The connections in which nothing was varied, by version and kind: what `measure` would have seen of them.
    pub series: Vec<Series>,
    /// Connections of TLS 1.3 that are retried, beside the same without a retry; `None` where none were.
    pub retries: Option<RetryComparison>,
    /// Those, and all others whose times are any client's, for whatever experiment they were made.
    pub timed: Vec<Series>,
    /// The versions that the target refused.
    pub refused: Vec<(Version, FailedConnection)>,
    /// What ended it before its time.
    pub ended_by: Option<EarlyEnd>,
    /// Connections that were begun.
    pub connections: u32,
    /// How long it took.
    pub took: Nanos,
    /// What it was allowed.
    pub limits: DiagnoseLimits,
}

impl Examination {
    /// What connections were answered in which nothing is varied, in the order in which they were begun.
    pub fn answered(&self) -> Vec<AnsweredConnection> {
        use Variation::Plain;
        let is_plain = |step| match step {
            Step::Prime(variation) | Step::Control(variation) | Step::Resume(variation) | Step::Early(variation) => {
                variation == Plain
            }
            Step::Chosen | Step::Interpose => true,
            Step::Replay | Step::Wait | Step::Burst => false,
        };
        let all = self.runs.iter().flat_map(ExperimentRun::all).filter(|seen| is_plain(seen.step));
        let mut all: Vec<&ProbeRecord> = all.collect();
        all.sort_unstable_by_key(|seen| seen.observation.index);
        all.into_iter().filter_map(|seen| seen.observation.answered(false)).collect()
    }
}

/// What ended a diagnosis before its time.
#[derive(Clone, Debug, PartialEq)]
pub enum EarlyEnd {
    /// Nothing could be diagnosed.
    Unreachable(FailedConnection),
    /// The target answered at first, and then not any more, not even a connection in which nothing is varied: it may have had
    /// enough of them.
    Blocked {
        /// How many connections had been made by then.
        after: u32,
        /// What it said last.
        fault: Fault,
    },
    /// The limit of connections or of time.
    Limit,
    /// Ctrl-C.
    Interrupted,
}

/// One experiment under one version and mechanism.
pub struct ExperimentRun {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The version and the mechanism.
    pub asked: Asked,
    /// Its connections, in the order in which they were begun.
    pub seen: Vec<ProbeRecord>,
    /// Those of each time that it was made again, since what it showed may have been chance.
    pub repeats: Vec<Vec<ProbeRecord>>,
}

impl ExperimentRun {
    /// Its connections, those of the repeats too.
    pub fn all(&self) -> impl Iterator<Item = &ProbeRecord> {
        self.seen.iter().chain(self.repeats.iter().flatten())
    }
}

/// An experiment that was not made.
#[derive(Clone, Copy, Debug)]
pub struct NotMade {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The version and the mechanism.
    pub asked: Asked,
    /// Why not.
    pub why: Why,
}

/// Why an experiment was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// What it needs does not hold.
    Needs(Needs),
    /// There is nothing to vary: no name is sent, no certificate given.
    NothingToVary,
    /// A limit was reached, or the target had stopped to answer.
    NoTimeLeft,
}
