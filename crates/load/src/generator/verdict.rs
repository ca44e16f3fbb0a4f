//! Who was the bottleneck.

use std::time::Duration;

use reprise_trace::document::{Bottleneck, Verdict};

use crate::generator::load::Outcome;
use crate::generator::options::Options;
use crate::generator::resources::Used;
use crate::generator::resources::cpu::{ServerCpu, Share};
use crate::generator::resources::local_ports::LocalPorts;
use crate::generator::resources::restraint::Restraint;

/// From here on a processor is busy.
const BUSY: f64 = 0.9;

/// A server that uses this much of what its busiest process can use has nothing left.
const SATURATED: f64 = 0.95;

/// Who waits for a processor this share of the time is held up by others on this machine.
const HELD_UP: f64 = 0.05;

/// From here on it is not known who would have been busy on a machine of its own.
pub(crate) const CROWDED: f64 = 0.1;

/// The verdict of a load, with its reason.
pub(crate) fn bottleneck(outcome: &Outcome, options: &Options) -> Bottleneck {
    let Used { time, client_restraint, server, server_restraint, .. } = &outcome.used_until_drain;
    let readings = Readings {
        completed: outcome.tally.completed(),
        held: outcome.held_its_rate(options),
        client: outcome.busiest_thread,
        client_restraint: client_restraint.clone(),
        server: server.as_ref().map(|cpu| cpu.busiest(*time)),
        server_processes: server.as_ref().map_or(0, ServerCpu::busy_processes),
        server_restraint: server_restraint.clone(),
        scarce_ports: scarce_ports(outcome, options),
    };
    let (verdict, reason) = readings.judge();
    Bottleneck {
        verdict,
        reason,
        client_busy: readings.client.ran,
        client_waiting: readings.client.waited,
        server_busy: readings.server.map(|share| share.ran),
        server_waiting: readings.server.map(|share| share.waited),
        client_throttled_ns: readings.client_restraint.throttled.map(nanos),
        client_limit: readings.client_restraint.limit,
        server_throttled_ns: readings.server_restraint.throttled.map(nanos),
        server_limit: readings.server_restraint.limit,
    }
}

/// What a verdict is made of, and nothing else.
#[derive(Clone, Debug)]
struct Readings {
    completed: u64,
    /// Whether the rate that was asked for was held; never in a closed loop.
    held: bool,
    /// Of the generator's busiest thread.
    client: Share,
    client_restraint: Restraint,
    /// Of the server's busiest process, where it is known.
    server: Option<Share>,
    /// How many of the server's processes were busy.
    server_processes: usize,
    server_restraint: Restraint,
    scarce_ports: Option<LocalPorts>,
}

impl Readings {
    fn judge(&self) -> (Verdict, String) {
        let client_busy = percent(self.client.ran);
        // Less is asked for than of one that only ran: a run's first and last moments are in neither share.
        let never_idle = |share: Share| share.waited >= HELD_UP && share.ran + share.waited >= BUSY;
        let (of_client, of_server) = (&self.client_restraint, &self.server_restraint);
        match self.server {
            _ if self.completed == 0 => (Verdict::Unknown, "no connection that counts completed".to_owned()),
            _ if of_client.was_spent() && of_server.was_spent() && of_client.is_shared_with(of_server) => (
                Verdict::Client,
                format!(
                    "generator and server share {}: what one uses the other lacks; run the generator outside that group",
                    of_client.told()
                ),
            ),
            _ if of_server.was_spent() => {
                (Verdict::Server, format!("the server has {}: with a higher limit it would do more", of_server.told()))
            }
            Some(server) if server.ran >= SATURATED => (
                Verdict::Server,
                format!(
                    "{} used {} of the processor time that it can use, the generator's busiest thread {client_busy}",
                    self.server_name(),
                    percent(server.ran)
                ),
            ),
            _ if of_client.was_spent() => {
                (Verdict::Client, format!("the generator has {}: raise the limit", of_client.told()))
            }
            _ if self.client.ran >= BUSY => (
                Verdict::Client,
                format!(
                    "the generator's busiest thread used {client_busy} of its processor: {}",
                    self.scarce_ports.map_or("give it more --threads".to_owned(), in_time_wait)
                ),
            ),
            _ if self.held => (Verdict::None, "the rate that was asked for was held".to_owned()),
            Some(server) if never_idle(server) && !never_idle(self.client) => (
                Verdict::Server,
                format!(
                    "the server's process used {} of a processor and waited {} of the time for one that {}: it was never idle",
                    percent(server.ran),
                    percent(server.waited),
                    of_server.kept()
                ),
            ),
            _ if never_idle(self.client) => (
                Verdict::Client,
                format!(
                    "the generator's busiest thread used {client_busy} of a processor and waited {} of the time for one that \
                     {}: {}",
                    percent(self.client.waited),
                    of_client.kept(),
                    if of_client.was_felt() { "raise the limit" } else { "give it a processor of its own (--pin)" }
                ),
            ),
            Some(server) if self.client.waited.max(server.waited) >= CROWDED => (
                Verdict::Unknown,
                format!(
                    "there were too few processors to tell: the generator's busiest thread used {client_busy} of one and waited {} \
                     for one that {}, the server's busiest process used {} and waited {} for one that {}",
                    percent(self.client.waited),
                    of_client.kept(),
                    percent(server.ran),
                    percent(server.waited),
                    of_server.kept()
                ),
            ),
            Some(server) => (
                Verdict::Network,
                format!(
                    "neither was busy (server {}, generator {client_busy}): the way between them, the server's other \
                     resources, or too few connections at once",
                    percent(server.ran)
                ),
            ),
            None if self.client.waited >= CROWDED => (
                Verdict::Unknown,
                format!(
                    "the generator's busiest thread used {client_busy} of a processor, waited {} of the time for one that {}, and \
                     was idle for the rest, so it was not the generator alone; --server-pid tells more of the server",
                    percent(self.client.waited),
                    of_client.kept()
                ),
            ),
            None => (
                Verdict::Unknown,
                format!(
                    "the generator's busiest thread used {client_busy} of its processor, so it was not the generator; \
                     --server-pid tells more of the server"
                ),
            ),
        }
    }

    fn server_name(&self) -> String {
        match self.server_processes {
            0 | 1 => "the server's process".to_owned(),
            processes => format!("the busiest of the server's {processes} busy processes"),
        }
    }
}

/// Local ports, where so many of them wait that it takes long to find a free one.
pub(crate) fn scarce_ports(outcome: &Outcome, options: &Options) -> Option<LocalPorts> {
    outcome.used_until_drain.ports.filter(|ports| options.uses_up_ports() && ports.are_scarce())
}

/// What they do, and what to do about them.
pub(crate) fn in_time_wait(ports: LocalPorts) -> String {
    format!(
        "{} of {} local ports are in TIME_WAIT, among which a free one takes long to find; --close rst leaves none there, or \
         widen net.ipv4.ip_local_port_range",
        ports.in_time_wait, ports.all
    )
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use reprise_trace::document::LoadCpuLimit;

    use super::*;

    const IDLE: Share = Share { ran: 0.3, waited: 0.01 };
    const BUSY: Share = Share { ran: 0.97, waited: 0.01 };
    const STARVED: Share = Share { ran: 0.5, waited: 0.48 };
    /// Idle for a while, but not for as long as it would have been alone.
    const CROWDED_OUT: Share = Share { ran: 0.4, waited: 0.3 };

    #[test]
    fn the_verdict_follows_from_the_readings_alone() {
        let cases = [
            // Server, generator, whether the rate was held; verdict, and what its reason must say.
            (Some(BUSY), IDLE, false, Verdict::Server, "used 97 % of the processor time that it can use"),
            (Some(BUSY), BUSY, false, Verdict::Server, "generator's busiest thread 97 %"),
            (Some(BUSY), IDLE, true, Verdict::Server, "used 97 %"),
            (Some(IDLE), BUSY, false, Verdict::Client, "--threads"),
            (Some(STARVED), BUSY, false, Verdict::Client, "--threads"),
            (None, BUSY, false, Verdict::Client, "--threads"),
            (Some(IDLE), IDLE, true, Verdict::None, "was held"),
            (None, IDLE, true, Verdict::None, "was held"),
            (Some(STARVED), IDLE, false, Verdict::Server, "waited 48 % of the time"),
            (Some(STARVED), IDLE, true, Verdict::None, "was held"),
            (Some(IDLE), STARVED, false, Verdict::Client, "--pin"),
            (Some(STARVED), STARVED, false, Verdict::Client, "--pin"),
            (None, STARVED, false, Verdict::Client, "--pin"),
            (Some(IDLE), IDLE, false, Verdict::Network, "server 30 %, generator 30 %"),
            (None, IDLE, false, Verdict::Unknown, "--server-pid"),
            (Some(CROWDED_OUT), IDLE, false, Verdict::Unknown, "the server's busiest process used 40 % and waited 30 %"),
            (
                Some(IDLE),
                CROWDED_OUT,
                false,
                Verdict::Unknown,
                "too few processors to tell: the generator's busiest thread used 40 %",
            ),
            (None, CROWDED_OUT, false, Verdict::Unknown, "waited 30 % of the time for one that others had, and was idle"),
            (None, CROWDED_OUT, true, Verdict::None, "was held"),
        ];
        for (server, client, held, expected, says) in cases {
            let readings = Readings { completed: 1, held, client, server, ..NOTHING };
            let (verdict, reason) = readings.judge();
            assert_eq!(verdict, expected, "{readings:?}");
            assert!(reason.contains(says), "{readings:?}: {reason}");
            assert_eq!(Readings { completed: 0, ..readings.clone() }.judge().0, Verdict::Unknown, "{readings:?}");
        }
    }

    const NO_RESTRAINT: Restraint = Restraint { limit: None, throttled: None, time: Duration::ZERO };

    const NOTHING: Readings = Readings {
        completed: 0,
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
            // Server, its limit, generator, its limit, whether the rate was held; verdict, and what its reason must say.
            (
                None,
                unlimited(),
                STARVED,
                limit("/c", 97),
                false,
                Verdict::Client,
                "0.5 processors, which ran out in 97 of 100",
            ),
            (
                None,
                unlimited(),
                STARVED,
                limit("/c", 50),
                true,
                Verdict::Client,
                "periods of 100 ms (cgroup /c): raise the limit",
            ),
            (
                Some(STARVED),
                limit("/s", 97),
                IDLE,
                limit("/c", 0),
                false,
                Verdict::Server,
                "the server has a CPU limit of 0.5",
            ),
            (Some(STARVED), limit("/s", 97), STARVED, limit("/c", 97), false, Verdict::Server, "(cgroup /s): with a higher"),
            (Some(BUSY), limit("/s", 97), IDLE, unlimited(), false, Verdict::Server, "ran out in 97"),
            (Some(BUSY), limit("/s", 10), IDLE, limit("/c", 97), false, Verdict::Server, "used 97 % of the processor time"),
            (Some(STARVED), limit("/s", 97), STARVED, limit("/s", 97), false, Verdict::Client, "share a CPU limit"),
            // Not often enough to be the whole story, nor to be left out of it.
            (
                None,
                unlimited(),
                STARVED,
                limit("/c", 49),
                false,
                Verdict::Client,
                "its CPU limit or others kept from it: raise",
            ),
            (
                Some(STARVED),
                limit("/s", 49),
                IDLE,
                unlimited(),
                false,
                Verdict::Server,
                "its CPU limit or others kept from it",
            ),
            (None, unlimited(), STARVED, limit("/c", 0), false, Verdict::Client, "that others had: give it a processor"),
            (Some(STARVED), limit("/s", 0), IDLE, unlimited(), false, Verdict::Server, "that others had"),
            (Some(IDLE), limit("/s", 49), IDLE, limit("/c", 49), true, Verdict::None, "was held"),
            (Some(IDLE), limit("/s", 49), IDLE, limit("/c", 49), false, Verdict::Network, "neither was busy"),
        ];
        for (server, server_limit, client, client_limit, held, expected, says) in cases {
            let [client_restraint, server_restraint] =
                [client_limit, server_limit].map(|limit| Restraint { limit, ..NO_RESTRAINT });
            let readings = Readings { completed: 1, held, client, client_restraint, server, server_restraint, ..NOTHING };
            let (verdict, reason) = readings.judge();
            assert_eq!(verdict, expected, "{readings:?}: {reason}");
            assert!(reason.contains(says), "{readings:?}: {reason}");
        }
    }

    #[test]
    fn the_bounds_belong_to_the_busy() {
        let judge = |server: f64, client: f64| {
            let share = |ran| Share { ran, waited: 0.0 };
            let (client, server) = (share(client), Some(share(server)));
            Readings { completed: 1, client, server, server_processes: 3, ..NOTHING }.judge()
        };
        assert_eq!(judge(SATURATED, 0.0).0, Verdict::Server);
        assert_eq!(judge(SATURATED - 0.01, 0.0).0, Verdict::Network);
        assert_eq!(judge(0.0, super::BUSY).0, Verdict::Client);
        assert_eq!(judge(0.0, super::BUSY - 0.01).0, Verdict::Network);
        assert!(judge(0.99, 0.0).1.contains("busiest of the server's 3 busy processes"));
        let scarce_ports = Some(LocalPorts { all: 28_232, in_time_wait: 15_595 });
        let (verdict, reason) = Readings { completed: 1, client: BUSY, scarce_ports, ..NOTHING }.judge();
        assert_eq!(verdict, Verdict::Client);
        assert!(reason.contains("15595 of 28232 local ports") && !reason.contains("--threads"), "{reason}");
    }
}
