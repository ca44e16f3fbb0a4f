//! `nagle`: a server sends one flight in two writes without TCP_NODELAY, and the second waits for an acknowledgement that the
//! client's system delays.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Version};
use reprise_probe::diagnose::{ProbeRecord, Step, Variation};

use super::examined::Examined;
use crate::figures::{connections, span};

/// Linux delays an acknowledgement by 40 ms, others by up to 200.
const DELAYED: std::ops::Range<u64> = 35_000_000..250_000_000;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(|version| finding(examined, version)).collect()
}

fn finding(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let is_of = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|it| it.version == version);
    let tried: Vec<&ProbeRecord> = examined.runs("quick-acknowledgement").flat_map(|run| &run.seen).filter(is_of).collect();
    let (at_once, plain): (Vec<&ProbeRecord>, Vec<&ProbeRecord>) =
        tried.into_iter().partition(|seen| seen.step == Step::Prime(Variation::AcknowledgesAtOnce));
    let stalls: Vec<u64> = plain.iter().filter_map(|seen| stall(seen)).collect();
    let at_once: Vec<u64> = at_once.iter().map(|seen| seen.stall.unwrap_or_default().0).collect();
    // A server that computes for as long does not wait for acknowledgements, and one that warms up does so on both.
    let (median, median_at_once) = (reprise_stats::median(&stalls)?, reprise_stats::median(&at_once)?);
    if stalls.len() < ENOUGH
        || 3 * stalls.len() < 2 * plain.len()
        || at_once.len() < ENOUGH
        || median_at_once >= stalls.iter().min()? / 2
    {
        return None;
    }
    let title =
        format!("A full {version} handshake stalls for {}: Nagle's algorithm and delayed acknowledgements", span(median));
    let evidence = [
        format!(
            "On {} of {}, two messages of one flight of the server came {} apart (median)",
            stalls.len(),
            connections(plain.len() as u64),
            span(median),
        ),
        format!(
            "On {} in between, of which each segment was acknowledged at once, {}",
            connections(at_once.len() as u64),
            span(median_at_once)
        ),
    ];
    let finding = Finding::new("nagle", Severity::Risk, Confidence::Likely, title);
    Some(finding.because(evidence).costing(Some(Nanos(median))))
}

/// So many of each kind.
const ENOUGH: usize = 3;

/// How long the handshake stood still, if that may be for an acknowledgement. On a slow path a wait as long may be a packet that
/// was lost.
fn stall(seen: &ProbeRecord) -> Option<u64> {
    let Nanos(round_trip) = seen.observation.phases.connect.unwrap_or_default();
    let Nanos(stall) = seen.stall?;
    (DELAYED.contains(&stall) && stall > 4 * round_trip).then_some(stall)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TLS12, only};
    use reprise_model::Kind;

    #[test]
    fn a_flight_that_pauses_for_forty_milliseconds_is_nagle() {
        let kinds = [Kind::Full; 8];
        let with = |plain: u64, at_once: u64| {
            let scene = Scene::resuming(TLS12).run("quick-acknowledgement", TLS12, &kinds);
            let ms = |ms: u64| Nanos(ms * 1_000_000);
            scene.stalls(ms(plain)).stall_in(Step::Prime(Variation::AcknowledgesAtOnce), ms(at_once))
        };
        let stalled = |ms| with(ms, 1);
        let finding = only(findings, &stalled(41)).unwrap();
        assert_eq!((finding.severity, finding.cost_ns), (Severity::Risk, Some(Nanos(41_000_000))));
        assert_eq!(only(findings, &stalled(5)), None);
        assert_eq!(only(findings, &stalled(900)), None, "no acknowledgement is delayed so long");
        assert_eq!(only(findings, &with(41, 40)), None, "it stands still whenever it is acknowledged");
    }
}
