//! What a condition asks for that a measurement is known not to have, before it is made.

use reprise_model::document::MeasureDocument;
use reprise_model::{Asked, Kind, Phase, Version};

use super::{Bound, Condition, Quantity};
use crate::Scope;

/// What is about to be measured.
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

impl Condition {
    /// Why such a measurement cannot have the figure; `None` where it may.
    pub fn impossible(&self, planned: &Planned<'_>) -> Option<String> {
        let figure = self.figure;
        let all = [Version::Tls12, Version::Tls13].into_iter().flat_map(|tls| Kind::ALL.map(|kind| Asked { tls, kind }));
        let may_be = all.filter(|asked| asked.kind.exists_under(asked.tls));
        let meant: Vec<Asked> = may_be.filter(|asked| figure.covers(*asked) && planned.scope.covers(*asked)).collect();
        if meant.is_empty() {
            return Some("--tls and --kinds exclude it".to_owned());
        }
        if figure.quantity.compares_with_full()
            && !planned.scope.kinds.is_empty()
            && !planned.scope.kinds.contains(&Kind::Full)
        {
            return Some("it compares with full handshakes: add full to --kinds".to_owned());
        }
        if figure.quantity.is_of_server() && !planned.server_cpu {
            return Some("it needs --server-pid".to_owned());
        }
        match figure.phase {
            Some(Phase::Wait | Phase::Receive) if !planned.requests => {
                return Some("with --no-request there is no response to wait for".to_owned());
            }
            Some(Phase::Resolve) if !planned.resolves => {
                return Some("the target is an address: nothing is resolved".to_owned());
            }
            Some(Phase::Proxy) if !planned.proxy => {
                return Some("there is no proxy: it needs --proxy".to_owned());
            }
            Some(Phase::Starttls) if !planned.starttls => {
                return Some("it needs --starttls".to_owned());
            }
            _ => {}
        }
        if figure.bound != Bound::Value && planned.count < LEAST {
            return Some(format!("under {LEAST} samples there is no interval: raise --count"));
        }
        if !figure.quantity.is_of_baseline() {
            return None;
        }
        let Some(baseline) = planned.baseline else { return Some("it needs --baseline FILE".to_owned()) };
        let has = |asked: Asked| {
            let mut runs = baseline.iter().filter_map(|result| result.run(asked.tls, asked.kind));
            runs.any(|run| figure.phase.is_none_or(|phase| run.phases.contains_key(&phase)))
        };
        if figure.quantity.is_of_server() {
            let has = baseline.iter().any(|result| result.server_cpu.is_some());
            return (!has).then(|| "the baseline has no such figure".to_owned());
        }
        let of_figures = figure.quantity != Quantity::Differences;
        (of_figures && !meant.into_iter().any(has)).then(|| "the baseline has no such figure".to_owned())
    }
}
