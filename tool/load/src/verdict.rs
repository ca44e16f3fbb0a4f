//! Who was the bottleneck.

use reprise_model::document::Bottleneck;
use reprise_model::{BottleneckReason, CpuRestraint, LocalPorts, Nanos, ProcessorShare};

use crate::load::LoadOutcome;
use crate::options::LoadOptions;
use crate::resources::Used;
use crate::resources::cpu::ServerCpu;

/// From here on a processor is busy.
const BUSY: f64 = 0.9;

/// A server that uses this much of what its busiest process can use has nothing left.
const SATURATED: f64 = 0.95;

/// Who waits for a processor this share of the time is held up by others on this machine.
const HELD_UP: f64 = 0.05;

/// From here on it is not known who would have been busy on a machine of its own.
pub(crate) const CROWDED: f64 = 0.1;

impl LoadOutcome {
    /// Why whoever was the bottleneck is called so.
    pub fn reason(&self, options: &LoadOptions) -> BottleneckReason {
        Readings::of(self, options).judge()
    }

    /// Who was the bottleneck, without words.
    pub(crate) fn bottleneck(&self, options: &LoadOptions) -> Bottleneck {
        let readings = Readings::of(self, options);
        Bottleneck {
            verdict: readings.judge().verdict(),
            reason: String::new(),
            client_busy: readings.client.ran,
            client_waiting: readings.client.waited,
            server_busy: readings.server.map(|share| share.ran),
            server_waiting: readings.server.map(|share| share.waited),
            client_throttled_ns: readings.client_restraint.throttled.map(|time| Nanos::from(time).0),
            client_limit: readings.client_restraint.limit,
            server_throttled_ns: readings.server_restraint.throttled.map(|time| Nanos::from(time).0),
            server_limit: readings.server_restraint.limit,
        }
    }
}

/// What a verdict is made of, and nothing else.
#[derive(Clone, Debug)]
struct Readings {
    completed: u64,
    target_is_gone: bool,
    /// Whether the requested rate was held; never in a closed loop.
    held: bool,
    /// Of the generator's busiest thread.
    client: ProcessorShare,
    client_restraint: CpuRestraint,
    /// Of the server's busiest process, where it is known.
    server: Option<ProcessorShare>,
    /// How many of the server's processes were busy.
    server_processes: usize,
    server_restraint: CpuRestraint,
    scarce_ports: Option<LocalPorts>,
}

impl Readings {
    fn of(outcome: &LoadOutcome, options: &LoadOptions) -> Self {
        let Used { time, client_restraint, server, server_restraint, .. } = &outcome.used_until_drain;
        Self {
            completed: outcome.summary.completed() + outcome.summary.late,
            target_is_gone: outcome.target_is_gone,
            held: outcome.held_its_rate(options),
            client: outcome.busiest_thread,
            client_restraint: client_restraint.clone(),
            server: server.as_ref().map(|cpu| cpu.busiest(*time)),
            server_processes: server.as_ref().map_or(0, ServerCpu::busy_processes),
            server_restraint: server_restraint.clone(),
            scarce_ports: scarce_ports(outcome, options),
        }
    }

    fn judge(&self) -> BottleneckReason {
        use BottleneckReason as Because;
        // Less is asked for than of one that only ran: a run's first and last moments are in neither share.
        let never_idle = |share: ProcessorShare| share.waited >= HELD_UP && share.ran + share.waited >= BUSY;
        let (of_client, of_server) = (&self.client_restraint, &self.server_restraint);
        let client = self.client;
        match self.server {
            _ if self.completed == 0 => Because::NothingCompleted,
            _ if self.target_is_gone => Because::TargetGone,
            _ if of_client.was_spent() && of_server.was_spent() && of_client.is_shared_with(of_server) => {
                Because::SharedLimit(of_client.clone())
            }
            _ if of_server.was_spent() => Because::ServerLimit(of_server.clone()),
            Some(server) if server.ran >= SATURATED => {
                Because::ServerBusy { processes: self.server_processes, server, client }
            }
            _ if of_client.was_spent() => Because::ClientLimit(of_client.clone()),
            _ if client.ran >= BUSY => Because::ClientBusy { client, scarce_ports: self.scarce_ports },
            _ if self.held => Because::RateHeld,
            Some(server) if never_idle(server) && !never_idle(client) => {
                Because::ServerNeverIdle { server, is_limited: of_server.was_felt() }
            }
            _ if never_idle(client) => Because::ClientNeverIdle { client, is_limited: of_client.was_felt() },
            Some(server) if client.waited.max(server.waited) >= CROWDED => {
                Because::TooFewProcessors { client: (client, of_client.was_felt()), server: (server, of_server.was_felt()) }
            }
            Some(server) => Because::NeitherBusy { server, client },
            None => {
                Because::ServerUnknown { client, has_waited: client.waited >= CROWDED, is_limited: of_client.was_felt() }
            }
        }
    }
}

/// Local ports, where so many of them wait that it takes long to find a free one.
pub(crate) fn scarce_ports(outcome: &LoadOutcome, options: &LoadOptions) -> Option<LocalPorts> {
    outcome.used_until_drain.ports.filter(|ports| options.uses_up_ports() && ports.are_scarce())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reprise_model::document::{LoadCpuLimit, Verdict};

    use super::*;

    const IDLE: ProcessorShare = ProcessorShare { ran: 0.3, waited: 0.01 };
    const BUSY: ProcessorShare = ProcessorShare { ran: 0.97, waited: 0.01 };
    const STARVED: ProcessorShare = ProcessorShare { ran: 0.5, waited: 0.48 };
    /// Idle for a while, but not for as long as it would have been alone.
    const CROWDED_OUT: ProcessorShare = ProcessorShare { ran: 0.4, waited: 0.3 };

    fn holds(readings: &Readings, verdict: Verdict, why: &str) {
        let reason = readings.judge();
        assert_eq!(reason.verdict(), verdict, "{readings:?}: {reason:?}");
        assert!(format!("{reason:?}").starts_with(why), "{readings:?}: {reason:?}");
    }

    #[test]
    fn the_verdict_follows_from_the_readings_alone() {
        let cases = [
            // Server, generator, whether the rate was held; verdict, and the reason.
            (Some(BUSY), IDLE, false, Verdict::Server, "ServerBusy"),
            (Some(BUSY), BUSY, false, Verdict::Server, "ServerBusy"),
            (Some(BUSY), IDLE, true, Verdict::Server, "ServerBusy"),
            (Some(IDLE), BUSY, false, Verdict::Client, "ClientBusy"),
            (Some(STARVED), BUSY, false, Verdict::Client, "ClientBusy"),
            (None, BUSY, false, Verdict::Client, "ClientBusy"),
            (Some(IDLE), IDLE, true, Verdict::None, "RateHeld"),
            (None, IDLE, true, Verdict::None, "RateHeld"),
            (Some(STARVED), IDLE, false, Verdict::Server, "ServerNeverIdle"),
            (Some(STARVED), IDLE, true, Verdict::None, "RateHeld"),
            (Some(IDLE), STARVED, false, Verdict::Client, "ClientNeverIdle"),
            (Some(STARVED), STARVED, false, Verdict::Client, "ClientNeverIdle"),
            (None, STARVED, false, Verdict::Client, "ClientNeverIdle"),
            (Some(IDLE), IDLE, false, Verdict::Network, "NeitherBusy"),
            (
                None,
                IDLE,
                false,
                Verdict::Unknown,
                "ServerUnknown { client: ProcessorShare { ran: 0.3, waited: 0.01 }, has_waited: false",
            ),
            (Some(CROWDED_OUT), IDLE, false, Verdict::Unknown, "TooFewProcessors"),
            (Some(IDLE), CROWDED_OUT, false, Verdict::Unknown, "TooFewProcessors"),
            (
                None,
                CROWDED_OUT,
                false,
                Verdict::Unknown,
                "ServerUnknown { client: ProcessorShare { ran: 0.4, waited: 0.3 }, has_waited: true, is_limited: false",
            ),
            (None, CROWDED_OUT, true, Verdict::None, "RateHeld"),
        ];
        for (server, client, held, expected, why) in cases {
            let readings = Readings { completed: 1, held, client, server, ..NOTHING };
            holds(&readings, expected, why);
            holds(&Readings { completed: 0, ..readings.clone() }, Verdict::Unknown, "NothingCompleted");
            holds(&Readings { target_is_gone: true, ..readings }, Verdict::Unknown, "TargetGone");
        }
    }

    const NO_RESTRAINT: CpuRestraint = CpuRestraint { limit: None, throttled: None, time: Duration::ZERO };

    const NOTHING: Readings = Readings {
        completed: 0,
        target_is_gone: false,
        held: false,
        client: IDLE,
        client_restraint: NO_RESTRAINT,
        server: None,
        server_processes: 1,
        server_restraint: NO_RESTRAINT,
        scarce_ports: None,
    };

    /// Of half a processor, which ran out in so many of a hundred periods.
    fn limit(group: &str, throttled_periods: u64) -> Option<LoadCpuLimit> {
        let (group, period_ns, throttled_ns) = (group.to_owned(), 100_000_000, 0);
        Some(LoadCpuLimit { group, processors: 0.5, period_ns, periods: 100, throttled_periods, throttled_ns })
    }

    #[test]
    fn who_spends_a_limit_is_bound_by_it_and_not_by_others() {
        let unlimited = || None;
        let cases = [
            // Server, its limit, generator, its limit, whether the rate was held; verdict, and the reason.
            (None, unlimited(), STARVED, limit("/c", 97), false, Verdict::Client, "ClientLimit"),
            (None, unlimited(), STARVED, limit("/c", 50), true, Verdict::Client, "ClientLimit"),
            (Some(STARVED), limit("/s", 97), IDLE, limit("/c", 0), false, Verdict::Server, "ServerLimit"),
            (Some(STARVED), limit("/s", 97), STARVED, limit("/c", 97), false, Verdict::Server, "ServerLimit"),
            (Some(BUSY), limit("/s", 97), IDLE, unlimited(), false, Verdict::Server, "ServerLimit"),
            (Some(BUSY), limit("/s", 10), IDLE, limit("/c", 97), false, Verdict::Server, "ServerBusy"),
            (Some(STARVED), limit("/s", 97), STARVED, limit("/s", 97), false, Verdict::Client, "SharedLimit"),
            // Not often enough to be the whole story, nor to be left out of it.
            (
                None,
                unlimited(),
                STARVED,
                limit("/c", 49),
                false,
                Verdict::Client,
                "ClientNeverIdle { client: ProcessorShare { ran: 0.5, waited: 0.48 }, is_limited: true",
            ),
            (
                Some(STARVED),
                limit("/s", 49),
                IDLE,
                unlimited(),
                false,
                Verdict::Server,
                "ServerNeverIdle { server: ProcessorShare { ran: 0.5, waited: 0.48 }, is_limited: true",
            ),
            (
                None,
                unlimited(),
                STARVED,
                limit("/c", 0),
                false,
                Verdict::Client,
                "ClientNeverIdle { client: ProcessorShare { ran: 0.5, waited: 0.48 }, is_limited: false",
            ),
            (
                Some(STARVED),
                limit("/s", 0),
                IDLE,
                unlimited(),
                false,
                Verdict::Server,
                "ServerNeverIdle { server: ProcessorShare { ran: 0.5, waited: 0.48 }, is_limited: false",
            ),
            (Some(IDLE), limit("/s", 49), IDLE, limit("/c", 49), true, Verdict::None, "RateHeld"),
            (Some(IDLE), limit("/s", 49), IDLE, limit("/c", 49), false, Verdict::Network, "NeitherBusy"),
        ];
        for (server, server_limit, client, client_limit, held, expected, why) in cases {
            let [client_restraint, server_restraint] =
                [client_limit, server_limit].map(|limit| CpuRestraint { limit, ..NO_RESTRAINT });
            let readings = Readings { completed: 1, held, client, client_restraint, server, server_restraint, ..NOTHING };
            holds(&readings, expected, why);
        }
    }

    #[test]
    fn the_bounds_belong_to_the_busy() {
        let judge = |server: f64, client: f64| {
            let share = |ran| ProcessorShare { ran, waited: 0.0 };
            let (client, server) = (share(client), Some(share(server)));
            Readings { completed: 1, client, server, server_processes: 3, ..NOTHING }.judge()
        };
        assert_eq!(judge(SATURATED, 0.0).verdict(), Verdict::Server);
        assert_eq!(judge(SATURATED - 0.01, 0.0).verdict(), Verdict::Network);
        assert_eq!(judge(0.0, super::BUSY).verdict(), Verdict::Client);
        assert_eq!(judge(0.0, super::BUSY - 0.01).verdict(), Verdict::Network);
        assert!(matches!(judge(0.99, 0.0), BottleneckReason::ServerBusy { processes: 3, .. }));
        let scarce_ports = Some(LocalPorts { all: 28_232, in_time_wait: 15_595 });
        let reason = Readings { completed: 1, client: BUSY, scarce_ports, ..NOTHING }.judge();
        assert_eq!(reason, BottleneckReason::ClientBusy { client: BUSY, scarce_ports });
        assert_eq!(reason.verdict(), Verdict::Client);
    }
}
