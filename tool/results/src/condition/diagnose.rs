//! Conditions on a diagnosis: `findings.fault`, `finding.not-offered`, `1.3.kinds.ticket < 100%`.

use reprise_model::document::{DiagnoseDocument, Diagnosis, Fleet, MechanismRecord};
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
    /// Whether sessions are offered where they must not be accepted.
    pub isolation: bool,
    /// Whether the targets are nodes that should share their sessions.
    pub together: bool,
}

impl PlannedFigures for DiagnosePlanned<'_> {
    fn subject(&self) -> ConditionSubject<'_> {
        ConditionSubject::Diagnosis
    }

    fn excludes(&self, figure: &Words) -> Option<String> {
        match figure.quantity() {
            Quantity::Isolation if !self.isolation => return Some("it needs --isolation".to_owned()),
            Quantity::Fleet if !self.together => return Some("it needs --together".to_owned()),
            _ => {}
        }
        let scope = Scope { versions: self.versions.to_vec(), kinds: vec![Kind::Id, Kind::Ticket] };
        let why = Planned { scope, requests: true, ..Planned::default() }.excludes(figure);
        why.map(|_| "a diagnosis resumes by id and by ticket, under the versions in --tls".to_owned())
    }
}

/// Of all its targets.
impl Judged for DiagnoseDocument {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        if words.quantity() == Quantity::Isolation {
            return isolation(self, words, condition).into_iter().collect();
        }
        if words.quantity() == Quantity::Fleet {
            return self.fleet.iter().map(|fleet| shared(fleet, words, condition)).collect();
        }
        self.subjects().flat_map(|target| of_target(&target, words, condition)).collect()
    }
}

/// How many combinations came to a verdict: none where no target gives a session that could be offered elsewhere. Nothing is known of
/// a target that was not reached, or not asked to the end.
fn isolation(document: &DiagnoseDocument, words: &Words, condition: &Condition) -> Option<Value> {
    let records = document.isolation.iter().filter(|record| words.verdict == Some(record.verdict));
    let meant: Vec<String> = records.map(|record| format!("{} to {}", record.from, record.to)).collect();
    let are_all_asked = document.targets.iter().all(|target| !target.has_failed() && !target.incomplete);
    (!document.isolation.is_empty() || are_all_asked).then(|| condition.count(words, &meant))
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
    let meant = target.matrix.iter().filter(|it| words.covers(it.asked));
    meant.map(|it| of_mechanism(target, it, words, condition)).collect()
}

/// The part of offers that was resumed: none where the server gives nothing to offer. Nothing is known where no handshake completed.
fn of_mechanism(target: &Diagnosis, it: &MechanismRecord, words: &Words, condition: &Condition) -> Value {
    let of = format!("{}: {}", target.target, words.name_for(it.asked));
    let mut made = target.experiments.iter().filter(|made| made.asked == Some(it.asked));
    let has_nothing = it.offered == 0 && !it.given && made.any(|made| made.connections > made.failed);
    match has_nothing {
        true => condition.value(of, Some(0.0), None, ", nothing was given to offer"),
        false => condition.part(of, it.resumed.into(), it.offered.into()),
    }
}
