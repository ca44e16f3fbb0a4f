//! Who was the bottleneck.

use reprise_trace::document::{Bottleneck, Verdict};

use crate::cpu::Share;
use crate::load::Outcome;
use crate::options::Options;

/// From here on a processor is busy.
const BUSY: f64 = 0.9;

/// A server that uses this much of what its busiest process can use has nothing left.
const SATURATED: f64 = 0.95;

/// Who waits for a processor this share of the time is held up by others on this machine.
const HELD_UP: f64 = 0.05;

/// The verdict of a load, with its reason.
pub(crate) fn bottleneck(outcome: &Outcome, options: &Options) -> Bottleneck {
    let server = outcome.server_until_drain.as_ref().filter(|(cpu, _)| !cpu.is_empty());
    let readings = Readings {
        completed: outcome.tally.completed(),
        held: outcome.held_its_rate(options),
        client: outcome.busiest_thread,
        server: server.map(|(cpu, time)| cpu.busiest(*time)),
        server_processes: server.map_or(0, |(cpu, _)| cpu.busy_processes()),
    };
    let (verdict, reason) = readings.judge();
    Bottleneck {
        verdict,
        reason,
        client_busy: readings.client.ran,
        client_waiting: readings.client.waited,
        server_busy: readings.server.map(|share| share.ran),
        server_waiting: readings.server.map(|share| share.waited),
    }
}

/// What a verdict is made of, and nothing else.
#[derive(Clone, Copy, Debug)]
struct Readings {
    completed: u64,
    /// Whether the rate that was asked for was held; never in a closed loop.
    held: bool,
    /// Of the generator's busiest thread.
    client: Share,
    /// Of the server's busiest process, where it is known.
    server: Option<Share>,
    /// How many of the server's processes were busy.
    server_processes: usize,
}

impl Readings {
    fn judge(&self) -> (Verdict, String) {
        let client_busy = percent(self.client.ran);
        // Less is asked for than of one that only ran: a run's first and last moments are in neither share.
        let never_idle = |share: Share| share.waited >= HELD_UP && share.ran + share.waited >= BUSY;
        match self.server {
            _ if self.completed == 0 => (Verdict::Unknown, "no connection completed".to_owned()),
            Some(server) if server.ran >= SATURATED => (
                Verdict::Server,
                format!(
                    "{} used {} of the processor time that it can use, the generator's busiest thread {client_busy}",
                    self.server_name(),
                    percent(server.ran)
                ),
            ),
            _ if self.client.ran >= BUSY => (
                Verdict::Client,
                format!("the generator's busiest thread used {client_busy} of its processor: give it more --threads"),
            ),
            _ if self.held => (Verdict::None, "the rate that was asked for was held".to_owned()),
            Some(server) if never_idle(server) && !never_idle(self.client) => (
                Verdict::Server,
                format!(
                    "the server's process used {} of a processor and waited {} of the time for one that others had: it was \
                     never idle, but the machine was not its own",
                    percent(server.ran),
                    percent(server.waited)
                ),
            ),
            _ if never_idle(self.client) => (
                Verdict::Client,
                format!(
                    "the generator's busiest thread used {client_busy} of a processor and waited {} of the time for one that \
                     others had: give it a processor of its own (--pin)",
                    percent(self.client.waited)
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

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Share = Share { ran: 0.3, waited: 0.01 };
    const BUSY: Share = Share { ran: 0.97, waited: 0.01 };
    const STARVED: Share = Share { ran: 0.5, waited: 0.48 };

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
        ];
        for (server, client, held, expected, says) in cases {
            let readings = Readings { completed: 1, held, client, server, server_processes: 1 };
            let (verdict, reason) = readings.judge();
            assert_eq!(verdict, expected, "{readings:?}");
            assert!(reason.contains(says), "{readings:?}: {reason}");
            assert_eq!(Readings { completed: 0, ..readings }.judge().0, Verdict::Unknown, "{readings:?}");
        }
    }

    #[test]
    fn the_bounds_belong_to_the_busy() {
        let judge = |server: f64, client: f64| {
            let share = |ran| Share { ran, waited: 0.0 };
            Readings { completed: 1, held: false, client: share(client), server: Some(share(server)), server_processes: 3 }
                .judge()
        };
        assert_eq!(judge(SATURATED, 0.0).0, Verdict::Server);
        assert_eq!(judge(SATURATED - 0.01, 0.0).0, Verdict::Network);
        assert_eq!(judge(0.0, super::BUSY).0, Verdict::Client);
        assert_eq!(judge(0.0, super::BUSY - 0.01).0, Verdict::Network);
        assert!(judge(0.99, 0.0).1.contains("busiest of the server's 3 busy processes"));
    }
}
