//! What knows nothing of TLS and is measured beside it: where it moved as a handshake did, TLS is not the cause.

use std::collections::BTreeMap;
use std::net::IpAddr;

use reprise_model::document::{Change, ChangeCause, Control, ControlChange, MeasureDocument, OwnChange};
use reprise_model::{Asked, Kind, Nanos, Phase};
use reprise_stats::{
    PARTS, Ratio, RunSpread, Z95, median, ratio_of_estimates, ratio_to_earlier, summarize, variance_of_parts,
};

use super::{in_order, seconds};
use crate::estimates::of_statistics;

/// Another server does not follow a change of the machine just as the calibration does: by a standard deviation of so much of it.
const ERROR_OF_CALIBRATION: f64 = 0.2;

/// A figure in this result and in each of the earlier ones.
#[derive(Clone)]
pub(super) struct Figures {
    pub(super) now: Ratio,
    pub(super) earlier: Vec<Ratio>,
}

/// What stands beside the handshakes of a result and of the earlier ones.
pub(super) struct Controls<'a> {
    now: &'a MeasureDocument,
    earlier: &'a [&'a MeasureDocument],
    /// Whether the target shares the machine with what measures it.
    is_local: bool,
    /// Whether all of them have a calibration, of the same work.
    is_calibrated: bool,
    connect: Option<Figures>,
}

impl<'a> Controls<'a> {
    pub(super) fn of(now: &'a MeasureDocument, earlier: &'a [&'a MeasureDocument], seed: u64) -> Self {
        let work = |document: &'a MeasureDocument| document.calibration.as_ref().map(|it| it.work.as_str());
        let address = now.target.address.as_deref().and_then(|address| address.parse::<IpAddr>().ok());
        Self {
            now,
            earlier,
            is_local: address.is_some_and(|it| it.is_loopback()),
            is_calibrated: work(now).is_some() && earlier.iter().all(|it| work(it) == work(now)),
            connect: figures(now, earlier, |document| connect(document, seed)),
        }
    }

    /// How each changed, as a document tells it.
    pub(super) fn changes(&self) -> Vec<ControlChange> {
        let calibration = self.is_calibrated.then(|| figures(self.now, self.earlier, calibration_of_full)).flatten();
        let all = [(Control::Calibration, calibration.as_ref()), (Control::Connect, self.connect.as_ref())];
        let change = |(control, figures): (Control, Option<&Figures>)| {
            let figures = figures?;
            let ratio = figures.ratio()?;
            let ci95 = ratio.ci95;
            let (before_ns, after_ns) = (figures.before() as u64, figures.now.median as u64);
            Some(ControlChange { control, before_ns, after_ns, ratio: ratio.median, ci95, change: Change::of(ci95) })
        };
        all.into_iter().filter_map(change).collect()
    }

    /// What is left of the change of a phase when the controls have taken off what they moved by: `raw` is that change,
    /// `figures` what it is made of. `None` where there is no control.
    pub(super) fn own(&self, asked: Asked, phase: Phase, raw: Ratio, figures: &Figures) -> Option<OwnChange> {
        let calibrated = self.beside_calibration(asked, phase, figures);
        let is_calibrated = calibrated.is_some();
        let beside_machine = calibrated.or_else(|| figures.ratio())?;
        let left = self.beside_network(beside_machine, is_calibrated, figures);
        if !is_calibrated && self.connect.is_none() {
            return None;
        }
        let is_change = |ratio: &Ratio| matches!(Change::of(ratio.ci95), Change::Slower | Change::Faster);
        // What only makes the interval wider explains nothing.
        let is_taken_off = |left: &Ratio| left.median.ln().abs() <= raw.median.ln().abs() / 2.0;
        let cause = match () {
            () if left.ci95.is_none() || raw.ci95.is_none() => ChangeCause::Unknown,
            () if is_change(&left) => ChangeCause::Tls,
            () if !is_change(&raw) && !is_change(&beside_machine) => ChangeCause::None,
            () if !is_taken_off(&left) => ChangeCause::Unknown,
            () if is_calibrated && !is_change(&beside_machine) => ChangeCause::Machine,
            () if is_calibrated => ChangeCause::Network,
            () if self.is_local => ChangeCause::Machine,
            () => ChangeCause::MachineOrNetwork,
        };
        Some(OwnChange { ratio: left.median, ci95: left.ci95, cause })
    }

    /// The change of the phase in units of the calibration beside it. Without samples, median over median.
    fn beside_calibration(&self, asked: Asked, phase: Phase, of_phase: &Figures) -> Option<Ratio> {
        let pairs = self.pairs(asked, phase, of_phase)?;
        let Some(Fit { power, least, most }) = pairs.fit() else {
            let earlier = of_phase.earlier.iter().zip(&pairs.calibration.earlier);
            let earlier = earlier.map(|(alone, by)| pairs.estimate(*alone, *by)).collect::<Option<_>>()?;
            return Figures { now: pairs.estimate(of_phase.now, pairs.calibration.now)?, earlier }.ratio();
        };
        let change = |power: f64| {
            let of_run = |(samples, document): (Vec<u64>, &&MeasureDocument)| {
                let spread = RunSpread::of(&samples, seconds(document))?;
                Some(Ratio { median: median(&samples)? as f64, ci95: None }.spread_by(spread.total()))
            };
            let mut medians = pairs.over(power).into_iter().zip(self.documents()).map(of_run);
            Figures { now: medians.next()??, earlier: medians.collect::<Option<_>>()? }.ratio()
        };
        // Powers that fit as well as the best tell how uncertain it is.
        let of_power = (change(most)?.median / change(least)?.median).ln().abs() / 2.0 / Z95;
        let of_calibration = ERROR_OF_CALIBRATION * pairs.calibration.ratio()?.median.ln().abs();
        Some(change(power)?.widened_by(of_power.hypot(of_calibration)))
    }

    /// Each run's samples, this result's first, over what the calibration beside them explains; `None` where it explains nothing.
    pub(super) fn left_by_calibration(&self, asked: Asked, phase: Phase, of_phase: &Figures) -> Option<Vec<Vec<u64>>> {
        let pairs = self.pairs(asked, phase, of_phase)?;
        Some(pairs.over(pairs.fit()?.power))
    }

    fn documents(&self) -> impl Iterator<Item = &&'a MeasureDocument> {
        std::iter::once(&self.now).chain(self.earlier)
    }

    fn pairs(&self, asked: Asked, phase: Phase, of_phase: &Figures) -> Option<Pairs> {
        // What is received at once takes no time, and divides nothing.
        if !self.is_calibrated || phase == Phase::Receive {
            return None;
        }
        let kind = if asked.kind == Kind::Full { Kind::Full } else { Kind::Ticket };
        let calibration = figures(self.now, self.earlier, |document| calibration(document, kind, phase))?;
        // A target elsewhere uses this machine for no longer than the calibration does, which has both ends here; the target's
        // own machine goes its own way.
        let share = if self.is_local { 1.0 } else { (calibration.before() / of_phase.before()).min(1.0) };
        let runs = self.documents().map(|it| pairs(it, asked, kind, phase)).collect();
        Some(Pairs { calibration, share, runs })
    }

    /// A change without what connecting explains of it: where that changed beyond its interval and in the same direction, and
    /// no further than to no change at all. On the target's own machine connecting is the kernel's work, which the
    /// calibration has too, and steadier.
    fn beside_network(&self, change: Ratio, is_calibrated: bool, of_phase: &Figures) -> Ratio {
        let is_told_apart = is_calibrated && self.is_local;
        let Some(figures) = self.connect.as_ref().filter(|_| !is_told_apart) else { return change };
        let Some(connect) = figures.ratio() else { return change };
        // Of a handshake, no more than two round trips are the network's. Without a calibration connecting stands for the machine too.
        let share = if is_calibrated { (2.0 * figures.before() / of_phase.before()).min(1.0) } else { 1.0 };
        let scaled = |ratio: f64| 1.0 + share * (ratio - 1.0);
        let ci95 = connect.ci95.map(|ends| ends.map(scaled));
        let connect = Ratio { median: scaled(connect.median), ci95 };
        let is_slower = change.median > 1.0;
        let explains = Change::of(connect.ci95) == if is_slower { Change::Slower } else { Change::Faster };
        match ratio_of_estimates(change, connect).filter(|_| explains) {
            Some(left) if is_slower => {
                Ratio { median: left.median.max(1.0), ci95: left.ci95.map(|[low, high]| [low, high.max(1.0)]) }
            }
            Some(left) => Ratio { median: left.median.min(1.0), ci95: left.ci95.map(|[low, high]| [low.min(1.0), high]) },
            None => change,
        }
    }
}

impl Figures {
    pub(super) fn ratio(&self) -> Option<Ratio> {
        ratio_to_earlier(self.now, &self.earlier)
    }

    /// The geometric mean of the earlier ones.
    fn before(&self) -> f64 {
        (self.earlier.iter().map(|it| it.median.ln()).sum::<f64>() / self.earlier.len() as f64).exp()
    }
}

/// Each run's samples, and beside each the calibration's nearest of its sort.
struct Pairs {
    calibration: Figures,
    /// How much of a sample is work of this machine, as the calibration is.
    share: f64,
    runs: Vec<Vec<(f64, f64)>>,
}

/// How far the samples go along with the calibration: its power that leaves the least variation between the parts of all runs. Two
/// servers on one machine may share little more than its clock.
struct Fit {
    power: f64,
    /// The range of those that leave hardly more: by no more than 95 in 100 such variations differ by.
    least: f64,
    most: f64,
}

impl Pairs {
    fn slower(&self, took: f64) -> f64 {
        1.0 + self.share * (took / self.calibration.before() - 1.0)
    }

    /// Each sample over that power of the calibration's: what slows both down for a moment, a second or for good is in neither.
    fn over(&self, power: f64) -> Vec<Vec<u64>> {
        let over = |(took, by): &(f64, f64)| (took / self.slower(*by).powf(power)) as u64;
        self.runs.iter().map(|pairs| pairs.iter().map(over).collect()).collect()
    }

    fn estimate(&self, alone: Ratio, calibration: Ratio) -> Option<Ratio> {
        let ci95 = calibration.ci95.map(|ends| ends.map(|end| self.slower(end)));
        ratio_of_estimates(alone, Ratio { median: self.slower(calibration.median), ci95 })
    }

    /// Among the tenths from 0 to 1. `None` where a run has too few samples.
    fn fit(&self) -> Option<Fit> {
        let variation = |power: f64| {
            let of_runs = self.over(power).iter().map(|samples| variance_of_parts(samples)).sum::<Option<f64>>()?;
            Some((power, of_runs))
        };
        let tried: Vec<(f64, f64)> = (0..=10).map(|tenth| variation(f64::from(tenth) / 10.0)).collect::<Option<_>>()?;
        let &(power, best) = tried.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let hardly_more = best * (1.0 + Z95.powi(2) / (self.runs.len() * (PARTS - 1)) as f64);
        let mut as_well = tried.iter().filter(|(_, variation)| *variation <= hardly_more).map(|(power, _)| *power);
        let least = as_well.next()?;
        Some(Fit { power, least, most: as_well.next_back().unwrap_or(least) })
    }
}

fn figures(
    now: &MeasureDocument,
    earlier: &[&MeasureDocument],
    figure: impl Fn(&MeasureDocument) -> Option<Ratio>,
) -> Option<Figures> {
    Some(Figures { now: figure(now)?, earlier: earlier.iter().map(|it| figure(it)).collect::<Option<_>>()? })
}

fn calibration(document: &MeasureDocument, kind: Kind, phase: Phase) -> Option<Ratio> {
    document.calibration.as_ref()?.run(kind)?.phases.get(&phase).map(of_statistics)
}

fn calibration_of_full(document: &MeasureDocument) -> Option<Ratio> {
    calibration(document, Kind::Full, Phase::Tls)
}

/// Of all connections, whatever their kind: it does not know any.
fn connect(document: &MeasureDocument, seed: u64) -> Option<Ratio> {
    let all: Vec<u64> = document.samples.iter().filter_map(|it| it.phases.connect).map(|Nanos(nanos)| nanos).collect();
    match summarize(&all, seed) {
        Some(summary) => Some(of_statistics(&reprise_probe::statistics(summary))),
        // Without samples: of the run that has the most.
        None => document.runs.iter().max_by_key(|run| run.n)?.phases.get(&Phase::Connect).map(of_statistics),
    }
}

/// One phase of each sample that came out as asked, and of the calibration's connection of this kind that was made nearest to
/// it, in nanoseconds.
fn pairs(document: &MeasureDocument, asked: Asked, kind: Kind, phase: Phase) -> Vec<(f64, f64)> {
    let of_kind = document.calibration.iter().flat_map(|it| &it.samples).filter(|it| it.kind == kind);
    let calibration: BTreeMap<u64, Nanos> = of_kind.filter_map(|it| Some((it.after, it.phases.of(phase)?))).collect();
    let nearest = |after: u64| {
        let (before, behind) = (calibration.range(..=after).next_back(), calibration.range(after..).next());
        let all = before.into_iter().chain(behind);
        all.min_by_key(|(place, _)| place.abs_diff(after)).map(|(_, took)| took.0 as f64).filter(|took| *took > 0.0)
    };
    let samples = (1..).zip(in_order(document)).filter(|(_, sample)| sample.asked == asked && sample.kind == asked.kind);
    samples.filter_map(|(after, sample)| Some((sample.phases.of(phase)?.0 as f64, nearest(after)?))).collect()
}

#[cfg(test)]
mod tests {
    use reprise_model::Kind;
    use reprise_model::document::{Comparison, PhaseChange};

    use super::*;
    use crate::{Condition, ConditionJudgement, ConditionSubject, EarlierResult, Scope, compare};
    use reprise_diagnosis::example::Example;

    /// Medians in microseconds: connect, tls of a full handshake, tls of a resumed one, calibration.
    type Medians = (u64, u64, u64, Option<u64>);

    fn measured((connect, full, ticket, calibration): Medians, address: &str) -> MeasureDocument {
        let example = Example::new().timed_run("1.3", Kind::Full, [connect, full, 1000]);
        let example = example.timed_run("1.3", Kind::Ticket, [connect, ticket, 1000]).address(address);
        match calibration {
            Some(us) => example.calibration(us).document(),
            None => example.document(),
        }
    }

    fn compared(now: &MeasureDocument, earlier: &[&MeasureDocument]) -> Comparison {
        let earlier: Vec<EarlierResult<'_>> =
            earlier.iter().map(|result| EarlierResult { result, file: "earlier.json" }).collect();
        compare(now, &earlier, &Scope::default(), 1).unwrap()
    }

    fn full(comparison: &Comparison) -> PhaseChange {
        *comparison.phases.iter().find(|it| it.kind == Kind::Full && it.phase == Phase::Tls).unwrap()
    }

    #[track_caller]
    fn assert_cause(cause: ChangeCause, now: Medians, before: Medians, address: &str) {
        let mut now = measured(now, address);
        let comparison = compared(&now, &[&measured(before, address)]);
        let verdict = comparison.verdict.clone().unwrap();
        assert_eq!(verdict.cause, cause, "{}", verdict.text);
        now.baseline = Some(Box::new(comparison));
        for gate in ["baseline.tls.change.low > 5%", "baseline.tls.slower > 0", "baseline.slower > 0"] {
            let judged = Condition::read(gate, &ConditionSubject::Measurement).unwrap().judge(&now);
            assert_eq!(matches!(judged, ConditionJudgement::Met(_)), cause == ChangeCause::Tls, "{gate}: {judged:?}");
        }
    }

    const HERE: &str = "127.0.0.1";
    const ELSEWHERE: &str = "192.0.2.1";

    #[test]
    fn where_connect_rose_as_tls_did_no_gate_fails() {
        let before = (1000, 10_000, 4_000, None);
        assert_cause(ChangeCause::MachineOrNetwork, (1500, 15_000, 6_000, None), before, ELSEWHERE);
        assert_cause(ChangeCause::Machine, (1500, 15_000, 6_000, None), before, HERE);
    }

    /// Two round trips of 0.2 ms cannot cost a handshake 3 ms more.
    #[test]
    fn a_slower_connect_explains_no_more_than_round_trips() {
        assert_cause(ChangeCause::Tls, (300, 8_000, 3_200, Some(1000)), (200, 5_000, 2_000, Some(1000)), ELSEWHERE);
    }

    #[test]
    fn where_the_calibration_rose_too_it_is_the_machine() {
        let before = (100, 1000, 400, Some(500));
        assert_cause(ChangeCause::Machine, (150, 1500, 600, Some(750)), before, HERE);
        assert_cause(ChangeCause::Machine, (100, 1500, 600, Some(750)), before, HERE);
        assert_cause(ChangeCause::None, (150, 1000, 400, Some(500)), before, HERE);
    }

    #[test]
    fn where_the_calibration_stayed_it_is_the_network() {
        assert_cause(
            ChangeCause::Network,
            (15_000, 18_000, 16_500, Some(500)),
            (10_000, 12_000, 11_000, Some(500)),
            ELSEWHERE,
        );
    }

    #[test]
    fn where_tls_alone_rose_the_gate_fails() {
        let before = (100, 1000, 400, Some(500));
        assert_cause(ChangeCause::Tls, (100, 1500, 400, Some(500)), before, HERE);
        assert_cause(ChangeCause::Tls, (100, 1500, 400, Some(500)), before, ELSEWHERE);
        assert_cause(ChangeCause::Tls, (100, 1500, 400, None), (100, 1000, 400, None), HERE);
    }

    /// A busy client makes a connection over a network longer by its own work alone.
    #[test]
    fn a_slower_client_excuses_only_its_share_of_a_far_target() {
        let before = (10_000, 20_000, 15_000, Some(500));
        assert_cause(ChangeCause::Tls, (10_000, 30_000, 15_000, Some(750)), before, ELSEWHERE);
    }

    #[test]
    fn a_faster_machine_does_not_hide_that_tls_is_slower() {
        assert_cause(ChangeCause::Tls, (100, 1000, 250, Some(300)), (100, 1000, 400, Some(500)), HERE);
    }

    #[test]
    fn a_faster_network_makes_nothing_slower() {
        assert_cause(ChangeCause::None, (800, 4000, 2000, Some(500)), (1000, 4000, 2000, Some(500)), ELSEWHERE);
    }

    #[test]
    fn a_calibration_of_other_work_is_none() {
        let (now, mut before) = (measured((100, 1500, 400, Some(600)), HERE), measured((100, 1000, 400, Some(500)), HERE));
        before.calibration.as_mut().unwrap().work = "RSA".to_owned();
        let controls: Vec<Control> = compared(&now, &[&before]).controls.iter().map(|it| it.control).collect();
        assert_eq!(controls, [Control::Connect]);
    }

    #[test]
    fn baselines_that_differ_widen_the_interval() {
        let now = measured((100, 1000, 400, Some(500)), HERE);
        let before = [800, 1000, 1250].map(|full| measured((100, full, 400, Some(500)), HERE));
        let width = |earlier: &[&MeasureDocument]| {
            let change = full(&compared(&now, earlier));
            [change.ci95, change.own.unwrap().ci95].map(|ends| ends.map(|[low, high]| high - low).unwrap())
        };
        let one = width(&[&before[1]]);
        let [raw, own] = width(&before.each_ref());
        assert!(raw > 3.0 * one[0] && own > 3.0 * one[1], "{raw} {own} against {one:?}");
        let comparison = compared(&now, &before.each_ref());
        assert_eq!((comparison.files.len(), full(&comparison).n_before), (3, 300));
    }
}
