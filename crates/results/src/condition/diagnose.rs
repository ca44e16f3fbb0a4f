//! Conditions on a diagnosis: those on a measurement that are about findings and kinds.

use std::fmt;
use std::str::FromStr;

use reprise_model::document::{DiagnoseDocument, Diagnosis};
use reprise_model::{Kind, Version};

use super::figures::Value;
use super::{Condition, ConditionError, Judgement, Planned, Quantity};
use crate::Scope;

/// `findings.fault`, `finding.not-offered`, `1.3.kinds.ticket < 100%`.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagnoseCondition(Condition);

impl FromStr for DiagnoseCondition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let condition: Condition = text.parse()?;
        match condition.figure.quantity {
            Quantity::Findings | Quantity::Kinds => Ok(Self(condition)),
            _ => Err(ConditionError::at_the_beginning(text, "findings or a kind, 'kinds.ticket': all that a diagnosis has")),
        }
    }
}

impl fmt::Display for DiagnoseCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl DiagnoseCondition {
    /// Why a diagnosis of these versions, all where none is named, cannot have the figure; `None` where it may.
    pub fn impossible(&self, versions: &[Version]) -> Option<String> {
        let scope = Scope { versions: versions.to_vec(), kinds: vec![Kind::Id, Kind::Ticket] };
        let why = self.0.impossible(&Planned { scope, ..Planned::default() });
        why.map(|_| "a diagnosis resumes by id and by ticket, under the versions in --tls".to_owned())
    }

    /// Holds the condition against a diagnosis: of all its targets.
    pub fn judge(&self, document: &DiagnoseDocument) -> Judgement {
        let values = document.targets.iter().flat_map(|target| self.values(target)).collect();
        self.0.test.judge(values, &self.0.figure)
    }

    /// Of a target that was not reached, nothing is known.
    fn values(&self, target: &Diagnosis) -> Vec<Value> {
        let (figure, test) = (self.0.figure, &self.0.test);
        if figure.quantity == Quantity::Findings {
            return vec![self.0.count_of_findings(&target.target, target.reached, &target.findings)];
        }
        let kinds = target.matrix.iter().filter(|it| figure.covers(it.asked)).map(|it| {
            let share = test.share(it.resumed.into(), it.offered.into());
            let of = format!("{}: {}", target.target, figure.name_for(it.asked));
            test.value(of, share, None, &format!(", {} of {}", it.resumed, it.offered))
        });
        kinds.collect()
    }
}
