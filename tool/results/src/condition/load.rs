//! Conditions on a load: `rate < 5000`, `ticket.latency.p99 > 20ms`, `status.5xx > 0.1%`.

use std::collections::BTreeMap;

use reprise_model::document::{LoadDocument, LoadLatency};
use reprise_model::{Kind, Phase};

use super::judge::{Judged, Value};
use super::quantity::Quantity;
use super::words::{Span, Which, Words};
use super::{Condition, ConditionSubject, PlannedFigures};

/// A load that is about to be made.
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

impl PlannedFigures for LoadPlanned<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        ConditionSubject::Load
    }

    fn excludes(&self, figure: &Words) -> Option<String> {
        let is_asked = |which: Which| self.kinds.iter().any(|kind| which.covers(*kind));
        // Where sessions are refused or there are none yet, a handshake is full whatever was asked.
        if figure.kind.is_some_and(|which| which != Which::Kind(Kind::Full) && !is_asked(which)) {
            return Some("--mix leaves out what it is about".to_owned());
        }
        let why = match (figure.quantity(), figure.phase()) {
            (Quantity::Status, _) if !self.http || self.requests == 0 => {
                "no HTTP request is sent, so that nothing has a status"
            }
            (Quantity::Answers, _) if self.requests == 0 => "with --requests 0 there is no answer",
            (_, Some(Phase::Wait | Phase::Receive)) if self.requests == 0 => {
                "with --requests 0 there is nothing to wait for"
            }
            (_, Some(Phase::Resolve | Phase::Proxy)) => "a load has no such phase",
            (Quantity::ServerCpu, _) if !self.server_cpu => "it needs --server-pid",
            (Quantity::NotStarted, _) if !self.open => "it needs --rate: in a closed loop nothing is due",
            _ => return None,
        };
        Some(why.to_owned())
    }
}

impl Judged for LoadDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        let begun = self.total_completed().saturating_add(self.late).saturating_add(self.total_errors());
        let name = words.to_string();
        let number =
            |value: f64, beside: &str| vec![condition.value(words.to_string(), (begun > 0).then_some(value), None, beside)];
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
        match words.quantity() {
            Quantity::Failed => vec![condition.part(name, self.total_errors(), begun)],
            Quantity::NotStarted => {
                vec![condition.part(name, self.not_started, begun.saturating_add(self.not_started))]
            }
            Quantity::Refused => vec![condition.part(name, self.refused, begun)],
            Quantity::Status => {
                let is_meant = |status: u16| words.status.is_some_and(|it| it.covers(status));
                let part = sum(&mut self.http_status.iter().filter(|it| is_meant(*it.0)).map(|it| *it.1));
                vec![condition.part(name, part, sum(&mut self.http_status.values().copied()))]
            }
            Quantity::Answers => {
                let is_known = self.completed.keys().any(|kind| *kind != Kind::Full) && self.asked.requests > 0;
                vec![condition.count_of_differences(words, &self.target.host, is_known, &self.answers_differ)]
            }
            Quantity::Kinds => {
                vec![condition.part(name, sum(&mut of_kinds(&self.completed, words)), self.total_completed())]
            }
            Quantity::Samples => number(sum(&mut of_kinds(&self.completed, words)) as f64, ""),
            Quantity::Rate => {
                let rate = match words.kind {
                    None => self.rate.mean,
                    Some(_) => of_kinds(&self.rate.mean_by_kind, words).sum(),
                };
                number(rate, &format!(" over {:.1} s", self.seconds))
            }
            Quantity::ClientBusy => number(self.bottleneck.client_busy, ""),
            Quantity::ClientCpu => {
                let used = self.client_cpu_ns.user.saturating_add(self.client_cpu_ns.system);
                vec![cpu(self, Some(used), name, condition)]
            }
            Quantity::ServerCpu => vec![cpu(self, self.server_cpu_ns, name, condition)],
            _ => latencies(self, words, condition),
        }
    }
}

/// What each connection took, on average over all of them.
fn cpu(document: &LoadDocument, used: Option<u64>, name: String, condition: &Condition) -> Value {
    let each = document.completed_at_any_time();
    let value = used.filter(|_| each > 0).map(|used| used as f64 / each as f64);
    condition.value(name, value, None, &format!(", {each} connections"))
}

fn latencies(document: &LoadDocument, words: &Words, condition: &Condition) -> Vec<Value> {
    let span = words.span.unwrap_or(Span::Latency);
    let latency = |of: Kind| match span {
        Span::Phase(phase) => document.latency_ns.get(&of)?.get(&phase),
        Span::Latency => {
            document.latency_from_intended_ns.get(&of).or_else(|| document.latency_ns.get(&of)?.get(&Phase::Total))
        }
    };
    let value = |of: Kind| {
        let time = latency(of).and_then(|it: &LoadLatency| match words.quantity() {
            Quantity::P999 => Some(it.p999),
            Quantity::Statistic(statistic) => LoadLatency::reading(statistic)?(it),
            _ => Some(it.p50),
        });
        let completed = document.completed.get(&of).copied().unwrap_or_default();
        let name = format!("{of} {span} {}", words.quantity().name());
        condition.value(name, time.map(|time| time as f64), None, &format!(", n = {completed}"))
    };
    document.latency_ns.keys().copied().filter(|of| words.covers_kind(*of)).map(value).collect()
}

fn of_kinds<T: Copy>(of: &BTreeMap<Kind, T>, words: &Words) -> impl Iterator<Item = T> {
    of.iter().filter(|it| words.covers_kind(*it.0)).map(|it| *it.1)
}
