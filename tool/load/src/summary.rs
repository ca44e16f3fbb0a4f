//! What one thread has seen, and how it comes together with what others have.

use std::collections::BTreeMap;

use reprise_connection::Fault;
use reprise_engine::CertificateError;
use reprise_model::{AnsweredConnection, Facts, FaultName, Kind, Nanos, Phase, Phases, ProcessorShare, Protocol};
use reprise_stats::histogram::{Histogram, histogram};
use reprise_wire::NamedGroup;

use crate::fault_counts::FaultCounts;
use crate::seconds::Seconds;
use crate::stage_summaries::StageSummaries;

/// So many seconds have room beforehand.
const SECONDS: usize = 4096;

/// So many answers are kept, for which there is room beforehand: more say no more of whether answers follow the kind.
const ANSWERS: usize = 2048;

/// Counts and histograms.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) kinds: [KindSummary; Kind::ALL.len()],
    pub(crate) faults: FaultCounts,
    /// Connections that completed after a HelloRetryRequest, and the group that the first of them was asked for.
    pub(crate) retried: u64,
    pub(crate) retried_for: Option<NamedGroup>,
    /// In an open loop, connections that were due within the time that counts and never began.
    pub(crate) not_started: u64,
    /// Those that were due in the warm-up.
    pub(crate) warmup_not_started: u64,
    /// Of the names that leave open what was wrong, what the first fault said.
    pub(crate) reasons: BTreeMap<FaultName, String>,
    /// Of the connections that began in the warm-up, those that completed.
    pub(crate) warmup: u64,
    /// And those that did not.
    pub(crate) warmup_faults: FaultCounts,
    /// Full handshakes that were made because there was no session to offer.
    pub(crate) primed: u64,
    /// Of all completions, those of the warm-up and the late ones included, how many resumed a session.
    pub(crate) resumed: u64,
    /// Sessions that were offered and not accepted.
    pub(crate) refused: u64,
    /// Connections that offered a session and failed.
    pub(crate) failed_offers: u64,
    /// Sessions of TLS 1.3 that were accepted, and no new ticket came.
    pub(crate) without_ticket: u64,
    /// Completions after the time that counts, of connections that began in it.
    pub(crate) late: u64,
    /// The other completions, by whole seconds since the warm-up.
    pub(crate) per_second: Vec<[u64; Kind::ALL.len()]>,
    /// When the latest of them completed, since the warm-up.
    pub(crate) last_completed: Nanos,
    /// Responses by status.
    pub(crate) status: Vec<(u16, u64)>,
    /// What the first of all connections were answered, with the time at which each was begun.
    pub(crate) answered: Vec<(Nanos, AnsweredConnection)>,
    /// Completed connections by the protocol that ALPN chose, where any was offered.
    pub(crate) protocols: Vec<(Option<Protocol>, u64)>,
    /// The groups that servers wanted last, by a HelloRetryRequest, by the place of the name under which it was.
    pub(crate) wanted_groups: BTreeMap<usize, NamedGroup>,
    /// In an open loop, connections that were due within the time that counts.
    pub(crate) due: u64,
    /// What was due in each stage.
    pub(crate) stages: StageSummaries,
    /// How its thread spent its time until the last connections were begun; not merged.
    pub(crate) busy: ProcessorShare,
    /// Connections that were begun.
    pub(crate) begun: u64,
    /// Connections that the target failed since the last one that completed, of one thread; not merged.
    pub(crate) failed_since: u64,
}

/// What was seen of one kind.
#[derive(Default)]
pub(crate) struct KindSummary {
    /// What the first of them negotiated.
    pub(crate) first: Option<Facts>,
    /// Within the time that counts.
    pub(crate) completed: u64,
    /// How long those of each second took.
    pub(crate) seconds: Seconds,
    /// Made when the kind is first seen.
    histograms: Option<Box<Histograms>>,
}

/// The latencies of one kind.
pub(crate) struct Histograms {
    pub(crate) phases: [Histogram<u64>; Phase::ALL.len()],
    /// From the intended start to the end, in an open loop.
    pub(crate) from_intended: Histogram<u64>,
}

/// A connection that has completed.
pub(crate) struct Completion<'a> {
    pub(crate) kind: Kind,
    pub(crate) phases: Phases,
    /// From the intended start.
    pub(crate) from_intended: Option<Nanos>,
    /// The time since the warm-up at which it ended.
    pub(crate) at: Nanos,
    /// Whether that is within the time that counts.
    pub(crate) in_time: bool,
    /// Of its responses, each status with its count.
    pub(crate) statuses: &'a [(u16, u64)],
}

impl Summary {
    pub(crate) fn new() -> Self {
        Self {
            per_second: Vec::with_capacity(SECONDS),
            status: Vec::with_capacity(16),
            answered: Vec::with_capacity(ANSWERS),
            ..Self::default()
        }
    }

    /// What a connection has negotiated; of each kind the first counts, and every retry.
    pub(crate) fn see(&mut self, facts: Facts) {
        if let Some(kind) = self.kinds.get_mut(place_of(facts.kind)) {
            kind.first = kind.first.or(Some(facts));
        }
        if let Some(retry) = facts.hello_retry {
            self.retried += 1;
            self.retried_for = self.retried_for.or(retry.wanted.map(NamedGroup));
        }
    }

    pub(crate) fn complete(&mut self, completion: &Completion<'_>) {
        let place = place_of(completion.kind);
        let second = (completion.at.0 / 1_000_000_000) as usize;
        if completion.in_time {
            self.count_second(second, place);
            self.last_completed = self.last_completed.max(completion.at);
        } else {
            self.late += 1;
        }
        for &(status, count) in completion.statuses {
            count_more(&mut self.status, status, count);
        }
        if let Some(kind) = self.kinds.get_mut(place) {
            kind.completed += u64::from(completion.in_time);
            if let Some(total) = completion.phases.total.filter(|_| completion.in_time) {
                kind.seconds.record(second, total.0);
            }
            kind.histograms = kind.histograms.take().or_else(Histograms::new);
            if let Some(histograms) = &mut kind.histograms {
                histograms.record(completion);
            }
        }
    }

    fn count_second(&mut self, second: usize, kind: usize) {
        if self.per_second.len() <= second {
            self.per_second.resize(second + 1, [0; Kind::ALL.len()]);
        }
        if let Some(count) = self.per_second.get_mut(second).and_then(|counts| counts.get_mut(kind)) {
            *count += 1;
        }
    }

    /// Of a connection that was begun at this time, and completed.
    pub(crate) fn keep_answer(&mut self, begun: Nanos, answered: AnsweredConnection) {
        if self.answered.len() < ANSWERS {
            self.answered.push((begun, answered));
        }
    }

    /// One more connection on which ALPN chose this; as many as were offered, and none.
    pub(crate) fn count_protocol(&mut self, protocol: Option<Protocol>) {
        count_more(&mut self.protocols, protocol, 1);
    }

    pub(crate) fn fail(&mut self, fault: &Fault, in_warmup: bool) {
        if in_warmup { &mut self.warmup_faults } else { &mut self.faults }.add(fault.name);
        self.failed_since += u64::from(fault.name.is_the_targets());
        if let Some(reason) = reason(fault) {
            self.reasons.entry(fault.name).or_insert_with(|| reason.to_string());
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            ours.first = ours.first.or(theirs.first);
            ours.completed += theirs.completed;
            ours.seconds.merge(&theirs.seconds);
            if let Some(theirs) = &theirs.histograms {
                ours.histograms = ours.histograms.take().or_else(Histograms::new);
                if let Some(ours) = &mut ours.histograms {
                    ours.merge(theirs);
                }
            }
        }
        self.answered.extend(&other.answered);
        self.faults.merge(&other.faults);
        self.warmup += other.warmup;
        self.warmup_faults.merge(&other.warmup_faults);
        self.primed += other.primed;
        self.resumed += other.resumed;
        self.refused += other.refused;
        self.failed_offers += other.failed_offers;
        self.retried += other.retried;
        self.retried_for = self.retried_for.or(other.retried_for);
        self.late += other.late;
        self.last_completed = self.last_completed.max(other.last_completed);
        self.not_started += other.not_started;
        self.warmup_not_started += other.warmup_not_started;
        for (name, reason) in &other.reasons {
            self.reasons.entry(*name).or_insert_with(|| reason.clone());
        }
        self.without_ticket += other.without_ticket;
        self.due += other.due;
        self.begun += other.begun;
        self.wanted_groups.extend(&other.wanted_groups);
        if self.per_second.len() < other.per_second.len() {
            self.per_second.resize(other.per_second.len(), [0; Kind::ALL.len()]);
        }
        for (ours, theirs) in self.per_second.iter_mut().zip(&other.per_second) {
            ours.iter_mut().zip(theirs).for_each(|(to, from)| *to += from);
        }
        self.stages.merge(&other.stages);
        for &(protocol, count) in &other.protocols {
            count_more(&mut self.protocols, protocol, count);
        }
        for &(status, count) in &other.status {
            count_more(&mut self.status, status, count);
        }
    }

    /// Within the time that counts.
    pub(crate) fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }

    /// Whether anything answered, whenever: who asks for another group does.
    pub(crate) fn is_answered(&self) -> bool {
        self.completed() + self.late + self.warmup > 0 || self.faults.of(FaultName::HelloRetryRequest) > 0
    }

    pub(crate) fn of(&self, kind: Kind) -> Option<&KindSummary> {
        self.kinds.get(place_of(kind))
    }
}

impl KindSummary {
    pub(crate) fn histograms(&self) -> Option<&Histograms> {
        self.histograms.as_deref()
    }
}

impl Histograms {
    /// `None` never, for the bounds are allowed ones.
    fn new() -> Option<Box<Self>> {
        let phases: Option<Vec<_>> = Phase::ALL.map(|_| histogram()).into_iter().collect();
        let phases = phases?.try_into().ok()?;
        Some(Box::new(Self { phases, from_intended: histogram()? }))
    }

    fn record(&mut self, completion: &Completion<'_>) {
        for (phase, histogram) in Phase::ALL.into_iter().zip(&mut self.phases) {
            if let Some(time) = completion.phases.of(phase) {
                histogram.saturating_record(time.0);
            }
        }
        if let Some(time) = completion.from_intended {
            self.from_intended.saturating_record(time.0);
        }
    }

    fn merge(&mut self, other: &Self) {
        let theirs = other.phases.iter().chain([&other.from_intended]);
        for (ours, theirs) in self.phases.iter_mut().chain([&mut self.from_intended]).zip(theirs) {
            // Both have the same bounds, so that nothing is lost.
            let _ = ours.add(theirs);
        }
    }
}

/// What a certificate's verifier says, where the fault is one of certificates.
fn reason(fault: &Fault) -> Option<&CertificateError> {
    match fault.engine_error() {
        Some(reprise_engine::Error::Certificate(error)) => Some(error),
        _ => None,
    }
}

/// As in [`Kind::ALL`].
fn place_of(kind: Kind) -> usize {
    kind as usize
}

/// So many more of this. There are few keys: statuses have three digits, and protocols are those that were offered.
fn count_more<K: PartialEq>(counts: &mut Vec<(K, u64)>, key: K, more: u64) {
    match counts.iter_mut().find(|(known, _)| *known == key) {
        Some((_, count)) => *count += more,
        None => counts.push((key, more)),
    }
}
