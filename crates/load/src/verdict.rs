//! Who was the bottleneck.

use reprise_trace::document::{Bottleneck, LoadCpuLimit, Verdict};

use crate::account::Used;
use crate::cpu::{ServerCpu, Share};
use crate::load::Outcome;
use crate::local_ports::LocalPorts;
use crate::options::Options;

/// From here on a processor is busy.
const BUSY: f64 = 0.9;

/// A server that uses this much of what its busiest process can use has nothing left.
const SATURATED: f64 = 0.95;

/// Who waits for a processor this share of the time is held up by others on this machine.
const HELD_UP: f64 = 0.05;

/// From here on it is not known who would have been busy on a machine of its own.
pub(crate) const CROWDED: f64 = 0.1;

/// A limit that ran out in this share of its periods was all that there was to be had.
const SPENT: f64 = 0.5;

/// The verdict of a load, with its reason.
pub(crate) fn bottleneck(outcome: &Outcome, options: &Options) -> Bottleneck {
    let Used { time, client_limit, server, server_limit, .. } = &outcome.used_until_drain;
    let readings = Readings {
        completed: outcome.tally.completed(),
        held: outcome.held_its_rate(options),
        client: outcome.busiest_thread,
        client_limit: client_limit.clone(),
        server: server.as_ref().map(|cpu| cpu.busiest(*time)),
        server_processes: server.as_ref().map_or(0, ServerCpu::busy_processes),
        server_limit: server_limit.clone(),
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
        client_limit: readings.client_limit,
        server_limit: readings.server_limit,
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
    client_limit: Option<LoadCpuLimit>,
    /// Of the server's busiest process, where it is known.
    server: Option<Share>,
    /// How many of the server's processes were busy.
    server_processes: usize,
    server_limit: Option<LoadCpuLimit>,
    scarce_ports: Option<LocalPorts>,
}

impl Readings {
    fn judge(&self) -> (Verdict, String) {
        let client_busy = percent(self.client.ran);
        // Less is asked for than of one that only ran: a run's first and last moments are in neither share.
        let never_idle = |share: Share| share.waited >= HELD_UP && share.ran + share.waited >= BUSY;
        let spent = |limit: &Option<LoadCpuLimit>| limit.clone().filter(|limit| limit.ran_out() >= SPENT);
        match (self.server, spent(&self.client_limit), spent(&self.server_limit)) {
            _ if self.completed == 0 => (Verdict::Unknown, "no connection that counts completed".to_owned()),
            (_, Some(client), Some(server)) if client.group == server.group => (
                Verdict::Client,
                format!(
                    "generator and server share {}: what one uses the other lacks; run the generator outside that group",
                    told(&client)
                ),
            ),
            (_, _, Some(limit)) => {
                (Verdict::Server, format!("the server has {}: with a higher limit it would do more", told(&limit)))
            }
            (Some(server), ..) if server.ran >= SATURATED => (
                Verdict::Server,
                format!(
                    "{} used {} of the processor time that it can use, the generator's busiest thread {client_busy}",
                    self.server_name(),
                    percent(server.ran)
                ),
            ),
            (_, Some(limit), _) => (Verdict::Client, format!("the generator has {}: raise the limit", told(&limit))),
            _ if self.client.ran >= BUSY => (
                Verdict::Client,
                format!(
                    "the generator's busiest thread used {client_busy} of its processor: {}",
                    self.scarce_ports.map_or("give it more --threads".to_owned(), in_time_wait)
                ),
            ),
            _ if self.held => (Verdict::None, "the rate that was asked for was held".to_owned()),
            (Some(server), ..) if never_idle(server) && !never_idle(self.client) => (
                Verdict::Server,
                format!(
                    "the server's process used {} of a processor and waited {} of the time for one that {}: it was never idle",
                    percent(server.ran),
                    percent(server.waited),
                    not_had(&self.server_limit)
                ),
            ),
            _ if never_idle(self.client) => (
                Verdict::Client,
                format!(
                    "the generator's busiest thread used {client_busy} of a processor and waited {} of the time for one that \
                     {}: {}",
                    percent(self.client.waited),
                    not_had(&self.client_limit),
                    if has_run_out(&self.client_limit) {
                        "raise the limit"
                    } else {
                        "give it a processor of its own (--pin)"
                    }
                ),
            ),
            (server, ..) if self.client.waited.max(server.map_or(0.0, |share| share.waited)) >= CROWDED => {
                let ran_and_waited = |who, share: Share, limit| {
                    format!(
                        "{who} used {} of one and waited {} for one that {}",
                        percent(share.ran),
                        percent(share.waited),
                        not_had(limit)
                    )
                };
                let client = ran_and_waited("the generator's busiest thread", self.client, &self.client_limit);
                let server = server.map(|share| ran_and_waited("the server's busiest process", share, &self.server_limit));
                let both = [Some(client), server].into_iter().flatten().collect::<Vec<_>>().join(", ");
                (Verdict::Unknown, format!("there were too few processors to tell: {both}"))
            }
            (Some(server), ..) => (
                Verdict::Network,
                format!(
                    "neither was busy (server {}, generator {client_busy}): the way between them, the server's other \
                     resources, or too few connections at once",
                    percent(server.ran)
                ),
            ),
            (None, ..) => (
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

/// A limit and how often it ran out, and where to look.
pub(crate) fn told(limit: &LoadCpuLimit) -> String {
    format!(
        "a CPU limit of {}, which ran out in {} of {} periods of {} ms (cgroup {})",
        limit.in_words(),
        limit.throttled_periods,
        limit.periods,
        limit.period_ns as f64 / 1e6,
        limit.group
    )
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

/// Whether a limit has held anybody back.
pub(crate) fn has_run_out(limit: &Option<LoadCpuLimit>) -> bool {
    limit.as_ref().is_some_and(|limit| limit.throttled_periods > 0)
}

/// The kernel counts time in which a group may not run as time in which it waits for a processor.
fn not_had(limit: &Option<LoadCpuLimit>) -> &'static str {
    if has_run_out(limit) { "its CPU limit or others kept from it" } else { "others had" }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
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
            (
                Some(CROWDED_OUT),
                IDLE,
                false,
                Verdict::Unknown,
                "the server's busiest process used 40 % of one and waited 30 %",
            ),
            (
                Some(IDLE),
                CROWDED_OUT,
                false,
                Verdict::Unknown,
                "too few processors to tell: the generator's busiest thread used 40 %",
            ),
            (None, CROWDED_OUT, false, Verdict::Unknown, "waited 30 % for one that others had"),
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

    const NOTHING: Readings = Readings {
        completed: 0,
        held: false,
        client: IDLE,
        client_limit: None,
        server: None,
        server_processes: 1,
        server_limit: None,
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
            let readings = Readings { completed: 1, held, client, client_limit, server, server_limit, ..NOTHING };
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
