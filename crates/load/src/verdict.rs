//! Who was the bottleneck, and when the figures must not be trusted.

use reprise_trace::document::{Bottleneck, LoadDocument, Verdict};

use crate::cpu::Share;
use crate::load::Outcome;
use crate::options::{Arrival, Options};

/// From here on a processor is busy.
const BUSY: f64 = 0.9;

/// A server that uses this much of one processor in its busiest process has nothing left.
const SATURATED: f64 = 0.95;

/// Who waits this share of the time for a processor is held up by others on this machine.
const CROWDED: f64 = 0.1;

/// From here on the generator's own waiting is part of the latencies.
const SUSPECT: f64 = 0.8;

/// The share of a rate that must have been held for it to count as held.
const HELD: f64 = 0.98;

pub(crate) fn bottleneck(outcome: &Outcome, options: &Options) -> Bottleneck {
    let client = outcome.busiest_thread;
    let client_busy = client.ran;
    let server = outcome.server_cpu.as_ref().filter(|cpu| !cpu.is_empty());
    let server_share = server.map(|cpu| cpu.busiest(outcome.elapsed + options.warmup));
    let server_busy = server_share.map(|share| share.ran);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let held = match options.arrival {
        Arrival::Open { rate, .. } => {
            let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
            outcome.tally.completed() as f64 >= HELD * rate * (seconds - options.ramp.as_secs_f64() / 2.0).max(0.0)
        }
        Arrival::Closed { .. } => false,
    };
    let runnable = |share: Share| share.ran + share.waited;
    let (verdict, reason) = match server_share {
        _ if outcome.tally.completed() == 0 => (Verdict::Unknown, "no connection completed".to_owned()),
        Some(share) if share.ran >= SATURATED => {
            let processes = server.map_or(0, |cpu| cpu.busy_processes());
            let of = if processes > 1 {
                format!("the busiest of the server's {processes} busy processes")
            } else {
                "the server's process".to_owned()
            };
            (
                Verdict::Server,
                format!(
                    "{of} used {} of a processor, the generator's busiest thread {}",
                    percent(share.ran),
                    percent(client_busy)
                ),
            )
        }
        _ if client_busy >= BUSY => (
            Verdict::Client,
            format!("the generator's busiest thread used {} of its processor: give it more --threads", percent(client_busy)),
        ),
        _ if held => (Verdict::None, "the rate that was asked for was held".to_owned()),
        Some(share) if runnable(share) >= SATURATED && runnable(client) < SATURATED => (
            Verdict::Server,
            format!(
                "the server's process used {} of a processor and waited {} of the time for one that others had: it was \
                 never idle, but the machine was not its own",
                percent(share.ran),
                percent(share.waited)
            ),
        ),
        _ if runnable(client) >= SATURATED => (
            Verdict::Client,
            format!(
                "the generator's busiest thread used {} of a processor and waited {} of the time for one that others had: \
                 give it a processor of its own (--pin)",
                percent(client_busy),
                percent(client.waited)
            ),
        ),
        Some(Share { ran: busy, .. }) => (
            Verdict::Network,
            format!(
                "neither was busy (server {}, generator {}): the way between them, the server's other resources, or too few connections at once",
                percent(busy),
                percent(client_busy)
            ),
        ),
        None => (
            Verdict::Unknown,
            format!(
                "the generator's busiest thread used {} of its processor, so it was not the generator; --server-pid tells more of the server",
                percent(client_busy)
            ),
        ),
    };
    Bottleneck {
        verdict,
        reason,
        client_busy,
        client_waiting: client.waited,
        server_busy,
        server_waiting: server_share.map(|share| share.waited),
    }
}

/// Why the figures of this document may mislead.
pub(crate) fn warnings(document: &LoadDocument, options: &Options) -> Vec<String> {
    let mut warnings = Vec::new();
    if document.bottleneck.client_busy >= SUSPECT {
        warnings.push(format!(
            "the generator was busy {:.0} % of the time: latencies hold its own waiting, and the rate may be its own; give it more --threads",
            document.bottleneck.client_busy * 100.0
        ));
    }
    let whole = document.rate.per_second.split_last().map_or(&[][..], |(_, whole)| whole);
    if let (Some(least), Some(most)) = (whole.iter().min(), whole.iter().max())
        && whole.len() >= 3
        && (*most as f64) > 1.5 * (*least).max(1) as f64
        && options.ramp <= options.warmup
    {
        warnings.push(format!("the seconds differ much, from {least} to {most} connections: something else was at work"));
    }
    let waiting = document.bottleneck.client_waiting.max(document.bottleneck.server_waiting.unwrap_or_default());
    if waiting >= CROWDED {
        warnings.push(format!(
            "processors were waited for {:.0} % of the time, since others used them: rates are lower and latencies longer than on a quiet machine",
            waiting * 100.0
        ));
    }
    for (name, advice) in [
        (
            "ports_exhausted",
            "local ports ran out: --close rst leaves none in TIME_WAIT; or widen net.ipv4.ip_local_port_range",
        ),
        ("descriptor_limit", "descriptors ran out: raise the limit (ulimit -n), or use fewer connections"),
        (
            "hello_retry_request",
            "the server wants another group first, with which those that followed began: name it first in --groups",
        ),
        (
            "not_started",
            "connections that were due found no place: the rate is beyond reach, or --connections is too low for it",
        ),
    ] {
        if let Some(count) = document.errors.get(name) {
            warnings.push(format!("{count} × {name}: {advice}"));
        }
    }
    let attempts = document.total_completed() + document.total_errors();
    if document.total_errors() * 100 > attempts {
        warnings.push(format!(
            "{} of {attempts} connections failed: latencies are those of the others",
            document.total_errors()
        ));
    }
    let resumable = options.mix.iter().any(|(kind, _)| *kind != reprise_trace::Kind::Full);
    if resumable && document.refused * 100 > document.total_completed() {
        warnings
            .push(format!("{} sessions were offered and refused: the server does not resume each time", document.refused));
    }
    if !options.address.ip().is_loopback() {
        return warnings;
    }
    if options.server_pid.is_none() {
        warnings
            .push("server and generator share this machine: --server-pid tells whose processor time was whose".to_owned());
    }
    warnings
}
