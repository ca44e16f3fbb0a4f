//! What is to be known of a load beside its figures, as numbers: who was the bottleneck and why, and when not to trust the
//! figures. `reprise-results` words them.

use std::time::Duration;

use crate::document::{LoadCpuLimit, Verdict};
use crate::{FaultName, Kind, Nanos, Phase};

/// Why somebody is called the bottleneck of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum BottleneckReason {
    /// No connection that counts completed.
    NothingCompleted,
    /// The target died, and processor times include the time after it.
    TargetGone,
    /// Both sides have spent one and the same CPU limit.
    SharedLimit(CpuRestraint),
    /// The server has spent its CPU limit.
    ServerLimit(CpuRestraint),
    /// The server used all the processor time that it can.
    ServerBusy {
        /// How many of its processes were busy.
        processes: usize,
        /// What its busiest process used.
        server: ProcessorShare,
        /// What the generator's busiest thread used.
        client: ProcessorShare,
    },
    /// The generator has spent its CPU limit.
    ClientLimit(CpuRestraint),
    /// The generator's busiest thread used all of its processor.
    ClientBusy {
        /// What it used.
        client: ProcessorShare,
        /// Local ports, where they are what keeps it busy.
        scarce_ports: Option<LocalPorts>,
    },
    /// The rate that was asked for was held.
    RateHeld,
    /// A search found no rate of which the latency was kept, though connections came about at the last of them.
    LatencyMissed,
    /// The server was never idle, though others had its processor for a part of the time.
    ServerNeverIdle {
        /// What its busiest process used.
        server: ProcessorShare,
        /// Whether a CPU limit was among what held it back.
        is_limited: bool,
    },
    /// The same of the generator's busiest thread.
    ClientNeverIdle {
        /// What it used.
        client: ProcessorShare,
        /// Whether a CPU limit was among what held it back.
        is_limited: bool,
    },
    /// Both waited for processors, so that nobody knows who would have been busy without the others.
    TooFewProcessors {
        /// What the generator's busiest thread used, and whether a CPU limit held it back.
        client: (ProcessorShare, bool),
        /// What the server's busiest process used, and whether one held it back.
        server: (ProcessorShare, bool),
    },
    /// Neither was busy.
    NeitherBusy {
        /// What the server's busiest process used.
        server: ProcessorShare,
        /// What the generator's busiest thread used.
        client: ProcessorShare,
    },
    /// It was not the generator alone, and nothing is known of the server.
    ServerUnknown {
        /// What the generator's busiest thread used.
        client: ProcessorShare,
        /// Whether it waited for a processor for a part of the time.
        has_waited: bool,
        /// Whether a CPU limit held it back.
        is_limited: bool,
    },
}

impl BottleneckReason {
    /// Who it was.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::ServerLimit(_) | Self::ServerBusy { .. } | Self::ServerNeverIdle { .. } => Verdict::Server,
            Self::SharedLimit(_) | Self::ClientLimit(_) | Self::ClientBusy { .. } | Self::ClientNeverIdle { .. } => {
                Verdict::Client
            }
            Self::NeitherBusy { .. } => Verdict::Network,
            Self::RateHeld => Verdict::None,
            Self::NothingCompleted
            | Self::TargetGone
            | Self::LatencyMissed
            | Self::TooFewProcessors { .. }
            | Self::ServerUnknown { .. } => Verdict::Unknown,
        }
    }

    /// The CPU limit that it is about.
    pub fn limit(&self) -> Option<&CpuRestraint> {
        match self {
            Self::SharedLimit(limit) | Self::ServerLimit(limit) | Self::ClientLimit(limit) => Some(limit),
            _ => None,
        }
    }
}

/// Something that the reader should know before believing the figures of a load; what its document holds already is not
/// repeated here.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadNotice {
    /// The target had gone when the load ended.
    TargetGone,
    /// The generator was busy for so much of the time that its own waiting is part of the latencies. `scarce_ports`: it looked
    /// for local ports.
    ClientBusy {
        /// Whether local ports are what kept it busy.
        scarce_ports: bool,
    },
    /// The server's processor time is known, and yet not what a full and a resumed connection cost it.
    CostsUnknown,
    /// Too short for a rate to be relied on.
    TooShort,
    /// Local ports wait in TIME_WAIT, and free ones take long to find.
    ScarcePorts(LocalPorts),
    /// The seconds differ more than by chance.
    UnevenSeconds {
        /// Connections in the slowest second.
        least: u64,
        /// In the fastest.
        most: u64,
    },
    /// A CPU limit held the generator back. `is_the_reason`: it is why the generator is called the bottleneck.
    ClientLimited {
        /// The limit.
        limit: CpuRestraint,
        /// Whether the reason of the bottleneck tells of it.
        is_the_reason: bool,
    },
    /// A CPU limit held the server back, and the reason of the bottleneck does not tell of it.
    ServerLimited(CpuRestraint),
    /// Others used the processors for this share of the time.
    Crowded {
        /// 0 to 1.
        waited: f64,
    },
    /// Connections failed for a reason that this side can do something about.
    Failures {
        /// Which.
        fault: FaultName,
        /// How many, those of the warm-up included.
        count: u64,
    },
    /// Connections completed after a HelloRetryRequest.
    HelloRetries,
    /// A part of the connections took a step longer than the others in one phase.
    SomeSlow {
        /// The phase.
        phase: Phase,
        /// How many took it.
        slow: u64,
        /// Of so many that have the phase.
        of: u64,
        /// How much longer.
        step: Nanos,
    },
    /// Connections were due and never began, those of the warm-up included.
    NotStarted {
        /// How many.
        count: u64,
    },
    /// Connections failed by a name that leaves open what was wrong: the document says what the first of them said.
    Reasoned(FaultName),
    /// Fewer connections at once than were asked for, since descriptors are limited.
    FewerConnections(DescriptorShortage),
    /// Connections of the warm-up failed.
    WarmupFailures,
    /// So many connections failed that the latencies are those of the others.
    ManyFailures,
    /// Responses had an HTTP status of 400 or above.
    ErrorResponses,
    /// Resumed connections are answered otherwise than full ones.
    AnswersDiffer,
    /// A kind was asked for, and none of it came about.
    NeverResumed(Kind),
    /// Full handshakes were made because no ticket was left, since no connection that resumed brought a new one.
    NoTicketOnResumption,
    /// Sessions were offered and refused; what may have cost them, if anything of the load's own making.
    SessionsRefused(Option<RefusalCause>),
    /// Server and generator share this machine, and nobody said which process the server is.
    SharedMachine,
}

/// Why sessions may have been refused that another way to load would have kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCause {
    /// Tickets of TLS 1.3 were offered more than once (RFC 9846 §8.1).
    TicketsReused,
    /// Connections were reset: a session whose connection ended with a fatal alert is not resumed (RFC 5246 §7.2.2), and
    /// OpenSSL's cache takes a reset for no better.
    ConnectionsReset,
}

/// A number of connections at once that the descriptor limit has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorShortage {
    /// Connections that were asked for.
    pub wanted: usize,
    /// Connections that there is room for.
    pub room: usize,
    /// The limit, RLIMIT_NOFILE.
    pub limit: u64,
}

/// Of a time, the shares in which somebody ran on a processor and waited for one, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessorShare {
    /// Ran.
    pub ran: f64,
    /// Was ready to run, and did not.
    pub waited: f64,
}

/// How many local ports there are, and how many of them are in TIME_WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalPorts {
    /// All.
    pub all: u64,
    /// Those in TIME_WAIT.
    pub in_time_wait: u64,
}

impl LocalPorts {
    /// Linux looks through every second port first: once those are taken, each search goes through all of them.
    pub fn are_scarce(self) -> bool {
        self.in_time_wait.saturating_mul(5) >= self.all.saturating_mul(2)
    }
}

/// A limit that ran out in this share of its periods was all that there was to be had.
const SPENT: f64 = 0.5;

/// Of a limit that cannot be seen, the periods are not known: it was spent if it held its group back for this share of the time.
const HELD_BACK: f64 = 0.1;

/// What CPU limits did to the generator or to the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuRestraint {
    /// The one that held it back most, of those that can be seen.
    pub limit: Option<LoadCpuLimit>,
    /// For how long any did, summed over processors; `None` where the kernel does not tell.
    pub throttled: Option<Duration>,
    /// In how long a time.
    pub time: Duration,
}

impl CpuRestraint {
    /// Whether it was held back at all.
    pub fn was_felt(&self) -> bool {
        self.ran_out() || self.throttled.is_some_and(|time| !time.is_zero())
    }

    /// Whether there was nothing more to be had.
    pub fn was_spent(&self) -> bool {
        match &self.limit {
            Some(limit) if self.ran_out() => limit.ran_out() >= SPENT,
            _ => self.throttled.is_some_and(|time| time.as_secs_f64() >= HELD_BACK * self.time.as_secs_f64().max(1e-9)),
        }
    }

    /// Whether both have the same limit, and not one like the other's.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        let group = |restraint: &Self| restraint.limit.as_ref().map(|limit| limit.group.clone());
        self.ran_out() && other.ran_out() && group(self) == group(other)
    }

    /// Whether a limit that can be seen ran out.
    pub fn ran_out(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.throttled_periods > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_limit_shows_in_what_it_did() {
        let hidden = |limit, millis| CpuRestraint {
            limit,
            throttled: Some(Duration::from_millis(millis)),
            time: Duration::from_secs(3),
        };
        let spent = hidden(None, 1_700);
        assert!(spent.was_spent() && spent.was_felt());
        assert!(!hidden(None, 299).was_spent() && hidden(None, 299).was_felt() && !hidden(None, 0).was_felt());
        // One that can be seen, and did not run out, is not to blame.
        let (group, period_ns, periods) = ("/c".to_owned(), 100_000_000, 30);
        let seen = LoadCpuLimit { group, processors: 2.0, period_ns, periods, throttled_periods: 0, throttled_ns: 0 };
        assert!(!hidden(Some(seen.clone()), 1_700).ran_out());
        assert!(!hidden(Some(seen), 1_700).is_shared_with(&spent));
        assert!(!CpuRestraint::default().was_spent() && !CpuRestraint::default().was_felt());
    }
}
