//! `nagle`: a server sends one flight in two writes without TCP_NODELAY, and the second waits for an acknowledgement that the
//! client's system delays.

use reprise_trace::document::{Confidence, Finding, Severity};
use reprise_trace::{Nanos, Version};

use super::examined::Examined;
use crate::figures::{connections, span};

/// Linux delays an acknowledgement by 40 ms, others by up to 200.
const DELAYED: std::ops::Range<u64> = 35_000_000..250_000_000;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(examined, version)).collect()
}

fn finding(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let is_of = |seen: &&reprise_probe::diagnose::Seen| seen.observation.facts().is_some_and(|it| it.version == version);
    let mut all = Vec::new();
    let mut stalls = Vec::new();
    for seen in examined.full().filter(is_of) {
        let Nanos(round_trip) = seen.observation.phases.connect.unwrap_or_default();
        let stall = seen.stall.unwrap_or_default().0;
        all.push(seen);
        // On a slow path a wait as long may be a packet that was lost.
        if DELAYED.contains(&stall) && stall > 4 * round_trip {
            stalls.push(stall);
        }
    }
    // Once is chance.
    if stalls.len() < 2 || 3 * stalls.len() < 2 * all.len() {
        return None;
    }
    let median = reprise_stats::median(&stalls)?;
    let title =
        format!("A full {version} handshake stands still for {}: Nagle against delayed acknowledgements", span(median));
    let finding = Finding::new("nagle", Severity::Risk, Confidence::Likely, title);
    let cost_ns = Some(Nanos(median));
    Some(Finding { cost_ns, ..finding }.because([format!(
        "On {} of {}, two messages of one flight of the server came {} apart (median), at a round trip of {}",
        stalls.len(),
        connections(all.len() as u64),
        span(median),
        span(reprise_stats::median(
            &all.iter().filter_map(|it| Some(it.observation.phases.connect?.0)).collect::<Vec<_>>()
        )?),
    )]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12, only};

    #[test]
    fn two_messages_of_one_flight_forty_milliseconds_apart_are_nagle() {
        let stalled = |ms: u64| Scene::resuming(TLS12).stalls(Nanos(ms * 1_000_000));
        let finding = only(findings, &stalled(41)).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, Some(Nanos(41_000_000))));
        assert_eq!(only(findings, &stalled(5)), None);
        assert_eq!(only(findings, &stalled(900)), None, "no acknowledgement is delayed so long");
    }
}
