//! What came of a measurement: the document of one target or of the embedded lab, and what ended it before its time.

use std::io;

use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::{ClientsDocument, ConditionRecord, LabDocument, MeasureDocument, Provenance};
use reprise_probe::{Measurement, Options};
use reprise_report::Document;
use reprise_results::{Condition, Judged, Value, Words};
use serde::Serialize;

/// What was measured.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Measured {
    Target(Box<MeasureDocument>),
    Lab(Box<LabDocument>),
    Clients(Box<ClientsDocument>),
}

/// What a measurement means, and what ended it before its time.
pub(super) fn explained(
    target: &Target,
    options: &Options,
    measurement: &Measurement,
    provenance: Provenance,
) -> (MeasureDocument, Option<Failure>) {
    let document = reprise_results::measure_document(target, options, measurement, provenance);
    let failure = measurement.ended_by.as_ref().map(|failed| reprise_results::failure_of(failed, options));
    (document, failure)
}

impl Measured {
    pub(super) fn document(&self) -> Document<'_> {
        match self {
            Self::Target(document) => Document::Measure(document),
            Self::Lab(document) => Document::Lab(document),
            Self::Clients(document) => Document::Clients(document),
        }
    }

    /// One result for each server.
    pub(super) fn results(&self) -> &[MeasureDocument] {
        match self {
            Self::Target(document) => std::slice::from_ref(document),
            Self::Lab(document) => &document.results,
            Self::Clients(document) => &document.results,
        }
    }

    pub(super) fn results_mut(&mut self) -> &mut [MeasureDocument] {
        match self {
            Self::Target(document) => std::slice::from_mut(document),
            Self::Lab(document) => &mut document.results,
            Self::Clients(document) => &mut document.results,
        }
    }

    /// What came of the conditions stands in the document, of the lab in the one of all servers.
    pub(super) fn keep_conditions(&mut self, conditions: Vec<ConditionRecord>) {
        match self {
            Self::Target(document) => document.conditions = conditions,
            Self::Lab(document) => document.conditions = conditions,
            Self::Clients(document) => document.conditions = conditions,
        }
    }

    /// As one line of JSON, with its end.
    pub(super) fn json_line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl Judged for Measured {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        match self {
            Self::Target(document) => document.values(words, condition),
            Self::Lab(document) => document.values(words, condition),
            Self::Clients(document) => document.values(words, condition),
        }
    }
}
