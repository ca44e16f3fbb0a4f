//! What finds a cause: a function, and what that function is asked about at a time.

use reprise_judge::JudgedCause as Conclusion;
use reprise_model::document::{Finding, Severity};
use reprise_model::{Asked, Kind, Version};
use reprise_probe::diagnose::{ExperimentRun, Judgement};

use crate::client::ClientCase;
use crate::crossed_offer::CrossedOffer;
use crate::diagnose::Examined;
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::{KindSeries, MeasuredCase, of_each_version};

/// What finds a cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule<F> {
    /// Of findings of equal severity and confidence, that of the rule with the lower rank stands first.
    pub(crate) rank: u8,
    /// The function.
    pub(crate) find: F,
}

/// What a measurement shows of a cause.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MeasuredRule {
    /// Asked once, about all connections.
    Once(fn(&MeasuredCase<'_>) -> Option<Finding>),
    /// Asked once, and finds several things.
    Several(fn(&MeasuredCase<'_>) -> Vec<Finding>),
    /// Asked about each version.
    EachVersion(fn(&MeasuredCase<'_>, Version) -> Option<Finding>),
    /// Asked about the connections of each version and kind, error pages included.
    EachSeries(fn(&MeasuredCase<'_>, &KindSeries<'_>) -> Option<Finding>),
    /// Asked about the same without error pages, from which nothing about resumption can be concluded.
    EachConclusiveSeries(fn(&MeasuredCase<'_>, &KindSeries<'_>) -> Option<Finding>),
}

/// What the judge concludes of one mechanism.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedRule {
    /// What it has to conclude.
    pub(crate) concludes: Conclusion,
    /// Of sessions of these kinds.
    pub(crate) kinds: &'static [Kind],
    /// How bad it is.
    pub(crate) severity: fn(Asked) -> Severity,
    /// The title of the finding.
    pub(crate) title: fn(&Judgement) -> String,
    /// Which of two causes it is that the judge does not tell apart.
    pub(crate) is_it: fn(&Judgement) -> bool,
}

impl JudgedRule {
    /// Of tickets and of session IDs.
    pub(crate) const fn of(concludes: Conclusion, severity: fn(Asked) -> Severity, title: fn(&Judgement) -> String) -> Self {
        Self { concludes, kinds: &[Kind::Ticket, Kind::Id], severity, title, is_it: |_| true }
    }

    /// Only where this holds.
    pub(crate) const fn if_it(self, is_it: fn(&Judgement) -> bool) -> Self {
        Self { is_it, ..self }
    }

    /// Of one of them.
    pub(crate) const fn under(self, kinds: &'static [Kind]) -> Self {
        Self { kinds, ..self }
    }
}

/// What the experiments with a server show of a cause.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExaminedRule {
    /// Asked once, about all experiments.
    Once(fn(&Examined<'_>) -> Option<Finding>),
    /// Asked about each version.
    EachVersion(fn(&Examined<'_>, Version) -> Option<Finding>),
    /// Asked about each run of the experiment of this name.
    EachRun(&'static str, fn(&Examined<'_>, &ExperimentRun) -> Option<Finding>),
    /// Asked once, and finds several things.
    Several(fn(&Examined<'_>) -> Vec<Finding>),
}

/// What the connections of a watched client show of a cause.
pub(crate) type WatchedRule = fn(&ClientCase<'_>) -> Option<Finding>;

/// What the offers between nodes show of a cause.
pub(crate) type FleetRule = fn(&FleetCase<'_>) -> Option<FleetFinding>;
/// What sessions of other places, offered at one target, show of a cause.
pub(crate) type IsolatedRule = fn(&[&CrossedOffer<'_>]) -> Vec<Finding>;

impl MeasuredRule {
    pub(crate) fn findings(self, case: &MeasuredCase<'_>) -> Vec<Finding> {
        match self {
            Self::Once(find) => find(case).into_iter().collect(),
            Self::Several(find) => find(case),
            Self::EachVersion(find) => of_each_version(|version| find(case, version)),
            Self::EachSeries(find) => of_each_series(find, case, &case.every_series()),
            Self::EachConclusiveSeries(find) => of_each_series(find, case, &case.conclusive_series()),
        }
    }
}

type FindInSeries = fn(&MeasuredCase<'_>, &KindSeries<'_>) -> Option<Finding>;

fn of_each_series(find: FindInSeries, case: &MeasuredCase<'_>, all: &[KindSeries<'_>]) -> Vec<Finding> {
    all.iter().filter_map(|series| Some(of_mechanism(find(case, series)?, series.asked))).collect()
}

/// What was asked about one mechanism is about that one, unless it names others.
fn of_mechanism(finding: Finding, asked: Asked) -> Finding {
    if finding.mechanisms.is_empty() { finding.under([asked]) } else { finding }
}

impl ExaminedRule {
    pub(crate) fn findings(self, examined: &Examined<'_>) -> Vec<Finding> {
        match self {
            Self::Once(find) => find(examined).into_iter().collect(),
            Self::EachVersion(find) => of_each_version(|version| find(examined, version)),
            Self::EachRun(name, find) => {
                examined.runs(name).filter_map(|run| Some(of_mechanism(find(examined, run)?, run.asked))).collect()
            }
            Self::Several(find) => find(examined),
        }
    }
}
