//! `nagle`: a server sends one flight in two writes without TCP_NODELAY, and the second waits for an acknowledgement that the
//! client's system delays.

use reprise_probe::diagnose::Seen;
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
    let is_of = |seen: &&Seen| seen.observation.facts().is_some_and(|it| it.version == version);
    let all: Vec<&Seen> = examined.full().filter(is_of).collect();
    let stalls: Vec<u64> = all.iter().copied().filter_map(stall).collect();
    // Once is chance.
    if stalls.len() < 2 || 3 * stalls.len() < 2 * all.len() {
        return None;
    }
    let median = reprise_stats::median(&stalls)?;
    // A server that computes for as long does not wait for acknowledgements.
    let runs = examined.runs("quick-acknowledgement").flat_map(|run| &run.seen).filter(is_of);
    let at_once: Vec<u64> = runs.map(|seen| seen.stall.unwrap_or_default().0).collect();
    let stalled_at_once = reprise_stats::median(&at_once).filter(|at_once| *at_once < median / 2)?;
    let title =
        format!("A full {version} handshake stands still for {}: Nagle against delayed acknowledgements", span(median));
    let evidence = [
        format!(
            "On {} of {}, two messages of one flight of the server came {} apart (median)",
            stalls.len(),
            connections(all.len() as u64),
            span(median),
        ),
        format!(
            "Where each segment was acknowledged at once ({}), {} apart",
            connections(at_once.len() as u64),
            span(stalled_at_once)
        ),
    ];
    let finding = Finding::new("nagle", Severity::Risk, Confidence::Likely, title);
    Some(Finding { cost_ns: Some(Nanos(median)), ..finding }.because(evidence))
}

/// How long the handshake stood still, if that may be for an acknowledgement. On a slow path a wait as long may be a packet that
/// was lost.
fn stall(seen: &Seen) -> Option<u64> {
    let Nanos(round_trip) = seen.observation.phases.connect.unwrap_or_default();
    let Nanos(stall) = seen.stall?;
    (DELAYED.contains(&stall) && stall > 4 * round_trip).then_some(stall)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12, only};
    use reprise_trace::Kind;

    #[test]
    fn two_messages_of_one_flight_forty_milliseconds_apart_are_nagle() {
        let stalled = |ms: u64| {
            let scene = Scene::resuming(TLS12).run("quick-acknowledgement", TLS12, &[Kind::Full; 3]);
            scene.stalls(Nanos(ms * 1_000_000)).stall_in("quick-acknowledgement", Nanos(1_000_000))
        };
        let finding = only(findings, &stalled(41)).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, Some(Nanos(41_000_000))));
        assert_eq!(only(findings, &stalled(5)), None);
        assert_eq!(only(findings, &stalled(900)), None, "no acknowledgement is delayed so long");
        let computing = stalled(41).stall_in("quick-acknowledgement", Nanos(40_000_000));
        assert_eq!(only(findings, &computing), None, "it stands still whenever it is acknowledged");
    }
}
