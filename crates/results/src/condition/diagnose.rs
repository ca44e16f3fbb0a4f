//! Conditions on a diagnosis: `findings.fault`, `finding.not-offered`, `1.3.kinds.ticket < 100%`.

use reprise_model::document::{DiagnoseDocument, Diagnosis, Fleet, IsolationRecord};
use reprise_model::{Kind, Version};

use super::judge::{Judged, Value};
use super::quantity::Quantity;
use super::words::Words;
use super::{Condition, ConditionSubject, Planned, PlannedFigures};
use crate::Scope;

/// A diagnosis that is about to be made.
#[derive(Clone, Debug)]
pub struct DiagnosePlanned<'a> {
    /// The versions that are tried; all where none is named.
    pub versions: &'a [Version],
}

impl PlannedFigures for DiagnosePlanned<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        ConditionSubject::Diagnosis
    }

    fn excludes(&self, figure: &Words) -> Option<String> {
        let scope = Scope { versions: self.versions.to_vec(), kinds: vec![Kind::Id, Kind::Ticket] };
        let why = Planned { scope, requests: true, ..Planned::default() }.excludes(figure);
        why.map(|_| "a diagnosis resumes by id and by ticket, under the versions in --tls".to_owned())
    }
}

/// Of all its targets.
impl Judged for DiagnoseDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        if words.quantity() == Quantity::Isolation {
            return isolation(&self.isolation, words, condition).into_iter().collect();
        }
        if words.quantity() == Quantity::Fleet {
            return self.fleet.iter().map(|fleet| shared(fleet, words, condition)).collect();
        }
        self.subjects().flat_map(|target| of_target(&target, words, condition)).collect()
    }
}

/// How many combinations came to a verdict; nothing where no session was offered elsewhere.
fn isolation(records: &[IsolationRecord], words: &Words, condition: &Condition) -> Option<Value> {
    let meant: Vec<String> = records
        .iter()
        .filter(|record| words.verdict == Some(record.verdict))
        .map(|record| format!("{} to {}", record.from, record.to))
        .collect();
    (!records.is_empty()).then(|| condition.count(words, &meant))
}

/// What part would be resumed behind a balancer that gives each node an equal part; nothing is known where no node was reached.
fn shared(fleet: &Fleet, words: &Words, condition: &Condition) -> Value {
    let is_reached = fleet.nodes.iter().any(|node| node.reached);
    // Nodes of which none accepts anything share nothing.
    let shared = is_reached.then(|| fleet.shared.unwrap_or_default());
    condition.value(words.to_string(), shared, None, "")
}

/// Of a target that was not reached, nothing is known.
fn of_target(target: &Diagnosis, words: &Words, condition: &Condition) -> Vec<Value> {
    if words.quantity() == Quantity::Findings {
        return vec![condition.count_of_findings(words, &target.target, target.reached, &target.findings)];
    }
    if words.quantity() == Quantity::Answers {
        let is_known = target.matrix.iter().any(|it| it.resumed > 0);
        return vec![condition.count_of_differences(words, &target.target, is_known, &target.answers_differ)];
    }
    let kinds = target.matrix.iter().filter(|it| words.covers(it.asked)).map(|it| {
        let of = format!("{}: {}", target.target, words.name_for(it.asked));
        condition.part(of, it.resumed.into(), it.offered.into())
    });
    kinds.collect()
}
