//! `some-connections-slow`: a part of the connections takes a step longer than the others in one phase.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, SampleRecord, Severity};
use reprise_model::{Nanos, Phase};
use reprise_stats::TIMEOUT_NS;

use super::{Cause, MeasuredRule, Rule};
use crate::figures::{connections, span};
use crate::series::MeasuredCase;
use crate::slow_connections::{SlowConnections, slow_connections};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 47, find: MeasuredRule::Once(of_measurement) }),
    ..page!("some-connections-slow")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let all = slow_connections(case.figures);
    let worst = all.first()?;
    let pattern = Pattern::of(worst);
    let is_sure = worst.step_ns >= TIMEOUT_NS || pattern != Pattern::Chance;
    let confidence = if is_sure { Confidence::Likely } else { Confidence::Possible };
    let mut evidence = Vec::new();
    for slow in &all {
        evidence.push(medians(slow));
    }
    evidence.extend([pattern.in_words(worst), looks_like(worst).to_owned()]);
    let average = worst.step_ns as f64 * worst.slow.len() as f64 / worst.count() as f64;
    let finding = case.found(&CAUSE, Severity::Risk, confidence, worst.in_words());
    Some(finding.because(evidence).costing(Some(Nanos(average as u64))))
}

/// "connect: 50.1 µs on 14 connections, 1.00 s on 7 (medians)".
fn medians(slow: &SlowConnections<'_>) -> String {
    let phase = slow.phase;
    let median = |samples: &[&SampleRecord]| {
        let times: Vec<u64> = samples.iter().filter_map(|it| it.phases.of(phase)).map(|it| it.0).collect();
        span(reprise_stats::median(&times).unwrap_or_default())
    };
    let (fast, late) = (median(&slow.others), median(&slow.slow));
    format!("{}: {fast} on {}, {late} on {} (medians)", phase.name(), connections(slow.others.len() as u64), slow.slow.len())
}

/// Which connections are the slow ones.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// All to these addresses, and no other to them.
    Address(Vec<String>),
    /// Each so many, in the order in which they were begun.
    Period(u32),
    /// Those that were made one after the other, and no other.
    Stretch,
    /// Any.
    Chance,
}

/// No balancer deals to more in turn than would be told from chance.
const LONGEST_PERIOD: u32 = 16;

impl Pattern {
    fn of(slow: &SlowConnections<'_>) -> Self {
        let addresses = |of: &[&SampleRecord]| of.iter().filter_map(|it| it.address.clone()).collect::<BTreeSet<String>>();
        let (late, fast) = (addresses(&slow.slow), addresses(&slow.others));
        if !late.is_empty() && !fast.is_empty() && late.is_disjoint(&fast) {
            return Self::Address(late.into_iter().collect());
        }
        let indices = |of: &[&SampleRecord]| of.iter().filter_map(|it| it.index).collect::<Vec<u32>>();
        let (late, fast) = (indices(&slow.slow), indices(&slow.others));
        let (Some(first), Some(last)) = (late.iter().min(), late.iter().max()) else { return Self::Chance };
        let in_turn = |period: &u32| {
            let is_of_turn = |index: &u32| index % period == first % period;
            late.iter().all(is_of_turn) && !fast.iter().any(is_of_turn)
        };
        // Three that follow one another by chance are as likely as any other three.
        if late.len() < 3 {
            return Self::Chance;
        }
        if !fast.iter().any(|index| (first..=last).contains(&index)) {
            return Self::Stretch;
        }
        (2..=LONGEST_PERIOD).find(in_turn).map_or(Self::Chance, Self::Period)
    }

    fn in_words(&self, slow: &SlowConnections<'_>) -> String {
        match self {
            Self::Address(addresses) => {
                let (count, fast) = (slow.slow.len(), slow.others.len());
                format!("All {count} went to {}, and none of the other {fast}", addresses.join(", "))
            }
            Self::Period(period) => {
                format!(
                    "One of each {period} in turn: a balancer that takes {period} nodes in turn, of which one is slow or down"
                )
            }
            Self::Stretch => {
                "They were made one after the other, and no other meanwhile: something was slow for a time".to_owned()
            }
            Self::Chance => {
                "They follow no address and no turn: one of several nodes at random, a lost packet, or a queue".to_owned()
            }
        }
    }
}

/// How long Linux waits before it sends a SYN again: after 1 s, and then twice as long each time (RFC 6298).
const SYNS: [std::ops::Range<u64>; 3] =
    [900_000_000..1_300_000_000, 2_800_000_000..3_400_000_000, 6_700_000_000..7_600_000_000];

/// How long an acknowledgement is delayed, by Linux and by others.
const ACKNOWLEDGEMENTS: [std::ops::Range<u64>; 2] = [35_000_000..50_000_000, 190_000_000..230_000_000];

fn looks_like(slow: &SlowConnections<'_>) -> &'static str {
    let is_in = |ranges: &[std::ops::Range<u64>]| ranges.iter().any(|range| range.contains(&slow.step_ns));
    match slow.phase {
        Phase::Resolve => "It looks like a name server that does not answer, so that the next one is asked after a timeout",
        Phase::Connect | Phase::Proxy if is_in(&SYNS) => {
            "It looks like a SYN that is not answered and sent again (after 1, 3 and 7 s): a full queue of the listener, a firewall, \
             a node that is down, or a lost packet"
        }
        Phase::Connect | Phase::Proxy => "It looks like a path or a node that takes longer to accept a connection",
        _ if is_in(&ACKNOWLEDGEMENTS) => {
            "It looks like an acknowledgement that is delayed (40 ms on Linux, 200 ms elsewhere): a server without TCP_NODELAY, `nagle`"
        }
        Phase::Tls | Phase::Starttls if slow.step_ns >= TIMEOUT_NS => {
            "It looks like a balancer that waits in vain for a node of its own before it tries another, or like a lost packet of the \
             handshake: this client's own connection was accepted at once"
        }
        Phase::Tls | Phase::Starttls => "It looks like a node behind the address that is slower than the others",
        Phase::Wait | Phase::Receive | Phase::Total => {
            "It looks like a node behind the address, or something that the application waits for: the handshake was as fast as ever"
        }
    }
}
