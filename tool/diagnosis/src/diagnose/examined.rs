//! What rules ask of the experiments.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding};
use reprise_model::{Asked, FaultName, Kind, Nanos, Observation, Version};
use reprise_probe::diagnose::{Examination, ExperimentRun, ProbeRecord, REPEATS, Step, Variation};

use super::stored_session::StoredSession;
use crate::figures::means;
use crate::savings::{Saving, best_resumption};
use crate::series::MeasuredCase;

/// What findings about a target are drawn from: the connections in which nothing was varied, as `measure` has them, and the
/// experiments.
pub(crate) struct Examined<'a> {
    pub(crate) case: MeasuredCase<'a>,
    pub(crate) examination: &'a Examination,
    /// What a session takes that the server keeps.
    pub(crate) session: StoredSession,
}

/// What became of a session that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResumptionOutcome {
    /// It was resumed.
    Resumed,
    /// A full handshake followed.
    Refused,
    /// The connection failed.
    Failed(FaultName),
}

/// What became of the session that this connection offered; `None` where it offered none, or where its response was an error.
pub(crate) fn came(seen: &ProbeRecord) -> Option<ResumptionOutcome> {
    let observation = &seen.observation;
    observation.offered?;
    match observation.outcome {
        // A connection that was never made says nothing of what it would have offered.
        Err(name) if name.is_the_targets() && observation.client.is_some() => Some(ResumptionOutcome::Failed(name)),
        Err(_) => None,
        Ok(_) if !observation.is_answered_well() => None,
        Ok(facts) if facts.kind == Kind::Full => Some(ResumptionOutcome::Refused),
        Ok(_) => Some(ResumptionOutcome::Resumed),
    }
}

/// What each of these sessions came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) resumed: usize,
    pub(crate) refused: usize,
    pub(crate) failed: usize,
}

impl Counts {
    pub(crate) fn of<'s>(seen: impl IntoIterator<Item = &'s ProbeRecord>) -> Self {
        seen.into_iter().filter_map(came).fold(Self::default(), |counts, came| match came {
            ResumptionOutcome::Resumed => Self { resumed: counts.resumed + 1, ..counts },
            ResumptionOutcome::Refused => Self { refused: counts.refused + 1, ..counts },
            ResumptionOutcome::Failed(_) => Self { failed: counts.failed + 1, ..counts },
        })
    }

    pub(crate) fn offered(self) -> usize {
        self.resumed + self.refused + self.failed
    }
}

/// Whether sessions were offered, and each was refused.
fn is_lost(seen: &[ProbeRecord]) -> bool {
    let counts = Counts::of(seen);
    counts.refused > 0 && counts.refused == counts.offered()
}

impl<'a> Examined<'a> {
    /// The runs of this experiment, one for each version and mechanism.
    pub(crate) fn runs(&self, name: &'static str) -> impl Iterator<Item = &'a ExperimentRun> {
        self.examination.runs.iter().filter(move |run| run.experiment.name == name)
    }

    /// The connections that a second request was wanted on, after a first that was answered well.
    pub(crate) fn asked_again(&self) -> impl Iterator<Item = &'a Observation> {
        let wanted = [Step::Prime(Variation::AsksAgain), Step::Prime(Variation::EndsWithReset)];
        let seen = self.examination.runs.iter().flat_map(|run| &run.seen).filter(move |seen| wanted.contains(&seen.step));
        let seen = seen.map(|seen| &seen.observation);
        seen.filter(|it| it.facts().is_some() && it.http_status.is_some() && it.is_answered_well())
    }

    /// The connections that offered a session of this mechanism, nothing being varied.
    pub(crate) fn plain(&self, asked: Asked) -> Vec<&'a ProbeRecord> {
        let plain = self.examination.runs.iter().filter(|run| run.experiment.is_plain() && run.asked == asked);
        let seen = plain.flat_map(|run| &run.seen);
        seen.filter(|seen| seen.step == Step::Resume(Variation::Plain)).collect()
    }

    /// Those that the judge chose and that offered a session for the first time.
    pub(crate) fn chosen(&self, asked: Asked) -> Vec<&'a ProbeRecord> {
        let mut offered: BTreeSet<u32> = BTreeSet::new();
        let runs = self.examination.runs.iter().filter(|run| run.asked == asked);
        let seen = runs.filter(|run| run.experiment.is_plain() || run.experiment.is_chosen()).flat_map(|run| &run.seen);
        let is_first = |seen: &&ProbeRecord| {
            let origin = seen.observation.offered.and_then(|offered| offered.origin);
            origin.is_some_and(|origin| offered.insert(origin.index)) && seen.step == Step::Chosen
        };
        seen.filter(is_first).collect()
    }

    /// Whether a session of this mechanism, offered as it was given, was never refused, and the judge knows of no reason why the
    /// next should be.
    pub(crate) fn always_resumes(&self, asked: Asked) -> bool {
        let counts = Counts::of(self.plain(asked));
        counts.resumed > 0 && counts.resumed == counts.offered() && self.is_steady(asked)
    }

    /// Whether what becomes of a session depends on nothing but the offer, as far as the judge knows.
    pub(crate) fn is_steady(&self, asked: Asked) -> bool {
        self.case.judgements.iter().all(|judgement| judgement.asked != asked || judgement.is_steady())
    }

    /// How sure a rule may be of a difference that an experiment shows. It has to be there each time that the experiment was
    /// made: twice may be chance, another node of several, or a server that refuses one of ten, and once says nothing.
    pub(crate) fn each_time(run: &ExperimentRun, is_there: impl Fn(&[ProbeRecord]) -> bool) -> Option<Confidence> {
        let confidence = match run.repeats.len() {
            0 => return None,
            REPEATS.. => Confidence::Likely,
            _ => Confidence::Possible,
        };
        let is_there = is_there(&run.seen) && run.repeats.iter().all(|seen| is_there(seen));
        is_there.then_some(confidence)
    }

    /// The same of sessions that are refused with what this experiment varies, and never without.
    pub(crate) fn loses(&self, run: &ExperimentRun) -> Option<Confidence> {
        Self::each_time(run, is_lost).filter(|_| self.always_resumes(run.asked))
    }

    /// The same of an experiment that takes so many connections that it may not be made again: then once is enough to be possible.
    pub(crate) fn loses_after_many(&self, run: &ExperimentRun) -> Option<Confidence> {
        let once = || (is_lost(&run.seen) && self.always_resumes(run.asked)).then_some(Confidence::Possible);
        if run.repeats.is_empty() { once() } else { self.loses(run) }
    }

    /// The same of sessions that are resumed with what this experiment varies, and never without.
    pub(crate) fn gains(&self, run: &ExperimentRun) -> Option<Confidence> {
        let is_gained = |seen: &[ProbeRecord]| Counts::of(seen).resumed > 0;
        let without = Counts::of(self.plain(run.asked)).resumed;
        Self::each_time(run, is_gained).filter(|_| without == 0 && self.is_steady(run.asked))
    }

    /// Whether tickets of the same version resume beside session IDs: then only clients without ticket support lose anything.
    pub(crate) fn has_tickets_instead(&self, asked: Asked) -> bool {
        asked.kind == Kind::Id && self.always_resumes(Asked { kind: Kind::Ticket, ..asked })
    }

    /// What a resumption of this version saves, which a session that is refused costs; `None` where that is not shown.
    pub(crate) fn saved(&self, version: Version) -> Option<Nanos> {
        let (_, saving) = best_resumption(self.case.figures, version)?;
        Some(saving).filter(Saving::is_shown).map(|saving| saving.saved())
    }

    /// The same finding with what it costs: a full handshake of this version instead of a resumed one.
    pub(crate) fn priced(&self, finding: Finding, version: Version) -> Finding {
        finding.costing(self.saved(version)).costing_cpu(self.case.cpu_cost(version))
    }

    /// The full handshakes in which nothing is varied.
    pub(crate) fn full(&self) -> impl Iterator<Item = &'a ProbeRecord> {
        let seen = self.examination.runs.iter().flat_map(ExperimentRun::all);
        seen.filter(|seen| matches!(seen.step, Step::Prime(Variation::Plain) | Step::Interpose))
    }
}

/// "port 40522 at 0.53 s: it offered a ticket 21 ms old, and a full handshake followed".
pub(crate) fn cite(seen: &ProbeRecord) -> String {
    let offered = match seen.observation.offered {
        Some(offered) => format!("it offered {} {} old", thing(offered.kind), age(offered.age)),
        None => "it offered nothing".to_owned(),
    };
    format!("{}: {offered}, and {}", place(seen), outcome(seen))
}

/// "port 40522 at 0.53 s".
fn place(seen: &ProbeRecord) -> String {
    let port = seen.observation.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
    format!("{port} at {:.2} s", seen.observation.start.0 as f64 / 1e9)
}

/// "it was resumed".
fn outcome(seen: &ProbeRecord) -> String {
    let observation = &seen.observation;
    match (observation.outcome, &seen.fault) {
        (Ok(facts), _) if facts.kind == Kind::Full => "a full handshake followed".to_owned(),
        (Ok(_), _) => "it was resumed".to_owned(),
        (Err(_), Some(fault)) => format!("the connection failed: {}", named(fault.name)),
        (Err(name), None) => format!("the connection failed: {}", named(name)),
    }
}

/// What is cited of an experiment, its repeats included: the connections that offered a session or failed, or all if none did.
pub(crate) fn evidence(run: &ExperimentRun) -> impl Iterator<Item = String> {
    let telling: Vec<&ProbeRecord> =
        run.all().filter(|seen| seen.observation.offered.is_some() || seen.fault.is_some()).collect();
    by_outcome(if telling.is_empty() { run.all().collect() } else { telling })
}

/// Each outcome on a line of its own, with every connection that came to it: an experiment that was made three times is read at
/// a glance.
pub(crate) fn by_outcome<'s>(all: impl IntoIterator<Item = &'s ProbeRecord>) -> impl Iterator<Item = String> {
    let mut groups: Vec<Vec<&ProbeRecord>> = Vec::new();
    for seen in all {
        let is_alike = |other: &&ProbeRecord| {
            let kinds = [seen, other].map(|it| it.observation.offered.map(|offered| offered.kind));
            kinds[0] == kinds[1] && outcome(seen) == outcome(other)
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(is_alike)) {
            Some(group) => group.push(seen),
            None => groups.push(vec![seen]),
        }
    }
    groups.into_iter().filter_map(|group| line(&group))
}

/// "port 40522 at 0.53 s: it offered a ticket 21 ms old, and it was resumed; likewise port 40530 at 0.55 s".
fn line(group: &[&ProbeRecord]) -> Option<String> {
    let (first, others) = group.split_first()?;
    let named: Vec<String> = others.iter().take(NAMED).map(|seen| place(seen)).collect();
    Some(match others.len() {
        0 => cite(first),
        count @ ..=NAMED => format!("{}; likewise {}", cite(first), named.get(..count)?.join(", ")),
        count => format!("{}; likewise {} and {} more", cite(first), named.join(", "), count - NAMED),
    })
}

/// So many connections of one outcome are named beside the first.
const NAMED: usize = 3;

/// The name of a fault; alerts by IANA's.
pub(crate) fn named(name: FaultName) -> String {
    match name {
        FaultName::Alert(number) => format!("alert {}", reprise_wire::AlertDescription(number)),
        other => other.to_string().replace('_', " "),
    }
}

fn thing(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "a session ID",
        Kind::Early => "a ticket and early data",
        Kind::Psk => "an external PSK",
        Kind::Ticket | Kind::Full => "a ticket",
    }
}

fn age(Nanos(ns): Nanos) -> String {
    match ns / 1_000_000 {
        ms @ 0..10_000 => format!("{ms} ms"),
        ms => format!("{} s", ms / 1000),
    }
}

/// "TLS 1.3 by ticket".
pub(crate) fn mechanism(asked: Asked) -> String {
    format!("{} by {}", asked.tls, means(asked.kind))
}

/// Whether each ticket is meant to serve once (RFC 9846 §C.4).
pub(crate) fn is_tls13(asked: Asked) -> bool {
    asked.tls == Version::Tls13
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13};

    #[test]
    fn an_experiment_made_three_times_is_two_lines_at_most() {
        let lost = [Kind::Full, Kind::Full];
        let scene = Scene::resuming(TLS13).run("without-alpn", TLS13, &lost).again(&lost).again(&lost).examination();
        let lines: Vec<String> = evidence(scene.runs.last().unwrap()).collect();
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(
            line.contains("it offered a ticket 1 ms old, and a full handshake followed; likewise port 40000 at "),
            "{line}"
        );
        assert_eq!(line.matches("port ").count(), 3);
    }

    #[test]
    fn many_of_one_outcome_are_counted() {
        let scene = Scene::of("resume", TLS13, &[Kind::Full, TICKET, TICKET, TICKET, Kind::Full, TICKET, TICKET, TICKET]);
        let lines: Vec<String> = evidence(scene.examination().runs.last().unwrap()).collect();
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.contains("it was resumed; likewise") && line.ends_with(" and 2 more"), "{line}");
    }
}
