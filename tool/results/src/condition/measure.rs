//! Conditions on a measurement: `baseline.tls.slower > 0`, `1.3.ticket.tls.p99 > 20ms`, `failed > 0`, `findings.fault`.

use reprise_model::document::{Change, ClientsDocument, LabDocument, MeasureDocument, PhaseChange, Run};
use reprise_model::{Asked, Kind, Phase, Version};

use super::judge::{Judged, Value, as_change, listed};
use super::quantity::Quantity;
use super::words::Words;
use super::{Condition, ConditionSubject, PlannedFigures};
use crate::Scope;
use crate::baseline::beyond_chance;

/// A measurement that is about to be made.
#[derive(Clone, Debug, Default)]
pub struct Planned<'a> {
    /// Which versions and kinds.
    pub scope: Scope,
    /// Connections for each.
    pub count: u32,
    /// Whether requests are sent: without, there is neither `wait` nor `receive`.
    pub requests: bool,
    /// Whether a name is resolved: without, there is no `resolve`.
    pub resolves: bool,
    /// Whether there is a proxy in between: without, there is no `proxy`.
    pub proxy: bool,
    /// Whether TLS is asked for in the clear: without, there is no `starttls`.
    pub starttls: bool,
    /// Whether the server's processes are named: without, there is no `server_cpu`.
    pub server_cpu: bool,
    /// The earlier results, where there is a baseline.
    pub baseline: Option<&'a [MeasureDocument]>,
}

/// So many samples are the least that an interval is made of.
pub(super) const LEAST: u32 = 6;

impl PlannedFigures for Planned<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        ConditionSubject::Measurement
    }

    fn excludes(&self, figure: &Words) -> Option<String> {
        let quantity = figure.quantity();
        let all = [Version::Tls12, Version::Tls13].into_iter().flat_map(|tls| Kind::ALL.map(|kind| Asked { tls, kind }));
        let may_be = all.filter(|asked| asked.kind.exists_under(asked.tls));
        let meant: Vec<Asked> = may_be.filter(|asked| figure.covers(*asked) && self.scope.covers(*asked)).collect();
        let kinds = &self.scope.kinds;
        let lacks_full = quantity.compares_with_full() && !kinds.is_empty() && !kinds.contains(&Kind::Full);
        let is_of_server = quantity == Quantity::ServerCpu;
        let why = match figure.phase() {
            _ if meant.is_empty() => "--tls and --kinds exclude it",
            _ if lacks_full => "it compares with full handshakes: add full to --kinds",
            _ if is_of_server && !self.server_cpu => "it needs --server-pid",
            _ if quantity == Quantity::Answers && !self.requests => "with --no-request there is no answer",
            Some(Phase::Wait | Phase::Receive) if !self.requests => "with --no-request there is no response to wait for",
            Some(Phase::Resolve) if !self.resolves => "the target is an address: nothing is resolved",
            Some(Phase::Proxy) if !self.proxy => "there is no proxy: it needs --proxy",
            Some(Phase::Starttls) if !self.starttls => "it needs --starttls",
            _ if figure.bound.is_some() && self.count < LEAST => {
                return Some(format!("under {LEAST} samples there is no interval: raise --count"));
            }
            _ if !figure.baseline => return None,
            _ => match self.baseline {
                None => "it needs --baseline FILE",
                Some(baseline) if !is_in(baseline, figure, &meant) => "the baseline has no such figure",
                Some(_) => return None,
            },
        };
        Some(why.to_owned())
    }
}

/// Whether any of these results has what a figure is compared with.
fn is_in(baseline: &[MeasureDocument], figure: &Words, meant: &[Asked]) -> bool {
    let has = |asked: &Asked| {
        let mut runs = baseline.iter().filter_map(|result| result.run(asked.tls, asked.kind));
        runs.any(|run| figure.phase().is_none_or(|phase| run.phases.contains_key(&phase)))
    };
    match figure.quantity() {
        Quantity::ServerCpu => baseline.iter().any(|result| result.server_cpu.is_some()),
        Quantity::Differences => true,
        _ => meant.iter().any(has),
    }
}

impl Judged for MeasureDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        let of_all = words.tls.is_none() && words.kind.is_none();
        match words.quantity() {
            Quantity::Failed if of_all => {
                let all = self.all_connections;
                vec![condition.part(format!("{}: failed", self.label), all.failed, all.total())]
            }
            Quantity::Slower | Quantity::Faster | Quantity::Differences => vec![count_of_changes(self, words, condition)],
            Quantity::Findings => {
                vec![condition.count_of_findings(words, &self.label, !self.runs.is_empty(), &self.findings)]
            }
            Quantity::Answers => {
                let is_resumed = |run: &Run| run.observed.kinds.total() > run.observed.kinds.of(Kind::Full);
                let is_known = self.runs.iter().any(|run| is_resumed(run) && run.phases.contains_key(&Phase::Wait));
                vec![condition.count_of_differences(words, &self.label, is_known, &self.answers_differ)]
            }
            Quantity::ServerCpu => vec![server_cpu(self, words, condition)],
            quantity => {
                let runs = self.runs.iter().filter(|run| words.covers(run.asked));
                let values: Vec<Value> = runs.map(|run| of_run(self, run, words, condition)).collect();
                match quantity == Quantity::Kinds && values.is_empty() {
                    true => none_of_the_kind(self, words, condition).into_iter().collect(),
                    false => values,
                }
            }
        }
    }
}

/// The share of a kind that no connection could be of, since there was nothing to offer: none of those of the same version that
/// completed. Where there are no such connections, nothing is known, unless the server refuses the version.
fn none_of_the_kind(result: &MeasureDocument, words: &Words, condition: &Condition) -> Option<Value> {
    let is_of_version = |tls: Version| words.tls.is_none_or(|wanted| wanted == tls);
    let runs = result.runs.iter().filter(|run| is_of_version(run.asked.tls));
    let all: u64 = runs.map(|run| run.observed.kinds.total()).fold(0, u64::saturating_add);
    let is_refused = words.tls.is_some_and(|tls| result.refused_versions.contains(&tls));
    let of = format!("{}: {words}", result.label);
    match all {
        0 if is_refused => Some(condition.value(of, Some(0.0), None, ", the server refuses this version")),
        0 => None,
        _ => Some(condition.value(of, Some(0.0), None, &format!(", nothing was offered, 0 of {all}"))),
    }
}

/// Of all its servers.
impl Judged for LabDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        self.results.iter().flat_map(|result| result.values(words, condition)).collect()
    }
}

/// Of each client.
impl Judged for ClientsDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        self.results.iter().flat_map(|result| result.values(words, condition)).collect()
    }
}

fn of_run(result: &MeasureDocument, run: &Run, words: &Words, condition: &Condition) -> Value {
    let of = format!("{}: {}", result.label, words.name_for(run.asked));
    let asked = run.asked;
    let all = run.made();
    let ratio = || result.ratio(asked, words.phase()?);
    let baseline = result.baseline.as_ref();
    let change =
        || baseline?.phases.iter().find(|it| (it.tls, it.kind, Some(it.phase)) == (asked.tls, asked.kind, words.phase()));
    let (value, interval) = match words.quantity() {
        Quantity::Samples => return condition.value(of, Some(run.n as f64), None, ""),
        Quantity::Kinds => return condition.part(of, run.n, all),
        Quantity::Failed => return condition.part(of, run.failed, all),
        Quantity::Ratio if words.baseline => {
            let ratios = baseline.map(|it| it.ratios.as_slice()).unwrap_or_default();
            let change =
                ratios.iter().find(|it| (it.tls, it.kind, Some(it.phase)) == (asked.tls, asked.kind, words.phase()));
            as_change(change.and_then(|it| it.ratio), change.and_then(|it| it.ci95))
        }
        Quantity::Ratio => (ratio().map(|it| it.median), ratio().and_then(|it| it.ci95)),
        Quantity::Saved => (ratio().map(|it| it.saved_ns as f64), None),
        Quantity::Change => {
            let (ratio, ci95, _) = change().map_or((None, None, Change::Unknown), PhaseChange::judged);
            as_change(ratio, ci95)
        }
        Quantity::RawChange => as_change(change().and_then(|it| it.ratio), change().and_then(|it| it.ci95)),
        Quantity::Sent => (run.bytes.map(|bytes| bytes.sent.0 as f64), None),
        Quantity::Received => (run.bytes.map(|bytes| bytes.received.0 as f64), None),
        Quantity::RoundTrips => (run.round_trips.map(|count| count as f64), None),
        quantity => quantity.of_times(words.phase().and_then(|phase| run.phases.get(&phase))),
    };
    condition.value(of, value, interval, &format!(", n = {}", run.n))
}

fn server_cpu(result: &MeasureDocument, words: &Words, condition: &Condition) -> Value {
    let count = result.server_cpu.map(|it| format!(", {} connections", it.connections)).unwrap_or_default();
    let (value, interval) = if words.baseline {
        let change = result.baseline.as_ref().and_then(|it| it.server_cpu);
        as_change(change.map(|it| it.ratio), change.and_then(|it| it.ci95))
    } else {
        (result.server_cpu.map(|it| it.per_connection_ns as f64), None)
    };
    condition.value(format!("{}: {words}", result.label), value, interval, &count)
}

fn count_of_changes(result: &MeasureDocument, words: &Words, condition: &Condition) -> Value {
    let of = format!("{}: {words}", result.label);
    let Some(baseline) = result.baseline.as_ref().filter(|it| it.provenance.is_some()) else {
        return condition.value(of, None, None, "");
    };
    let covers = |tls, kind| words.covers(Asked { tls, kind });
    // Connecting and what comes before it are the machine's and the network's, and count only where they are named.
    let of_phase = |it: &PhaseChange| words.phase().map_or(it.phase.is_after_connecting(), |wanted| wanted == it.phase);
    let wanted = if words.quantity() == Quantity::Slower { Change::Slower } else { Change::Faster };
    let (count, names) = if words.quantity() == Quantity::Differences {
        let differences = baseline.differences.iter();
        let here = differences.filter(|it| it.tls.zip(it.kind).is_none_or(|(tls, kind)| covers(tls, kind)));
        let names: Vec<String> = here
            .map(|it| {
                let words = [it.tls.map(|it| it.number()), it.kind.map(|it| it.name()), Some(&*it.what)];
                words.into_iter().flatten().collect::<Vec<_>>().join(" ")
            })
            .collect();
        (Some(names.len()), names)
    } else {
        let compared: Vec<&PhaseChange> =
            baseline.phases.iter().filter(|it| covers(it.tls, it.kind) && of_phase(it)).collect();
        let changed = compared.iter().zip(beyond_chance(&compared));
        let changed = changed.filter(|(it, is_beyond)| *is_beyond && it.judged().2 == wanted);
        let names: Vec<String> = changed.map(|(it, _)| format!("{} {} {}", it.tls.number(), it.kind, it.phase)).collect();
        // Of nothing that was compared, nothing can be said.
        (compared.iter().any(|it| it.judged().2 != Change::Unknown).then_some(names.len()), names)
    };
    condition.value(of, count.map(|count| count as f64), None, &listed(&names))
}
