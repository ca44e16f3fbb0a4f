//! The observations that findings rest on, by version and kind.

use std::collections::BTreeMap;

use reprise_judge::{JudgedCause as Judged, LIKELY};
use reprise_model::document::{Confidence, CpuCost, MeasureDocument, Run};
use reprise_model::{Asked, Facts, Kind, Nanos, Observation, Phase, PskMode, Purpose, Version};

use reprise_probe::AcknowledgementTrial;
use reprise_probe::diagnose::Judgement;

use crate::figures::connections;
use crate::savings::{Saving, saving};
use crate::weighed;

/// What findings are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCase<'a> {
    /// Everything that was seen, connection by connection.
    pub observations: &'a [Observation],
    /// What was measured, and the medians, intervals and ratios of it. Its findings are not looked at.
    pub figures: &'a MeasureDocument,
    /// Whether a second request was to be sent on each connection.
    pub keeps_alive: bool,
    /// The PSK modes that were offered.
    pub psk_modes: &'a [PskMode],
    /// The processor time that a full handshake takes beyond a resumed one, of the versions of which that was measured.
    pub cpu_costs: &'a [(Version, CpuCost)],
    /// What the judge concludes of the mechanisms for which it chose connections.
    pub judgements: &'a [Judgement],
    /// Connections that tell whether the server waits for acknowledgements, where its answers take as long.
    pub trials: &'a [AcknowledgementTrial],
}

impl<'a> MeasuredCase<'a> {
    /// That of one version.
    pub fn cpu_cost(&self, version: Version) -> Option<CpuCost> {
        self.cpu_costs.iter().find(|(known, _)| *known == version).map(|(_, cost)| *cost)
    }

    /// What the judge concludes of this mechanism, whoever chose the connections.
    pub(crate) fn judgement(&self, asked: Asked) -> Judgement {
        let examined = self.judgements.iter().find(|judgement| judgement.asked == asked);
        examined.cloned().unwrap_or_else(|| weighed::judgement(self.observations, asked))
    }

    /// The counted connections that completed.
    pub fn samples(&self) -> impl Iterator<Item = (&'a Observation, &'a Facts)> {
        let samples = self.observations.iter().filter(|it| it.purpose == Purpose::Sample);
        samples.filter_map(|observation| Some((observation, observation.facts()?)))
    }

    /// Whether tickets of TLS 1.2 resume: then only clients that know none use session IDs.
    pub(crate) fn tickets_cover_ids(&self) -> bool {
        let series = self.conclusive_series();
        let mut tickets = series.iter().filter(|it| (it.asked.tls, it.asked.kind) == (Version::Tls12, Kind::Ticket));
        tickets.any(|it| it.ever_resumes(self))
    }

    /// Whether every ticket of TLS 1.2 that was offered resumed.
    pub(crate) fn tickets_always_cover_ids(&self) -> bool {
        let tickets = self.judgement(Asked { tls: Version::Tls12, kind: Kind::Ticket });
        let fails = tickets.failed_offers().next().is_some();
        tickets.offers().next().is_some() && !fails && !tickets.offers().any(Observation::is_refusal)
    }

    /// What was seen of its full handshakes of one version.
    pub fn full_handshakes(&self, version: Version) -> Vec<&'a Facts> {
        let is_full = |facts: &&Facts| (facts.version, facts.kind) == (version, Kind::Full);
        self.samples().map(|(_, facts)| facts).filter(is_full).collect()
    }

    /// What the refusals of these connections cost one of them on average, where it is shown that resuming saves anything.
    pub(crate) fn average_cost(&self, series: &KindSeries<'_>) -> Option<Nanos> {
        let run = self.figures.run(series.asked.tls, series.asked.kind).filter(|_| series.refusals() > 0)?;
        let saved = saving(self.figures, run, Phase::Tls).filter(Saving::is_shown)?.saved();
        Some(Nanos((saved.0 as f64 * series.refusals() as f64 / series.count() as f64).round() as u64))
    }

    /// All of them, by what was asked for.
    pub fn every_series(&self) -> Vec<KindSeries<'a>> {
        series(self.samples())
    }

    /// Those that something about resumption can be concluded from: an error page says nothing of it.
    pub fn conclusive_series(&self) -> Vec<KindSeries<'a>> {
        series(self.samples().filter(|(observation, _)| observation.is_answered_well()))
    }

    /// The figures of these connections, where anything about resumption can be concluded from them.
    pub fn conclusive_run(&self, tls: Version, kind: Kind) -> Option<&'a Run> {
        let asked = Asked { tls, kind };
        let is_conclusive = self.samples().any(|(it, _)| it.asked == asked && it.is_answered_well());
        self.figures.run(tls, kind).filter(|_| is_conclusive)
    }
}

/// What is found under TLS 1.2, and then under TLS 1.3.
pub(crate) fn of_each_version<T>(find: impl FnMut(Version) -> Option<T>) -> Vec<T> {
    [Version::Tls12, Version::Tls13].into_iter().filter_map(find).collect()
}

/// The connections of one version and kind.
pub struct KindSeries<'a> {
    pub asked: Asked,
    pub completed: Vec<(&'a Observation, &'a Facts)>,
}

fn series<'a>(samples: impl Iterator<Item = (&'a Observation, &'a Facts)>) -> Vec<KindSeries<'a>> {
    let mut by_asked: BTreeMap<Asked, Vec<_>> = BTreeMap::new();
    samples.for_each(|sample| by_asked.entry(sample.0.asked).or_default().push(sample));
    by_asked.into_iter().map(|(asked, completed)| KindSeries { asked, completed }).collect()
}

impl KindSeries<'_> {
    /// How many completed, of whatever kind.
    pub fn count(&self) -> u64 {
        self.completed.len() as u64
    }

    /// How many of them this holds of.
    pub fn with(&self, holds: impl Fn(&Facts) -> bool) -> u64 {
        self.completed.iter().filter(|(_, facts)| holds(facts)).count() as u64
    }

    /// Whether early data was asked for, and this holds of some connection.
    pub fn is_early_data_with(&self, holds: impl Fn(&Facts) -> bool) -> bool {
        self.asked.kind == Kind::Early && self.with(holds) > 0
    }

    /// "100 connections", those that sent early data.
    pub fn sent_early_data(&self) -> String {
        connections(self.with(|facts| facts.early_data.is_some()))
    }

    /// How many are of the kind that was asked for.
    pub fn as_asked(&self) -> u64 {
        self.with(|facts| facts.kind == self.asked.kind)
    }

    /// How many offered a session.
    pub fn offered(&self) -> u64 {
        self.with(|facts| facts.session_offered)
    }

    /// How many offered a session and became full handshakes all the same. One that had nothing to offer was not refused.
    pub fn refusals(&self) -> u64 {
        self.completed.iter().filter(|(observation, _)| observation.is_refusal()).count() as u64
    }

    /// Whether sessions were offered and none was accepted.
    pub fn is_all_refused(&self) -> bool {
        self.refusals() > 0 && self.with(|facts| facts.kind != Kind::Full) == 0
    }

    /// Whether sessions were offered and none was accepted, nor in connections that the judge chose.
    pub(crate) fn is_never_accepted(&self, case: &MeasuredCase<'_>) -> bool {
        let judgement = case.judgements.iter().find(|judgement| judgement.asked == self.asked);
        self.is_all_refused() && judgement.is_none_or(Judgement::is_steady) && !self.ever_resumes(case)
    }

    /// "100 of 100 connections that offered one ended in a full handshake".
    pub(crate) fn refusal(&self, case: &MeasuredCase<'_>) -> String {
        let examined = case.judgements.iter().find(|judgement| judgement.asked == self.asked);
        let (refused, offered) = examined.map_or((self.refusals(), self.offered()), |judgement| {
            let refused = judgement.offers().filter(|seen| seen.is_refusal()).count();
            let offered = judgement.offers().count() + judgement.failed_offers().count();
            (refused as u64, offered as u64)
        });
        format!("{refused} of {} that offered one ended in a full handshake", connections(offered))
    }

    /// Whether one of these was resumed, or one that the judge chose.
    pub(crate) fn ever_resumes(&self, case: &MeasuredCase<'_>) -> bool {
        let examined = case.judgements.iter().filter(|judgement| judgement.asked == self.asked);
        let mut chosen = examined.flat_map(|judgement| &judgement.observations);
        self.as_asked() > 0 || chosen.any(|seen| seen.asked == self.asked && seen.kind() == Some(self.asked.kind))
    }

    /// How likely it is that sessions are never accepted where every one of these was refused. One node of several, or a moment
    /// in which keys changed, refuses a few just as well.
    pub(crate) fn confidence_of_refusal(&self, case: &MeasuredCase<'_>) -> Confidence {
        let judgement = case.judgement(self.asked);
        let is_offered = |seen: &Observation| seen.distance().is_some() && seen.asked == self.asked;
        if !judgement.observations.iter().any(is_offered) {
            // Nothing is known of where the sessions came from.
            return if self.refusals() < FEWEST { Confidence::Possible } else { Confidence::Likely };
        }
        match judgement.of(Judged::NeverAccepted) {
            Some(conclusion) if conclusion.confidence == Confidence::Certain => Confidence::Certain,
            _ if judgement.never_accepted >= LIKELY => Confidence::Likely,
            _ => Confidence::Possible,
        }
    }
}

/// What [`MeasuredCase::tickets_cover_ids`] means for who uses the server.
pub(crate) const TICKETS_COVER: &str = "Tickets of the same server resume: only clients without ticket support pay";

/// From how many connections on their share tells anything: chance alone moves six by two or three.
pub(crate) const FEWEST: u64 = 6;

/// How often each occurs, "p-256 on 2, rsa-2048 on 1"; `None` where all are the same.
pub(crate) fn differing(names: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let counted: Vec<String> = counts.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    (counted.len() > 1).then(|| counted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn only_what_was_offered_can_be_refused() {
        let example = Example::new()
            .refused("1.2", Kind::Id, 5)
            .facts(|it| it.session_offered = false)
            .refused("1.2", Kind::Ticket, 5)
            .refused("1.3", Kind::Ticket, 0);
        let series = example.case().every_series();
        assert_eq!(series.iter().map(KindSeries::is_all_refused).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn refusals_are_what_was_offered_and_not_resumed() {
        let example = Example::new().run("1.3", Kind::Full, 9).run("1.3", Kind::Ticket, 3).of_which_full(30);
        let example = example.first(10, |it| it.outcome.as_mut().unwrap().session_offered = false);
        assert_eq!(example.case().every_series().iter().map(KindSeries::refusals).collect::<Vec<_>>(), [0, 20]);
    }

    #[test]
    fn of_error_pages_alone_nothing_is_concluded() {
        let example = Example::new().run("1.3", Kind::Full, 9).all(|it| it.http_status = Some(503));
        assert!(example.case().conclusive_series().is_empty());
        assert!(example.case().conclusive_run(Version::Tls13, Kind::Full).is_none());
        assert_eq!(example.case().every_series().len(), 1);
    }
}
