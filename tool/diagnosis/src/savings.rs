//! Questions that findings and sentences ask of the figures.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Nanos, Phase, Version};

use crate::slow_connections::mixed_phases;

/// A sentence of time or of what is saved rests on so many connections.
pub const FEWEST: u64 = 8;

/// Whether a sentence may rest on the times of this run: on enough connections, and not on two modes of which the median tells neither. The
/// whole connection is of two modes where one of its phases is.
pub fn bears_a_sentence(document: &MeasureDocument, run: &Run, phase: Phase) -> bool {
    let mixed = || mixed_phases(document, run);
    run.n >= FEWEST && if phase == Phase::Total { mixed().is_empty() } else { !mixed().contains(&phase) }
}

/// The versions that were measured, oldest first.
pub fn versions(document: &MeasureDocument) -> Vec<Version> {
    [Version::Tls12, Version::Tls13].into_iter().filter(|version| runs(document, *version).next().is_some()).collect()
}

/// All runs of a version.
pub fn runs(document: &MeasureDocument, version: Version) -> impl Iterator<Item = &Run> {
    document.runs.iter().filter(move |run| run.asked.tls == version)
}

/// The runs that asked for a resumption under this version.
pub fn resumptions(document: &MeasureDocument, version: Version) -> impl Iterator<Item = &Run> {
    runs(document, version).filter(|run| run.asked.kind != Kind::Full)
}

/// How many connections of this run completed, of whatever kind.
pub fn completed(run: &Run) -> u64 {
    run.observed.kinds.total()
}

/// The median of a phase over the samples that came out as asked.
pub fn median_ns(run: &Run, phase: Phase) -> Option<u64> {
    run.phases.get(&phase).map(|statistics| statistics.median_ns)
}

/// The interval of that median; `None` under six samples.
pub fn interval_ns(run: &Run, phase: Phase) -> Option<[u64; 2]> {
    run.phases.get(&phase)?.ci95_ns
}

/// What a resumption saves against a full handshake of the same version, in one phase.
#[derive(Clone, Copy, Debug)]
pub struct Saving {
    /// Median of the full handshakes.
    pub full_ns: u64,
    /// Median of the resumed ones.
    pub resumed_ns: u64,
    /// full / resumed.
    pub ratio: f64,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
}

impl Saving {
    /// The share of the full handshake's time that is saved; negative where resuming costs more.
    pub fn share(&self) -> f64 {
        if self.full_ns == 0 { 0.0 } else { 1.0 - self.resumed_ns as f64 / self.full_ns as f64 }
    }

    /// How much shorter the resumed handshake is; zero where it is longer.
    pub fn saved(&self) -> Nanos {
        Nanos(self.full_ns) - Nanos(self.resumed_ns)
    }

    /// How much longer the resumed handshake is; zero where it is shorter.
    pub fn lost(&self) -> Nanos {
        Nanos(self.resumed_ns) - Nanos(self.full_ns)
    }

    /// Whether the interval tells which of the two is faster. Without one, nothing is shown.
    pub fn is_shown(&self) -> bool {
        self.ci95.is_some() && !self.undecided()
    }

    /// Whether the interval leaves open which of the two is faster.
    pub fn undecided(&self) -> bool {
        self.ci95.is_some_and(|[low, high]| low <= 1.0 && high >= 1.0)
    }
}

/// What this run saves in a phase; `None` where either kind was not observed, or the times of one bear no sentence.
pub fn saving(document: &MeasureDocument, resumed: &Run, phase: Phase) -> Option<Saving> {
    let asked = resumed.asked;
    let full = document.run(asked.tls, Kind::Full)?;
    let ratio = document.ratio(asked, phase)?;
    if ![full, resumed].iter().all(|run| bears_a_sentence(document, run, phase)) {
        return None;
    }
    Some(Saving {
        full_ns: median_ns(full, phase)?,
        resumed_ns: median_ns(resumed, phase)?,
        ratio: ratio.median,
        ci95: ratio.ci95,
    })
}

/// The resumption of this version that saves most of the handshake. An external PSK resumes nothing. Nor is early data one of
/// them: there the handshake goes on while the answer is awaited, so that its saving shows in the whole connection alone.
pub fn best_resumption(document: &MeasureDocument, version: Version) -> Option<(&Run, Saving)> {
    resumptions(document, version)
        .filter(|run| matches!(run.asked.kind, Kind::Id | Kind::Ticket))
        .filter_map(|run| Some((run, saving(document, run, Phase::Tls)?)))
        .max_by(|(_, one), (_, other)| one.ratio.total_cmp(&other.ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn the_best_resumption_is_the_one_whose_handshake_is_fastest() {
        let document =
            Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Id, 600).run("1.2", Kind::Ticket, 750).document();
        let (run, saving) = best_resumption(&document, Version::Tls12).unwrap();
        assert_eq!((run.asked.kind, saving.ratio), (Kind::Id, 5.0));
        assert!((saving.share() - 0.8).abs() < 1e-9);
        assert!(best_resumption(&document, Version::Tls13).is_none());
    }
}
