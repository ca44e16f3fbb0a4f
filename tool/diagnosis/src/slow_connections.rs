//! Connections of which some take a step longer than the others in one phase: two modes, of which the median tells neither.

use std::collections::BTreeMap;

use reprise_model::document::{MeasureDocument, Run, SampleRecord};
use reprise_model::{Kind, Phase, Version};
use reprise_stats::{STEP_NS, TIMEOUT_NS, upper_mode};

use crate::figures::{connections, span};

/// The phases that a step may be in.
const PHASES: [Phase; 7] =
    [Phase::Resolve, Phase::Connect, Phase::Proxy, Phase::Starttls, Phase::Tls, Phase::Wait, Phase::Receive];

/// The connections that were slow in one phase, and the others.
pub struct SlowConnections<'a> {
    /// The phase.
    pub phase: Phase,
    /// Those that took a step longer, in the order of the document.
    pub slow: Vec<&'a SampleRecord>,
    /// The others.
    pub others: Vec<&'a SampleRecord>,
    /// How much longer they took beside the fastest of their version and kind: a difference of medians, in nanoseconds.
    pub step_ns: u64,
}

/// Those of each phase in which some are slow, the largest step first. Each connection is compared with the fastest of its version and
/// kind, so that what a kind always takes is no step.
pub fn slow_connections(document: &MeasureDocument) -> Vec<SlowConnections<'_>> {
    let mut found: Vec<SlowConnections<'_>> = PHASES.iter().filter_map(|phase| of_phase(document, *phase)).collect();
    found.sort_by_key(|it| std::cmp::Reverse(it.step_ns));
    found
}

fn of_phase(document: &MeasureDocument, phase: Phase) -> Option<SlowConnections<'_>> {
    let timed: Vec<(&SampleRecord, u64)> =
        document.samples.iter().filter_map(|it| Some((it, it.phases.of(phase)?.0))).collect();
    let mut fastest: BTreeMap<(Version, Kind), u64> = BTreeMap::new();
    for (sample, ns) in &timed {
        let least = fastest.entry((sample.asked.tls, sample.kind)).or_insert(*ns);
        *least = (*ns).min(*least);
    }
    let mut beyond: Vec<(&SampleRecord, u64)> = Vec::new();
    for (sample, ns) in timed {
        let least = fastest.get(&(sample.asked.tls, sample.kind)).copied().unwrap_or(ns);
        beyond.push((sample, ns - least));
    }
    let mode = upper_mode(&beyond.iter().map(|(_, ns)| *ns).collect::<Vec<u64>>(), STEP_NS, TIMEOUT_NS)?;
    let (mut slow, mut others) = (Vec::new(), Vec::new());
    for (sample, ns) in beyond {
        if ns >= mode.from { slow.push(sample) } else { others.push(sample) }
    }
    Some(SlowConnections { phase, slow, others, step_ns: mode.step })
}

/// The phases of this run that are of two modes: some of its own connections are among the slow ones.
pub(crate) fn mixed_phases(document: &MeasureDocument, run: &Run) -> Vec<Phase> {
    let is_of_run = |it: &&SampleRecord| (it.asked, it.kind) == (run.asked, run.asked.kind);
    let mixed = slow_connections(document).into_iter().filter(|it| it.slow.iter().any(is_of_run));
    mixed.map(|it| it.phase).collect()
}

/// A sentence on times of two modes, in place of what would be computed from their medians; `None` where there are none.
pub fn about_two_modes(document: &MeasureDocument) -> Option<String> {
    let slow = slow_connections(document);
    let told: Vec<String> = slow.iter().map(SlowConnections::in_words).collect();
    let sentence = "a median tells neither kind, so nothing is computed from these times";
    (!told.is_empty()).then(|| format!("{}: {sentence}.", told.join("; ")))
}

impl SlowConnections<'_> {
    /// How many there are in all.
    pub fn count(&self) -> u64 {
        (self.slow.len() + self.others.len()) as u64
    }

    /// "7 of 21 connections take 1.00 s longer to connect".
    pub fn in_words(&self) -> String {
        longer(self.slow.len() as u64, self.count(), self.step_ns, self.phase)
    }
}

/// "7 of 21 connections take 1.00 s longer to connect".
pub fn longer(slow: u64, all: u64, step_ns: u64, phase: Phase) -> String {
    let when = match phase {
        Phase::Resolve => "to resolve the name",
        Phase::Connect => "to connect",
        Phase::Proxy => "until the proxy has connected",
        Phase::Starttls => "before TLS begins",
        Phase::Tls => "in the handshake",
        Phase::Wait => "until the response begins",
        Phase::Receive | Phase::Total => "until the response ends",
    };
    let take = if slow == 1 { "takes" } else { "take" };
    format!("{slow} of {} {take} {} longer {when}", connections(all), span(step_ns))
}
