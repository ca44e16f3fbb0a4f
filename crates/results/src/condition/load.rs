//! Conditions on a load: `rate < 5000`, `ticket.latency.p99 > 20ms`, `failed > 0.1%`, `status.5xx > 0`, `server_cpu > 300us`.
//!
//! The words of a figure: a kind; a phase, or `latency` for what a connection took from its intended start (in a closed loop from
//! its start); then what of it. `load.` may stand in front.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use reprise_model::document::{LoadDocument, LoadLatency};
use reprise_model::{Kind, Phase};

use super::figures::Value;
use super::parse::{ConditionError, Cursor, whole};
use super::{Bound, Judgement, Of, Quantity, Test, Which};

/// A condition on a load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCondition {
    figure: LoadFigure,
    test: Test,
}

impl fmt::Display for LoadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.test.text)
    }
}

/// What is about to be made.
#[derive(Clone, Debug)]
pub struct LoadPlanned<'a> {
    /// The kinds that are asked for.
    pub kinds: &'a [Kind],
    /// Requests on each connection.
    pub requests: u32,
    /// Whether they are of HTTP, and have a status.
    pub http: bool,
    /// Whether the server's processes are named.
    pub server_cpu: bool,
    /// Whether it is an open loop.
    pub open: bool,
}

/// Which figure of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoadFigure {
    kind: Option<Which>,
    span: Option<Span>,
    status: Option<Statuses>,
    quantity: Quantity,
}

/// What a latency is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Phase(Phase),
    /// From the intended start.
    Latency,
}

/// `503`, or all of `5xx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statuses {
    One(u16),
    Class(u16),
}

impl FromStr for LoadCondition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let (figure, test) = whole(text, figure, |figure| (figure.quantity, Bound::Value))?;
        Ok(Self { figure, test })
    }
}

impl LoadCondition {
    /// Why such a load cannot have the figure; `None` where it may.
    pub fn impossible(&self, planned: &LoadPlanned<'_>) -> Option<String> {
        let LoadFigure { kind, span, quantity, .. } = self.figure;
        let is_asked = |which: Which| planned.kinds.iter().any(|kind| which.covers(*kind));
        // Where sessions are refused or there are none yet, a handshake is full whatever was asked.
        if kind.is_some_and(|which| which != Which::Kind(Kind::Full) && !is_asked(which)) {
            return Some("--mix leaves out what it is about".to_owned());
        }
        match (quantity, span) {
            (Quantity::Status, _) if !planned.http || planned.requests == 0 => {
                Some("no HTTP request is sent, so that nothing has a status".to_owned())
            }
            (_, Some(Span::Phase(Phase::Wait | Phase::Receive))) if planned.requests == 0 => {
                Some("with --requests 0 there is nothing to wait for".to_owned())
            }
            (_, Some(Span::Phase(Phase::Resolve | Phase::Proxy))) => Some("a load has no such phase".to_owned()),
            (Quantity::ServerCpu, _) if !planned.server_cpu => Some("it needs --server-pid".to_owned()),
            (Quantity::NotStarted, _) if !planned.open => {
                Some("it needs --rate: in a closed loop nothing is due".to_owned())
            }
            _ => None,
        }
    }

    /// Holds the condition against a result.
    pub fn judge(&self, result: &LoadDocument) -> Judgement {
        self.test.judge(self.values(result), &self.figure)
    }

    fn values(&self, result: &LoadDocument) -> Vec<Value> {
        let figure = &self.figure;
        let begun = result.total_completed().saturating_add(result.late).saturating_add(result.total_errors());
        let name = figure.to_string();
        let share = |part: u64, all: u64| {
            let count = format!(", {part} of {all}");
            vec![self.test.value(name.clone(), self.test.share(part, all), None, &count)]
        };
        match figure.quantity {
            Quantity::Failed => share(result.total_errors(), begun),
            Quantity::NotStarted => share(result.not_started, begun.saturating_add(result.not_started)),
            Quantity::Refused => share(result.refused, begun),
            Quantity::Status => {
                let counted = |status: &u16| figure.status.is_some_and(|it| it.covers(*status));
                let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
                let part = sum(&mut result.http_status.iter().filter(|(status, _)| counted(status)).map(|it| *it.1));
                share(part, sum(&mut result.http_status.values().copied()))
            }
            Quantity::Kinds => {
                let part = counts(&result.completed, figure.kind).fold(0, u64::saturating_add);
                share(part, result.total_completed())
            }
            Quantity::Samples => {
                let count = counts(&result.completed, figure.kind).fold(0, u64::saturating_add);
                vec![self.test.value(name, (begun > 0).then_some(count as f64), None, "")]
            }
            Quantity::Rate => {
                let rate = match figure.kind {
                    None => result.rate.mean,
                    Some(which) => result.rate.mean_by_kind.iter().filter(|it| which.covers(*it.0)).map(|it| it.1).sum(),
                };
                let over = format!(" over {:.1} s", result.seconds);
                vec![self.test.value(name, (begun > 0).then_some(rate), None, &over)]
            }
            Quantity::ClientCpu | Quantity::ServerCpu => vec![self.cpu(result, name)],
            Quantity::ClientBusy => {
                vec![self.test.value(name, (begun > 0).then_some(result.bottleneck.client_busy), None, "")]
            }
            _ => self.latencies(result),
        }
    }

    /// What each connection took, on average over all of them.
    fn cpu(&self, result: &LoadDocument, name: String) -> Value {
        let each = result.total_completed().saturating_add(result.late).saturating_add(result.warmup_completed);
        let used = match self.figure.quantity {
            Quantity::ServerCpu => result.server_cpu_ns,
            _ => Some(result.client_cpu_ns.user.saturating_add(result.client_cpu_ns.system)),
        };
        let value = used.filter(|_| each > 0).map(|used| used as f64 / each as f64);
        self.test.value(name, value, None, &format!(", {each} connections"))
    }

    fn latencies(&self, result: &LoadDocument) -> Vec<Value> {
        let LoadFigure { kind, span, quantity, .. } = self.figure;
        let of_kind = |of: Kind, latency: Option<&LoadLatency>| {
            let time = latency.and_then(|it| match quantity {
                Quantity::P90 => Some(it.p90),
                Quantity::P95 => it.p95,
                Quantity::P99 => Some(it.p99),
                Quantity::P999 => Some(it.p999),
                Quantity::Max => Some(it.max),
                _ => Some(it.p50),
            });
            let completed = result.completed.get(&of).copied().unwrap_or_default();
            let span = span.unwrap_or(Span::Latency);
            let of = format!("{of} {span} {}", quantity.name());
            self.test.value(of, time.map(|time| time as f64), None, &format!(", n = {completed}"))
        };
        let latency = |of: Kind| match span {
            Some(Span::Phase(phase)) => result.latency_ns.get(&of)?.get(&phase),
            _ => result.latency_from_intended_ns.get(&of).or_else(|| result.latency_ns.get(&of)?.get(&Phase::Total)),
        };
        let kinds = result.latency_ns.keys().copied().filter(|of| kind.is_none_or(|which| which.covers(*of)));
        kinds.map(|of| of_kind(of, latency(of))).collect()
    }
}

/// The counts of these kinds.
fn counts(completed: &BTreeMap<Kind, u64>, which: Option<Which>) -> impl Iterator<Item = u64> {
    completed.iter().filter(move |it| which.is_none_or(|which| which.covers(*it.0))).map(|it| *it.1)
}

impl Statuses {
    fn read(word: &str) -> Option<Self> {
        if let Some(class) = word.strip_suffix("xx") {
            return class.parse().ok().filter(|class| (1..=5).contains(class)).map(Self::Class);
        }
        word.parse().ok().filter(|status| (100..=599).contains(status)).map(Self::One)
    }

    fn covers(self, status: u16) -> bool {
        match self {
            Self::One(one) => one == status,
            Self::Class(class) => status / 100 == class,
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Phase(phase) => phase.name(),
            Self::Latency => LATENCY,
        })
    }
}

impl fmt::Display for LoadFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(which) = self.kind {
            write!(f, "{}.", which.name())?;
        }
        if let Some(span) = self.span {
            write!(f, "{span}.")?;
        }
        f.write_str(self.quantity.name())?;
        match self.status {
            Some(Statuses::One(status)) => write!(f, ".{status}"),
            Some(Statuses::Class(class)) => write!(f, ".{class}xx"),
            None => Ok(()),
        }
    }
}

const LATENCY: &str = "latency";

fn figure(cursor: &mut Cursor<'_>) -> Result<LoadFigure, ConditionError> {
    cursor.take("load.");
    let begin = cursor.at;
    let (mut kind, mut span, mut status, mut quantity) = (None, None, None, None);
    loop {
        let at = cursor.at;
        let name = cursor.take_while(|it| it.is_ascii_alphanumeric() || it == '_');
        let phase = Phase::ALL.into_iter().find(|phase| phase.name() == name).map(Span::Phase);
        let of = phase.or((name == LATENCY).then_some(Span::Latency));
        let statuses = Statuses::read(name).filter(|_| quantity == Some(Quantity::Status));
        let is_second = match (Which::named(name), of, Quantity::named(name, Of::Load), statuses) {
            (Some(which), ..) => kind.replace(which).is_some(),
            (_, Some(of), ..) => span.replace(of).is_some(),
            (_, _, Some(named), _) => quantity.replace(named).is_some(),
            (.., Some(statuses)) => status.replace(statuses).is_some(),
            _ => return Err(cursor.expected_at(at, words())),
        };
        if is_second {
            return Err(cursor.expected_at(at, "one of each at most: a kind, a phase, a figure"));
        }
        if !cursor.take(".") {
            break;
        }
    }
    let quantity = match (quantity, span) {
        (Some(quantity), _) => quantity,
        (None, Some(_)) => Quantity::Median,
        (None, None) => return Err(cursor.expected("a figure or a phase, '.rate' or '.latency'")),
    };
    let figure = LoadFigure { kind, span, status, quantity };
    contradiction(figure).map_or(Ok(figure), |expected| Err(cursor.expected_at(begin, expected)))
}

/// What words cannot stand together, as what was expected instead.
fn contradiction(figure: LoadFigure) -> Option<String> {
    let LoadFigure { kind, span, status, quantity } = figure;
    let name = quantity.name();
    if quantity.has_phase() && span.is_none() {
        return Some(format!("latency or a phase with {name}, '{LATENCY}.{name}'"));
    }
    if let Some(span) = span.filter(|_| !quantity.has_phase()) {
        return Some(format!("{name} without '{span}': it is no time"));
    }
    let of_kinds = quantity.has_phase() || matches!(quantity, Quantity::Rate | Quantity::Samples | Quantity::Kinds);
    if kind.is_some() && !of_kinds {
        return Some(format!("{name} without a kind: it is of all connections"));
    }
    if quantity == Quantity::Kinds && kind.is_none() {
        return Some("a kind, 'kinds.ticket'".to_owned());
    }
    (quantity == Quantity::Status && status.is_none()).then(|| "a status, 'status.200' or 'status.5xx'".to_owned())
}

fn words() -> String {
    format!(
        "a kind ({}, resumed), {LATENCY} or a phase ({}), or a figure ({}); after status '200' or '5xx'",
        Kind::ALL.map(|kind| kind.name()).join(", "),
        Phase::ALL.map(Phase::name).join(", "),
        Quantity::names(Of::Load).map(|(name, _)| name).collect::<Vec<_>>().join(", "),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<LoadCondition>().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for (text, figure) in [
            ("rate < 5000", "rate"),
            ("load.rate<5000/s", "rate"),
            ("ticket.rate >= 10", "ticket.rate"),
            ("latency.p99 > 20ms", "latency.p99"),
            ("load.latency.p999 > 1 s", "latency.p999"),
            ("p95.full.tls > 900us", "full.tls.p95"),
            ("resumed.latency > 1ms", "resumed.latency.median"),
            ("status.5xx > 0.1%", "status.5xx"),
            ("status.200 < 100%", "status.200"),
            ("server_cpu > 300us", "server_cpu"),
            ("kinds.ticket < 90%", "ticket.kinds"),
            ("client_busy > 90%", "client_busy"),
        ] {
            assert_eq!(text.parse::<LoadCondition>().unwrap().figure.to_string(), figure, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_says_what_was_expected() {
        for (text, words) in [
            ("p99 > 1ms", "latency or a phase with p99"),
            ("full.failed > 0", "failed without a kind"),
            ("latency.rate > 1", "rate without 'latency'"),
            ("status > 0", "'status.200' or 'status.5xx'"),
            ("status.7xx > 0", "after status '200' or '5xx'"),
            ("latency.p99 > 20", "a unit: ns, us"),
            ("rate.rate > 1", "one of each at most"),
            ("kinds > 1", "a kind, 'kinds.ticket'"),
            ("findings > 0", "or a figure (median"),
            ("", "or a figure (median"),
        ] {
            assert!(refusal(text).contains(words), "{text}: {}", refusal(text));
        }
    }

    #[test]
    fn a_load_that_cannot_have_the_figure_is_refused_first() {
        let planned = LoadPlanned { kinds: &[Kind::Full], requests: 0, http: true, server_cpu: false, open: false };
        let why = |text: &str| text.parse::<LoadCondition>().unwrap().impossible(&planned);
        for text in ["server_cpu > 1us", "ticket.rate < 1", "status.200 < 1n", "full.wait > 1s", "not_started > 0"] {
            assert!(why(text).is_some(), "{text}");
        }
        for text in ["client_cpu > 1us", "full.rate < 1", "latency.p99 > 1s", "failed > 0"] {
            assert_eq!(why(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_ends_in_a_condition_or_an_error(text in ".{0,60}") {
            let _ = text.parse::<LoadCondition>();
        }

        #[test]
        fn words_of_the_language_in_any_order_do_not_panic(
            words in proptest::collection::vec("load|full|ticket|tls|latency|rate|p99|status|5xx|failed|[.<>=% 0-9]", 0..9),
        ) {
            let _ = words.concat().parse::<LoadCondition>();
        }
    }
}
