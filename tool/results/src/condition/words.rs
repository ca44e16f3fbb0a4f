//! A figure as words name it: what is meant, and what of it.

use std::fmt;

use reprise_model::document::{CompareCase, CompareSide, Confidence, IsolationVerdict, Severity};
use reprise_model::{Asked, Kind, Phase, Version};

use super::ConditionSubject;
use super::quantity::{Bound, Quantity};

/// What the words of a condition name. A word that is not there leaves all that it could say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Whether it is against a baseline.
    pub(super) baseline: bool,
    pub(super) side: Option<CompareSide>,
    /// One stack, or a client's and a server's.
    pub(super) stacks: Vec<String>,
    pub(super) tls: Option<Version>,
    pub(super) kind: Option<Which>,
    pub(super) key: Option<String>,
    pub(super) group: Option<String>,
    pub(super) mutual: bool,
    pub(super) span: Option<Span>,
    pub(super) quantity: Option<Quantity>,
    pub(super) bound: Option<Bound>,
    pub(super) status: Option<Statuses>,
    pub(super) severity: Option<Severity>,
    pub(super) confidence: Option<Confidence>,
    /// The name of a finding.
    pub(super) finding: Option<&'static str>,
    /// Whether it is the part of offers that is resumed.
    pub(super) shared: bool,
    /// Whether it is that answers differ by the kind.
    pub(super) differ: bool,
    /// What became of sessions at other places than their own.
    pub(super) verdict: Option<IsolationVerdict>,
}

/// One kind, or each but `full`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Kind(Kind),
    Resumed,
}

/// What a time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Phase(Phase),
    /// Of a load: from the intended start.
    Latency,
}

/// `503`, or all of `5xx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statuses {
    One(u16),
    Class(u16),
}

impl Words {
    /// What of it. A time that says no more is a median, against a baseline its change.
    pub(super) fn quantity(&self) -> Quantity {
        self.quantity.unwrap_or(if self.baseline { Quantity::Change } else { Quantity::MEDIAN })
    }

    pub(super) fn phase(&self) -> Option<Phase> {
        match self.span {
            Some(Span::Phase(phase)) => Some(phase),
            Some(Span::Latency) | None => None,
        }
    }

    /// The side of a comparison that is meant.
    pub(super) fn side(&self) -> CompareSide {
        self.side.unwrap_or(CompareSide::Both)
    }

    /// Whether connections of this version and kind are meant.
    pub(super) fn covers(&self, asked: Asked) -> bool {
        let with_full = self.quantity().compares_with_full() && asked.kind == Kind::Full;
        self.tls.is_none_or(|tls| tls == asked.tls) && self.covers_kind(asked.kind) && !with_full
    }

    pub(super) fn covers_kind(&self, kind: Kind) -> bool {
        self.kind.is_none_or(|which| which.covers(kind))
    }

    /// Whether a handshake of a comparison is meant.
    pub(super) fn covers_case(&self, case: &CompareCase) -> bool {
        self.tls.is_none_or(|tls| tls == case.tls)
            && self.covers_kind(case.kind)
            && self.key.as_ref().is_none_or(|key| *key == case.key)
            && self.group.as_ref().is_none_or(|group| *group == case.group)
            && (!self.mutual || case.mutual)
    }

    /// The same figure of one version and kind, for people: `1.3 ticket tls p99`.
    pub(super) fn name_for(&self, asked: Asked) -> String {
        let phase = self.phase().map(|phase| format!("{phase} ")).unwrap_or_default();
        format!("{} {} {phase}{}", asked.tls.number(), asked.kind, self.quantity().name())
    }

    /// What words cannot stand together, as what was expected instead.
    pub(super) fn contradiction(&self, of: ConditionSubject<'_>, of_bytes: bool) -> Option<String> {
        let quantity = self.quantity();
        let name = quantity.name();
        let has_finding = self.severity.is_some() || self.confidence.is_some() || self.finding.is_some();
        let is_comparison = matches!(of, ConditionSubject::Comparison { .. });
        match quantity.without_and_with_baseline() {
            (false, true) if !self.baseline => return Some(format!("'baseline.' in front: {name} is against a baseline")),
            (true, false) if self.baseline => {
                let others = Quantity::names(of).filter(|(_, it)| it.without_and_with_baseline().1);
                let others: Vec<&str> = others.map(|(name, _)| name).collect();
                return Some(format!("one of {} of the baseline, not {name}", others.join(", ")));
            }
            _ => {}
        }
        if has_finding && quantity != Quantity::Findings {
            return Some("'findings.' in front of a severity, a confidence or the name of a finding".to_owned());
        }
        if of_bytes && !matches!(quantity, Quantity::Sent | Quantity::Received) {
            return Some("bytes.sent or bytes.received".to_owned());
        }
        if !is_comparison {
            if quantity.has_phase() && self.span.is_none() {
                let latency = if of == ConditionSubject::Load { "latency or " } else { "" };
                return Some(format!("{latency}a phase with {name}: {}", Phase::ALL.map(Phase::name).join(", ")));
            }
            let counts_medians = matches!(quantity, Quantity::Slower | Quantity::Faster);
            if let Some(span) = self.span.filter(|_| !quantity.has_phase() && !counts_medians) {
                return Some(format!("{name} without '{span}': it is not of one phase"));
            }
            let of_all = match of {
                ConditionSubject::Load => {
                    !quantity.has_phase()
                        && !matches!(quantity, Quantity::Rate | Quantity::Samples | Quantity::Kinds | Quantity::Answers)
                }
                _ => matches!(quantity, Quantity::Findings | Quantity::Isolation | Quantity::Fleet | Quantity::ServerCpu),
            };
            if of_all && (self.tls.is_some() || self.kind.is_some()) {
                return Some(format!("{name} without a version or a kind: it is of all connections"));
            }
            if quantity == Quantity::Kinds && self.kind.is_none() {
                return Some("a kind, 'kinds.ticket'".to_owned());
            }
        }
        if self.bound.is_some() && !quantity.has_interval(self.baseline)
            || self.bound.is_some() && of == ConditionSubject::Load
        {
            return Some(format!("low and high after median, ratio or a change: {name} has no interval"));
        }
        if quantity.compares_with_full() && self.kind == Some(Which::Kind(Kind::Full)) {
            return Some(format!("a resumed kind: {name} is against full handshakes"));
        }
        if (quantity == Quantity::Isolation) != self.verdict.is_some() {
            let verdicts = IsolationVerdict::ALL.map(IsolationVerdict::name).join(", ");
            return Some(format!("isolation and a verdict, 'isolation.broken': {verdicts}"));
        }
        if (quantity == Quantity::Fleet) != self.shared {
            return Some("fleet and what of it, 'fleet.shared'".to_owned());
        }
        if (quantity == Quantity::Answers) != self.differ {
            return Some("answers and what of them, 'answers.differ'".to_owned());
        }
        if quantity == Quantity::Status && self.status.is_none() {
            return Some("a status, 'status.200' or 'status.5xx'".to_owned());
        }
        if self.tls == Some(Version::Tls13) && self.kind == Some(Which::Kind(Kind::Id)) && !is_comparison {
            return Some("another kind: TLS 1.3 has no session IDs".to_owned());
        }
        None
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        let mut say = |word: Option<&str>| words.extend(word.map(str::to_owned));
        say(self.baseline.then_some("baseline"));
        say(self.side.map(CompareSide::name));
        self.stacks.iter().for_each(|stack| say(Some(stack)));
        say(self.tls.map(Version::number));
        say(self.kind.map(Which::name));
        say(self.key.as_deref());
        say(self.group.as_deref());
        say(self.mutual.then_some("mutual"));
        say(self.span.map(Span::name));
        say(Some(self.quantity().name()));
        say(self.status.map(|status| status.to_string()).as_deref());
        say(self.severity.map(Severity::name));
        say(self.confidence.map(Confidence::name));
        say(self.finding);
        say(self.shared.then_some("shared"));
        say(self.differ.then_some("differ"));
        say(self.verdict.map(IsolationVerdict::name));
        f.write_str(&words.join("."))
    }
}

impl Which {
    pub(super) fn named(name: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).map(Self::Kind);
        kind.or((name == Self::Resumed.name()).then_some(Self::Resumed))
    }

    pub(super) fn covers(self, kind: Kind) -> bool {
        match self {
            Self::Kind(wanted) => wanted == kind,
            Self::Resumed => kind != Kind::Full,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Resumed => "resumed",
        }
    }
}

impl Span {
    pub(super) fn named(name: &str, of: ConditionSubject<'_>) -> Option<Self> {
        let phase = Phase::ALL.into_iter().find(|phase| phase.name() == name).map(Self::Phase);
        match of {
            ConditionSubject::Measurement => phase,
            ConditionSubject::Load => phase.or((name == Self::Latency.name()).then_some(Self::Latency)),
            ConditionSubject::Diagnosis | ConditionSubject::Comparison { .. } | ConditionSubject::Other => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Phase(phase) => phase.name(),
            Self::Latency => "latency",
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Statuses {
    pub(super) fn named(word: &str) -> Option<Self> {
        if let Some(class) = word.strip_suffix("xx") {
            return class.parse().ok().filter(|class| (1..=5).contains(class)).map(Self::Class);
        }
        word.parse().ok().filter(|status| (100..=599).contains(status)).map(Self::One)
    }

    pub(super) fn covers(self, status: u16) -> bool {
        match self {
            Self::One(one) => one == status,
            Self::Class(class) => status / 100 == class,
        }
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(status) => write!(f, "{status}"),
            Self::Class(class) => write!(f, "{class}xx"),
        }
    }
}
